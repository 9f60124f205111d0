// SPDX-License-Identifier: Apache-2.0
// What becomes of blocks on their way, and of the promise of them, when requester or victim changes meanwhile.
#include "cache_fence_fixture.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace {

using pave::sequence_state;
using pave_tests::misses;
using pave_tests::small_with_steps;
using pave_tests::waits_for;
using fixture = pave_tests::fence_fixture<>;

/// One waits for a block that a less important one, which still has two, lost with its step in flight. A third one of
/// two blocks runs.
struct one_waits : fixture {
  explicit one_waits(const pave::kv_cache_options& options = small_with_steps(7)) : fixture(options) {
    third = running(-1, 7);
    requester = running(0, 8);
    victim = running(2, 11);
    REQUIRE(grow(victim, 1).has_value());
    in_flight = step;
    begin();
    REQUIRE(waits_for(grow(requester, 1), 1, in_flight));
    REQUIRE(only_cut(victim, {2, 3}, false));
    REQUIRE(cache.set_rank(third, 1).has_value());
  }
  pave::sequence_id third, requester, victim;
  pave::step_id in_flight;
};

}  // namespace

TEST_CASE("kv_cache: when the requester ends, what was on its way for it comes to whoever asks", "[cache][fence]") {
  one_waits f;
  if (GENERATE(false, true)) {
    f.finish(f.requester);
  } else {
    f.abort(f.requester);
  }
  REQUIRE(f.available() == 2);
  REQUIRE(f.fenced() == 1);
  REQUIRE(f.grow(f.third, 5)->blocks == pave::block_range{2, 3});
  REQUIRE(f.available() == 1);
  REQUIRE(waits_for(f.grow(f.third, 8), 1, f.in_flight));
  REQUIRE(f.cuts.used().empty());
  f.complete(f.in_flight);
  REQUIRE(f.restore()->sequence == f.third);
  REQUIRE(f.held(f.victim) == 2);
}

TEST_CASE("kv_cache: when the victim ends, the promise stands, and its other blocks are for whoever asks",
          "[cache][fence]") {
  one_waits f;
  f.finish(f.victim);
  REQUIRE(f.fenced() == 3);
  REQUIRE(f.promised(f.requester) == 1);
  REQUIRE(waits_for(f.grow(f.third, 9), 2, f.in_flight));
  REQUIRE(f.cuts.used().empty());
  REQUIRE(f.promised(f.third) == 2);
  f.complete(f.in_flight);
  REQUIRE(f.available() == 3);
  REQUIRE(f.restore()->sequence == f.requester);
  REQUIRE(f.restore()->sequence == f.third);
  REQUIRE(f.available() == 0);
}

TEST_CASE("kv_cache: a victim that matters more meanwhile does not get back what is promised", "[cache][fence]") {
  one_waits f;
  SECTION("but still less than the requester") {
    REQUIRE(f.cache.set_rank(f.victim, 0).has_value());
    REQUIRE(waits_for(f.restore(), 1, f.in_flight));
    REQUIRE(f.promised(f.victim) == 0);
    f.complete(f.in_flight);
    REQUIRE(f.restore()->sequence == f.requester);
    REQUIRE(misses(f.restore(), 2));
  }
  SECTION("unless it matters more than the requester") {
    REQUIRE(f.cache.set_rank(f.victim, -1).has_value());
    REQUIRE(waits_for(f.restore(), 1, f.in_flight));
    REQUIRE(f.only_cut(f.requester, {1, 2}, true));
    REQUIRE(f.available() == 1);
    REQUIRE(f.promised(f.victim) == 2);
    REQUIRE(f.promised(f.requester) == 0);
  }
}

