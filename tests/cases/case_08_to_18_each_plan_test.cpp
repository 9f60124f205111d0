// SPDX-License-Identifier: Apache-2.0
// The cases that concern plans, 8 to 13, 15 and 18, with every order of victims and every shape of a cut.
#include "cases/each_plan.hpp"
#include "cases/scene.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

TEMPLATE_LIST_TEST_CASE("case 08: of two parked that hold all, one gives a block, with every kind of plan",
                        "[cases]",
                        pave_tests::each_plan) {
  const std::int64_t a_blocks = GENERATE(1, 9);
  const std::int64_t b_blocks = GENERATE(1, 8);
  constexpr std::int64_t each = 16;
  CAPTURE(a_blocks, b_blocks);
  pave_tests::scene<TestType> s(a_blocks + b_blocks, each);
  const auto a = s.run(3, a_blocks * each);
  const auto b = s.run(2, b_blocks * each);
  const auto open = s.open();
  REQUIRE(s.cache.grow_or_reclaim(a, 1, s.cuts).code() == pave::errc::shortage);
  REQUIRE(s.cache.set_rank(b, 4));
  REQUIRE(s.cache.grow_or_reclaim(b, 1, s.cuts).code() == pave::errc::shortage);

  const auto in = s.cache.next_restore(each, s.cuts);
  REQUIRE(in);
  CHECK(in->sequence == a);
  REQUIRE(s.cuts.used().size() == 1);
  CHECK(s.cuts.used()[0].sequence == b);
  CHECK(s.cuts.used()[0].freed.value() == 1);
  CHECK(s.available() == 0);
  pave_tests::check_conservation(s.cache.pool());
  REQUIRE(s.cache.complete(open));
  pave_tests::small_engine<TestType> engine(s);
  engine.add(a, a_blocks * each + 1);
  engine.add(b, b_blocks * each + 1);
  CHECK(engine.run(100) < 100);
  CHECK(s.cache.snapshot().tokens_lost == s.cache.snapshot().tokens_restored);
}

TEMPLATE_LIST_TEST_CASE("case 09: what can never fit is refused at once, with every kind of plan",
                        "[cases]",
                        pave_tests::each_plan) {
  pave_tests::scene<TestType> s(8, 16);
  CHECK(s.cache.admit(1, 8 * 16 + 1).code() == pave::errc::never_fits);
  const auto a = s.run(1, 8 * 16);
  const auto open = s.open();
  CHECK(s.cache.grow_or_reclaim(a, 1, s.cuts).code() == pave::errc::never_fits);
  CHECK(s.held(a) == 8);
  REQUIRE(s.cache.complete(open));
}

TEMPLATE_LIST_TEST_CASE(
    "cases 10, 11: the shortage is cut, not the need, nor the whole victim, with every kind of plan",
    "[cases]",
    pave_tests::each_plan) {
  const std::int64_t victims = GENERATE(1, 3);
  const std::int64_t shortage = GENERATE(1, 2, 7, 30);
  CAPTURE(victims, shortage);
  constexpr std::int64_t each = 16;
  constexpr std::int64_t available = 30;
  pave_tests::scene<TestType> s(1 + 30 * victims + available, each);
  const auto requester = s.run(1, each);
  for (std::int64_t i = 0; i < victims; ++i) s.run(2 + i, 30 * each - i * 3);
  const auto open = s.open();
  REQUIRE(s.cache.grow_or_reclaim(requester, (available + shortage) * each, s.cuts));
  std::int64_t freed = 0;
  for (const pave::cut& cut : s.cuts.used()) freed += cut.freed.value();
  CHECK(freed == shortage);
  CHECK(s.available() == 0);
  pave_tests::check_conservation(s.cache.pool());
  REQUIRE(s.cache.complete(open));
}

