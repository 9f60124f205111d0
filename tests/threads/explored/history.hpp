// SPDX-License-Identifier: Apache-2.0
// The calls that threads made of a pool, and whether they are what the same calls one after the other could have done.
#ifndef PAVE_TESTS_THREADS_EXPLORED_HISTORY_HPP
#define PAVE_TESTS_THREADS_EXPLORED_HISTORY_HPP

#include <pave/result.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pave_tests {

enum class call_kind : std::uint8_t { allocate, share, release, available, open, close };

/// A block from the call that gave it to the release of its last holder. Which block a call gives is not specified, so
/// that the order of calls is judged by loans: the next loan of a block is another one.
using loan = std::size_t;
inline constexpr loan no_loan = 0;  // what is named without having been given

/// One call, from its first step to its last.
struct call {
  call_kind kind{};
  std::vector<loan> loans;  // named, or given
  std::int64_t number = 0;  // asked for, or the answer of `available`
  std::size_t first = 0, last = 0;
  pave::errc code{};
  std::int64_t missing = 0;

  [[nodiscard]] bool is_before(const call& other) const { return last < other.first; }
};

/// A pool of one thread, as plain as can be.
struct plain_pool {
  std::vector<std::int64_t> holders;  // of each loan
  std::int64_t available = 0;
  std::size_t handles = 0, most_handles = 0;

  [[nodiscard]] bool has(loan one, std::ptrdiff_t times) const { return one != no_loan && holders[one] >= times; }

  friend bool operator==(const plain_pool& a, const plain_pool& b) {
    return a.holders == b.holders && a.available == b.available && a.handles == b.handles;
  }
};

class history {
 public:
  void add(const call& done) { calls_.push_back(done); }
  [[nodiscard]] const std::vector<call>& calls() const { return calls_; }

  /// Whether some order of the calls leads from `before` to `after` with every answer as it was, and keeps a call
  /// behind those that had ended when it began.
  /// @cite J. Wing and C. Gong, Testing and Verifying Concurrent Objects, J. Parallel and Distributed Computing 17,
  /// 1993
  [[nodiscard]] bool is_explained(const plain_pool& before, const plain_pool& after) const {
    return search(before, after, std::vector<bool>(calls_.size(), false), calls_.size());
  }

  [[nodiscard]] std::string text() const {
    static const char* const names[] = {"allocate", "share", "release", "available", "open", "close"};
    std::string all;
    for (const call& one : calls_) {
      all += std::string("\n  ") + names[static_cast<std::size_t>(one.kind)] + ' ' + std::to_string(one.number) + " [";
      for (const loan given : one.loans) all += ' ' + std::to_string(given);
      all += std::string(" ]: ") + to_string(one.code) + ", missing " + std::to_string(one.missing) + ", steps " +
             std::to_string(one.first) + " to " + std::to_string(one.last);
    }
    return all;
  }

 private:
  [[nodiscard]] bool search(const plain_pool& pool,
                            const plain_pool& after,
                            const std::vector<bool>& done,
                            std::size_t left) const {
    if (left == 0) return pool == after;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (done[i] || has_to_wait(done, i)) continue;
      plain_pool next = pool;
      if (!apply(next, calls_[i])) continue;
      std::vector<bool> now_done = done;
      now_done[i] = true;
      if (search(next, after, now_done, left - 1)) return true;
    }
    return false;
  }
  [[nodiscard]] bool has_to_wait(const std::vector<bool>& done, std::size_t i) const {
    for (std::size_t j = 0; j < calls_.size(); ++j) {
      if (j != i && !done[j] && calls_[j].is_before(calls_[i])) return true;
    }
    return false;
  }

  /// @return whether the answer was right
  [[nodiscard]] bool apply(plain_pool& pool, const call& one) const {
    switch (one.kind) {
      case call_kind::available: return one.number <= pool.available;
      case call_kind::close: --pool.handles; return true;
      case call_kind::open:
        if (pool.handles == pool.most_handles) return one.code == pave::errc::table_full;
        ++pool.handles;
        break;
      case call_kind::allocate:
        if (one.number > pool.available)
          return one.code == pave::errc::shortage && one.missing == one.number - pool.available;
        for (const loan given : one.loans) pool.holders[given] = 1;
        pool.available -= one.number;
        break;
      case call_kind::share:
        for (const loan named : one.loans) {
          if (!pool.has(named, 1)) return one.code == pave::errc::not_held;
        }
        for (const loan named : one.loans) ++pool.holders[named];
        break;
      case call_kind::release:
        // Of calls that together release too much, more than one may be refused.
        if (one.code == pave::errc::not_held && meets_another(one)) return true;
        for (const loan named : one.loans) {
          if (!pool.has(named, std::count(one.loans.begin(), one.loans.end(), named)))
            return one.code == pave::errc::not_held;
        }
        for (const loan named : one.loans) {
          if (--pool.holders[named] == 0) ++pool.available;
        }
        break;
    }
    return one.code == pave::errc::ok;
  }
  /// Whether another release of one of these loans overlaps this one.
  [[nodiscard]] bool meets_another(const call& one) const {
    return std::any_of(calls_.begin(), calls_.end(), [&](const call& other) {
      if (&other == &one || other.kind != call_kind::release || one.is_before(other) || other.is_before(one))
        return false;
      return std::find_first_of(one.loans.begin(), one.loans.end(), other.loans.begin(), other.loans.end()) !=
             one.loans.end();
    });
  }

  std::vector<call> calls_;
};

}  // namespace pave_tests

#endif
