// SPDX-License-Identifier: Apache-2.0
// A case in every pool that the stock policies make.
#ifndef PAVE_TESTS_CASES_EACH_POOL_HPP
#define PAVE_TESTS_CASES_EACH_POOL_HPP

#include "model/any_pool.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace pave_tests {

/// Calls `body(make, kind)` for every pool; `make(blocks)` makes a new one.
template <class Body>
void for_each_pool(Body body) {
  for (const pool_maker& maker : every_pool()) {
    INFO(maker.name);
    const auto make = [&maker](std::int64_t blocks) {
      pave::pool_options options;
      options.blocks = blocks;
      return maker.make(options);
    };
    body(make, maker.kind);
  }
}

inline block_list take(any_pool& pool, std::size_t count) {
  block_list blocks(count);
  REQUIRE(pool.allocate(blocks));
  return blocks;
}

inline std::vector<std::uint32_t> all_holders(const any_pool& pool, std::int64_t ids) {
  std::vector<std::uint32_t> all;
  for (std::int64_t block = 0; block < ids; ++block) all.push_back(pool.holders(block));
  return all;
}

/// Conservation, with the held blocks counted one by one.
inline bool is_conserved(const any_pool& pool, std::int64_t ids) {
  const pool_counts counts = pool.counts();
  const auto holders = all_holders(pool, ids);
  const auto distinct = ids - std::count(holders.begin(), holders.end(), 0U);
  return counts.available >= 0 && counts.fenced >= 0 && counts.held == distinct &&
         counts.available + counts.fenced + distinct == counts.capacity;
}

}  // namespace pave_tests

#endif  // PAVE_TESTS_CASES_EACH_POOL_HPP
