// SPDX-License-Identifier: Apache-2.0
// Who loses which blocks of a kv_cache when they run short, and who comes back when.
#include "cache_fixture.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace {

using pave::errc;
using pave::sequence_state;
using pave_tests::small;
using fixture = pave_tests::cache_fixture<>;

}  // namespace

TEST_CASE("grow_or_reclaim: the least important gives exactly the missing blocks, from its end", "[cache]") {
  fixture f(small(10));
  const pave::sequence_id first = f.running(0, 12);
  const pave::sequence_id second = f.running(1, 8);
  const pave::sequence_id third = f.running(2, 16);
  const std::vector<pave::block_id> before = f.table(third);
  REQUIRE(f.available() == 1);
  const pave::growth grown = f.grow(first, 12).value();
  REQUIRE(grown.blocks == pave::block_range{3, 6});
  REQUIRE(f.cuts.used().size() == 1);
  const pave::cut& cut = f.cuts.used()[0];
  REQUIRE(cut.sequence == third);
  REQUIRE(cut.blocks == pave::block_range{2, 4});
  REQUIRE(cut.freed == 2);
  REQUIRE_FALSE(cut.was_parked);
  REQUIRE(f.table(third) == std::vector<pave::block_id>(before.begin(), before.begin() + 2));
  REQUIRE(f.state(third) == sequence_state::parked);
  REQUIRE(f.state(second) == sequence_state::running);
  REQUIRE(f.available() == 0);
}

TEST_CASE("grow_or_reclaim: parked sequences are used up, least important first, before one is stopped", "[cache]") {
  fixture f(small(10));
  const pave::sequence_id first = f.running(0, 4);
  const pave::sequence_id runs = f.running(9, 12);
  const pave::sequence_id near = f.running(1, 8);
  const pave::sequence_id far = f.running(5, 12);
  f.take(near, 1);
  f.take(far, 1);
  REQUIRE(f.available() == 3);
  REQUIRE(f.grow(first, 4 * 6).has_value());
  REQUIRE(f.cuts.used().size() == 2);
  REQUIRE(f.cuts.used()[0].sequence == far);
  REQUIRE(f.cuts.used()[0].was_parked);
  REQUIRE(f.cuts.used()[1].sequence == near);
  REQUIRE(f.state(runs) == sequence_state::running);
  REQUIRE(f.grow(first, 4).has_value());
  REQUIRE(f.cuts.used().size() == 1);
  REQUIRE(f.cuts.used()[0].sequence == runs);
}

TEST_CASE("grow_or_reclaim: whom nobody can help parks, keeps its blocks, and says what is missing", "[cache]") {
  fixture f(small(8));
  const pave::sequence_id first = f.running(0, 16);
  const pave::sequence_id last = f.running(1, 12);
  const pave::result<pave::growth> refused = f.grow(last, 12);
  REQUIRE(refused.code() == errc::shortage);
  REQUIRE(refused.error().missing == 2);
  REQUIRE(f.cuts.used().empty());
  REQUIRE(f.state(last) == sequence_state::parked);
  REQUIRE(f.held(last) == 3);
  REQUIRE(f.cache.gap(last)->empty());
  REQUIRE(f.state(first) == sequence_state::running);

  REQUIRE(f.cache.finish(first).has_value());
  const pave::restore back = f.restore().value();
  REQUIRE(back.sequence == last);
  REQUIRE(back.resumed);
  REQUIRE(back.tokens == pave::token_range{12, 24});
  REQUIRE(back.blocks == pave::block_range{3, 6});
}

