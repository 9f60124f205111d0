// SPDX-License-Identifier: Apache-2.0
// A double free within one call (vLLM 42571).
#include "cases/each_pool.hpp"
#include "support/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

using pave_tests::all_holders;
using pave_tests::block_list;
using pave_tests::for_each_pool;
using pave_tests::is_conserved;
using pave_tests::pool_kind;

TEST_CASE("case 05: a block named twice in one release, with one holder, is refused and nothing moves (vLLM 42571)",
          "[cases]") {
  const std::size_t size = GENERATE(1U, 2U, 5U);
  const std::int64_t last_use = GENERATE(0, 3);
  for_each_pool([size, last_use](const auto& make, const pool_kind& /*kind*/) {
    const auto ids = static_cast<std::int64_t>(size);
    const auto pool = make(ids);
    for (std::size_t first = 0; first < size; ++first) {
      for (std::size_t again = 0; again <= size; ++again) {
        const block_list blocks = pave_tests::take(*pool, size);
        block_list named = blocks;
        named.insert(named.begin() + static_cast<std::ptrdiff_t>(again), blocks[first]);
        const auto before = all_holders(*pool, ids);
        CHECK(pool->release(named, last_use).code == pave::errc::not_held);
        CHECK(pool->counts().held == ids);
        CHECK(all_holders(*pool, ids) == before);
        REQUIRE(pool->release(blocks));  // and the step of the refused one is forgotten
        CHECK(pool->counts().available == ids);
        CHECK(is_conserved(*pool, ids));
      }
    }
  });
}

TEST_CASE("case 05: available grows by one for a block, however often it is released (vLLM 42571)", "[cases]") {
  const std::uint32_t holders = GENERATE(1U, 2U, 3U);
  for_each_pool([holders](const auto& make, const pool_kind& kind) {
    if (holders > kind.most_sequences) return;
    for (std::size_t names = 1; names <= 5; ++names) {
      const auto pool = make(3);
      const block_list block = pave_tests::take(*pool, 1);
      for (std::uint32_t i = 1; i < holders; ++i) REQUIRE(pool->share(block));
      const block_list named(names, block[0]);
      std::uint32_t left = holders;
      for (int call = 0; call < 6; ++call) {
        const bool allowed = names <= left;
        CHECK(bool(pool->release(named, 1)) == allowed);
        if (allowed) left -= static_cast<std::uint32_t>(names);
        CHECK(pool->holders(block[0]) == left);
        CHECK(pool->counts().available + pool->counts().fenced == (left == 0 ? 3 : 2));
        CHECK(is_conserved(*pool, 3));
      }
      pool->complete_through(1);
      CHECK(pool->counts().available == (left == 0 ? 3 : 2));
    }
  });
}
