// SPDX-License-Identifier: Apache-2.0
// A kv_cache whose victims' blocks may still be in use: what comes at once, what is on its way, and for whom.
#include "cache_fence_fixture.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <cstdint>
#include <vector>

namespace {

using pave::errc;
using pave::sequence_state;
using pave_tests::misses;
using pave_tests::small_with_steps;
using pave_tests::waits_for;
using fixture = pave_tests::fence_fixture<>;

/// Two sequences that fill the pool: one of 8 tokens, and a less important one that has 12 with the step in flight.
struct two_of_five : fixture {
  two_of_five() : fixture(small_with_steps(5)) {
    first = running(0, 8);
    last = running(2, 11);
    REQUIRE(grow(last, 1)->tokens == pave::token_range{11, 12});
    in_flight = step;
    begin();
  }
  pave::sequence_id first, last;
  pave::step_id in_flight;
};

}  // namespace

TEST_CASE("kv_cache: blocks of a victim whose steps are complete come at once, and are just the missing ones",
          "[cache][fence]") {
  fixture f(small_with_steps(6));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id last = f.running(1, 12);
  REQUIRE(f.available() == 1);
  const std::int64_t blocks = GENERATE(1, 2, 3, 4);
  REQUIRE(f.grow(first, 4 * blocks)->blocks == pave::block_range{2, 2 + blocks});
  if (blocks == 1) {
    REQUIRE(f.cuts.used().empty());
  } else {
    REQUIRE(f.only_cut(last, {4 - blocks, 3}, false));
  }
  REQUIRE(f.available() == 0);
  REQUIRE(f.fenced() == 0);
  REQUIRE(f.promised(first) == 0);
}

TEST_CASE("kv_cache: blocks that a step in flight uses are on their way, and the requester waits for them",
          "[cache][fence]") {
  two_of_five f;
  REQUIRE(f.in_flight == pave::step_id{4});
  REQUIRE(waits_for(f.grow(f.first, 1), 1, 4));
  REQUIRE(f.only_cut(f.last, {2, 3}, false));
  REQUIRE(f.state(f.first) == sequence_state::parked);
  REQUIRE(f.state(f.last) == sequence_state::parked);
  REQUIRE(f.held(f.first) == 2);
  REQUIRE(f.held(f.last) == 2);
  REQUIRE(f.cache.gap(f.first)->empty());
  REQUIRE(f.available() == 0);
  REQUIRE(f.fenced() == 1);
  REQUIRE(f.promised(f.first) == 1);
  REQUIRE(f.promised_by(f.first) == pave::step_id{4});
  REQUIRE(f.promised(f.last) == 0);
  REQUIRE(f.promised_by(f.last) == pave::step_id{});
}

TEST_CASE("kv_cache: who waits for blocks on their way and asks again stops nobody else", "[cache][fence]") {
  fixture f(small_with_steps(7));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id other = f.running(1, 8);
  const pave::sequence_id last = f.running(2, 11);
  REQUIRE(f.grow(last, 1).has_value());
  const pave::step_id in_flight = f.step;
  f.begin();
  REQUIRE(waits_for(f.grow(first, 1), 1, in_flight));
  REQUIRE(f.grow(first, 1).code() == errc::waits);
  REQUIRE(f.cuts.used().empty());
  for (int i = 0; i < 3; ++i) {
    REQUIRE(waits_for(f.restore(), 1, in_flight));
    REQUIRE(f.cuts.used().empty());
    if (i == 1) f.begin();
  }
  REQUIRE(f.state(other) == sequence_state::running);
  REQUIRE(f.held(other) == 2);
  REQUIRE(f.held(last) == 2);
  REQUIRE(f.fenced() == 1);
  REQUIRE(f.promised(first) == 1);
}

