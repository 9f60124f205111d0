// SPDX-License-Identifier: Apache-2.0
// The pool under the lock policy `per_thread`: several threads use it at the same time, and none waits for another.
#ifndef PAVE_DETAIL_PER_THREAD_POOL_HPP
#define PAVE_DETAIL_PER_THREAD_POOL_HPP

#include <pave/config.hpp>
#include <pave/detail/block_credits.hpp>
#include <pave/detail/block_stacks.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/detail/shared_holders.hpp>
#include <pave/policy/fence.hpp>
#include <pave/policy/free_list.hpp>
#include <pave/policy/lock.hpp>
#include <pave/policy/observer.hpp>
#include <pave/policy/retention.hpp>
#include <pave/policy/sharing.hpp>
#include <pave/pool.hpp>
#include <pave/result.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace pave {
inline namespace v0 {

/// @brief A pool that several threads use at the same time, each best through a handle of its own, `local()`. It is
/// lock-free: a thread that is stopped in the midst of a call holds up no other. A handle prefers blocks whose
/// neighbours it took, and gets them back whoever releases them, so that handles keep to cache lines of their own; it
/// finds all other blocks too, so that an allocation which fits succeeds.
///
/// Calls of several threads do what they would do one after the other, each at some instant while it runs, as long as
/// each names only blocks whose holder it is. Of the others: a block never gets more or less holders than the calls
/// that succeeded account for; `not_held` is also said of a block that another call is just releasing, and where
/// several calls that release too much meet, all of them may be refused.
/// @threadsafety any member from any thread, except a move, which takes a pool that nobody uses
template <class Policies, class Atomics>
class block_pool<Policies, basic_per_thread<Atomics>> {
  static_assert(std::is_same_v<typename Policies::id, block_id>,
                "pave: per_thread takes only ids of 32 bits: block_id");
  static_assert(std::is_same_v<typename Policies::observer, silent>,
                "pave: per_thread takes only the observer silent: its calls have no order in which to be told");
  static_assert(
      std::is_same_v<typename Policies::free_list, last_released>,
      "pave: per_thread takes only the free_list last_released: which of its blocks come next is unspecified");
  static_assert(std::is_same_v<typename Policies::sharing, counted>,
                "pave: per_thread takes only the sharing counted: it counts the holders itself");
  static_assert(std::is_same_v<typename Policies::fence, at_once>,
                "pave: per_thread takes only the fence at_once: it has no steps to wait for");
  static_assert(std::is_same_v<typename Policies::retention, forget>,
                "pave: per_thread takes only the retention forget: a free block's content is gone");

 public:
  class local_handle;
  using id_type = block_id;
  using kept_block_type = kept_block;

  /// @brief Whether a free block's content can be asked for.
  static constexpr bool keeps_content = false;
  /// @brief Whether several sequences can hold a block.
  static constexpr bool can_share = true;
  /// @brief Whether a released block can be on its way for a while.
  static constexpr bool delays = false;

  /// @brief Makes a pool, all of it available. The only call that takes memory.
  /// @error `invalid_argument`: fewer than 1 block, or more than an id can name; fewer than 1 thread, or more than 64
  /// @error `out_of_memory`
  /// @complexity linear in the blocks; 8 bytes a block, and one for each 32
  [[nodiscard]] static result<block_pool> create(const pool_options& options) noexcept {
    constexpr block_count most = (std::numeric_limits<std::int32_t>::max)();
    if (options.blocks < 1 || options.first_block < 0 || options.first_block > most ||
        options.blocks > most - options.first_block) {
      return errc::invalid_argument;
    }
    if (options.threads < 1 || options.threads > credits_type::most_accounts) return errc::invalid_argument;
    block_pool pool;
    if (!pool.credits_.reserve(options.threads, options.blocks) ||
        !pool.stacks_.reserve(options.threads + 1, options.blocks) || !pool.holders_.reserve(options.blocks) ||
        !pool.open_.reserve(1)) {
      return errc::out_of_memory;
    }
    if (options.threads < 64) pool.open_[0].store(all_open << options.threads, std::memory_order_relaxed);
    pool.capacity_ = options.blocks;
    pool.first_ = options.first_block;
    return pool;
  }

  /// @brief An empty pool, of capacity 0, as a moved-from one is.
  block_pool() noexcept = default;

  /// @return blocks in all
  [[nodiscard]] block_count capacity() const noexcept { return capacity_.get(); }
  /// @return blocks that `allocate` can give: exactly while no other thread takes or releases any, and else at most
  ///   as many as there were at some instant during the call
  /// @complexity linear in the threads
  [[nodiscard]] block_count available() const noexcept { return credits_.available(); }
  /// @return 0: a released block is available at once
  [[nodiscard]] static block_count fenced() noexcept { return 0; }
  /// @return distinct blocks with one holder or more; as exact as `available`
  [[nodiscard]] block_count held() const noexcept { return capacity() - available(); }
  /// @return how many hold `block`; 0 where it is free or out of range
  [[nodiscard]] std::uint32_t holders(block_id block) const noexcept {
    return in_range(block) ? holders_.holders(inner(block)) : 0;
  }

  /// @brief Opens a handle, for one thread at a time. It ends with its life, and another one may take its place.
  /// @error `table_full`: `pool_options::threads` handles are open, or the pool has no capacity
  /// @complexity linear in the threads
  [[nodiscard]] result<local_handle> local() noexcept {
    if (open_.size() == 0) return errc::table_full;
    std::uint64_t seen = open_[0].load(std::memory_order_relaxed);
    while (seen != all_open) {
      const std::uint64_t lowest = ~seen & (seen + 1);
      // Acquire: what the last owner of the place did comes first.
      if (!open_[0].compare_exchange_strong(seen, seen | lowest, std::memory_order_acquire, std::memory_order_relaxed))
        continue;
      std::size_t place = 1;
      while (lowest >> (place - 1) != 1) ++place;
      return local_handle(*this, place);
    }
    return errc::table_full;
  }

  /// @brief As the same call of a handle, from a thread that has none; slower where several threads do so.
  result<void> allocate(span<block_id> out) noexcept { return allocate_at(no_handle, out); }
  /// @brief As the same call of a handle.
  result<void> share(span<const block_id> blocks) noexcept { return share_at(no_handle, blocks); }
  /// @brief As the same call of a handle, from a thread that has none; slower where several threads do so.
  result<void> release(span<const block_id> blocks,
                       step_id /*last_use*/ = {},
                       content /*left*/ = content::worth_keeping) noexcept {
    return release_at(no_handle, blocks);
  }

 private:
  using credits_type = detail::block_credits<Atomics>;
  using stacks_type = detail::block_stacks<Atomics>;

  /// The place, among accounts and stacks, of the calls without a handle; the handles' count from 1.
  static constexpr std::size_t no_handle = credits_type::till;
  static constexpr std::uint64_t all_open = ~std::uint64_t{0};

  [[nodiscard]] bool in_range(block_id block) const noexcept {
    return static_cast<std::uint64_t>(block.value() - first_.value()) <
           static_cast<std::uint64_t>(capacity_.get().value());
  }
  /// The same block, counted from 0.
  [[nodiscard]] block_id inner(block_id block) const noexcept { return block.value() - first_.value(); }
  [[nodiscard]] bool are_held(span<const block_id> blocks) const noexcept {
    for (const block_id block : blocks) {
      if (!in_range(block) || !holders_.is_held(inner(block))) return false;
    }
    return true;
  }

  result<void> allocate_at(std::size_t place, span<block_id> out) noexcept {
    const block_count wanted = out.size();
    if (wanted > capacity()) return error{errc::never_fits, wanted - capacity()};
    if (out.empty()) return {};
    const block_count missing = credits_.take(place, out.size());
    if (missing > 0) return error{errc::shortage, missing};
    stacks_.pop(place, out);
    for (block_id& block : out) {
      holders_.hold(block);
      block = block.value() + first_.value();
    }
    return {};
  }

  result<void> share_at(std::size_t place, span<const block_id> blocks) noexcept {
    if (!are_held(blocks)) return errc::not_held;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const errc shared = holders_.share(inner(blocks[i]));
      if (shared == errc::ok) continue;
      // One by one: a call that released too much may have taken the new holder of some.
      while (i > 0) static_cast<void>(release_at(place, blocks.subspan(--i, 1)));
      return shared;
    }
    return {};
  }

  result<void> release_at(std::size_t place, span<const block_id> blocks) noexcept {
    if (!are_held(blocks)) return errc::not_held;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (holders_.mark(inner(blocks[i]))) continue;
      while (i > 0) holders_.unmark(inner(blocks[--i]));
      return errc::not_held;
    }
    typename stacks_type::chain freed;
    std::size_t count = 0;
    for (const block_id block : blocks) {
      if (!holders_.drop_marked(inner(block))) continue;
      stacks_.add(freed, inner(block));
      ++count;
    }
    if (count == 0) return {};
    stacks_.push(freed);
    credits_.give(place, count);
    return {};
  }

  void close(std::size_t place) noexcept {
    open_[0].fetch_and(~(std::uint64_t{1} << (place - 1)), std::memory_order_release);
  }

  detail::zero_on_move<block_count> capacity_;
  block_count first_;
  credits_type credits_;
  stacks_type stacks_;
  detail::shared_holders<Atomics> holders_;
  detail::buffer<typename Atomics::template atomic<std::uint64_t>> open_;  // a bit a handle: in use, or beyond them
};

