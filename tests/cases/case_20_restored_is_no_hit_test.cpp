// SPDX-License-Identifier: Apache-2.0
// Content of a preempted request that counted as a cache hit each time it came back (vLLM 25787, SGLang 11898).
#include "cases/scene.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <algorithm>
#include <cstdint>

TEST_CASE("case 20: restored tokens are counted apart, once for each time they were lost (vLLM 25787, SGLang 11898)",
          "[cases]") {
  const std::int64_t each = GENERATE(1, 10, 16);
  const std::int64_t prompt = GENERATE(100, 37);
  const int times = GENERATE(1, 2, 5);
  const std::int64_t budget = GENERATE(7, 1000);
  CAPTURE(each, prompt, times, budget);
  pave_tests::scene<> s(200, each);
  const auto requester = s.admit(1, each);
  const auto first = s.open();
  REQUIRE(s.cache.next_restore(each, s.cuts));
  REQUIRE(s.cache.complete(first));
  const auto id = s.run(2, prompt);
  CHECK(s.cache.snapshot().tokens_lost.value() == 0);
  CHECK(s.cache.snapshot().tokens_restored.value() == 0);

  std::int64_t lost = 0;
  std::int64_t computed = prompt;
  for (int time = 1; time <= times; ++time) {
    const std::int64_t cut = (std::min)(s.held(id), std::int64_t{2});
    REQUIRE(s.cache.plan_cuts(requester, cut, s.cuts));
    REQUIRE(s.cache.commit(requester, s.cuts.used()));
    lost += computed - s.cache.computed(id)->value();
    CHECK(s.cache.snapshot().tokens_lost.value() == lost);
    CHECK(s.cache.gap(id)->size().value() == computed - s.cache.computed(id)->value());

    // It comes back with its gap and one new token, in chunks.
    const std::int64_t goal = computed + 1;
    auto step = s.open();
    REQUIRE(s.cache.next_restore(budget, s.cuts)->sequence == id);
    REQUIRE(s.cache.complete(step));
    while (s.cache.computed(id)->value() < goal) {
      step = s.open();
      REQUIRE(s.cache.grow_or_reclaim(id, (std::min)(budget, goal - s.cache.computed(id)->value()), s.cuts));
      REQUIRE(s.cache.complete(step));
    }
    computed = goal;
    CHECK(s.cache.snapshot().tokens_restored.value() == lost);
    CHECK(s.cache.gap(id)->empty());
    CHECK(s.cache.computed(id)->value() == prompt + time);
  }
  // A prompt that is computed for the first time is no restore.
  s.run(3, 50);
  CHECK(s.cache.snapshot().tokens_restored.value() == lost);
  CHECK(s.cache.snapshot().tokens_lost.value() == lost);
}

TEST_CASE("case 20: a restore that is cut before it ran was none (SGLang 11898)", "[cases]") {
  pave_tests::scene<> s(20, 10);
  const auto requester = s.run(1, 10);
  const auto id = s.run(2, 100);
  REQUIRE(s.cache.plan_cuts(requester, 4, s.cuts));
  REQUIRE(s.cache.commit(requester, s.cuts.used()));
  CHECK(s.cache.snapshot().tokens_lost.value() == 40);
  const auto step = s.open();
  REQUIRE(s.cache.next_restore(1000, s.cuts)->sequence == id);
  CHECK(s.cache.snapshot().tokens_restored.value() == 40);
  // In the same step, before it runs, two of its blocks go again.
  REQUIRE(s.cache.plan_cuts(requester, 2, s.cuts));
  REQUIRE(s.cache.commit(requester, s.cuts.used()));
  CHECK(s.cache.snapshot().tokens_restored.value() == 0);
  CHECK(s.cache.snapshot().tokens_lost.value() == 40);
  CHECK(s.cache.gap(id)->size().value() == 40);
  REQUIRE(s.cache.complete(step));
  CHECK(s.cache.computed(id)->value() == 60);
  s.open();
  REQUIRE(s.cache.next_restore(1000, s.cuts));
  CHECK(s.cache.snapshot().tokens_restored.value() == 40);
}

TEST_CASE("case 20: counters of many that come and go never go negative, and balance (SGLang 11898)", "[cases]") {
  const std::int64_t count = GENERATE(2, 4);
  pave_tests::scene<> s(10, 8);
  pave_tests::small_engine<pave::cache_policies> engine(s, 24);
  for (std::int64_t i = 0; i < count; ++i) engine.add(s.admit(i, 20 + i), 60);
  std::int64_t restored = 0;
  for (int step = 0; step < 2000; ++step) {
    if (engine.run(1) == 0) break;
    const auto now = s.cache.snapshot();
    CHECK(now.tokens_restored.value() >= restored);
    CHECK(now.tokens_restored <= now.tokens_lost);
    restored = now.tokens_restored.value();
  }
  CHECK(s.cache.snapshot().tokens_lost == s.cache.snapshot().tokens_restored);
  CHECK(restored > 0);
}