TEST_CASE("kv_cache: after the step the requester comes in by next_restore, with just the promised blocks",
          "[cache][fence]") {
  two_of_five f;
  const pave::block_id cut = f.table(f.last)[2];
  REQUIRE(waits_for(f.grow(f.first, 3), 1, f.in_flight));
  f.complete(f.in_flight);
  REQUIRE(f.available() == 1);
  REQUIRE(f.fenced() == 0);
  REQUIRE(f.promised(f.first) == 1);
  REQUIRE(f.cache.computed(f.last).value() == 8);
  const pave::restore back = f.restore().value();
  REQUIRE(back.sequence == f.first);
  REQUIRE(back.resumed);
  REQUIRE(back.tokens == pave::token_range{8, 11});
  REQUIRE(back.blocks == pave::block_range{2, 3});
  REQUIRE(back.taken == 1);
  REQUIRE(f.cuts.used().empty());
  REQUIRE(f.table(f.first)[2] == cut);
  REQUIRE(f.promised(f.first) == 0);
  REQUIRE(misses(f.restore(), 2));  // the other one, with 13 tokens to have and two blocks
  REQUIRE(f.promised(f.last) == 0);
}

TEST_CASE("kv_cache: of what is cut, some comes at once and some is on its way, and the whole need is promised",
          "[cache][fence]") {
  fixture f(small_with_steps(7));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id middle = f.running(1, 8);
  const pave::sequence_id last = f.running(2, 4);
  REQUIRE(f.available() == 2);
  const pave::sequence_id also = f.running(-1, 4);
  REQUIRE(f.grow(middle, 1)->blocks == pave::block_range{2, 3});
  const pave::step_id in_flight = f.step;
  f.begin();
  REQUIRE(waits_for(f.grow(first, 8), 1, in_flight));
  REQUIRE(f.cuts.used().size() == 2);
  REQUIRE(f.cuts.used()[0].sequence == last);
  REQUIRE(f.cuts.used()[1].sequence == middle);
  REQUIRE(f.cuts.used()[1].blocks == pave::block_range{2, 3});
  REQUIRE(f.available() == 1);
  REQUIRE(f.fenced() == 1);
  REQUIRE(f.promised(first) == 2);
  // A more important one takes what is there, and the requester waits for what it lacks now.
  SECTION("nobody comes between") {
    f.complete(in_flight);
    REQUIRE(f.restore()->blocks == pave::block_range{2, 4});
    REQUIRE(f.available() == 0);
  }
  SECTION("a more important one takes what is there, so that more is cut") {
    REQUIRE(f.grow(also, 1).has_value());
    REQUIRE(f.cuts.used().empty());
    REQUIRE(f.promised(first) == 1);
    REQUIRE(waits_for(f.restore(), 2, in_flight));
    REQUIRE(f.only_cut(middle, {1, 2}, true));
    REQUIRE(f.promised(first) == 2);
    f.complete(in_flight);
    REQUIRE(f.restore()->sequence == first);
    REQUIRE(f.available() == 0);
  }
}

TEST_CASE("kv_cache: a less important sequence gets neither what is on its way for another nor what is kept for it",
          "[cache][fence]") {
  fixture f(small_with_steps(6));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id last = f.running(2, 11);
  const pave::sequence_id third = f.running(-1, 4);
  REQUIRE(f.grow(last, 1).has_value());
  const pave::step_id in_flight = f.step;
  f.begin();
  REQUIRE(waits_for(f.grow(first, 1), 1, in_flight));
  REQUIRE(f.cache.set_rank(third, 9).has_value());
  const bool is_there = GENERATE(false, true);
  if (is_there) f.complete(in_flight);
  REQUIRE(f.available() == (is_there ? 1 : 0));
  REQUIRE(misses(f.grow(third, 1), 1));
  REQUIRE(f.state(third) == sequence_state::parked);
  REQUIRE(f.cuts.used().empty());
  REQUIRE(f.promised(third) == 0);
  REQUIRE(f.promised(first) == 1);
  if (!is_there) f.complete(in_flight);
  REQUIRE(f.restore()->sequence == first);
  REQUIRE(f.cuts.used().empty());
}

