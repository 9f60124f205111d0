// SPDX-License-Identifier: Apache-2.0
// A partial free that hit a sequence which had finished meanwhile; the process died (model_server 4428).
#include "cases/scene.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <cstdint>
#include <vector>

namespace {

/// A plan over two victims, one parked and one running, made and not yet committed.
template <class Policies>
struct planned_cuts {
  explicit planned_cuts(std::int64_t each) : s(16, each) {
    parked = s.run(4, 4 * each);
    first = s.run(1, 2 * each);
    blocker = s.run(3, 2 * each);
    running = s.run(2, 3 * each + (each > 1 ? 1 : 0));
    REQUIRE(s.cache.set_rank(running, 5));
    open = s.open();
    // The parked one lost a block before.
    REQUIRE(s.cache.plan_cuts(first, each > 1 ? 5 : 4, s.cuts));
    std::vector<pave::cut> cuts(s.cuts.used().begin(), s.cuts.used().end());
    REQUIRE(cuts.size() == 2);
    plan = cuts;
  }

  void check_refused() {
    const std::vector<pave::sequence_id> all{parked, first, blocker, running};
    const auto before = pave_tests::look(s.cache, all);
    const auto done = s.cache.commit(first, plan);
    CHECK(done.code() == pave::errc::stale);
    CHECK(pave_tests::look(s.cache, all) == before);
    pave_tests::check_conservation(s.cache.pool());
  }

  pave_tests::scene<Policies> s;
  pave::sequence_id parked, first, blocker, running;
  pave::step_id open;
  std::vector<pave::cut> plan;
};

}  // namespace

