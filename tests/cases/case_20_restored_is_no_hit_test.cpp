// SPDX-License-Identifier: Apache-2.0
// Content of a preempted request that counted as a cache hit each time it came back (vLLM 25787, SGLang 11898).
#include "cases/scene.hpp"
#include "support/catch.hpp"
#include "support/keeping.hpp"

#include <pave/cache.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

struct keeping_cache : pave::cache_policies {
  using pool = pave_tests::keeping<>;
};
struct keeping_whole_cache : keeping_cache {
  using planner = pave_tests::whole_planner;
};

/// As it is after all free blocks were used for something else.
void overwrite_all_free(pave_tests::scene<keeping_cache>& s) {
  const auto all = pave_tests::take(s.cache.pool(), static_cast<std::size_t>(s.available()));
  REQUIRE(s.cache.pool().release(all));
}

}  // namespace

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

TEST_CASE(
    "case 20: content that is found again counts as revived, once for each time it was lost, and never as cached "
    "(vLLM 25787, SGLang 11898)",
    "[cases]") {
  const std::int64_t each = GENERATE(1, 10, 16);
  const int times = GENERATE(1, 5);
  const bool all_is_reused = GENERATE(false, true);
  CAPTURE(each, times, all_is_reused);
  const std::int64_t prompt = 100;
  pave_tests::scene<keeping_cache> s(200, each);
  const auto requester = s.run(1, each);
  const auto id = s.run(2, prompt);
  std::int64_t lost = 0;
  std::int64_t revived = 0;
  for (int time = 1; time <= times; ++time) {
    const std::int64_t had = s.cache.computed(id)->value();
    const std::int64_t full = had / each * each;
    REQUIRE(s.cache.plan_cuts(requester, 3, s.cuts));
    REQUIRE(s.cache.commit(requester, s.cuts.used()));
    const std::int64_t kept = s.cache.computed(id)->value();
    if (all_is_reused) overwrite_all_free(s);
    const auto step = s.open();
    REQUIRE(s.cache.next_restore(1000, s.cuts)->sequence == id);
    REQUIRE(s.cache.complete(step));
    lost += had - kept;
    if (!all_is_reused) revived += full - kept;
    const auto now = s.cache.snapshot();
    CHECK(now.tokens_lost.value() == lost);
    CHECK(now.tokens_revived.value() == revived);
    CHECK(now.tokens_restored.value() == lost - revived);
    CHECK(now.tokens_cached.value() == 0);
  }
}

TEST_CASE("case 20: what counts as cached is at most the prompts of those that found it (vLLM 25787, SGLang 11898)",
          "[cases]") {
  const std::int64_t each = GENERATE(1, 8, 16);
  const bool is_over = GENERATE(false, true);
  CAPTURE(each, is_over);
  pave_tests::scene<keeping_cache> s(200, each);
  const auto first = s.run(2, 128);
  std::vector<pave::kept_block> content;
  for (const pave::block_id block : *s.cache.block_table(first)) content.push_back(*s.cache.pool().content_of(block));
  if (is_over) REQUIRE(s.cache.finish(first));
  std::int64_t prompts = 0;
  std::int64_t cached = 0;
  for (const std::int64_t prompt : {each, std::int64_t{17}, std::int64_t{64}, std::int64_t{128}, std::int64_t{150}}) {
    const auto id = s.admit(3, prompt);
    REQUIRE(s.cache.offer_prefix(id, content));
    const auto step = s.open();
    const auto in = s.cache.next_restore(1000, s.cuts);
    REQUIRE(in);
    REQUIRE(s.cache.complete(step));
    prompts += prompt;
    cached += in->found.size().value();
    CHECK(in->found.last.value() < prompt);
    CHECK(in->found.size().value() == (std::min)(std::int64_t{128}, (prompt - 1) / each * each));
  }
  const auto now = s.cache.snapshot();
  CHECK(now.tokens_cached.value() == cached);
  CHECK(now.tokens_cached.value() < prompts);
  CHECK(now.tokens_lost.value() == 0);
  CHECK(now.tokens_restored.value() == 0);
  CHECK(now.tokens_revived.value() == 0);
}

TEST_CASE("case 20: with content kept, too, counters of many that come and go balance (SGLang 11898)", "[cases]") {
  const std::int64_t count = GENERATE(2, 4);
  pave_tests::scene<keeping_whole_cache> s(10, 8);
  pave_tests::small_engine<keeping_whole_cache> engine(s, 24);
  for (std::int64_t i = 0; i < count; ++i) engine.add(s.admit(i, 20 + i), 60);
  std::int64_t back = 0;
  for (int step = 0; step < 2000; ++step) {
    if (engine.run(1) == 0) break;
    const auto now = s.cache.snapshot();
    CHECK(now.tokens_restored + now.tokens_revived >= back);
    CHECK(now.tokens_restored + now.tokens_revived <= now.tokens_lost);
    back = (now.tokens_restored + now.tokens_revived).value();
  }
  CHECK(s.cache.snapshot().tokens_lost.value() == back);
  CHECK(s.cache.snapshot().tokens_cached.value() == 0);
  CHECK(s.cache.snapshot().tokens_revived.value() > 0);
}