TEST_CASE("grow_or_reclaim: a shared block is given up without gain where it is in the way, and kept before it",
          "[cache]") {
  fixture f(small(8));
  const pave::sequence_id first = f.running(0, 12);
  const pave::sequence_id last = f.running(1, 20);
  const std::vector<pave::block_id> table = f.table(last);
  const std::vector<pave::block_id> shared{table[1], table[4]};
  REQUIRE(f.cache.pool().share(shared).has_value());
  REQUIRE(f.grow(first, 4).has_value());
  REQUIRE(f.cuts.used()[0].blocks == pave::block_range{3, 5});
  REQUIRE(f.cuts.used()[0].freed == 1);
  REQUIRE(f.cache.pool().holders(table[4]) == 1);
  REQUIRE(f.grow(first, 4).has_value());
  REQUIRE(f.cuts.used()[0].blocks == pave::block_range{2, 3});
  REQUIRE(f.grow(first, 4).has_value());
  REQUIRE(f.cuts.used()[0].blocks == pave::block_range{0, 2});
  REQUIRE(f.grow(first, 4).error().missing == 1);
  REQUIRE(f.cache.pool().release(shared).has_value());
}

TEST_CASE("grow_or_reclaim: with too little room for the cuts nothing moves", "[cache]") {
  fixture f(small(6));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id second = f.running(1, 8);
  const pave::sequence_id third = f.running(2, 8);
  std::array<pave::cut, 1> one{};
  pave::cut_list little(one);
  REQUIRE(f.cache.grow_or_reclaim(first, 12, little).code() == errc::buffer_too_small);
  pave::cut_list none;
  REQUIRE(f.cache.grow_or_reclaim(first, 1, none).code() == errc::buffer_too_small);
  REQUIRE(little.used().empty());
  for (const pave::sequence_id id : {first, second, third}) {
    REQUIRE(f.state(id) == sequence_state::running);
    REQUIRE(f.held(id) == 2);
  }
  REQUIRE(f.cache.grow_or_reclaim(first, 8, little).has_value());
}

TEST_CASE("set_rank: the next shortage goes by the new rank, and equal ranks by arrival", "[cache]") {
  fixture f(small(6));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id second = f.running(0, 8);
  const pave::sequence_id third = f.running(0, 8);
  REQUIRE(f.grow(first, 1).has_value());
  REQUIRE(f.cuts.used()[0].sequence == third);
  REQUIRE(f.cache.set_rank(third, -1).has_value());
  REQUIRE(f.cache.finish(first).has_value());
  REQUIRE(f.restore()->sequence == third);
  REQUIRE(f.grow(third, 12).has_value());
  REQUIRE(f.cuts.used().size() == 1);
  REQUIRE(f.cuts.used()[0].sequence == second);
  REQUIRE(f.grow(second, 1).code() == errc::waits);
}

TEST_CASE("next_restore: the most important comes first, and the first that does not fit ends the pass", "[cache]") {
  fixture f(small(8));
  const pave::sequence_id holder = f.running(0, 16);
  const pave::sequence_id little = f.admit(3, 4);
  const pave::sequence_id large = f.admit(2, 20);
  const pave::sequence_id most = f.admit(1, 4);
  REQUIRE(f.restore()->sequence == most);
  const pave::result<pave::restore> refused = f.restore();
  REQUIRE(refused.code() == errc::shortage);
  REQUIRE(refused.error().missing == 2);
  REQUIRE(f.state(large) == sequence_state::waiting);
  REQUIRE(f.state(little) == sequence_state::waiting);
  REQUIRE(f.cache.finish(holder).has_value());
  REQUIRE(f.restore()->sequence == large);
  REQUIRE(f.restore()->sequence == little);
  REQUIRE(f.restore().code() == errc::nothing_waits);
}

TEST_CASE("next_restore: the whole gap gets its blocks at once, its tokens by the budget", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.parked(0, 30, 2);
  const pave::restore begun = f.restore(10).value();
  REQUIRE(begun.resumed);
  REQUIRE(begun.tokens == pave::token_range{8, 18});
  REQUIRE(begun.blocks == pave::block_range{2, 8});
  REQUIRE(f.cache.gap(id).value() == pave::token_range{18, 30});
  f.next_step();
  const pave::growth rest = f.grow(id, 13).value();
  REQUIRE(rest.tokens == pave::token_range{18, 31});
  REQUIRE(rest.blocks.empty());
  REQUIRE(f.cache.gap(id)->empty());
}

