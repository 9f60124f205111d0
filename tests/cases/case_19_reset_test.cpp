// SPDX-License-Identifier: Apache-2.0
// Parked holders whose blocks made a reset of the cache fail (vLLM).
#include "cases/scene.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <cstdint>
#include <vector>

TEMPLATE_TEST_CASE("case 19: a reset takes all blocks, also of the parked, and all can be restored (vLLM)",
                   "[cases]",
                   pave::cache_policies,
                   pave_tests::whole_policies) {
  const std::int64_t each = GENERATE(1, 4, 16);
  const bool in_flight = GENERATE(false, true);
  const bool is_open = GENERATE(false, true);
  CAPTURE(each, in_flight, is_open);
  pave_tests::scene<TestType> s(12, each);
  const auto runs = s.run(1, 3 * each);
  const auto one = s.run(2, 3 * each);
  const auto two = s.run(3, 3 * each);
  const auto waits = s.admit(9, 2 * each);
  REQUIRE(s.cache.plan_cuts(runs, 4, s.cuts));
  REQUIRE(s.cache.commit(runs, s.cuts.used()));
  REQUIRE(s.cache.snapshot().parked == 2);
  pave::step_id step;
  if (in_flight) {
    step = s.open();
    REQUIRE(s.cache.grow_or_reclaim(runs, each, s.cuts));
  }
  if (is_open) s.open();

  s.cache.reset();
  CHECK(s.available() == 12);
  CHECK(s.cache.pool().held().value() == 0);
  pave_tests::check_conservation(s.cache.pool());
  CHECK(s.cache.snapshot().parked == 3);
  CHECK(s.cache.snapshot().waiting == 1);
  for (const auto id : {runs, one, two, waits}) {
    CHECK(s.held(id) == 0);
    CHECK(s.cache.computed(id)->value() == 0);
  }
  if (in_flight) {
    REQUIRE(s.cache.complete(step));
    CHECK(s.cache.computed(runs)->value() == 0);
  }
  s.cache.reset();
  CHECK(s.available() == 12);

  pave_tests::small_engine<TestType> engine(s);
  engine.add(runs, 5 * each);
  engine.add(one, 5 * each);
  engine.add(two, 5 * each);
  engine.add(waits, 5 * each);
  if (in_flight || is_open) {
    // What was open before the reset is done.
    for (std::int64_t late = 1; late <= 8; ++late) static_cast<void>(s.cache.complete(late));
  }
  CHECK(engine.run(2000) < 2000);
  CHECK(s.available() == 12);
  CHECK(s.cache.snapshot().tokens_lost == s.cache.snapshot().tokens_restored);
}

TEST_CASE("case 19: what others hold outlives a reset (vLLM)", "[cases]") {
  pave_tests::scene<> s(6, 16);
  const auto id = s.run(1, 4 * 16);
  const auto table = *s.cache.block_table(id);
  const std::vector<pave::block_id> pinned{table[1], table[3]};
  REQUIRE(s.cache.pool().share(pinned));
  s.cache.reset();
  CHECK(s.available() == 4);
  CHECK(s.cache.pool().holders(pinned[0]) == 1);
  pave_tests::check_conservation(s.cache.pool());
  REQUIRE(s.cache.pool().release(pinned));
  CHECK(s.available() == 6);
}

TEST_CASE("case 19: a reset of an empty cache does nothing (vLLM)", "[cases]") {
  pave_tests::scene<> s(6, 16);
  s.cache.reset();
  CHECK(s.available() == 6);
  pave::kv_cache<> none;
  none.reset();
  CHECK(none.snapshot().capacity.value() == 0);
}
