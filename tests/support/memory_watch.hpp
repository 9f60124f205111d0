// SPDX-License-Identifier: Apache-2.0
// What the memory that a test takes is counted by, and refused: no_allocation_test.cpp replaces the operators.
#ifndef PAVE_TESTS_SUPPORT_MEMORY_WATCH_HPP
#define PAVE_TESTS_SUPPORT_MEMORY_WATCH_HPP

#include "support/catch.hpp"

#include <pave/result.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace pave_tests {

struct memory_watch {
  bool is_on = false;
  std::int64_t taken = 0, given_back = 0, asked = 0;
  std::size_t bytes = 0;      // of those that were taken
  std::int64_t refused = -1;  // the number of the request that is refused, from 0
  std::size_t largest = (std::numeric_limits<std::size_t>::max)();
};
extern memory_watch watch;

/// Counts while it lives.
struct watched {
  explicit watched(std::int64_t refused = -1, std::size_t largest = (std::numeric_limits<std::size_t>::max)()) {
    watch = {true, 0, 0, 0, 0, refused, largest};
  }
  ~watched() { watch.is_on = false; }
  watched(const watched&) = delete;
  watched& operator=(const watched&) = delete;
};

/// Refuses the first request of `create`, then the second, …, until it needs no more.
template <class Create>
void require_all_is_given_back(Create create) {
  std::int64_t refused = 0;
  for (bool is_made = false; !is_made; ++refused) {
    pave::errc code{};
    {
      const watched memory(refused);
      code = create();
    }
    is_made = code == pave::errc::ok;
    const bool is_refused = code == pave::errc::out_of_memory;
    REQUIRE(is_made != is_refused);
    REQUIRE(watch.taken == watch.given_back);
    REQUIRE(watch.asked == (is_made ? refused : refused + 1));
  }
  REQUIRE(refused > 1);
}

}  // namespace pave_tests

#endif  // PAVE_TESTS_SUPPORT_MEMORY_WATCH_HPP
