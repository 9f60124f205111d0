// SPDX-License-Identifier: Apache-2.0
// An over-allocated tail that leaked, or was freed twice, with overlapped scheduling (SGLang 11970, 11981).
#include "cases/each_pool.hpp"
#include "cases/scene.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

TEST_CASE(
    "case 07: a sequence gives back all blocks that it holds, once, also those without tokens yet (SGLang 11970, "
    "11981)",
    "[cases]") {
  const std::int64_t each = GENERATE(1, 2, 16, 64);
  const std::int64_t computed = GENERATE(1, 16, 47, 48, 63);
  const std::int64_t drafts = GENERATE(0, 1, 2, 17, 40);
  const bool aborts = GENERATE(false, true);
  const int in_flight = GENERATE(0, 1, 2);  // complete, launched, open
  CAPTURE(each, computed, drafts, aborts, in_flight);
  pave_tests::scene<> s(200, each);
  const auto other = s.run(1, 2 * each);
  const auto id = s.run(2, computed);
  const auto step = s.open();
  REQUIRE(s.cache.grow_or_reclaim(id, drafts, s.cuts));
  if (in_flight == 0) REQUIRE(s.cache.complete(step));
  if (in_flight == 1) s.open();
  const std::int64_t held = (computed + drafts + each - 1) / each;
  CHECK(s.held(id) == held);

  REQUIRE((aborts ? s.cache.abort(id) : s.cache.finish(id)));
  CHECK(s.available() == 200 - 2);
  pave_tests::check_conservation(s.cache.pool());
  const auto before = pave_tests::look(s.cache, {other});
  CHECK(s.cache.finish(id).code() == pave::errc::stale);
  CHECK(s.cache.abort(id).code() == pave::errc::stale);
  CHECK(s.cache.truncate(id, 0).code() == pave::errc::stale);
  CHECK(pave_tests::look(s.cache, {other}) == before);

  // Its slot goes to another, who is not touched by what was in flight.
  const auto next = s.admit(3, 2 * each);
  CHECK(next.slot == id.slot);
  if (in_flight != 0) REQUIRE(s.cache.complete(step));
  CHECK(s.cache.computed(next)->value() == 0);
  CHECK(s.cache.computed(id).code() == pave::errc::stale);
}

TEST_CASE("case 07: rejected drafts give back the blocks that they alone needed (SGLang 11970)", "[cases]") {
  const std::int64_t each = GENERATE(1, 4, 16);
  for (std::int64_t accepted = 0; accepted <= 20; ++accepted) {
    pave_tests::scene<> s(200, each);
    const auto id = s.run(1, 47);
    const auto step = s.open();
    REQUIRE(s.cache.grow_or_reclaim(id, 20, s.cuts));
    REQUIRE(s.cache.complete(step));
    REQUIRE(s.cache.truncate(id, 47 + accepted));
    CHECK(s.held(id) == (47 + accepted + each - 1) / each);
    CHECK(s.available() == 200 - s.held(id));
    CHECK(s.cache.computed(id)->value() == 47 + accepted);
    pave_tests::check_conservation(s.cache.pool());
    REQUIRE(s.cache.finish(id));
    CHECK(s.available() == 200);
  }
}

TEST_CASE("case 07: 47 tokens computed, blocks for 49 held: all 4 come back once, from any bare pool (SGLang 11981)",
          "[cases]") {
  const std::int64_t in_flight = GENERATE(0, 1, 2);  // the step that writes the last two tokens
  pave_tests::for_each_pool([in_flight](const auto& make, const pave_tests::pool_kind& /*kind*/) {
    const auto pool = make(10);
    const auto blocks = pave_tests::take(*pool, static_cast<std::size_t>(pave::blocks_for(49, 16).value()));
    REQUIRE(blocks.size() == 4);
    REQUIRE(pool->release(blocks, in_flight));
    for (int call = 0; call < 3; ++call) {
      CHECK(pool->release(blocks, in_flight).code == pave::errc::not_held);
      CHECK(pool->release({blocks[3]}).code == pave::errc::not_held);
      CHECK(pool->counts().held == 0);
      CHECK(pave_tests::is_conserved(*pool, 10));
      pool->complete_through(call);
    }
    CHECK(pool->counts().available == 10);
    CHECK(pave_tests::take(*pool, 10).size() == 10);
  });
}