TEST_CASE("kv_cache: a less important sequence gets what is there beyond a promise", "[cache][fence]") {
  two_of_five f;
  const pave::sequence_id third = f.admit(9, 4);
  REQUIRE(waits_for(f.grow(f.first, 1), 1, f.in_flight));
  REQUIRE(f.cache.resize(6).has_value());
  REQUIRE(f.available() == 1);
  SECTION("what is there is enough for the one to whom more is promised") {
    REQUIRE(f.restore()->sequence == f.first);
    REQUIRE(f.available() == 0);
    REQUIRE(f.promised(f.first) == 0);
    f.complete(f.in_flight);
    REQUIRE(f.available() == 1);
  }
  SECTION("it is there before the promise is due") {
    REQUIRE(f.cache.set_rank(third, -1).has_value());  // first in line
    REQUIRE(f.restore()->sequence == third);
    REQUIRE(f.cache.set_rank(third, 9).has_value());
    REQUIRE(f.promised(f.first) == 1);
    REQUIRE(f.available() == 0);
    REQUIRE(misses(f.grow(third, 1), 1));
    f.complete(f.in_flight);
    REQUIRE(f.restore()->sequence == f.first);
  }
}

TEST_CASE("kv_cache: a less important one may take what is there while a promise is kept by what comes in time",
          "[cache][fence]") {
  two_of_five f;
  REQUIRE(waits_for(f.grow(f.first, 1), 1, f.in_flight));
  const pave::sequence_id third = f.admit(-1, 4);
  REQUIRE(f.cache.resize(7).has_value());
  REQUIRE(f.restore()->sequence == third);
  REQUIRE(f.cache.set_rank(third, 1).has_value());
  REQUIRE(f.available() == 1);
  REQUIRE(f.grow(third, 1)->blocks == pave::block_range{1, 2});
  REQUIRE(f.cuts.used().empty());
  REQUIRE(f.available() == 0);
  REQUIRE(f.promised(f.first) == 1);
  f.complete(f.in_flight);
  REQUIRE(f.restore()->sequence == f.first);
  REQUIRE(f.cuts.used().empty());
}

TEST_CASE("kv_cache: a more important sequence takes what is on its way for another, and cuts nobody for it",
          "[cache][fence]") {
  fixture f(small_with_steps(6));
  const pave::sequence_id most = f.running(-1, 4);
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id last = f.running(2, 11);
  REQUIRE(f.grow(last, 1).has_value());
  const pave::step_id in_flight = f.step;
  f.begin();
  REQUIRE(waits_for(f.grow(first, 1), 1, in_flight));
  SECTION("before it is there") {
    REQUIRE(waits_for(f.grow(most, 1), 1, in_flight));
    REQUIRE(f.cuts.used().empty());
    REQUIRE(f.promised(most) == 1);
    f.begin();
    REQUIRE(f.promised(most) == 1);
    REQUIRE(f.promised(first) == 0);
    REQUIRE(f.promised_by(first) == pave::step_id{});
    f.complete(in_flight);
    REQUIRE(f.restore()->sequence == most);
  }
  SECTION("once it is there") {
    f.complete(in_flight);
    REQUIRE(f.grow(most, 1)->blocks == pave::block_range{1, 2});
    REQUIRE(f.cuts.used().empty());
    REQUIRE(f.promised(first) == 0);
  }
  // What was taken is cut for again, once.
  REQUIRE(f.restore()->sequence == first);
  REQUIRE(f.only_cut(last, {1, 2}, true));
  REQUIRE(f.available() == 0);
  REQUIRE(f.fenced() == 0);
}

TEST_CASE("kv_cache: of several promises the least important is broken first, and only as far as it has to be",
          "[cache][fence]") {
  fixture f(small_with_steps(11));
  const pave::sequence_id most = f.running(-1, 4);
  const pave::sequence_id first = f.running(0, 4);
  const pave::sequence_id second = f.running(1, 4);
  const pave::sequence_id last = f.running(2, 31);
  REQUIRE(f.grow(last, 1).has_value());
  const pave::step_id in_flight = f.step;
  f.begin();
  REQUIRE(waits_for(f.grow(first, 8), 2, in_flight));
  REQUIRE(waits_for(f.grow(second, 8), 2, in_flight));
  REQUIRE(f.only_cut(last, {4, 6}, true));
  f.complete(in_flight);
  REQUIRE(f.grow(most, 4).has_value());
  REQUIRE(f.promised(first) == 2);
  REQUIRE(f.promised(second) == 1);
  REQUIRE(f.grow(most, 8).has_value());
  REQUIRE(f.promised(first) == 1);
  REQUIRE(f.promised(second) == 0);
  REQUIRE(f.held(last) == 4);
}

