// SPDX-License-Identifier: Apache-2.0
// The laws that hold after every call, checked from outside.
#ifndef PAVE_TESTS_SUPPORT_LAWS_HPP
#define PAVE_TESTS_SUPPORT_LAWS_HPP

#include "support/catch.hpp"

#include <pave/pool.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace pave_tests {

/// Blocks with a holder, counted one by one.
template <class Pool>
pave::block_count distinct_held(const Pool& pool) {
  pave::block_count distinct = 0;
  for (std::int64_t block = 0; block < pool.capacity().value(); ++block) {
    if (pool.holders(block) != 0) distinct += 1;
  }
  return distinct;
}

/// Conservation: every block is available, fenced or held, and only one of them.
template <class Pool>
void check_conservation(const Pool& pool) {
  const pave::block_count distinct = distinct_held(pool);
  CHECK((pool.available() + pool.fenced() + distinct).value() == pool.capacity().value());
  CHECK(pool.held().value() == distinct.value());
  CHECK(pool.available().value() >= 0);
  CHECK(pool.fenced().value() >= 0);
}

/// The holders of every block, to see that a refused call moved nothing.
template <class Pool>
std::vector<std::uint32_t> all_holders(const Pool& pool) {
  std::vector<std::uint32_t> all;
  for (std::int64_t block = 0; block < pool.capacity().value(); ++block) all.push_back(pool.holders(block));
  return all;
}

/// `count` blocks of the pool; the test ends where it has too few.
template <class Pool>
std::vector<pave::block_id> take(Pool& pool, std::size_t count) {
  std::vector<pave::block_id> blocks(count);
  REQUIRE(pool.allocate(blocks));
  return blocks;
}

inline std::vector<std::int32_t> values(pave::span<const pave::block_id> blocks) {
  std::vector<std::int32_t> numbers;
  for (const pave::block_id block : blocks) numbers.push_back(block.value());
  return numbers;
}

/// first, first + 1, …
inline std::vector<std::int32_t> counting(std::int32_t first, std::size_t count) {
  std::vector<std::int32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

}  // namespace pave_tests

#endif  // PAVE_TESTS_SUPPORT_LAWS_HPP