TEST_CASE("next_restore: takes from less important parked sequences, and stops nobody", "[cache]") {
  fixture f(small(12));
  const pave::sequence_id back = f.running(1, 16);
  const pave::sequence_id runs = f.running(2, 8);
  const pave::sequence_id gives = f.running(3, 24);
  REQUIRE(f.grow(gives, 1).code() == errc::shortage);
  f.take(back, 2);
  const pave::restore restored = f.restore().value();
  REQUIRE(restored.sequence == back);
  REQUIRE(restored.tokens == pave::token_range{8, 17});
  REQUIRE(f.cuts.used().size() == 1);
  REQUIRE(f.cuts.used()[0].sequence == gives);
  REQUIRE(f.cuts.used()[0].blocks == pave::block_range{5, 6});
  REQUIRE(f.state(runs) == sequence_state::running);
}

TEST_CASE("next_restore: a reserve stays available for a sequence that resumes, unless nothing runs", "[cache]") {
  pave::kv_cache_options options = small(8);
  options.reserve = 2;
  fixture f(options);
  const pave::sequence_id runs = f.running(0, 12);
  const pave::sequence_id back = f.parked(1, 12, 1);
  REQUIRE(f.available() == 4);
  REQUIRE(f.restore().error().missing == 1);
  REQUIRE(f.cache.set_rank(back, 3).has_value());
  const pave::sequence_id fresh = f.admit(2, 12);
  REQUIRE(f.restore()->sequence == fresh);
  REQUIRE(f.cuts.used().empty());
  REQUIRE(f.restore().code() == errc::shortage);
  REQUIRE(f.cache.finish(fresh).has_value());
  REQUIRE(f.cache.finish(runs).has_value());
  std::array<pave::block_id, 4> outside;
  REQUIRE(f.cache.pool().allocate(outside).has_value());
  REQUIRE(f.restore()->sequence == back);
}

TEST_CASE("next_restore: a watermark stays available for any that comes in, unless nothing runs", "[cache]") {
  pave::kv_cache_options options = small(8);
  options.watermark = 2;
  fixture f(options);
  const pave::sequence_id runs = f.running(0, 12);
  REQUIRE(f.available() == 5);
  SECTION("one that is new") {
    const pave::sequence_id fresh = f.admit(1, 16);
    const pave::result<pave::restore> refused = f.restore();
    REQUIRE(refused.code() == errc::shortage);
    REQUIRE(refused.error().missing == 1);
    REQUIRE(f.state(fresh) == sequence_state::waiting);
    SECTION("until there is room") {
      REQUIRE(f.cache.truncate(fresh, 12).has_value());
      REQUIRE(f.restore()->sequence == fresh);
      REQUIRE(f.available() == 2);
    }
    SECTION("until nothing runs") {
      REQUIRE(f.cache.finish(runs).has_value());
      static_cast<void>(f.take_outside(4));
      REQUIRE(f.restore()->sequence == fresh);
      REQUIRE(f.available() == 0);
    }
  }
  SECTION("one that resumes") {
    const pave::sequence_id back = f.parked(1, 12, 1);
    REQUIRE(f.restore().error().missing == 1);
    REQUIRE(f.cache.finish(runs).has_value());
    static_cast<void>(f.take_outside(4));
    REQUIRE(f.restore()->sequence == back);
    REQUIRE(f.available() == 0);
  }
  SECTION("but one that grows takes it") {
    REQUIRE(f.grow(runs, 20).has_value());
    REQUIRE(f.available() == 0);
  }
}