TEST_CASE("kv_cache: a step that is done before an earlier one ends no fence until that one is done",
          "[cache][fence]") {
  two_of_five f;
  const bool is_in_both = GENERATE(false, true);
  const pave::step_id second = f.step;
  if (is_in_both) {
    REQUIRE(f.cache.truncate(f.last, 11).has_value());
    REQUIRE(f.grow(f.last, 1)->tokens == pave::token_range{11, 12});
  }
  f.begin();
  REQUIRE(waits_for(f.grow(f.first, 1), 1, is_in_both ? second : f.in_flight));
  f.complete(second);
  REQUIRE(f.fenced() == 1);
  REQUIRE(waits_for(f.restore(), 1, is_in_both ? second : f.in_flight));
  f.complete(f.in_flight);
  REQUIRE(f.fenced() == 0);
  REQUIRE(f.restore()->sequence == f.first);
}

TEST_CASE("kv_cache: a victim that is cut before its step is launched is fenced only by the step before",
          "[cache][fence]") {
  two_of_five f;
  const bool is_done = GENERATE(false, true);
  REQUIRE(f.cache.truncate(f.last, 11).has_value());
  REQUIRE(f.grow(f.last, 1).has_value());
  if (is_done) {
    f.complete(f.in_flight);
    REQUIRE(f.grow(f.first, 1)->blocks == pave::block_range{2, 3});
    REQUIRE(f.fenced() == 0);
  } else {
    REQUIRE(waits_for(f.grow(f.first, 1), 1, f.in_flight));
  }
  REQUIRE(f.only_cut(f.last, {2, 3}, false));
}

TEST_CASE("kv_cache: who is cut, comes back in the open step and is cut again is fenced by what was launched",
          "[cache][fence]") {
  two_of_five f;
  REQUIRE(f.cache.resize(7).has_value());
  f.take(f.last, 1);
  REQUIRE(f.restore()->tokens == pave::token_range{8, 13});
  f.take(f.last, 2);
  REQUIRE(f.available() == 0);
  REQUIRE(f.fenced() == 3);
  REQUIRE(f.cache.pool().arriving(f.in_flight) == 3);
  REQUIRE(waits_for(f.restore(), 2, f.in_flight));
  f.complete(f.in_flight);
  REQUIRE(f.restore()->tokens == pave::token_range{8, 13});
  f.finish(f.last);
  REQUIRE(f.cache.pool().arriving(f.in_flight) == 0);
  REQUIRE(f.cache.pool().arriving(f.step) == 4);
}

TEST_CASE("finish and abort: blocks come free with the last step that ran the sequence, the open one too",
          "[cache][fence]") {
  fixture f(small_with_steps(6));
  const bool aborts = GENERATE(false, true);
  const pave::sequence_id id = f.running(0, 8);
  REQUIRE(f.grow(id, 1).has_value());
  const pave::step_id open = f.step;
  if (aborts) {
    f.abort(id);
  } else {
    f.finish(id);
  }
  REQUIRE(f.fenced() == 3);
  REQUIRE(f.available() == 3);
  f.begin();
  REQUIRE(f.fenced() == 3);
  f.complete(open);
  REQUIRE(f.fenced() == 0);
  REQUIRE(f.available() == 6);
}

TEST_CASE("truncate: blocks of rejected drafts come free with the step that wrote them", "[cache][fence]") {
  fixture f(small_with_steps(6));
  const pave::sequence_id id = f.running(0, 8);
  REQUIRE(f.grow(id, 8).has_value());
  const pave::step_id drafted = f.step;
  f.begin();
  REQUIRE(f.cache.truncate(id, 9).has_value());
  f.check();
  REQUIRE(f.held(id) == 3);
  REQUIRE(f.fenced() == 1);
  REQUIRE(f.grow(id, 7)->blocks == pave::block_range{3, 4});  // of the others
  f.complete(drafted);
  REQUIRE(f.fenced() == 0);
  REQUIRE(f.available() == 2);
}
