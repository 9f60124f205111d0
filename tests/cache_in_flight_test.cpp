// SPDX-License-Identifier: Apache-2.0
// A kv_cache whose sequences are cut, rolled back or ended while steps that compute them are open or in flight.
#include "cache_fixture.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <cstdint>
#include <vector>

namespace {

using pave::errc;
using pave::sequence_state;
using pave_tests::small;
using fixture = pave_tests::cache_fixture<>;

/// A step whose predecessor stays in flight.
pave::step_id begin(fixture& f) { return f.step = f.cache.begin_step().value(); }

}  // namespace

TEST_CASE("begin_step: as many steps as the options allow are in flight, not one more", "[cache]") {
  pave::kv_cache_options options = small();
  options.steps_in_flight = static_cast<std::size_t>(GENERATE(1, 2, 3, 64));
  fixture f(options);
  for (std::size_t i = 1; i <= options.steps_in_flight; ++i) REQUIRE(begin(f) == pave::step_id{i});
  REQUIRE(f.cache.begin_step().code() == errc::busy);
  REQUIRE(f.cache.complete(1).has_value());
  REQUIRE(begin(f) == pave::step_id{options.steps_in_flight + 1});
  REQUIRE(f.cache.begin_step().code() == errc::busy);
}

TEST_CASE("complete: a step that is done before an earlier one counts when that one is done", "[cache]") {
  pave::kv_cache_options options = small();
  options.steps_in_flight = 3;
  fixture f(options);
  const pave::sequence_id id = f.admit(0, 5);
  const pave::step_id first = begin(f);
  REQUIRE(f.restore()->tokens == pave::token_range{0, 5});
  const pave::step_id second = begin(f);
  REQUIRE(f.grow(id, 1).has_value());
  REQUIRE(f.cache.complete(second).has_value());
  REQUIRE(f.cache.complete(second).code() == errc::stale);
  REQUIRE(f.cache.computed(id).value() == 0);
  REQUIRE(f.grow(id, 1).code() == errc::no_step);
  const pave::step_id third = begin(f);
  REQUIRE(f.cache.begin_step().code() == errc::busy);
  REQUIRE(f.cache.complete(first).has_value());
  REQUIRE(f.cache.computed(id).value() == 6);
  REQUIRE(f.cache.complete(second).code() == errc::stale);
  REQUIRE(f.cache.complete(third).has_value());
}

TEST_CASE("kv_cache: who is cut in the open step is not run in it, and loses only what was computed", "[cache]") {
  fixture f(small(6));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id last = f.running(1, 15);
  REQUIRE(f.grow(last, 1)->tokens == pave::token_range{15, 16});
  REQUIRE(f.grow(first, 1).has_value());
  REQUIRE(f.cuts.used()[0].blocks == pave::block_range{3, 4});
  REQUIRE(f.cache.gap(last).value() == pave::token_range{12, 15});
  REQUIRE(f.cache.snapshot().tokens_lost == 3);
  f.next_step();
  REQUIRE(f.cache.computed(last).value() == 12);
  REQUIRE(f.cache.computed(first).value() == 9);
  REQUIRE(f.cache.finish(first).has_value());
  REQUIRE(f.restore()->tokens == pave::token_range{12, 16});
  REQUIRE(f.cache.snapshot().tokens_restored == 3);
}

TEST_CASE("kv_cache: who is cut with a step in flight is credited with what it keeps, and computes the rest again",
          "[cache]") {
  fixture f(small(6));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id last = f.admit(1, 15);
  REQUIRE(f.restore()->tokens == pave::token_range{0, 15});
  const pave::step_id launched = f.step;
  begin(f);
  REQUIRE(f.grow(first, 1).has_value());
  REQUIRE(f.cuts.used()[0].sequence == last);
  REQUIRE(f.cache.computed(last).value() == 0);
  REQUIRE(f.cache.progress(last)->scheduled == 12);
  REQUIRE(f.cache.gap(last).value() == pave::token_range{12, 15});
  REQUIRE(f.cache.complete(launched).has_value());
  REQUIRE(f.cache.computed(last).value() == 12);
  REQUIRE(f.cache.snapshot().tokens_lost == 3);
}

