// SPDX-License-Identifier: Apache-2.0
// Atomics whose every access is a step that the explorer schedules.
#ifndef PAVE_TESTS_THREADS_EXPLORED_EXPLORED_ATOMICS_HPP
#define PAVE_TESTS_THREADS_EXPLORED_EXPLORED_ATOMICS_HPP

#include "threads/explored/explorer.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pave_tests {

/// @tparam Compared the bits that an exchange compares: fewer make a machine that forgets tags and versions
template <class T, std::uint64_t Compared>
class explored_atomic {
 public:
  explored_atomic() = default;
  explored_atomic(T value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  explored_atomic(const explored_atomic&) = delete;
  explored_atomic& operator=(const explored_atomic&) = delete;

  T load(std::memory_order /*order*/ = std::memory_order_seq_cst) const {
    T value{};
    explorer::step(place_, [&] {
      value = value_;
      return access::kind::read;
    });
    return value;
  }
  void store(T value, std::memory_order /*order*/ = std::memory_order_seq_cst) {
    explorer::step(place_, [&] {
      value_ = value;
      return access::kind::write;
    });
  }
  bool compare_exchange_strong(T& expected,
                               T wanted,
                               std::memory_order /*success*/ = std::memory_order_seq_cst,
                               std::memory_order /*failure*/ = std::memory_order_seq_cst) {
    bool is_same = false;
    explorer::step(place_, [&] {
      is_same = ((value_ ^ expected) & static_cast<T>(Compared)) == 0;
      (is_same ? value_ : expected) = is_same ? wanted : value_;
      return is_same ? access::kind::write : access::kind::read;
    });
    return is_same;
  }
  T fetch_sub(T less, std::memory_order /*order*/ = std::memory_order_seq_cst) {
    return change([less](T value) { return static_cast<T>(value - less); });
  }
  T fetch_and(T mask, std::memory_order /*order*/ = std::memory_order_seq_cst) {
    return change([mask](T value) { return static_cast<T>(value & mask); });
  }

 private:
  template <class Change>
  T change(Change changed) {
    T before{};
    explorer::step(place_, [&] {
      before = value_;
      value_ = changed(before);
      return access::kind::write;
    });
    return before;
  }

  T value_{};
  std::size_t place_ = explorer::new_place();
};

template <std::uint64_t Compared = ~std::uint64_t{0}>
struct explored_atomics {
  template <class T>
  using atomic = explored_atomic<T, Compared>;
};

}  // namespace pave_tests

#endif