TEST_CASE("kv_cache: a requester that matters less meanwhile keeps its promise against those below it alone",
          "[cache][fence]") {
  one_waits f;
  REQUIRE(f.cache.set_rank(f.requester, 5).has_value());
  REQUIRE(f.promised(f.requester) == 1);
  const pave::sequence_id more = f.admit(4, 4);
  const pave::sequence_id less = f.admit(6, 4);
  f.complete(f.in_flight);
  REQUIRE(f.restore()->sequence == f.victim);  // it takes it back, and one of the requester's
  REQUIRE(f.only_cut(f.requester, {1, 2}, true));
  REQUIRE(f.promised(f.requester) == 0);
  REQUIRE(f.restore()->sequence == more);
  REQUIRE(f.only_cut(f.requester, {0, 1}, true));
  REQUIRE(misses(f.restore(), 3));
  REQUIRE(f.state(less) == sequence_state::waiting);
}

TEST_CASE("truncate: a requester that needs no more block comes in at once, and its promise ends", "[cache][fence]") {
  one_waits f;
  REQUIRE(f.cache.truncate(f.requester, 7).has_value());
  REQUIRE(f.promised(f.requester) == 1);
  REQUIRE(f.restore()->tokens == pave::token_range{7, 8});
  REQUIRE(f.promised(f.requester) == 0);
  REQUIRE(f.cuts.used().empty());
  REQUIRE(waits_for(f.grow(f.third, 2), 1, f.in_flight));
  REQUIRE(f.cuts.used().empty());
}

TEST_CASE("truncate: a victim's other blocks that go do not come to the requester before they are safe",
          "[cache][fence]") {
  one_waits f;
  REQUIRE(f.cache.truncate(f.victim, 4).has_value());
  f.check();
  REQUIRE(f.fenced() == 2);
  REQUIRE(waits_for(f.restore(), 1, f.in_flight));
  REQUIRE(f.promised(f.requester) == 1);
  REQUIRE(waits_for(f.grow(f.third, 2), 1, f.in_flight));
  f.complete(f.in_flight);
  REQUIRE(f.available() == 2);
  REQUIRE(f.restore()->sequence == f.requester);
  REQUIRE(f.restore()->sequence == f.third);
}

TEST_CASE("kv_cache: a requester that is cut while it waits has no promise any more", "[cache][fence]") {
  one_waits f;
  f.take(f.requester, 1);
  REQUIRE(f.promised(f.requester) == 0);
  REQUIRE(f.available() == 1);
  // It needs two now, of which one is there.
  REQUIRE(waits_for(f.restore(), 1, f.in_flight));
  REQUIRE(f.cuts.used().empty());
  REQUIRE(f.promised(f.requester) == 2);
  f.complete(f.in_flight);
  REQUIRE(f.restore()->blocks == pave::block_range{1, 3});
}

TEST_CASE("reset: all promises end, and all blocks are there when the steps in flight are done", "[cache][fence]") {
  one_waits f;
  REQUIRE(f.grow(f.third, 1)->tokens == pave::token_range{7, 8});
  f.cache.reset();
  f.check();
  REQUIRE(f.promised(f.requester) == 0);
  REQUIRE(f.available() == 4);  // the third was not run in the open step, after all
  REQUIRE(f.fenced() == 3);
  REQUIRE(f.restore()->sequence == f.requester);
  REQUIRE(f.held(f.requester) == 3);
  f.complete(f.in_flight);
  REQUIRE(f.fenced() == 0);
  REQUIRE(f.available() == 4);
}

