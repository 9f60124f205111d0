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
/// @param ids where the ids end, if not at the capacity
template <class Pool>
pave::block_count distinct_held(const Pool& pool, std::int64_t ids) {
  pave::block_count distinct = 0;
  for (std::int64_t block = 0; block < ids; ++block) {
    if (pool.holders(block) != 0) distinct += 1;
  }
  return distinct;
}

template <class Pool>
pave::block_count distinct_held(const Pool& pool) {
  return distinct_held(pool, pool.capacity().value());
}

/// Conservation: every block is available, fenced or held, and only one of them.
template <class Pool>
void check_conservation(const Pool& pool, std::int64_t ids) {
  const pave::block_count distinct = distinct_held(pool, ids);
  CHECK((pool.available() + pool.fenced() + distinct).value() == pool.capacity().value());
  CHECK(pool.held().value() == distinct.value());
  CHECK(pool.available().value() >= 0);
  CHECK(pool.fenced().value() >= 0);
}
template <class Pool>
void check_conservation(const Pool& pool) {
  check_conservation(pool, pool.capacity().value());
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
std::vector<typename Pool::id_type> take(Pool& pool, std::size_t count) {
  std::vector<typename Pool::id_type> blocks(count);
  REQUIRE(pool.allocate(blocks));
  return blocks;
}

inline std::vector<std::int32_t> values(pave::span<const pave::block_id> blocks) {
  const pave::span<const std::int32_t> numbers = pave::as_integers(blocks);
  return {numbers.begin(), numbers.end()};
}

/// first, first + 1, …
inline std::vector<std::int32_t> counting(std::int32_t first, std::size_t count) {
  std::vector<std::int32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

}  // namespace pave_tests

#endif  // PAVE_TESTS_SUPPORT_LAWS_HPP