TEMPLATE_TEST_CASE(
    "case 13: a plan is refused whole as stale when a victim changed since it was made (model_server 4428)",
    "[cases]",
    pave::cache_policies,
    pave_tests::whole_policies) {
  const std::int64_t each = GENERATE(1, 16);
  const bool second_victim = GENERATE(false, true);
  CAPTURE(each, second_victim);
  planned_cuts<TestType> p(each);
  auto& s = p.s;
  const pave::cut& cut = p.plan[second_victim ? 1 : 0];
  const pave::sequence_id victim = cut.sequence;
  const auto end = (*s.cache.block_table(victim)).subspan((*s.cache.block_table(victim)).size() - 1, 1);
  const std::vector<pave::block_id> last(end.begin(), end.end());

  SECTION("nothing changed: it is carried out") {
    std::int64_t freed = 0;
    for (const auto& each_cut : p.plan) freed += each_cut.freed.value();
    const std::int64_t before = s.available();
    CHECK(s.cache.commit(p.first, p.plan)->value() == freed);
    CHECK(s.available() == before + freed);
    pave_tests::check_conservation(s.cache.pool());
    p.check_refused();  // and not a second time
  }
  SECTION("it finished") {
    REQUIRE(s.cache.finish(victim));
    p.check_refused();
  }
  SECTION("it was aborted, and its slot went to another of the same size") {
    const std::int64_t tokens = s.cache.computed(victim)->value();
    REQUIRE(s.cache.abort(victim));
    const auto next = s.admit(4, tokens);
    CHECK(next.slot == victim.slot);
    REQUIRE(s.cache.next_restore(tokens, s.cuts)->sequence == next);
    p.check_refused();
  }
  SECTION("it forked: a sibling shares its last block") {
    REQUIRE(s.cache.pool().share(last));
    p.check_refused();
    REQUIRE(s.cache.pool().release(last));
    CHECK(s.cache.commit(p.first, p.plan));
  }
  SECTION("it grew by a block") {
    if (s.state(victim) == pave::sequence_state::running) {
      REQUIRE(s.cache.grow_or_reclaim(victim, each, s.cuts));
      p.check_refused();
    }
  }
  SECTION("it shrank by a block") {
    REQUIRE(s.cache.truncate(victim, s.cache.computed(victim)->value() - each));
    p.check_refused();
  }
  SECTION("it was cut by another plan") {
    REQUIRE(s.cache.plan_cuts(p.first, 1, s.cuts));
    const pave::sequence_id other = s.cuts.used()[0].sequence;
    REQUIRE(s.cache.commit(p.first, s.cuts.used()));
    CHECK((other == p.plan[0].sequence || other == p.plan[1].sequence));
    p.check_refused();
  }
  SECTION("whom it was made for has ended") {
    REQUIRE(s.cache.finish(p.first));
    const auto before = pave_tests::look(s.cache, {p.parked, p.blocker, p.running});
    CHECK(s.cache.commit(p.first, p.plan).code() == pave::errc::stale);
    CHECK(pave_tests::look(s.cache, {p.parked, p.blocker, p.running}) == before);
  }
  SECTION("it has come to matter more than whom the plan was made for") {
    REQUIRE(s.cache.set_rank(victim, -7));
    p.check_refused();
    CHECK(s.cache.commit(victim, p.plan).code() == pave::errc::stale);  // nobody takes from itself
  }
  SECTION("everything was reset") {
    s.cache.reset();
    p.check_refused();
  }
  SECTION("the plan names it twice") {
    p.plan.push_back(cut);
    p.check_refused();
  }
  SECTION("it is not of this cache") {
    p.plan[0].sequence = {12, 7};
    p.check_refused();
    p.plan[0].sequence = {4'000'000'000U, 1};
    p.check_refused();
    p.plan[0].sequence = {};
    p.check_refused();
  }
  SECTION("its ranges are nonsense") {
    p.plan[1].blocks.first = -1;
    p.check_refused();
    p.plan[1].blocks = {2, 2};
    p.check_refused();
    p.plan[1].blocks = {1, 1'000'000};
    p.check_refused();
    p.plan[1].blocks = {5, 1};
    p.check_refused();
  }
}

TEST_CASE("case 13: a victim that stopped or resumed since then makes the plan stale (model_server 4428)", "[cases]") {
  const std::int64_t each = GENERATE(1, 16);
  pave_tests::scene<> s(6, each);
  const auto first = s.run(1, each);
  const auto victim = s.run(2, 5 * each);
  s.open();
  REQUIRE(s.cache.plan_cuts(first, 2, s.cuts));
  std::vector<pave::cut> plan(s.cuts.used().begin(), s.cuts.used().end());
  // It stops by itself: the pool is full.
  REQUIRE(s.cache.grow_or_reclaim(victim, 1, s.cuts).code() == pave::errc::shortage);
  auto before = pave_tests::look(s.cache, {first, victim});
  CHECK(s.cache.commit(first, plan).code() == pave::errc::stale);
  CHECK(pave_tests::look(s.cache, {first, victim}) == before);

  REQUIRE(s.cache.plan_cuts(first, 2, s.cuts));
  CHECK(s.cuts.used()[0].was_parked);
  plan.assign(s.cuts.used().begin(), s.cuts.used().end());
  REQUIRE(s.cache.truncate(first, 0));  // makes room
  REQUIRE(s.cache.next_restore(1, s.cuts)->sequence == victim);
  before = pave_tests::look(s.cache, {victim});
  CHECK(s.cache.commit(first, plan).code() == pave::errc::stale);
  CHECK(pave_tests::look(s.cache, {victim}) == before);
}

TEST_CASE(
    "case 13: a pin that moved inside a cut makes the plan stale, even where as many would come free (model_server "
    "4428)",
    "[cases]") {
  pave_tests::scene<> s(6, 16);
  const auto first = s.run(1, 16);
  const auto victim = s.run(2, 5 * 16);
  const auto table = *s.cache.block_table(victim);
  REQUIRE(s.cache.pool().share(table.subspan(3, 1)));
  REQUIRE(s.cache.plan_cuts(first, 2, s.cuts));
  REQUIRE(s.cuts.used()[0].blocks == pave::block_range{2, 5});
  // Now the first block of the cut is pinned instead: [3, 5) would do.
  REQUIRE(s.cache.pool().share(table.subspan(2, 1)));
  REQUIRE(s.cache.pool().release(table.subspan(3, 1)));
  const auto before = pave_tests::look(s.cache, {first, victim});
  CHECK(s.cache.commit(first, s.cuts.used()).code() == pave::errc::stale);
  CHECK(pave_tests::look(s.cache, {first, victim}) == before);
}

TEST_CASE("case 13: an empty plan is carried out, and frees nothing (model_server 4428)", "[cases]") {
  pave_tests::scene<> s(6, 16);
  const auto first = s.run(1, 16);
  CHECK(s.cache.commit(first, {})->value() == 0);
  CHECK(s.available() == 5);
}