TEST_CASE("kv_cache: in whatever order requester and victim end and their steps are done, all comes free once",
          "[cache][fence]") {
  std::array<int, 5> order{0, 1, 2, 3, 4};
  do {
    one_waits f;
    const pave::step_id open = f.step;
    const std::array<std::function<void()>, 5> calls{[&] { f.finish(f.requester); }, [&] { f.abort(f.victim); },
                                                     [&] { f.complete(f.in_flight); }, [&] { f.complete(open); },
                                                     [&] { f.finish(f.third); }};
    for (const int call : order) calls[static_cast<std::size_t>(call)]();
    REQUIRE(f.available() == 7);
    const pave::sequence_id next = f.admit(0, 28);
    f.begin();
    REQUIRE(f.restore()->sequence == next);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("kv_cache: in whatever order other things happen, the requester comes in when its step is done",
          "[cache][fence]") {
  std::array<int, 4> order{0, 1, 2, 3};
  do {
    one_waits f;
    bool is_in = false;
    bool is_done = false;
    const std::array<std::function<void()>, 4> calls{[&] { REQUIRE(f.cache.set_rank(f.requester, -5).has_value()); },
                                                     [&] { REQUIRE(f.cache.set_rank(f.victim, 8).has_value()); },
                                                     [&] {
                                                       f.complete(f.in_flight);
                                                       is_done = true;
                                                     },
                                                     [&] { f.finish(f.third); }};
    bool has_room = false;
    for (const int call : order) {
      calls[static_cast<std::size_t>(call)]();
      has_room = has_room || call == 3;
      if (is_in) continue;
      is_in = f.restore().has_value();
      REQUIRE(f.cuts.used().empty());
      REQUIRE(is_in == (is_done || has_room));  // the third one's blocks are safe
      REQUIRE(f.promised(f.requester) == (is_in ? 0 : 1));
    }
    REQUIRE(f.held(f.requester) == 3);
    REQUIRE(f.held(f.victim) == 2);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("commit: what a plan frees is promised to whom it was made for, on its way or not", "[cache][fence]") {
  fixture f(small_with_steps(8));
  const pave::sequence_id requester = f.running(0, 8);
  const pave::sequence_id victim = f.running(2, 15);
  const pave::sequence_id third = f.running(-1, 8);
  REQUIRE(f.cache.set_rank(third, 1).has_value());
  const bool is_in_flight = GENERATE(false, true);
  if (is_in_flight) REQUIRE(f.grow(victim, 1).has_value());
  const pave::step_id in_flight = f.step;
  if (is_in_flight) f.begin();
  const pave::step_id by = is_in_flight ? in_flight : pave::step_id{in_flight.value() - 1};
  REQUIRE(f.cache.plan_cuts(requester, 1, f.cuts)->freed == 1);
  REQUIRE(f.cache.commit(requester, f.cuts.used()).value() == 1);
  f.check();
  REQUIRE(f.available() == (is_in_flight ? 0 : 1));
  REQUIRE(f.promised(requester) == 1);
  REQUIRE(f.promised_by(requester) == by);
  // What is promised already is not taken into account: a plan frees what it was asked for.
  REQUIRE(f.cache.plan_cuts(requester, 2, f.cuts)->freed == 2);
  REQUIRE(f.cache.commit(requester, f.cuts.used()).value() == 2);
  REQUIRE(f.promised(requester) == 3);
  REQUIRE(f.promised_by(requester) == by);
  REQUIRE(f.state(requester) == sequence_state::running);
  REQUIRE(f.grow(requester, 0).has_value());
  REQUIRE(f.promised(requester) == 3);
  SECTION("it takes them, and cuts nobody") {
    if (is_in_flight) {
      REQUIRE(waits_for(f.grow(requester, 12), 3, by));
      f.complete(in_flight);
      REQUIRE(f.restore()->blocks == pave::block_range{2, 5});
    } else {
      REQUIRE(f.grow(requester, 12)->blocks == pave::block_range{2, 5});
    }
    REQUIRE(f.cuts.used().empty());
    REQUIRE(f.promised(requester) == 0);
    REQUIRE(f.available() == 0);
  }
  SECTION("it takes fewer, and the others are free") {
    if (is_in_flight) f.complete(in_flight);
    REQUIRE(f.grow(requester, 4)->blocks == pave::block_range{2, 3});
    REQUIRE(f.promised(requester) == 0);
    REQUIRE(f.available() == 2);
    REQUIRE(f.grow(third, 8).has_value());
  }
  SECTION("a less important one gets none of them, and cuts for itself") {
    if (is_in_flight) {
      REQUIRE(waits_for(f.grow(third, 1), 1, by));
    } else {
      REQUIRE(f.grow(third, 1)->blocks == pave::block_range{2, 3});
    }
    REQUIRE(f.only_cut(victim, {0, 1}, true));
    REQUIRE(f.promised(requester) == 3);
  }
}

TEST_CASE("commit: an empty plan, or one that is refused, promises nothing", "[cache][fence]") {
  one_waits f;
  REQUIRE(f.cache.commit(f.requester, {}).value() == 0);
  REQUIRE(f.promised(f.requester) == 1);
  REQUIRE(f.cache.plan_cuts(f.requester, 1, f.cuts).has_value());
  f.finish(f.victim);
  REQUIRE(f.cache.commit(f.requester, f.cuts.used()).code() == pave::errc::stale);
  REQUIRE(f.promised(f.requester) == 1);
}

TEST_CASE("next_restore: a reserve or a watermark is met by what is on its way, but not by what is promised",
          "[cache][fence]") {
  const bool is_reserve = GENERATE(false, true);
  pave::kv_cache_options options = small_with_steps(9);
  options.reserve = is_reserve ? 1 : 0;
  options.watermark = is_reserve ? 0 : 1;
  fixture f(options);
  const pave::sequence_id runs = f.running(0, 8);
  const pave::sequence_id gives = f.running(2, 15);
  const pave::sequence_id back = f.parked(1, 8, 1);
  static_cast<void>(f.take_outside(1));
  REQUIRE(f.cache.truncate(back, 7).has_value());  // it needs one block
  REQUIRE(f.grow(gives, 1).has_value());
  REQUIRE(f.available() == 1);
  const pave::step_id in_flight = f.step;
  f.begin();
  SECTION("what is there and what is on its way are enough") {
    f.finish(gives);
    REQUIRE(f.fenced() == 4);
    REQUIRE(f.restore()->sequence == back);
    REQUIRE(f.available() == 0);
  }
  SECTION("all that is on its way is promised to a more important one") {
    REQUIRE(f.cache.set_rank(back, -1).has_value());
    REQUIRE(f.cache.plan_cuts(runs, 4, f.cuts).has_value());
    REQUIRE(f.only_cut(gives, {0, 4}, false));
    REQUIRE(f.cache.commit(runs, f.cuts.used()).value() == 4);
    REQUIRE(f.cache.set_rank(back, 1).has_value());
    REQUIRE(misses(f.restore(), 1));
    f.complete(in_flight);
    REQUIRE(f.available() == 5);
    REQUIRE(misses(f.restore(), 1));
    REQUIRE(f.grow(runs, 12)->blocks == pave::block_range{2, 5});
    REQUIRE(f.restore()->sequence == back);
    REQUIRE(f.available() == 1);
  }
}

TEST_CASE("next_restore: a found block that a victim lets go of is waited for, and found again", "[cache][fence]") {
  pave_tests::fence_fixture<pave_tests::keep_and_fence_policies> f(small_with_steps(6));
  const pave::sequence_id gives = f.running(5, 11);
  const pave::sequence_id back = f.parked(0, 12, 1);
  REQUIRE(f.grow(gives, 1).has_value());
  const pave::step_id in_flight = f.step;
  const std::vector<pave::kept_block> content = f.content(gives, 2);
  f.begin();
  REQUIRE(f.cache.offer_prefix(back, content).has_value());
  static_cast<void>(f.take_outside(2));
  REQUIRE(f.grow(gives, 1).code() == pave::errc::shortage);
  REQUIRE(f.held(gives) == 3);
  REQUIRE(f.available() == 0);
  // It finds one block, and lacks two: what is before and what is behind that one in the other's table.
  REQUIRE(waits_for(f.restore(), 3, in_flight));
  REQUIRE(f.cuts.used().size() == 1);
  REQUIRE(f.cuts.used()[0].blocks == pave::block_range{0, 3});
  REQUIRE(f.cuts.used()[0].freed == 2);
  REQUIRE(f.promised(back) == 3);
  REQUIRE(waits_for(f.restore(), 3, in_flight));
  REQUIRE(f.cuts.used().empty());
  f.complete(in_flight);
  const pave::restore restored = f.restore().value();
  REQUIRE(restored.sequence == back);
  REQUIRE(restored.found == pave::token_range{4, 8});
  REQUIRE(restored.tokens == pave::token_range{8, 13});
  REQUIRE(restored.blocks == pave::block_range{1, 4});
  REQUIRE(f.table(back)[1] == content[1].block);
  REQUIRE(f.available() == 0);
}
