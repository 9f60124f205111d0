// SPDX-License-Identifier: Apache-2.0
// Who may call the pool at the same time? The pool's slot `lock`.
#ifndef PAVE_POLICY_LOCK_HPP
#define PAVE_POLICY_LOCK_HPP

#include <pave/config.hpp>
#include <pave/detail/detect.hpp>

#include <type_traits>
#include <utility>

namespace pave {
inline namespace v0 {

namespace detail {
template <class Policy>
using lock_lock = decltype(std::declval<Policy&>().lock());
template <class Policy>
using lock_unlock = decltype(std::declval<Policy&>().unlock());

/// Holds a lock policy for one call.
template <class Lock>
class lock_scope {
 public:
  explicit lock_scope(Lock& lock) noexcept : lock_(lock) { lock_.lock(); }
  ~lock_scope() { lock_.unlock(); }
  lock_scope(const lock_scope&) = delete;
  lock_scope& operator=(const lock_scope&) = delete;

 private:
  Lock& lock_;
};
}  // namespace detail

/// @brief The contract of a lock: `lock()` and `unlock()`, as of the standard's BasicLockable, movable while unlocked.
template <class Policy>
inline constexpr bool is_lock_v = detail::all({
    detail::is_detected_v<detail::lock_lock, Policy>,
    detail::is_detected_v<detail::lock_unlock, Policy>,
    std::is_nothrow_move_constructible_v<Policy>,
    std::is_nothrow_move_assignable_v<Policy>,
});

#if PAVE_HAS_CONCEPTS
template <class Policy>
concept lock_policy = is_lock_v<Policy>;
#endif

/// @brief One scheduler thread, no lock.
struct unlocked {
  static constexpr void lock() noexcept {}
  static constexpr void unlock() noexcept {}
};
static_assert(is_lock_v<unlocked>);

}  // namespace v0
}  // namespace pave

#endif