TEST_CASE("kv_cache: who comes back in the step after the cut is not credited by the one before", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.admit(0, 12);
  const pave::step_id launched = begin(f);
  REQUIRE(f.restore()->tokens == pave::token_range{0, 12});
  begin(f);
  f.take(id, 2);
  REQUIRE(f.restore(5)->tokens == pave::token_range{4, 9});
  REQUIRE(f.cache.complete(launched).has_value());
  REQUIRE(f.cache.computed(id).value() == 4);
  REQUIRE(f.cache.complete(f.step).has_value());
  REQUIRE(f.cache.computed(id).value() == 9);
  REQUIRE(f.cache.gap(id).value() == pave::token_range{9, 12});
}

TEST_CASE("kv_cache: a sequence that parks itself keeps what it has in the open step", "[cache]") {
  fixture f(small(3));
  const pave::sequence_id id = f.running(0, 6);
  const pave::sequence_id last = f.running(1, 3);
  REQUIRE(f.grow(last, 1)->tokens == pave::token_range{3, 4});
  REQUIRE(f.grow(last, 1).code() == errc::shortage);
  REQUIRE(f.state(last) == sequence_state::parked);
  f.next_step();
  REQUIRE(f.cache.computed(last).value() == 4);
  REQUIRE(f.cache.finish(id).has_value());
  REQUIRE(f.restore()->tokens == pave::token_range{4, 5});
}

TEST_CASE("kv_cache: cut again in the middle of its restore, a sequence loses what came back, and only that",
          "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.parked(0, 32, 2);
  REQUIRE(f.restore(10)->tokens == pave::token_range{8, 18});
  f.next_step();
  REQUIRE(f.grow(id, 6)->tokens == pave::token_range{18, 24});
  f.take(id, 5);
  REQUIRE(f.held(id) == 4);
  REQUIRE(f.cache.progress(id)->scheduled == 16);
  REQUIRE(f.cache.gap(id).value() == pave::token_range{16, 32});
  const pave::cache_snapshot now = f.cache.snapshot();
  REQUIRE(now.tokens_lost == 24 + 2);
  REQUIRE(now.tokens_restored == 10);
  REQUIRE(f.restore()->tokens == pave::token_range{16, 33});
  REQUIRE(f.cache.snapshot().tokens_restored == 10 + 16);
}

TEST_CASE("kv_cache: blocks that a restore took and has not filled yet are cut without loss of tokens", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.parked(0, 32, 2);
  REQUIRE(f.restore(4)->tokens == pave::token_range{8, 12});
  REQUIRE(f.held(id) == 9);
  f.next_step();
  const pave::token_count lost = f.cache.snapshot().tokens_lost;
  f.take(id, 6);
  REQUIRE(f.cache.snapshot().tokens_lost == lost);
  REQUIRE(f.state(id) == sequence_state::parked);
  REQUIRE(f.cache.computed(id).value() == 12);
}

TEST_CASE("kv_cache: rejected drafts of a step in flight are not credited, and are computed anew", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.running(0, 10);
  REQUIRE(f.grow(id, 6)->tokens == pave::token_range{10, 16});
  const pave::step_id drafted = f.step;
  begin(f);
  REQUIRE(f.cache.truncate(id, 12).has_value());
  REQUIRE(f.grow(id, 2)->tokens == pave::token_range{12, 14});
  REQUIRE(f.cache.complete(drafted).has_value());
  REQUIRE(f.cache.computed(id).value() == 12);
  REQUIRE(f.cache.complete(f.step).has_value());
  REQUIRE(f.cache.computed(id).value() == 14);
  REQUIRE(f.cache.snapshot().tokens_lost == 0);
}

TEST_CASE("truncate: of a shared last block that a step in flight writes, the tokens come back, and count as lost",
          "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.running(0, 10);
  REQUIRE(f.grow(id, 6)->tokens == pave::token_range{10, 16});
  const pave::step_id drafted = f.step;
  begin(f);
  const std::vector<pave::block_id> shared = f.share(id, {2});
  REQUIRE(f.cache.truncate(id, 11).has_value());
  REQUIRE(f.held(id) == 2);
  REQUIRE(f.cache.gap(id).value() == pave::token_range{8, 11});
  REQUIRE(f.cache.complete(drafted).has_value());
  REQUIRE(f.cache.computed(id).value() == 8);
  REQUIRE(f.grow(id, 4)->tokens == pave::token_range{8, 12});
  REQUIRE(f.cache.complete(f.step).has_value());
  REQUIRE(f.cache.computed(id).value() == 12);
  REQUIRE(f.cache.snapshot().tokens_lost == 3);
  REQUIRE(f.cache.snapshot().tokens_restored == 3);
  REQUIRE(f.cache.pool().holders(shared[0]) == 1);
}

