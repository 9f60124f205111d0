// SPDX-License-Identifier: Apache-2.0
// Equal priorities that evicted each other in turn (vLLM 54530).
#include "cases/scene.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <cstdint>

TEMPLATE_TEST_CASE("case 18: of two of equal rank, the first to arrive is never stopped, and both finish (vLLM 54530)",
                   "[cases]",
                   pave::cache_policies,
                   pave_tests::whole_policies) {
  const std::int64_t each = GENERATE(1, 4, 16);
  const std::int64_t blocks = GENERATE(2, 4, 10, 21);  // that each has in the end
  const std::int64_t prompt_blocks = GENERATE(1, 2);
  const std::int64_t budget = GENERATE(3, 64, 1000);
  CAPTURE(each, blocks, prompt_blocks, budget);
  const std::int64_t pool = blocks + blocks / 2;
  pave_tests::scene<TestType> s(pool, each);
  const auto a = s.admit(7, prompt_blocks * each);
  const auto b = s.admit(7, prompt_blocks * each);
  pave_tests::small_engine<TestType> engine(s, budget);
  engine.add(a, blocks * each);
  engine.add(b, blocks * each);
  const int limit = static_cast<int>(blocks * each * 10);
  CHECK(engine.run(limit) < limit);
  CHECK(engine.requests[0].preemptions == 0);
  CHECK(engine.requests[1].preemptions <= 2);
  CHECK(s.available() == pool);
}

TEST_CASE("case 18: being stopped does not make a sequence younger or older (vLLM 54530)", "[cases]") {
  pave_tests::scene<> s(6, 16);
  const auto a = s.run(7, 3 * 16);
  const auto b = s.run(7, 2 * 16 + 1);
  for (int round = 0; round < 4; ++round) {
    CAPTURE(round);
    // B may not take from A, its elder of equal rank; A takes from B.
    CHECK(s.cache.plan_cuts(b, 1, s.cuts).error().missing.value() == 1);
    REQUIRE(s.cache.plan_cuts(a, 1, s.cuts));
    REQUIRE(s.cuts.used().size() == 1);
    CHECK(s.cuts.used()[0].sequence == b);
    CHECK_FALSE(s.cuts.used()[0].was_parked);
    REQUIRE(s.cache.commit(a, s.cuts.used()));
    const auto step = s.open();
    REQUIRE(s.cache.next_restore(100, s.cuts)->sequence == b);
    REQUIRE(s.cache.complete(step));
    CHECK(s.held(a) == 3);
    CHECK(s.held(b) == 3);
  }
}

TEST_CASE("case 18: many of equal rank finish in the order of their arrival (vLLM 54530)", "[cases]") {
  const std::int64_t count = GENERATE(2, 3, 6);
  pave_tests::scene<> s(9, 4);
  pave_tests::small_engine<pave::cache_policies> engine(s, 16);
  for (std::int64_t i = 0; i < count; ++i) engine.add(s.admit(0, 8), 24);
  CHECK(engine.run(1000) < 1000);
  CHECK(engine.requests[0].preemptions == 0);
  for (const auto& request : engine.requests) CHECK(request.preemptions <= 6);
  CHECK(s.cache.snapshot().tokens_lost == s.cache.snapshot().tokens_restored);
}
