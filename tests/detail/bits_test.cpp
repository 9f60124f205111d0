// SPDX-License-Identifier: Apache-2.0
// What a word tells of its ones is what looking at each bit tells.
#include "model/random.hpp"
#include "support/catch.hpp"

#include <pave/detail/bits.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

bool has(std::uint64_t word, std::size_t at) { return ((word >> at) & 1U) != 0; }

/// Ones in a row from `at` on.
std::size_t ones_from(std::uint64_t word, std::size_t at) {
  std::size_t count = 0;
  while (at + count < 64 && has(word, at + count)) ++count;
  return count;
}

void check_word(std::uint64_t word) {
  using namespace pave::detail;  // NOLINT(google-build-using-namespace)
  using pave_tests::expect;
  std::vector<std::size_t> ones;
  std::size_t longest = 0;
  std::size_t back = 0;
  for (std::size_t at = 0; at < 64; ++at) {
    if (has(word, at)) ones.push_back(at);
    longest = (std::max)(longest, ones_from(word, at));
    if (at + ones_from(word, at) == 64) back = (std::max)(back, 64 - at);
  }
  if (!ones.empty()) {
    expect(lowest_one(word) == ones.front() && plain_lowest_one(word) == ones.front(), "the lowest one");
    expect(highest_one(word) == ones.back() && plain_highest_one(word) == ones.back(), "the highest one");
  }
  expect(count_ones(word) == ones.size(), "the number of ones");
  expect(ones_at_front(word) == ones_from(word, 0), "ones at the front");
  expect(ones_at_back(word) == back, "ones at the back");
  expect(longest_ones(word) == longest, "the most ones in a row");
  for (std::size_t length = 1; length <= 64; ++length) {
    std::uint64_t starts = 0;
    for (const std::size_t at : ones) {
      if (ones_from(word, at) >= length) starts |= std::uint64_t{1} << at;
    }
    expect(starts_of_ones(word, length) == starts, "where so many in a row begin");
  }
}

}  // namespace

TEST_CASE("bits: one row of ones, at any place", "[detail]") {
  check_word(0);
  for (std::size_t first = 0; first < 64; ++first) {
    for (std::size_t length = 1; length <= 64 - first; ++length) {
      const std::uint64_t row = (~std::uint64_t{0} >> (64 - length)) << first;
      check_word(row);
      check_word(~row);
    }
  }
  SUCCEED();
}

TEST_CASE("bits: any word", "[detail]") {
  pave_tests::for_each_seed(300, [](std::uint64_t seed) {
    pave_tests::random_source random(seed);
    const std::uint64_t word = random.word();
    check_word(word);
    check_word(word & random.word());
    check_word(word | random.word() | random.word());
  });
}
