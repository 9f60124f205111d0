// SPDX-License-Identifier: Apache-2.0
// Which blocks are held, by how many, and which are free. It deals in ids; where their bytes are is not its matter.
#ifndef PAVE_POOL_HPP
#define PAVE_POOL_HPP

#include <pave/config.hpp>
#include <pave/detail/detect.hpp>
#include <pave/policy/fence.hpp>
#include <pave/policy/free_list.hpp>
#include <pave/policy/lock.hpp>
#include <pave/policy/retention.hpp>
#include <pave/policy/sharing.hpp>
#include <pave/result.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace pave {
inline namespace v0 {

/// @brief The default policies of a pool. Derive from it and name what is to change.
struct pool_policies {
  using free_list = last_released;
  using sharing = counted;
  using fence = at_once;
  using retention = forget;
  using lock = unlocked;
};

struct pool_options {
  block_count blocks;  ///< capacity, 1 … 2^31 − 1: the ids are 0 … blocks − 1
};

/// @brief A pool of equal blocks, each free, held by one or more holders, or fenced. After every call available +
/// fenced + held = capacity.
/// @threadsafety any member from any thread where the lock policy allows it; with `unlocked` one thread at a time
template <class Policies = pool_policies>
class block_pool {
  using free_list_type = typename Policies::free_list;
  using sharing_type = typename Policies::sharing;
  using fence_type = typename Policies::fence;
  using retention_type = typename Policies::retention;
  using lock_type = typename Policies::lock;

  static_assert(detail::is_detected_as_v<bool, detail::free_list_reserve, free_list_type>,
                "pave: a free_list policy needs `bool reserve(block_count capacity)`");
  static_assert(detail::is_detected_v<detail::free_list_take, free_list_type>,
                "pave: a free_list policy needs `void take(span<block_id> out)`");
  static_assert(detail::is_detected_v<detail::free_list_put, free_list_type>,
                "pave: a free_list policy needs `void put(block_id block, content left)`");
  static_assert(detail::is_detected_as_v<block_count, detail::free_list_size, free_list_type>,
                "pave: a free_list policy needs `block_count size() const`");
  static_assert(detail::is_detected_as_v<bool, detail::sharing_reserve, sharing_type>,
                "pave: a sharing policy needs `bool reserve(block_count capacity)`");
  static_assert(detail::is_detected_as_v<std::uint32_t, detail::sharing_holders, sharing_type>,
                "pave: a sharing policy needs `std::uint32_t holders(block_id block) const`");
  static_assert(detail::is_detected_v<detail::sharing_hold, sharing_type>,
                "pave: a sharing policy needs `void hold(block_id block)`");
  static_assert(detail::is_detected_as_v<bool, detail::sharing_share, sharing_type>,
                "pave: a sharing policy needs `bool share(block_id block)`");
  static_assert(detail::is_detected_as_v<bool, detail::sharing_drop, sharing_type>,
                "pave: a sharing policy needs `bool drop(block_id block)`");
  static_assert(detail::is_detected_v<detail::sharing_undo_drop, sharing_type>,
                "pave: a sharing policy needs `void undo_drop(block_id block)`");
  static_assert(detail::is_detected_as_v<bool, detail::sharing_settle, sharing_type>,
                "pave: a sharing policy needs `bool settle(block_id block)`");
  static_assert(detail::is_detected_as_v<bool, detail::fence_reserve, fence_type>,
                "pave: a fence policy needs `bool reserve(block_count capacity)`");
  static_assert(detail::is_detected_v<detail::fence_release, fence_type>,
                "pave: a fence policy needs `void release(block_id block, Sink&& available)`");
  static_assert(detail::is_detected_v<detail::fence_used, fence_type>,
                "pave: a fence policy needs `void used(block_id block, step_id last_use)`");
  static_assert(detail::is_detected_as_v<bool, detail::fence_delays, fence_type>,
                "pave: a fence policy needs `static constexpr bool delays`");
  static_assert(detail::is_detected_v<detail::fence_complete, fence_type>,
                "pave: a fence policy needs `void complete(step_id step, Sink&& available)`");
  static_assert(detail::is_detected_as_v<block_count, detail::fence_fenced, fence_type>,
                "pave: a fence policy needs `block_count fenced() const`");
  static_assert(detail::is_detected_as_v<bool, detail::retention_keeps_content, retention_type>,
                "pave: a retention policy needs `static constexpr bool keeps_content`");
  static_assert(detail::is_detected_as_v<bool, detail::retention_reserve, retention_type>,
                "pave: a retention policy needs `bool reserve(block_count capacity)`");
  static_assert(detail::is_detected_v<detail::retention_renew, retention_type>,
                "pave: a retention policy needs `void renew(block_id block)`");
  static_assert(detail::is_detected_as_v<std::uint32_t, detail::retention_generation, retention_type>,
                "pave: a retention policy needs `std::uint32_t generation(block_id block) const`");
  static_assert(detail::is_detected_v<detail::lock_lock, lock_type>, "pave: a lock policy needs `void lock()`");
  static_assert(detail::is_detected_v<detail::lock_unlock, lock_type>, "pave: a lock policy needs `void unlock()`");
  static_assert(std::is_nothrow_move_constructible_v<lock_type> && std::is_nothrow_move_assignable_v<lock_type>,
                "pave: a lock policy has to be movable while it is unlocked");
  static_assert(!detail::keeps_content_v<retention_type> || can_revive_v<free_list_type>,
                "pave: a retention that keeps content needs a free_list that can revive a block: name "
                "least_recently_released, or give yours `bool remove(block_id)` and `void undo_remove(block_id)`");
  static_assert(!detail::keeps_content_v<retention_type> || !detail::fence_delays_v<fence_type>,
                "pave: a retention that keeps content takes no fence that delays: a block on its way is not revived");

 public:
  /// @brief Whether a free block's content can be asked for.
  static constexpr bool keeps_content = detail::keeps_content_v<retention_type>;

  /// @brief Makes a pool, all of it available. The only call that takes memory.
  /// @error `invalid_argument`: fewer than 1 block, or more than an id can name
  /// @error `out_of_memory`
  /// @complexity linear in the blocks
  [[nodiscard]] static result<block_pool> create(const pool_options& options) noexcept {
    constexpr block_count most = (std::numeric_limits<std::int32_t>::max)();
    if (options.blocks < 1 || options.blocks > most) return errc::invalid_argument;
    block_pool pool;
    if (!pool.free_.reserve(options.blocks) || !pool.sharing_.reserve(options.blocks) ||
        !pool.fence_.reserve(options.blocks) || !pool.retention_.reserve(options.blocks)) {
      return errc::out_of_memory;
    }
    pool.capacity_ = options.blocks;
    return pool;
  }

  /// @brief An empty pool, of capacity 0, as a moved-from one is.
  block_pool() noexcept = default;

  /// @return blocks in all
  [[nodiscard]] block_count capacity() const noexcept { return capacity_.get(); }
  /// @return blocks that `allocate` can give now
  [[nodiscard]] block_count available() const noexcept {
    const scope locked(lock_);
    return free_.size();
  }
  /// @return blocks that were released and that work in flight may still touch
  [[nodiscard]] block_count fenced() const noexcept {
    const scope locked(lock_);
    return fence_.fenced();
  }
  /// @return distinct blocks with one holder or more
  [[nodiscard]] block_count held() const noexcept {
    const scope locked(lock_);
    return capacity_.get() - free_.size() - fence_.fenced();
  }
  /// @return how many hold `block`; 0 where it is free or out of range
  [[nodiscard]] std::uint32_t holders(block_id block) const noexcept {
    const scope locked(lock_);
    return in_range(block) ? sharing_.holders(block) : 0;
  }

  /// @brief Gives `out.size()` blocks, each with one holder, or none.
  /// @param out [out] the ids
  /// @error `shortage`, with the missing blocks
  /// @error `never_fits`, with the blocks beyond the capacity. `out` is then untouched
  /// @complexity linear in the blocks given
  result<void> allocate(span<block_id> out) noexcept {
    const scope locked(lock_);
    const block_count wanted = out.size();
    if (wanted > free_.size()) {
      if (wanted > capacity_.get()) return error{errc::never_fits, wanted - capacity_.get()};
      return error{errc::shortage, wanted - free_.size()};
    }
    take(out);
    return {};
  }

  /// @brief Takes blocks by their content and fresh ones, or nothing at all. One that is free is revived, and one that
  /// is held gets one holder more; a block named twice gets two. What is revived is never given out as fresh by the
  /// same call.
  /// @param revive what `content_of` said of each
  /// @param fresh [out] the ids of so many others, as of `allocate`
  /// @error `stale`: a block was reused since, its content was left as worthless or overwritten, or the pool keeps none
  /// @error `shortage`, with the fresh blocks that are missing once the others are taken
  /// @error `never_fits`, with the fresh blocks beyond the capacity
  /// @error `table_full`: a block has 2^32 − 2 holders
  /// @complexity linear in the blocks named and given
  result<void> acquire(span<const kept_block> revive, span<block_id> fresh) noexcept {
    const scope locked(lock_);
    const block_count wanted = fresh.size();
    if (wanted > capacity_.get()) return error{errc::never_fits, wanted - capacity_.get()};
    for (const kept_block& kept : revive) {
      if (!is_there(kept)) return errc::stale;
    }
    std::size_t revived = 0;
    while (revived < revive.size() && add_holder(revive[revived].block)) ++revived;
    const block_count missing = wanted - free_.size();
    if (revived < revive.size() || missing > 0) {
      const error why = revived < revive.size() ? error{errc::table_full, {}} : error{errc::shortage, missing};
      while (revived > 0) undo_add_holder(revive[--revived].block);
      return why;
    }
    take(fresh);
    return {};
  }

  /// @return the content of a held block, to revive it by when it is free
  /// @error `not_held`: it is free or out of range
  [[nodiscard]] result<kept_block> content_of(block_id block) const noexcept {
    const scope locked(lock_);
    if (!is_held(block)) return errc::not_held;
    return kept_block{block, retention_.generation(block)};
  }
  /// @return whether this content is still in its block, held or free
  [[nodiscard]] bool is_kept(kept_block kept) const noexcept {
    const scope locked(lock_);
    return is_there(kept);
  }
  /// @brief The only holder of a block is about to write into it: its old content cannot be asked for any more.
  /// @error `not_held`: it is free or out of range
  /// @error `busy`: others hold it too
  result<void> overwrite(block_id block) noexcept {
    const scope locked(lock_);
    if (!is_held(block)) return errc::not_held;
    if (sharing_.holders(block) > 1) return errc::busy;
    retention_.renew(block);
    return {};
  }
  /// @brief No content of a free block can be asked for any more: a prefix cache is reset. What is held keeps its
  /// content; let it go as worthless where that is to be forgotten, too.
  /// @complexity linear in the capacity
  void forget_content() noexcept {
    const scope locked(lock_);
    for (std::int64_t i = 0; i < capacity_.get().value(); ++i) {
      if (sharing_.holders(i) == 0) retention_.renew(i);
    }
  }

  /// @brief Adds a holder to each of `blocks`, or to none; a block named twice gets two.
  /// @error `not_held`: a block is free or out of range
  /// @error `table_full`: a block has 2^32 − 2 holders
  /// @complexity linear in the blocks named
  result<void> share(span<const block_id> blocks) noexcept {
    const scope locked(lock_);
    for (const block_id block : blocks) {
      if (!is_held(block)) return errc::not_held;
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (sharing_.share(blocks[i])) continue;
      while (i > 0) static_cast<void>(sharing_.drop(blocks[--i]));
      return errc::table_full;
    }
    return {};
  }

  /// @brief Takes a holder from each of `blocks`, or from none; a block without holders comes free, in this order.
  /// @param last_use the last step in which this holder used the blocks; a fence policy waits for it
  /// @param left what the last holder leaves in them: worthless content cannot be revived, and a free list may give
  ///   such blocks out first. Where a fence delays them, the free list does not hear of it
  /// @error `not_held`: a block is free, out of range, or named more often than it has holders
  /// @complexity linear in the blocks named
  result<void> release(span<const block_id> blocks,
                       step_id last_use = {},
                       content left = content::worth_keeping) noexcept {
    const scope locked(lock_);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (in_range(blocks[i]) && sharing_.drop(blocks[i])) continue;
      while (i > 0) sharing_.undo_drop(blocks[--i]);
      return errc::not_held;
    }
    for (const block_id block : blocks) fence_.used(block, last_use);
    for (const block_id block : blocks) {
      if (!sharing_.settle(block)) continue;
      if (left == content::worthless) retention_.renew(block);
      fence_.release(block, to_free_list(left));
    }
    return {};
  }

  /// @brief Says that `step` and all steps before it are done: what was fenced for them becomes available.
  /// @complexity linear in the blocks that become available
  void complete(step_id step) noexcept {
    const scope locked(lock_);
    fence_.complete(step, to_free_list(content::worth_keeping));
  }

 private:
  using scope = detail::lock_scope<lock_type>;

  [[nodiscard]] bool in_range(block_id block) const noexcept {
    return block.value() >= 0 && block.value() < capacity_.get().value();
  }
  [[nodiscard]] bool is_held(block_id block) const noexcept { return in_range(block) && sharing_.holders(block) != 0; }
  [[nodiscard]] bool is_there(kept_block kept) const noexcept {
    return keeps_content && in_range(kept.block) && kept.generation != 0 &&
           kept.generation == retention_.generation(kept.block);
  }
  [[nodiscard]] auto to_free_list(content left) noexcept {
    return [this, left](block_id block) noexcept { free_.put(block, left); };
  }

  /// @pre so many are free
  void take(span<block_id> out) noexcept {
    free_.take(out);
    for (const block_id block : out) {
      sharing_.hold(block);
      retention_.renew(block);
    }
  }
  /// The first holder of a free block, or one more of a held one.
  /// @return false where it cannot have one more
  [[nodiscard]] bool add_holder([[maybe_unused]] block_id block) noexcept {
    if constexpr (keeps_content) {
      if (sharing_.holders(block) != 0) return sharing_.share(block);
      [[maybe_unused]] const bool was_free = free_.remove(block);
      PAVE_ASSERT(was_free);
      sharing_.hold(block);
    }
    return true;
  }
  /// Undoes the latest `add_holder` that is not undone.
  void undo_add_holder([[maybe_unused]] block_id block) noexcept {
    if constexpr (keeps_content) {
      static_cast<void>(sharing_.drop(block));
      if (sharing_.settle(block)) free_.undo_remove(block);
    }
  }

  detail::zero_on_move<block_count> capacity_;
  free_list_type free_;
  sharing_type sharing_;
  fence_type fence_;
  retention_type retention_;
  mutable lock_type lock_;
};

}  // namespace v0
}  // namespace pave

#endif
