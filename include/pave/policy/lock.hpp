// SPDX-License-Identifier: Apache-2.0
// Who may call the pool at the same time? The pool's slot `lock`.
#ifndef PAVE_POLICY_LOCK_HPP
#define PAVE_POLICY_LOCK_HPP

#include <pave/config.hpp>
#include <pave/detail/detect.hpp>

#include <atomic>
#include <mutex>
#include <type_traits>
#include <utility>

namespace pave {
inline namespace v0 {

namespace detail {
template <class Policy>
using lock_lock = decltype(std::declval<Policy&>().lock());
template <class Policy>
using lock_unlock = decltype(std::declval<Policy&>().unlock());

template <class Policy>
using lock_is_deterministic = decltype(Policy::is_deterministic);

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

/// @brief Any thread may call, one after the other. A pool that moves gets a mutex of its own.
class mutex {
 public:
  mutex() noexcept = default;
  mutex(mutex&& /*other*/) noexcept {}
  mutex& operator=(mutex&& /*other*/) noexcept { return *this; }
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  ~mutex() = default;

  void lock() noexcept { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};
static_assert(is_lock_v<mutex>);

/// @brief The atomics of the standard library: what `basic_per_thread` stands on.
struct std_atomics {
  template <class T>
  using atomic = std::atomic<T>;
};

/// @brief Any thread may call at any time, and none waits for another: the pool is lock-free, and gives each thread a
/// handle, `local()`, for its own blocks. It takes the default policies only, and which blocks come next is
/// unspecified.
/// @tparam Atomics has a template `atomic<T>` with the members of `std::atomic<T>`; a test brings its own
template <class Atomics = std_atomics>
struct basic_per_thread {
  static constexpr bool is_deterministic = false;
};
using per_thread = basic_per_thread<>;

/// @brief Whether the same calls give the same blocks on every rank. A lock policy that does not say so,
/// `static constexpr bool is_deterministic`, is.
template <class Policy>
inline constexpr bool is_deterministic_v = [] {
  if constexpr (detail::is_detected_v<detail::lock_is_deterministic, Policy>) {
    return bool{Policy::is_deterministic};
  } else {
    return true;
  }
}();
static_assert(is_deterministic_v<unlocked> && is_deterministic_v<mutex> && !is_deterministic_v<per_thread>);

}  // namespace v0
}  // namespace pave

#endif