TEST_CASE("truncate: of a shared last block, what the open step has is not lost, but scheduled anew", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.admit(0, 14);
  const bool is_half_done = GENERATE(false, true);
  if (is_half_done) {
    begin(f);
    REQUIRE(f.restore(9)->tokens == pave::token_range{0, 9});
    f.next_step();
    REQUIRE(f.grow(id, 5)->tokens == pave::token_range{9, 14});
  } else {
    begin(f);
    REQUIRE(f.restore()->tokens == pave::token_range{0, 14});
  }
  static_cast<void>(f.share(id, {2}));
  REQUIRE(f.cache.truncate(id, 11).has_value());
  const std::int64_t lost = is_half_done ? 1 : 0;
  REQUIRE(f.held(id) == 2);
  REQUIRE(f.cache.gap(id).value() == pave::token_range{8, 8 + lost});
  REQUIRE(f.cache.remaining(id).value() == 3);
  REQUIRE(f.cache.snapshot().tokens_lost == lost);
  SECTION("it grows in the same step") {
    REQUIRE(f.grow(id, 3)->tokens == pave::token_range{8, 11});
    f.next_step();
    REQUIRE(f.cache.computed(id).value() == 11);
    REQUIRE(f.cache.snapshot().tokens_restored == lost);
  }
  SECTION("it is cut in the same step") {
    f.take(id, 1);
    REQUIRE(f.cache.snapshot().tokens_restored == 0);
    REQUIRE(f.cache.snapshot().tokens_lost == (is_half_done ? 1 + 4 : 0));
    REQUIRE(f.restore()->tokens == pave::token_range{is_half_done ? 4 : 0, 11});
    REQUIRE(f.cache.snapshot().tokens_restored == (is_half_done ? 1 + 4 : 0));
  }
}

TEST_CASE("finish and abort: steps in flight do not credit the next sequence of the slot, not even in the same step",
          "[cache]") {
  fixture f(small());
  const bool aborts = GENERATE(false, true);
  const bool is_launched = GENERATE(false, true);
  const pave::sequence_id ended = f.admit(0, 20);
  begin(f);
  REQUIRE(f.restore().has_value());
  if (is_launched) begin(f);
  REQUIRE((aborts ? f.cache.abort(ended) : f.cache.finish(ended)).has_value());
  REQUIRE(f.available() == 16);
  const pave::sequence_id heir = f.admit(0, 9);
  REQUIRE(heir.slot == ended.slot);
  REQUIRE(f.restore(6)->tokens == pave::token_range{0, 6});
  if (is_launched) {
    REQUIRE(f.cache.complete(1).has_value());
    REQUIRE(f.cache.computed(heir).value() == 0);
  }
  REQUIRE(f.cache.complete(f.step).has_value());
  REQUIRE(f.cache.computed(heir).value() == 6);
  REQUIRE(f.cache.computed(ended).code() == errc::stale);
}

TEST_CASE("kv_cache: a slot that changes hands again and again in one step runs once", "[cache]") {
  pave::kv_cache_options options = small();
  options.sequences = 1;
  fixture f(options);
  begin(f);
  for (int i = 0; i < 20; ++i) {
    const pave::sequence_id id = f.admit(0, 8);
    REQUIRE(f.restore().has_value());
    REQUIRE(f.cache.finish(id).has_value());
  }
  const pave::sequence_id id = f.admit(0, 8);
  REQUIRE(f.restore(3).has_value());
  REQUIRE(f.cache.complete(f.step).has_value());
  REQUIRE(f.cache.computed(id).value() == 3);
}

TEST_CASE("reset: steps in flight no longer count for what they computed", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.running(0, 8);
  REQUIRE(f.grow(id, 1).has_value());
  const pave::step_id launched = f.step;
  begin(f);
  REQUIRE(f.grow(id, 1).has_value());
  f.cache.reset();
  REQUIRE(f.cache.gap(id).value() == pave::token_range{0, 9});
  REQUIRE(f.cache.complete(launched).has_value());
  REQUIRE(f.cache.complete(f.step).has_value());
  REQUIRE(f.cache.computed(id).value() == 0);
  begin(f);
  REQUIRE(f.restore()->tokens == pave::token_range{0, 10});
}