/// @brief A thread's way into the pool. Of what it took it gets back first what was released last, by whomever.
/// @pre the pool outlives it, and is not moved while it lives
/// @threadsafety one thread at a time; several handles at the same time
template <class Policies, class Atomics>
class block_pool<Policies, basic_per_thread<Atomics>>::local_handle {
 public:
  using id_type = block_id;

  local_handle(local_handle&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)), place_(other.place_) {}
  local_handle& operator=(local_handle&& other) noexcept {
    local_handle taken(std::move(other));
    std::swap(pool_, taken.pool_);
    std::swap(place_, taken.place_);
    return *this;
  }
  local_handle(const local_handle&) = delete;
  local_handle& operator=(const local_handle&) = delete;
  ~local_handle() {
    if (pool_ != nullptr) pool_->close(place_);
  }

  /// @brief Gives `out.size()` blocks, each with one holder, or none.
  /// @param out [out] the ids
  /// @pre the handle was not moved away, here and below
  /// @error `shortage`, with the blocks that were missing at some instant during the call
  /// @error `never_fits`, with the blocks beyond the capacity. `out` is then untouched
  /// @complexity linear in the blocks given; and in the threads, where too few of its own are free
  result<void> allocate(span<block_id> out) noexcept { return pool_->allocate_at(place_, out); }

  /// @brief Adds a holder to each of `blocks`, or to none; a block named twice gets two.
  /// @error `not_held`: a block is free or out of range
  /// @error `table_full`: a block has 65,535 holders
  /// @complexity linear in the blocks named
  result<void> share(span<const block_id> blocks) noexcept { return pool_->share_at(place_, blocks); }

  /// @brief Takes a holder from each of `blocks`, or from none; a block without holders comes free, whichever thread
  /// allocated it.
  /// @error `not_held`: a block is free, out of range, or named more often than it has holders
  /// @complexity linear in the blocks named
  result<void> release(span<const block_id> blocks,
                       step_id /*last_use*/ = {},
                       content /*left*/ = content::worth_keeping) noexcept {
    return pool_->release_at(place_, blocks);
  }

 private:
  friend class block_pool;

  local_handle(block_pool& pool, std::size_t place) noexcept : pool_(&pool), place_(place) {}

  block_pool* pool_;
  std::size_t place_;
};

}  // namespace v0
}  // namespace pave

#endif