TEST_CASE("next_restore: what parked sequences could give counts for the watermark, and is not taken for it",
          "[cache]") {
  pave::kv_cache_options options = small(8);
  options.watermark = 3;
  fixture f(options);
  const pave::sequence_id gives = f.running(5, 16);
  static_cast<void>(f.running(0, 4));
  f.take(gives, 1);
  REQUIRE(f.available() == 4);
  const pave::sequence_id fresh = f.admit(1, 12);
  REQUIRE(f.restore()->sequence == fresh);
  REQUIRE(f.cuts.used().empty());
  REQUIRE(f.available() == 1);
  const pave::sequence_id another = f.admit(2, 4);
  REQUIRE(f.restore()->sequence == another);
  REQUIRE(f.cuts.used().empty());
  REQUIRE(f.held(gives) == 3);
  REQUIRE(f.available() == 0);
  REQUIRE(f.restore().error().missing == 2 + 3);
}

TEST_CASE("next_restore: of reserve and watermark the larger one counts", "[cache]") {
  pave::kv_cache_options options = small(10);
  const bool reserve_is_larger = GENERATE(false, true);
  options.reserve = reserve_is_larger ? 3 : 1;
  options.watermark = reserve_is_larger ? 1 : 3;
  fixture f(options);
  static_cast<void>(f.running(0, 12));
  const pave::sequence_id back = f.parked(2, 12, 1);  // it needs three
  static_cast<void>(f.take_outside(2));
  REQUIRE(f.available() == 4);
  const pave::sequence_id fresh = f.admit(1, 12);
  REQUIRE(f.restore().has_value() == reserve_is_larger);
  REQUIRE(f.state(fresh) == (reserve_is_larger ? sequence_state::running : sequence_state::waiting));
  REQUIRE(f.cache.finish(fresh).has_value());
  REQUIRE(f.restore().error().missing == 2);
  REQUIRE(f.state(back) == sequence_state::parked);
}

TEST_CASE("next_restore: a pass ends where the step has no budget left, and says so", "[cache]") {
  fixture f(small());
  f.next_step();
  const pave::sequence_id first = f.admit(0, 6);
  const pave::sequence_id second = f.admit(1, 6);
  pave::token_count budget = 6;
  auto next = f.restore(budget.value());
  for (; next; next = f.restore(budget.value())) budget -= next->tokens.size();
  REQUIRE(next.code() == errc::no_budget);
  REQUIRE(next.error().missing == 0);
  REQUIRE(f.state(first) == sequence_state::running);
  REQUIRE(f.state(second) == sequence_state::waiting);
  REQUIRE(f.restore(-1).code() == errc::invalid_argument);
}

TEST_CASE("next_restore: errors change nothing and say why", "[cache]") {
  fixture f(small(6));
  REQUIRE(f.restore().code() == errc::no_step);
  f.next_step();
  REQUIRE(f.restore().code() == errc::nothing_waits);
  REQUIRE(f.restore(0).code() == errc::nothing_waits);
  REQUIRE(f.restore(-1).code() == errc::invalid_argument);
  const pave::sequence_id back = f.running(0, 12);
  const pave::sequence_id gives = f.running(1, 12);
  REQUIRE(f.grow(gives, 1).code() == errc::shortage);
  f.take(back, 3);
  pave::cut_list none;
  REQUIRE(f.cache.next_restore(100, none).code() == errc::buffer_too_small);
  REQUIRE(f.held(gives) == 3);
  REQUIRE(f.state(back) == sequence_state::parked);
  REQUIRE(f.restore()->sequence == back);
}

TEST_CASE("plan_cuts: a plan moves nothing, and commit frees what it said", "[cache]") {
  fixture f(small(8));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id last = f.running(1, 20);
  const pave::plan plan = f.cache.plan_cuts(first, 3, f.cuts).value();
  REQUIRE(plan.demand == 3);
  REQUIRE(plan.freed == 3);
  REQUIRE(plan.given_up == 0);
  REQUIRE(plan.over_evicted() == 0);
  REQUIRE(f.held(last) == 5);
  REQUIRE(f.state(last) == sequence_state::running);
  REQUIRE(f.cache.commit(first, f.cuts.used()).value() == 3);
  REQUIRE(f.held(last) == 2);
  REQUIRE(f.state(last) == sequence_state::parked);
  REQUIRE(f.cache.commit(first, f.cuts.used()).code() == errc::stale);
}

