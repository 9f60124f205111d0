// SPDX-License-Identifier: Apache-2.0
// A block that was given to another while a step still wrote into it (vLLM 45357).
#include "cases/each_pool.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

using pave_tests::block_list;
using pave_tests::for_each_pool;
using pave_tests::pool_kind;

TEST_CASE("case 03: a tail that a step in flight writes into is given out when that step is done (vLLM 45357)",
          "[cases]") {
  const std::int64_t tail = GENERATE(1, 2, 5);
  for_each_pool([tail](const auto& make, const pool_kind& kind) {
    const auto pool = make(5);
    pool->complete_through(6);
    const block_list blocks = pave_tests::take(*pool, 5);
    REQUIRE(pool->release({blocks.end() - tail, blocks.end()}, 7));
    CHECK(pave_tests::is_conserved(*pool, 5));
    block_list out(static_cast<std::size_t>(tail));
    if (kind.delays) {
      const pave_tests::answer refused = pool->allocate(out);
      CHECK(refused.code == pave::errc::shortage);
      CHECK(refused.missing == tail);
      CHECK(pool->arriving(6) == 0);
      CHECK(pool->arriving(7) == tail);
      REQUIRE(pool->complete(7));
    }
    CHECK(pool->allocate(out));
    std::sort(out.begin(), out.end());
    CHECK(std::equal(out.begin(), out.end(), blocks.end() - tail));
    CHECK(pave_tests::is_conserved(*pool, 5));
  });
}

TEST_CASE("case 03: a step that is done before an earlier one gives nothing out before that one is done, too",
          "[cases]") {
  std::vector<std::int64_t> order{7, 8, 9};
  do {
    for_each_pool([&order](const auto& make, const pool_kind& kind) {
      const auto pool = make(3);
      pool->complete_through(6);
      const block_list blocks = pave_tests::take(*pool, 3);
      for (std::size_t i = 0; i < 3; ++i) REQUIRE(pool->release({blocks[i]}, 9 - static_cast<std::int64_t>(i)));
      std::vector<bool> is_done(11);
      for (const std::int64_t step : order) {
        REQUIRE(pool->complete(step));
        is_done[static_cast<std::size_t>(step)] = true;
        std::int64_t done = 6;
        while (is_done[static_cast<std::size_t>(done + 1)]) ++done;
        CHECK(pool->counts().available == (kind.delays ? done - 6 : 3));
        CHECK(pave_tests::is_conserved(*pool, 3));
      }
    });
  } while (std::next_permutation(order.begin(), order.end()));
}
