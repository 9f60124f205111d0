// SPDX-License-Identifier: Apache-2.0
// Which blocks are held, by how many, and which are free. It deals in ids; where their bytes are is not its matter.
#ifndef PAVE_POOL_HPP
#define PAVE_POOL_HPP

#include <pave/audit.hpp>
#include <pave/config.hpp>
#include <pave/detail/audit_holders.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/detail/bundles.hpp>
#include <pave/detail/detect.hpp>
#include <pave/detail/pin_table.hpp>
#include <pave/detail/pool_contracts.hpp>
#include <pave/detail/step_window.hpp>
#include <pave/policy/fence.hpp>
#include <pave/policy/free_list.hpp>
#include <pave/policy/lock.hpp>
#include <pave/policy/observer.hpp>
#include <pave/policy/retention.hpp>
#include <pave/policy/sharing.hpp>
#include <pave/result.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace pave {
inline namespace v0 {

/// @brief The default policies of a pool. Derive from it and name what is to change.
struct pool_policies {
  using id = block_id;
  using free_list = last_released;
  using sharing = counted;
  using fence = at_once;
  using retention = forget;
  using lock = unlocked;
  using observer = silent;
};

namespace detail {
template <class Policies>
constexpr bool is_whole_pool_bundle() noexcept {
  static_assert(
      has_pool_slots_v<Policies>,
      "pave: a block_pool takes a bundle of its policies: derive from pool_policies, and name in it what is to change");
  static_assert(names_whole_parts_v<Policies> || !has_pool_slots_v<Policies>,
                "pave: a bundle names a slot of another part, and nothing reads it there: name it in a bundle of its "
                "part, derived from pool_policies, planner_policies or tracker_policies");
  return has_pool_slots_v<Policies>;
}
template <class Policies>
using pool_bundle_or_default = std::conditional_t<is_whole_pool_bundle<Policies>(), Policies, pool_policies>;
}  // namespace detail

struct pool_options {
  block_count blocks;           ///< capacity, at least 1; or 0, for all that there are in a memory that pools share
  block_count first_block = 0;  ///< the ids are first_block … first_block + blocks − 1: 1 where block 0 means "none"
  std::size_t pinned_blocks = 256;  ///< that pins name at the same time, at most 2^32 − 1; 16 bytes each
  std::size_t threads = 16;         ///< most `local()` handles at the same time, 1 … 64; only `per_thread` has them
};

/// @brief A view of ids as plain integers, as kernels and engines' own tables hold them. Nothing is copied.
template <class Integer>
[[nodiscard]] span<const Integer> as_integers(span<const basic_block_id<Integer>> ids) noexcept {
  static_assert(sizeof(basic_block_id<Integer>) == sizeof(Integer) &&
                    std::is_standard_layout_v<basic_block_id<Integer>> &&
                    std::is_trivially_copyable_v<basic_block_id<Integer>>,
                "pave: an id is laid out as its integer");
  return {reinterpret_cast<const Integer*>(ids.data()), ids.size()};
}

/// @brief A pool of equal blocks, each free, held by one or more holders, or fenced. After every call available +
/// fenced + held = capacity.
/// @threadsafety any member from any thread where the lock policy allows it; with `unlocked` one thread at a time
template <class Policies = pool_policies, class Lock = typename detail::pool_bundle_or_default<Policies>::lock>
class block_pool : detail::pool_contracts<detail::pool_bundle_or_default<Policies>> {
  using bundle = detail::pool_bundle_or_default<Policies>;
  using free_list_type = typename bundle::free_list;
  using sharing_type = typename bundle::sharing;
  using fence_type = typename bundle::fence;
  using retention_type = typename bundle::retention;
  using lock_type = Lock;
  using observer_type = typename bundle::observer;

 public:
  using id_type = typename bundle::id;
  using kept_block_type = basic_kept_block<id_type>;

  /// @brief Whether a free block's content can be asked for.
  static constexpr bool keeps_content = detail::keeps_content_v<retention_type>;
  /// @brief Whether several sequences can hold a block.
  static constexpr bool can_share = can_share_v<sharing_type>;
  /// @brief Whether a released block can be on its way for a while.
  static constexpr bool delays = detail::fence_delays_v<fence_type>;
  /// @brief Whether the pool shares its memory with others: `available` and `capacity` then fall as they take of it,
  /// and rise as they give back.
  static constexpr bool shares_memory = shares_memory_v<free_list_type>;

  /// @brief Makes a pool, all of it available. No other call takes memory, but for `resize`.
  /// @param instances policies that have a state, in any order; an observer is watched by reference, and outlives the
  ///   pool
  /// @error `invalid_argument`: fewer than 1 block, a negative first one, more than an id can name, or more than 2^32 −
  ///   1 pinned ones; where the free list shares a memory: another number of blocks than 0 or all, or another first one
  ///   than 0
  /// @error `out_of_memory`
  /// @complexity linear in the ids
  template <class... Instances>
  [[nodiscard]] static result<block_pool> create(const pool_options& options, Instances&&... instances) noexcept {
    block_pool pool;
    (pool.use(std::forward<Instances>(instances)), ...);
    const block_count blocks = pool.blocks_asked(options);
    if (blocks < 1 || options.first_block < 0 || options.first_block > most_ids() ||
        blocks > most_ids() - options.first_block || options.pinned_blocks > detail::pin_table::most) {
      return errc::invalid_argument;
    }
    const block_count end = options.first_block + blocks;
    if (!pool.reserve(end) || !pool.pins_.reserve(options.pinned_blocks)) return errc::out_of_memory;
    if constexpr (!shares_memory) pool.free_.add(options.first_block.value(), end.value());
    pool.first_ = options.first_block;
    pool.end_ = static_cast<std::size_t>(end.value());
    pool.ids_ = pool.end_.get();
    pool.capacity_ = blocks;
    return pool;
  }

  /// @brief An empty pool, of capacity 0, as a moved-from one is.
  block_pool() noexcept = default;

  // --- how many ---

  /// @return the most that `first_block` and the blocks can be together: what the ids can name, and the policies, whose
  ///   own ids have 32 bits
  [[nodiscard]] static constexpr block_count most_ids() noexcept {
    constexpr std::int64_t largest = (std::numeric_limits<std::int32_t>::max)() - 1;
    return (std::min)(id_type::most, largest) + 1;
  }
  /// @return blocks in all; while the pool shrinks, those that still have to leave among them. Of a memory that pools
  ///   share: without those that are in what other pools have
  [[nodiscard]] block_count capacity() const noexcept {
    const scope locked(lock_);
    return capacity_now();
  }
  /// @return blocks that `allocate` can give now
  [[nodiscard]] block_count available() const noexcept {
    const scope locked(lock_);
    return free_.size();
  }
  /// @return blocks that were released and that work in flight may still touch: they are on their way
  [[nodiscard]] block_count fenced() const noexcept {
    const scope locked(lock_);
    return fence_.fenced();
  }
  /// @return of those on their way: how many become available once `by` and all steps before it are done. While the
  ///   pool shrinks, some of them may leave it instead
  [[nodiscard]] block_count arriving(step_id by) const noexcept {
    const scope locked(lock_);
    return fence_.arriving(by);
  }
  /// @return distinct blocks with one holder or more
  [[nodiscard]] block_count held() const noexcept {
    const scope locked(lock_);
    return held_now();
  }
  /// @return blocks that leave the pool as soon as they come free, since it was told to shrink
  [[nodiscard]] block_count leaving() const noexcept {
    const scope locked(lock_);
    return capacity_.get() - wanted_capacity();
  }
  /// @return whether `block` leaves the pool as soon as it comes free; not of one that has left
  [[nodiscard]] bool is_leaving(id_type block) const noexcept {
    const scope locked(lock_);
    return in_range(block) && block.index() >= end_.get() && is_here(inner(block));
  }
  /// @return one more than the largest id that the pool has had: room for an audit
  [[nodiscard]] std::size_t id_end() const noexcept {
    const scope locked(lock_);
    return ids_.get();
  }
  /// @return how many hold `block`, sequences and pins; 0 where nobody does, or it is out of range
  [[nodiscard]] std::uint32_t holders(id_type block) const noexcept {
    const scope locked(lock_);
    return in_range(block) ? sharing_.holders(inner(block)) : 0;
  }

  /// @return whether a step that is not done may still use `block`, of a holder that has let go of it, though others
  ///   hold it: who is left may read it, and write behind what that holder knew, but not rewrite what it did. False
  ///   where nobody holds it, it is out of range, or the fence never delays
  [[nodiscard]] bool is_in_use(id_type block) const noexcept {
    const scope locked(lock_);
    return is_held(block) && fence_.is_in_use(inner(block));
  }

  // --- threads ---

  /// @brief A thread's own way in: only of a pool whose lock is `per_thread`.
  template <class Asked = lock_type>
  [[nodiscard]] result<block_pool> local() noexcept {
    static_assert(sizeof(Asked) == 0,
                  "pave: local() opens a thread's handle of a pool whose lock is per_thread: name it in the pool's "
                  "bundle");
    return errc::invalid_argument;
  }

  // --- hold and let go ---

  /// @brief Gives `out.size()` blocks, each with one holder, or none.
  /// @param out [out] the ids
  /// @error `shortage`, with the missing blocks
  /// @error `never_fits`, with the blocks beyond the capacity, which counts all of a memory that pools share. `out` is
  ///   then untouched
  /// @complexity linear in the blocks given
  result<void> allocate(span<id_type> out) noexcept {
    const scope locked(lock_);
    if (const block_count wanted = out.size(); wanted > free_.size()) return refuse(wanted);
    take(out);
    return {};
  }

  /// @brief The same, with ids that follow each other as far as the free blocks allow: for copies in batches.
  /// @param out [out] the ids, one run after the other
  /// @error as of `allocate`
  /// @complexity linear in the blocks given, with a logarithm of the ids a run, and what the free list put off: with
  ///   `lowest_first` no more than the calls before it cost. Needs a free list that knows its runs: `lowest_first`
  template <class FreeList = free_list_type>
  result<void> allocate_runs(span<id_type> out) noexcept {
    static_assert(gives_runs_v<FreeList, id_type>,
                  "pave: allocate_runs needs a free_list that knows its runs: name lowest_first, or give yours `void "
                  "take_runs(span<Id> out)`");
    const scope locked(lock_);
    if (const block_count wanted = out.size(); wanted > free_.size()) return refuse(wanted);
    if constexpr (gives_runs_v<FreeList, id_type>) free_.take_runs(out);
    hold(out);
    return {};
  }
  /// @return the most available blocks whose ids follow each other: so many `allocate_runs` gives as one run
  /// @complexity as of `allocate_runs`, for one block
  template <class FreeList = free_list_type>
  [[nodiscard]] block_count longest_run() const noexcept {
    constexpr bool says_it = detail::is_detected_as_v<block_count, detail::free_list_longest_run, FreeList>;
    static_assert(says_it,
                  "pave: longest_run needs a free_list that knows its runs: name lowest_first, or give yours "
                  "`block_count longest_run() const`");
    const scope locked(lock_);
    if constexpr (says_it) {
      return free_.longest_run();
    } else {
      return 0;
    }
  }

  /// @brief Takes blocks by their content and fresh ones, or nothing at all. One that is free is revived, and one that
  /// is held gets one holder more; a block named twice gets two. What is revived is never given out as fresh by the
  /// same call.
  /// @param revive what `content_of` said of each
  /// @param fresh [out] the ids of so many others, as of `allocate`
  /// @error `stale`: a block was reused since, its content was left as worthless or overwritten, it is on its way, or
  ///   the pool keeps none
  /// @error `shortage`, with the fresh blocks that are missing once the others are taken
  /// @error `never_fits`, with the blocks beyond the capacity: the fresh ones and those to revive that are free
  /// @error `table_full`: a block has as many holders as it can
  /// @complexity linear in the blocks named and given
  result<void> acquire(span<const kept_block_type> revive, span<id_type> fresh) noexcept {
    const scope locked(lock_);
    const block_count wanted = fresh.size();
    for (const kept_block_type& kept : revive) {
      if (!is_there(kept)) return errc::stale;
    }
    const block_count free_before = free_.size();
    std::size_t taken = 0;
    while (taken < revive.size() && add_holder(inner(revive[taken].block))) ++taken;
    const bool is_full = taken < revive.size();
    const block_count revived = free_before - free_.size();
    if (is_full || wanted > free_.size()) {
      while (taken > 0) undo_add_holder(inner(revive[--taken].block));
      if (is_full) return errc::table_full;
      return refuse(wanted + revived);
    }
    if (revived > 0) observer_.notice({event_kind::revived, revived, {}});
    if (revived < revive.size()) observer_.notice({event_kind::shared, revive.size() - revived, {}});
    take(fresh);
    return {};
  }

  /// @brief Adds a holder to each of `blocks`, or to none; a block named twice gets two.
  /// @error `not_held`: a block is free or out of range
  /// @error `table_full`: a block has as many holders as it can; with `exclusive` sharing that is one
  /// @complexity linear in the blocks named
  result<void> share(span<const id_type> blocks) noexcept {
    const scope locked(lock_);
    if (!are_held(blocks)) return errc::not_held;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (sharing_.share(inner(blocks[i]))) continue;
      while (i > 0) static_cast<void>(sharing_.drop(inner(blocks[--i])));
      return errc::table_full;
    }
    if (!blocks.empty()) observer_.notice({event_kind::shared, blocks.size(), {}});
    return {};
  }

  /// @brief Takes a holder from each of `blocks`, or from none; a block without holders comes free, in this order.
  /// @param last_use the last step in which this holder used the blocks; a fence policy waits for it
  /// @param left what the last holder leaves in them: worthless content cannot be revived, and a free list may give
  ///   such blocks out first
  /// @error `not_held`: a block is free, out of range, or named more often than sequences hold it
  /// @complexity linear in the blocks named
  result<void> release(span<const id_type> blocks,
                       step_id last_use = {},
                       content left = content::worth_keeping) noexcept {
    const scope locked(lock_);
    if (release_only_holders(blocks, left)) {
      if (!blocks.empty()) {
        observer_.notice({event_kind::released, blocks.size(), last_use});
        observer_.notice({event_kind::freed, blocks.size(), {}});
      }
      return {};
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (in_range(blocks[i]) && sharing_.drop(inner(blocks[i]))) continue;
      while (i > 0) sharing_.undo_drop(inner(blocks[--i]));
      return errc::not_held;
    }
    if constexpr (delays) {
      for (const id_type block : blocks) fence_.used(inner(block), last_use);
    }
    if (blocks.empty()) return {};
    const block_count held_before = held_now();
    for (const id_type block : blocks) free_if_last(inner(block), left);
    observer_.notice({event_kind::released, blocks.size(), last_use});
    notice_freed(held_before);
    return {};
  }

  /// @brief One step is done. Steps are counted from 1, and may come to their end in any order: what is fenced for this
  /// one becomes available once all before it are done, too. A pool whose fence never delays asks for no steps.
  /// @error `no_step`: there is no step before the first
  /// @error `stale`: it was done already
  /// @error `busy`: it is more than 64 steps ahead of the first that is not done
  /// @complexity linear in the blocks that become available
  result<void> complete(step_id step) noexcept {
    if constexpr (delays) {
      const scope locked(lock_);
      if (const result<void> done = steps_.complete(step); !done) return done;
      arrive();
    }
    return {};
  }
  /// @brief This step and all before it are done, whether or not they were named: for engines whose steps end in order,
  /// and to tell a new pool how far an engine is. What is done already stays so.
  /// @complexity linear in the blocks that become available
  void complete_through(step_id step) noexcept {
    if constexpr (delays) {
      const scope locked(lock_);
      steps_.complete_through(step);
      arrive();
    }
  }

  // --- transfers ---

  /// @brief Holds blocks for a transfer, besides the sequences: none of them comes free before the pin ends. A block
  /// named twice gets two pins.
  /// @return what ends it; it does not end by itself
  /// @error `not_held`: a block is free or out of range
  /// @error `table_full`: as many blocks are pinned as the options allow, or one block has as many pins as it can
  /// @error `invalid_argument`: no blocks
  /// @complexity linear in the blocks named
  [[nodiscard]] result<pin_token> pin(span<const id_type> blocks) noexcept {
    const scope locked(lock_);
    if (blocks.empty()) return errc::invalid_argument;
    if (!are_held(blocks)) return errc::not_held;
    if (blocks.size() > pins_.room()) return errc::table_full;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (sharing_.pin(inner(blocks[i]))) continue;
      while (i > 0) sharing_.unpin(inner(blocks[--i]));
      return errc::table_full;
    }
    observer_.notice({event_kind::pinned, blocks.size(), {}});
    return pins_.add(blocks);
  }

  /// @brief A transfer is over. Blocks that nobody else holds come free, with their content.
  /// @param last_use the last step in which the transfer used them; a fence policy waits for it
  /// @error `stale`: this pin has ended; nothing changes
  /// @complexity linear in the blocks of the pin
  result<void> unpin(pin_token token, step_id last_use = {}) noexcept {
    const scope locked(lock_);
    if (!pins_.holds(token)) return errc::stale;
    const block_count held_before = held_now();
    block_count count = 0;
    pins_.remove(token, [&](block_id block) noexcept {
      if constexpr (delays) fence_.used(block, last_use);
      sharing_.unpin(block);
      free_if_last(block, content::worth_keeping);
      count += 1;
    });
    observer_.notice({event_kind::unpinned, count, last_use});
    notice_freed(held_before);
    return {};
  }

  // --- content ---

  /// @return the content of a held block, to revive it by when it is free
  /// @error `not_held`: it is free or out of range
  [[nodiscard]] result<kept_block_type> content_of(id_type block) const noexcept {
    const scope locked(lock_);
    if (!is_held(block)) return errc::not_held;
    return kept_block_type{block, retention_.generation(inner(block))};
  }
  /// @return whether this content is in its block, which is held or available: `acquire` would take it
  [[nodiscard]] bool is_kept(kept_block_type kept) const noexcept {
    const scope locked(lock_);
    return is_there(kept);
  }
  /// @brief The only holder of a block is about to write into it: its old content cannot be asked for any more.
  /// @error `not_held`: it is free or out of range
  /// @error `busy`: others hold it too, or `is_in_use` by a step of one that did
  result<void> overwrite(id_type block) noexcept {
    const scope locked(lock_);
    if (!is_held(block)) return errc::not_held;
    if (sharing_.holders(inner(block)) > 1 || fence_.is_in_use(inner(block))) return errc::busy;
    retention_.renew(inner(block));
    return {};
  }
  /// @brief No content of a free block can be asked for any more: a prefix cache is reset. What is held keeps its
  /// content; let it go as worthless where that is to be forgotten, too.
  /// @complexity linear in the ids
  void forget_content() noexcept {
    const scope locked(lock_);
    for (std::size_t i = 0; i < ids_.get(); ++i) {
      if (sharing_.holders(i) == 0) retention_.lose(i);
    }
  }

  // --- size ---

  /// @brief Changes how many blocks the pool has, from its last one on. New ones are available at once. Those that go
  /// leave as they come free: until then `capacity` counts them, and `leaving` says how many they are.
  /// @param blocks at least 1
  /// @error `invalid_argument`: no blocks, or more than an id can name
  /// @error `out_of_memory`: nothing changed
  /// @complexity linear in the ids
  template <class FreeList = free_list_type>
  result<void> resize(block_count blocks) noexcept {
    static_assert(!shares_memory_v<FreeList>,
                  "pave: a pool that shares its memory with others, as from_slabs does, has all blocks of that memory: "
                  "it cannot be resized");
    if constexpr (shares_memory_v<FreeList>) {
      return errc::invalid_argument;
    } else {
      const scope locked(lock_);
      if (blocks < 1 || blocks > most_ids() - first_.get()) return errc::invalid_argument;
      const block_count wanted = first_.get() + blocks;
      if (!reserve(wanted)) return errc::out_of_memory;
      const auto end = static_cast<std::size_t>(wanted.value());
      const block_count available_before = free_.size();
      for (std::size_t i = end_.get(); i < end; ++i) {
        const std::size_t first = i;
        while (i < end && !(i < ids_.get() && is_here(i))) ++i;
        if (first < i) free_.add(first, i);
      }
      for (std::size_t i = end; i < end_.get(); ++i) {
        if (!is_here(i)) retention_.lose(i);
      }
      if (end < end_.get()) free_.withdraw(end);
      end_ = end;
      ids_ = (std::max)(ids_.get(), end);
      capacity_.get() += free_.size() - available_before;
      observer_.notice({event_kind::resized, blocks, {}});
      return {};
    }
  }

  // --- is all well? ---

  /// @brief Compares what is held with who should hold it: tables (each id in one is a holder) and pins.
  /// @param tables as `is_audit_tables_v` says; `no_tables` where nobody should hold anything
  /// @param scratch room for `id_end()` counts
  /// @param say called with each `finding`, and after it with who names its block; `to_words` puts one in words
  /// @return how many laws are broken; 0: all is well
  /// @error `buffer_too_small`: `scratch`, with the counts that are missing
  /// @complexity linear in the ids and in what the tables name, and once more for each finding
  template <class Tables, class Say>
  result<std::size_t> audit(const Tables& tables, span<std::uint32_t> scratch, Say&& say) const noexcept {
    static_assert(is_audit_tables_v<Tables, id_type>,
                  "pave: an audit needs tables with `std::size_t size() const` and `blocks(std::size_t i) const`, a "
                  "range of the pool's ids");
    if constexpr (is_audit_tables_v<Tables, id_type>) {
      return audit_tables(tables, scratch, say);
    } else {
      return errc::invalid_argument;
    }
  }

 private:
  using scope = detail::lock_scope<lock_type>;

  [[nodiscard]] static constexpr block_id inner(id_type block) noexcept { return detail::id_cast<block_id>(block); }

  template <class Instance>
  void use(Instance&& instance) noexcept {
    using type = std::decay_t<Instance>;
    constexpr bool is_policy = std::is_same_v<type, observer_type> || std::is_same_v<type, free_list_type> ||
                               std::is_same_v<type, sharing_type> || std::is_same_v<type, fence_type> ||
                               std::is_same_v<type, retention_type>;
    constexpr bool is_lock = std::is_same_v<type, lock_type>;
    static_assert(!is_lock, "pave: a pool makes its lock itself: create takes no instance of it");
    static_assert(is_policy || is_lock, "pave: a pool's create takes instances of that pool's own policies");
    constexpr bool can_have = std::is_same_v<type, observer_type> || std::is_assignable_v<type&, Instance>;
    static_assert(can_have,
                  "pave: a policy that cannot be copied goes into its pool: give create a temporary, or move");
    if constexpr (std::is_same_v<type, observer_type>) {
      constexpr bool is_const = std::is_const_v<std::remove_reference_t<Instance>>;
      static_assert(std::is_lvalue_reference_v<Instance>,
                    "pave: an observer is watched by reference, and outlives the pool: create cannot take a temporary");
      static_assert(!is_const, "pave: an observer changes by what it is told: create cannot take a const one");
      if constexpr (!is_const) observer_.watch_by(instance);
    } else if constexpr (!can_have) {
      return;
    } else if constexpr (std::is_same_v<type, free_list_type>) {
      free_ = std::forward<Instance>(instance);
    } else if constexpr (std::is_same_v<type, sharing_type>) {
      sharing_ = std::forward<Instance>(instance);
    } else if constexpr (std::is_same_v<type, fence_type>) {
      fence_ = std::forward<Instance>(instance);
    } else if constexpr (std::is_same_v<type, retention_type>) {
      retention_ = std::forward<Instance>(instance);
    }
  }
  [[nodiscard]] bool reserve(block_count ids) noexcept {
    return free_.reserve(ids) && sharing_.reserve(ids) && fence_.reserve(ids) && retention_.reserve(ids);
  }

  template <class Tables, class Say>
  result<std::size_t> audit_tables(const Tables& tables, span<std::uint32_t> scratch, Say& say) const noexcept {
    const scope locked(lock_);
    if (scratch.size() < ids_.get()) return error{errc::buffer_too_small, block_count(ids_.get()) - scratch.size()};
    std::size_t broken = 0;
    const block_count distinct =
        detail::audit_holders(pins_, tables, scratch.first(ids_.get()), first_.get(), broken, say,
                              [this](std::size_t block) noexcept { return sharing_.holders(block); });
    const block_count counted_blocks = free_.size() + fence_.fenced() + distinct;
    if (counted_blocks != capacity_now()) {
      broken += 1;
      say(finding{finding_kind::counts_differ, -1, counted_blocks.value(), capacity_now().value()});
    }
    return broken;
  }

  [[nodiscard]] block_count blocks_asked(const pool_options& options) const noexcept {
    if constexpr (shares_memory) {
      const bool are_all = options.first_block == 0 && (options.blocks == 0 || options.blocks == free_.blocks());
      return are_all ? free_.blocks() : 0;
    } else {
      return options.blocks;
    }
  }
  [[nodiscard]] block_count capacity_now() const noexcept {
    if constexpr (shares_memory) {
      return capacity_.get() - free_.elsewhere();
    } else {
      return capacity_.get();
    }
  }
  [[nodiscard]] block_count held_now() const noexcept { return capacity_now() - free_.size() - fence_.fenced(); }
  [[nodiscard]] block_count wanted_capacity() const noexcept { return block_count(end_.get()) - first_.get(); }
  [[nodiscard]] bool in_range(id_type block) const noexcept { return block.index() < ids_.get(); }
  [[nodiscard]] bool is_held(id_type block) const noexcept {
    return in_range(block) && sharing_.holders(inner(block)) != 0;
  }
  /// Whether a block is held or on its way: one that leaves is still there. @pre it is in range
  [[nodiscard]] bool is_here(block_id block) const noexcept {
    return sharing_.holders(block) != 0 || fence_.is_fenced(block);
  }
  [[nodiscard]] bool are_held(span<const id_type> blocks) const noexcept {
    return std::all_of(blocks.begin(), blocks.end(), [this](id_type block) noexcept { return is_held(block); });
  }
  [[nodiscard]] bool is_there(kept_block_type kept) const noexcept {
    if (!keeps_content || !in_range(kept.block) || kept.generation == 0) return false;
    if (kept.generation != retention_.generation(inner(kept.block))) return false;
    return sharing_.holders(inner(kept.block)) != 0 || !fence_.is_fenced(inner(kept.block));
  }

  [[nodiscard]] error refuse(block_count wanted) const noexcept {
    if (wanted > wanted_capacity()) return error{errc::never_fits, wanted - wanted_capacity()};
    const block_count missing = wanted - free_.size();
    observer_.notice({event_kind::refused, missing, {}});
    return error{errc::shortage, missing};
  }

  /// @pre so many are free
  void take(span<id_type> out) noexcept {
    free_.take(out);
    hold(out);
  }
  void hold(span<id_type> taken) noexcept {
    for (const id_type block : taken) {
      sharing_.hold(inner(block));
      retention_.renew(inner(block));
    }
    if (!taken.empty()) observer_.notice({event_kind::allocated, taken.size(), {}});
  }
  /// The common case of a release in one pass: nobody else holds any of the blocks, and nothing delays them.
  /// @return false, and no change, where it is another case
  [[nodiscard]] bool release_only_holders(span<const id_type> blocks, content left) noexcept {
    constexpr bool can_put_all = detail::is_detected_v<detail::free_list_put_all, free_list_type, id_type>;
    constexpr bool can_drop_only = detail::is_detected_as_v<bool, detail::sharing_drop_only, sharing_type>;
    if constexpr (!delays && can_put_all && can_drop_only) {
      if (end_.get() != ids_.get()) return false;  // some may have to leave
      std::size_t dropped = 0;
      while (dropped < blocks.size() && in_range(blocks[dropped]) && sharing_.drop_only(inner(blocks[dropped]))) {
        ++dropped;
      }
      if (dropped < blocks.size()) {
        while (dropped > 0) sharing_.hold(inner(blocks[--dropped]));
        return false;
      }
      if (left == content::worthless) {
        for (const id_type block : blocks) retention_.lose(inner(block));
      }
      free_.put_all(blocks, left);
      return true;
    } else {
      return false;
    }
  }
  void free_if_last(block_id block, content left) noexcept {
    if (!sharing_.settle(block)) return;
    if (left == content::worthless) retention_.lose(block);
    fence_.release(block, left, to_free_list());
  }
  /// Where a block goes that is safe: to the free list, or out of a pool that shrinks.
  [[nodiscard]] auto to_free_list() noexcept {
    return [this](block_id block, content left) noexcept {
      if (block.index() < end_.get()) {
        free_.put(block, left);
      } else {
        retention_.lose(block);
        capacity_.get() -= 1;
      }
    };
  }
  void arrive() noexcept {
    const block_count before = fence_.fenced();
    fence_.complete(steps_.done(), to_free_list());
    if (fence_.fenced() != before) observer_.notice({event_kind::arrived, before - fence_.fenced(), steps_.done()});
  }
  void notice_freed(block_count held_before) const noexcept {
    const block_count freed = held_before - held_now();
    if (freed > 0) observer_.notice({event_kind::freed, freed, {}});
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

  detail::zero_on_move<block_count> capacity_;  // those that leave among them
  detail::zero_on_move<std::size_t> end_;       // ids from here on leave as they come free
  detail::zero_on_move<std::size_t> ids_;       // 0 … ids − 1 have their place in the policies
  detail::zero_on_move<block_count> first_;
  free_list_type free_;
  sharing_type sharing_;
  fence_type fence_;
  retention_type retention_;
  detail::step_window steps_;
  detail::pin_table pins_;
  detail::observer_ref<observer_type> observer_;
  mutable lock_type lock_;
};

}  // namespace v0
}  // namespace pave

#include <pave/detail/per_thread_pool.hpp>  // the pool under the lock policy `per_thread`

#endif
