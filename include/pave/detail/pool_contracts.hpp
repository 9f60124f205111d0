// SPDX-License-Identifier: Apache-2.0
// The contracts of a pool's policies, each requirement with the one line that a wrong policy gets.
#ifndef PAVE_DETAIL_POOL_CONTRACTS_HPP
#define PAVE_DETAIL_POOL_CONTRACTS_HPP

#include <pave/detail/detect.hpp>
#include <pave/policy/fence.hpp>
#include <pave/policy/free_list.hpp>
#include <pave/policy/lock.hpp>
#include <pave/policy/observer.hpp>
#include <pave/policy/retention.hpp>
#include <pave/policy/sharing.hpp>
#include <pave/units.hpp>

#include <cstdint>
#include <type_traits>

namespace pave {
inline namespace v0 {
namespace detail {

template <class Id>
inline constexpr bool is_block_id_v = false;
template <class Integer>
inline constexpr bool is_block_id_v<basic_block_id<Integer>> = true;

template <class Policies>
struct pool_contracts {
  using id_type = typename Policies::id;
  using free_list_type = typename Policies::free_list;
  using sharing_type = typename Policies::sharing;
  using fence_type = typename Policies::fence;
  using retention_type = typename Policies::retention;
  using lock_type = typename Policies::lock;
  using observer_type = typename Policies::observer;

  static_assert(is_block_id_v<id_type>, "pave: a pool's id is a basic_block_id of some integer");
  static_assert(is_detected_as_v<bool, free_list_reserve, free_list_type>,
                "pave: a free_list policy needs `bool reserve(block_count ids)`");
  static_assert(shares_memory_v<free_list_type> || is_detected_v<free_list_add, free_list_type>,
                "pave: a free_list policy needs `void add(block_id first, block_id last)`");
  static_assert(is_detected_v<free_list_take, free_list_type, id_type>,
                "pave: a free_list policy needs `void take(span<Id> out)`, of the pool's ids");
  static_assert(shares_memory_v<free_list_type> || is_detected_v<free_list_withdraw, free_list_type>,
                "pave: a free_list policy needs `void withdraw(block_id first)`");
  static_assert(is_detected_v<free_list_put, free_list_type>,
                "pave: a free_list policy needs `void put(block_id block, content left)`");
  static_assert(is_detected_as_v<block_count, free_list_size, free_list_type>,
                "pave: a free_list policy needs `block_count size() const`");
  static_assert(is_detected_as_v<bool, sharing_reserve, sharing_type>,
                "pave: a sharing policy needs `bool reserve(block_count ids)`");
  static_assert(is_detected_as_v<std::uint32_t, sharing_holders, sharing_type>,
                "pave: a sharing policy needs `std::uint32_t holders(block_id block) const`");
  static_assert(is_detected_v<sharing_hold, sharing_type>, "pave: a sharing policy needs `void hold(block_id block)`");
  static_assert(is_detected_as_v<bool, sharing_share, sharing_type>,
                "pave: a sharing policy needs `bool share(block_id block)`");
  static_assert(is_detected_as_v<bool, sharing_drop, sharing_type>,
                "pave: a sharing policy needs `bool drop(block_id block)`");
  static_assert(is_detected_v<sharing_undo_drop, sharing_type>,
                "pave: a sharing policy needs `void undo_drop(block_id block)`");
  static_assert(is_detected_as_v<bool, sharing_settle, sharing_type>,
                "pave: a sharing policy needs `bool settle(block_id block)`");
  static_assert(is_detected_as_v<bool, sharing_pin, sharing_type>,
                "pave: a sharing policy needs `bool pin(block_id block)`");
  static_assert(is_detected_v<sharing_unpin, sharing_type>,
                "pave: a sharing policy needs `void unpin(block_id block)`");
  static_assert(is_detected_as_v<bool, fence_reserve, fence_type>,
                "pave: a fence policy needs `bool reserve(block_count ids)`");
  static_assert(is_detected_v<fence_release, fence_type>,
                "pave: a fence policy needs `void release(block_id block, content left, Sink&& available)`");
  static_assert(is_detected_v<fence_used, fence_type>,
                "pave: a fence policy needs `void used(block_id block, step_id last_use)`");
  static_assert(is_detected_as_v<bool, fence_delays, fence_type>,
                "pave: a fence policy needs `static constexpr bool delays`");
  static_assert(is_detected_v<fence_complete, fence_type>,
                "pave: a fence policy needs `void complete(step_id step, Sink&& available)`");
  static_assert(is_detected_as_v<block_count, fence_fenced, fence_type>,
                "pave: a fence policy needs `block_count fenced() const`");
  static_assert(is_detected_as_v<block_count, fence_arriving, fence_type>,
                "pave: a fence policy needs `block_count arriving(step_id by) const`");
  static_assert(is_detected_as_v<bool, fence_is_fenced, fence_type>,
                "pave: a fence policy needs `bool is_fenced(block_id block) const`");
  static_assert(is_detected_as_v<bool, fence_is_in_use, fence_type>,
                "pave: a fence policy needs `bool is_in_use(block_id block) const`");
  static_assert(is_detected_as_v<bool, retention_keeps_content, retention_type>,
                "pave: a retention policy needs `static constexpr bool keeps_content`");
  static_assert(is_detected_as_v<bool, retention_reserve, retention_type>,
                "pave: a retention policy needs `bool reserve(block_count ids)`");
  static_assert(is_detected_v<retention_renew, retention_type>,
                "pave: a retention policy needs `void renew(block_id block)`");
  static_assert(is_detected_v<retention_lose, retention_type>,
                "pave: a retention policy needs `void lose(block_id block)`");
  static_assert(is_detected_as_v<std::uint32_t, retention_generation, retention_type>,
                "pave: a retention policy needs `std::uint32_t generation(block_id block) const`");
  static_assert(is_detected_v<lock_lock, lock_type>, "pave: a lock policy needs `void lock()`");
  static_assert(is_detected_v<lock_unlock, lock_type>, "pave: a lock policy needs `void unlock()`");
  static_assert(std::is_nothrow_move_constructible_v<lock_type> && std::is_nothrow_move_assignable_v<lock_type>,
                "pave: a lock policy has to be movable while it is unlocked");
  static_assert(
      !shares_memory_v<free_list_type> || std::is_same_v<lock_type, unlocked>,
      "pave: pools that share a memory are used by one thread at a time: a free_list such as from_slabs needs "
      "the lock unlocked");
  static_assert(!shares_memory_v<free_list_type> || !keeps_content_v<retention_type>,
                "pave: a pool that shares its memory keeps no content in free blocks, which other pools write into: a "
                "free_list such as from_slabs needs the retention forget");
  static_assert(!keeps_content_v<retention_type> || shares_memory_v<free_list_type> || can_revive_v<free_list_type>,
                "pave: a retention that keeps content needs a free_list that can revive a block: name "
                "least_recently_released, or give yours `bool remove(block_id)` and `void undo_remove(block_id)`");
  static_assert(is_observer_v<observer_type>, "pave: an observer policy needs `void notice(const event& what)`");
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
