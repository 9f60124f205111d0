// SPDX-License-Identifier: Apache-2.0
// A double free within one call (vLLM 42571).
#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/pool.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

TEST_CASE("case 05: a block named twice in one release, with one holder, is refused and nothing moves (vLLM 42571)",
          "[cases]") {
  const std::size_t size = GENERATE(1U, 2U, 5U, 9U);
  for (std::size_t first = 0; first < size; ++first) {
    for (std::size_t again = 0; again <= size; ++again) {
      auto made = pave::block_pool<>::create({size});
      REQUIRE(made);
      auto pool = std::move(*made);
      const auto blocks = pave_tests::take(pool, size);
      auto named = blocks;
      named.insert(named.begin() + static_cast<std::ptrdiff_t>(again), blocks[first]);
      const auto before = pave_tests::all_holders(pool);
      CHECK(pool.release(named).code() == pave::errc::not_held);
      CHECK(pool.available().value() == 0);
      CHECK(pave_tests::all_holders(pool) == before);
      pave_tests::check_conservation(pool);
      REQUIRE(pool.release(blocks));
      CHECK(pool.available() == size);
    }
  }
}

TEST_CASE("case 05: available grows by one for a block, however often it is released (vLLM 42571)", "[cases]") {
  const std::uint32_t holders = GENERATE(1U, 2U, 3U);
  for (std::size_t names = 1; names <= 5; ++names) {
    auto made = pave::block_pool<>::create({3});
    REQUIRE(made);
    auto pool = std::move(*made);
    const auto block = pave_tests::take(pool, 1);
    for (std::uint32_t i = 1; i < holders; ++i) REQUIRE(pool.share(block));
    const std::vector<pave::block_id> named(names, block[0]);
    std::uint32_t left = holders;
    for (int call = 0; call < 6; ++call) {
      const bool allowed = names <= left;
      CHECK(pool.release(named).has_value() == allowed);
      if (allowed) left -= static_cast<std::uint32_t>(names);
      CHECK(pool.holders(block[0]) == left);
      CHECK(pool.available().value() == (left == 0 ? 3 : 2));
      pave_tests::check_conservation(pool);
    }
  }
}
