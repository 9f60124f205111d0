// SPDX-License-Identifier: Apache-2.0
// A store that read a block which had been given to another (vLLM 52360, LMCache 4955).
#include "cases/each_pool.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

using pave_tests::block_list;
using pave_tests::for_each_pool;
using pave_tests::pool_kind;

TEST_CASE("case 04: a tail that a store reads stays out of all hands until the store has it (vLLM 52360, LMCache 4955)",
          "[cases]") {
  const std::int64_t tail = GENERATE(1, 3, 6);
  const std::int64_t read_until = GENERATE(0, 2, 9);  // the step beside which the store reads
  for_each_pool([tail, read_until](const auto& make, const pool_kind& kind) {
    const auto pool = make(6);
    const block_list blocks = pave_tests::take(*pool, 6);
    const block_list end(blocks.end() - tail, blocks.end());
    pave::pin_token store;
    REQUIRE(pool->pin(end, store));
    REQUIRE(pool->release(end, 2));  // the cut
    for (int call = 0; call < 3; ++call) {
      block_list out(1);
      CHECK(pool->allocate(out).code == pave::errc::shortage);
      CHECK(pool->counts().held == 6);
      CHECK(pool->release(end, 9).code == pave::errc::not_held);
      pool->complete_through(call);
    }
    CHECK(pave_tests::is_conserved(*pool, 6));
    REQUIRE(pool->unpin(store, read_until));
    CHECK(pave_tests::is_conserved(*pool, 6));
    CHECK(pool->counts().available == (kind.delays && read_until > 2 ? 0 : tail));
    pool->complete_through(read_until);
    block_list out(static_cast<std::size_t>(tail));
    CHECK(pool->allocate(out));
    std::sort(out.begin(), out.end());
    CHECK(out == end);
    CHECK(pool->unpin(store).code == pave::errc::stale);
    CHECK(pool->counts().held == 6);
  });
}