TEST_CASE("plan_cuts: errors say why, and nothing asked is an empty plan", "[cache]") {
  fixture f(small(8));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id last = f.running(1, 20);
  REQUIRE(f.cache.plan_cuts(first, 0, f.cuts).value().freed == 0);
  REQUIRE(f.cuts.used().empty());
  REQUIRE(f.cache.commit(first, f.cuts.used()).value() == 0);
  REQUIRE(f.cache.plan_cuts(first, -1, f.cuts).code() == errc::invalid_argument);
  REQUIRE(f.cache.plan_cuts(first, 7, f.cuts).error().missing == 2);
  REQUIRE(f.cache.plan_cuts(last, 1, f.cuts).error().missing == 1);
  pave::cut_list none;
  REQUIRE(f.cache.plan_cuts(first, 1, none).code() == errc::buffer_too_small);
}

TEST_CASE("commit: a plan is refused whole where one of its victims changed since", "[cache]") {
  fixture f(small(16));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id second = f.running(1, 16);
  const pave::sequence_id third = f.running(2, 16);
  const pave::sequence_id fourth = f.parked(3, 8, 1);
  REQUIRE(f.cache.plan_cuts(first, 6, f.cuts).value().freed == 6);
  REQUIRE(f.cuts.used().size() == 3);
  const std::vector<pave::cut> plan(f.cuts.used().begin(), f.cuts.used().end());
  const std::vector<pave::block_id> shared{f.table(second)[3]};
  SECTION("it ended") { REQUIRE(f.cache.finish(third).has_value()); }
  SECTION("it ended, and another has its slot") {
    REQUIRE(f.cache.finish(third).has_value());
    REQUIRE(f.admit(2, 16).slot == third.slot);
  }
  SECTION("it grew") { REQUIRE(f.grow(second, 1).has_value()); }
  SECTION("it was cut") { f.take(fourth, 1); }
  SECTION("it was truncated") { REQUIRE(f.cache.truncate(third, 12).has_value()); }
  SECTION("it resumed") { REQUIRE(f.restore()->sequence == fourth); }
  SECTION("it was stopped") { REQUIRE(f.grow(third, 4 * 12).code() == errc::shortage); }
  SECTION("its blocks were shared") { REQUIRE(f.cache.pool().share(shared).has_value()); }
  SECTION("its blocks were released") {
    REQUIRE(f.cache.pool().share(shared).has_value());
    REQUIRE(f.cache.plan_cuts(first, 6, f.cuts).has_value());
    REQUIRE(f.cuts.used().size() == 3);
    REQUIRE(f.cache.pool().release(shared).has_value());
  }
  SECTION("it is named twice") { f.cuts.add(plan[0]); }
  const std::vector<pave::cut> late(f.cuts.used().begin(), f.cuts.used().end());
  const std::int64_t before = f.available();
  REQUIRE(f.cache.commit(first, late.size() >= plan.size() ? late : plan).code() == errc::stale);
  REQUIRE(f.available() == before);
  REQUIRE(f.held(second) >= 4);
}

TEST_CASE("kv_cache: two of equal rank, with room for one and a half, both finish and do not evict each other in turn",
          "[cache]") {
  fixture f(small(6));
  const pave::sequence_id first = f.admit(0, 8);
  const pave::sequence_id second = f.admit(0, 8);
  int stops = 0;
  for (int steps = 0; steps < 200; ++steps) {
    f.next_step();
    for (const pave::sequence_id id : {first, second}) {
      const auto at = f.cache.progress(id);
      if (!at || at->state != sequence_state::running) continue;
      if (at->computed >= 16) {
        REQUIRE(f.cache.finish(id).has_value());
      } else {
        stops += f.grow(id, 1).has_value() ? 0 : 1;
        stops += static_cast<int>(f.cuts.used().size());
      }
    }
    while (f.restore()) continue;
  }
  REQUIRE(f.cache.finish(first).code() == errc::stale);
  REQUIRE(f.cache.finish(second).code() == errc::stale);
  REQUIRE(stops == 1);
}