TEMPLATE_LIST_TEST_CASE("case 12: blocks that somebody else holds are no gain, with every kind of plan",
                        "[cases]",
                        pave_tests::each_plan) {
  constexpr std::int64_t each = 16;
  const std::int64_t own = GENERATE(0, 3, 8);
  const std::int64_t shortage = GENERATE(1, 3, 8);
  const bool shared_at_end = GENERATE(false, true);
  CAPTURE(own, shortage, shared_at_end);
  pave_tests::scene<TestType> s(8 + own + 1, each);
  const auto requester = s.run(1, each);
  const auto victim = s.run(2, (8 + own) * each);
  const auto table = *s.cache.block_table(victim);
  const auto shared = shared_at_end ? table.subspan(static_cast<std::size_t>(own), 8) : table.first(8);
  const std::vector<pave::block_id> siblings(shared.begin(), shared.end());
  REQUIRE(s.cache.pool().share(siblings));
  const auto plan = s.cache.plan_cuts(requester, shortage, s.cuts);
  if (shortage > own) {
    CHECK(plan.code() == pave::errc::shortage);
    CHECK(plan.error().missing.value() == shortage - own);
  } else {
    REQUIRE(plan);
    CHECK(plan->freed.value() == shortage);
    REQUIRE(s.cuts.used().size() == 1);
    const pave::cut cut = s.cuts.used()[0];
    REQUIRE(s.cache.commit(requester, s.cuts.used())->value() == shortage);
    CHECK(s.available() == shortage);
    const bool from_inside = TestType::planner::cut_shape::keeps_prefix;
    CHECK(plan->given_up == (shared_at_end && from_inside ? 8 : 0));
    CHECK(cut.blocks.size() == shortage + plan->given_up.value());
  }
  REQUIRE(s.cache.pool().release(siblings));
}

TEMPLATE_LIST_TEST_CASE("case 13: a plan whose victim changed is refused whole, with every kind of plan",
                        "[cases]",
                        pave_tests::each_plan) {
  constexpr std::int64_t each = 16;
  pave_tests::scene<TestType> s(16, each);
  const auto first = s.run(1, 2 * each);
  const auto victim = s.run(2, 4 * each);
  const auto other = s.run(3, 4 * each);
  const auto open = s.open();
  REQUIRE(s.cache.plan_cuts(first, 5, s.cuts));
  const std::vector<pave::cut> plan(s.cuts.used().begin(), s.cuts.used().end());
  REQUIRE(plan.size() == 2);
  const auto check_refused = [&] {
    const auto before = pave_tests::look(s.cache, {first, victim, other});
    CHECK(s.cache.commit(first, plan).code() == pave::errc::stale);
    CHECK(pave_tests::look(s.cache, {first, victim, other}) == before);
    pave_tests::check_conservation(s.cache.pool());
  };
  SECTION("nothing changed: it is carried out, once") {
    CHECK(s.cache.commit(first, plan)->value() == 5);
    check_refused();
  }
  SECTION("it finished") {
    REQUIRE(s.cache.finish(victim));
    check_refused();
  }
  SECTION("it was cut") {
    std::vector<pave::cut> room(4);
    pave::cut_list list(room);
    REQUIRE(s.cache.plan_cuts(first, 6, list));
    REQUIRE(s.cache.commit(first, list.used()));
    check_refused();
  }
  SECTION("it parked") {
    REQUIRE(s.cache.park(victim));
    check_refused();
  }
  SECTION("what it was to give is pinned, and forks hold it") {
    std::vector<pave::block_id> blocks;
    for (const pave::cut& cut : plan) {
      const auto table = *s.cache.block_table(cut.sequence);
      blocks.push_back(table[static_cast<std::size_t>(cut.blocks.first.value())]);
    }
    const auto pin = s.cache.pool().pin(blocks);
    REQUIRE(pin);
    check_refused();
    REQUIRE(s.cache.pool().unpin(*pin));
    REQUIRE(s.cache.fork(victim, 9));
    check_refused();
  }
  REQUIRE(s.cache.complete(open));
}

TEMPLATE_LIST_TEST_CASE("case 15: what is left of a last block is used first, with every kind of plan",
                        "[cases]",
                        pave_tests::each_plan) {
  pave_tests::scene<TestType> s(4, 16);
  const auto a = s.run(1, 20);
  s.run(2, 2 * 16);
  const auto open = s.open();
  CHECK(s.cache.grow_or_reclaim(a, 10, s.cuts)->blocks.empty());
  CHECK(s.cuts.used().empty());
  CHECK(s.cache.grow_or_reclaim(a, 3, s.cuts)->blocks.size().value() == 1);
  REQUIRE(s.cuts.used().size() == 1);
  CHECK(s.cuts.used()[0].freed.value() == 1);
  REQUIRE(s.cache.complete(open));
}

TEMPLATE_LIST_TEST_CASE(
    "case 18: of many of equal rank each ends, and the first is never stopped, with every kind of plan",
    "[cases]",
    pave_tests::each_plan) {
  const std::int64_t count = GENERATE(2, 4);
  pave_tests::scene<TestType> s(9, 4);
  pave_tests::small_engine<TestType> engine(s, 16);
  for (std::int64_t i = 0; i < count; ++i) engine.add(s.admit(0, 8), 24);
  CHECK(engine.run(1000) < 1000);
  CHECK(engine.requests[0].preemptions == 0);
  CHECK(s.cache.snapshot().tokens_lost == s.cache.snapshot().tokens_restored);
  CHECK(s.available() == 9);
}
