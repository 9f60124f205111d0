// SPDX-License-Identifier: Apache-2.0
// A kv_cache some of whose blocks a transfer holds, too: they are no gain, and stay where they are until the pin ends.
#include "cache_fence_fixture.hpp"
#include "cache_fixture.hpp"
#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/cache.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

using pave::errc;
using pave::sequence_state;
using pave_tests::small;
using fixture = pave_tests::cache_fixture<>;

/// A transfer uses blocks [first, last) of a sequence.
template <class Fixture>
pave::pin_token pin(Fixture& f, pave::sequence_id id, std::size_t first, std::size_t last) {
  const pave::span<const pave::block_id> table = f.cache.block_table(id).value();
  const pave::pin_token token = f.cache.pool().pin(table.subspan(first, last - first)).value();
  pave_tests::check_conservation(f.cache.pool());
  return token;
}
template <class Fixture>
void unpin(Fixture& f, pave::pin_token token, pave::step_id last_use = {}) {
  REQUIRE(f.cache.pool().unpin(token, last_use).has_value());
  pave_tests::check_conservation(f.cache.pool());
}

}  // namespace

TEST_CASE("kv_cache: pinned blocks are no gain, and others are taken", "[cache][pin]") {
  fixture f(small(10));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id other = f.running(1, 16);
  const pave::sequence_id last = f.running(2, 16);
  SECTION("another victim's, where all of the last one is pinned") {
    static_cast<void>(pin(f, last, 0, 4));
    REQUIRE(f.grow(first, 5).has_value());
    REQUIRE(f.cuts.used().size() == 1);
    REQUIRE(f.cuts.used()[0].sequence == other);
    REQUIRE(f.state(last) == sequence_state::running);
    REQUIRE(f.held(last) == 4);
  }
  SECTION("those before a pinned tail, which goes without gain and stays where it is") {
    const std::vector<pave::block_id> before = f.table(last);
    const pave::pin_token token = pin(f, last, 2, 4);
    const pave::plan planned = f.cache.plan_cuts(first, 2, f.cuts).value();
    REQUIRE(planned.freed == 2);
    REQUIRE(planned.given_up == 2);
    REQUIRE(f.grow(first, 8).has_value());
    REQUIRE(f.held(last) == 0);
    REQUIRE(f.available() == 0);
    REQUIRE(f.cache.pool().holders(before[2]) == 1);
    REQUIRE(f.cache.pool().holders(before[3]) == 1);
    unpin(f, token);
    REQUIRE(f.available() == 2);
  }
  SECTION("those behind a pinned beginning, which stays") {
    static_cast<void>(pin(f, last, 0, 2));
    REQUIRE(f.grow(first, 12).has_value());
    REQUIRE(f.cuts.used().size() == 2);
    REQUIRE(f.cuts.used()[0].sequence == last);
    REQUIRE(f.cuts.used()[0].blocks == pave::block_range{2, 4});
    REQUIRE(f.cuts.used()[1].sequence == other);
    REQUIRE(f.held(last) == 2);
  }
}

TEST_CASE("kv_cache: where all that could be cut is pinned, nothing moves until the pin ends", "[cache][pin]") {
  fixture f(small(4));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id last = f.running(1, 8);
  const pave::pin_token token = pin(f, last, 0, 2);
  REQUIRE(f.cache.plan_cuts(first, 1, f.cuts).error().missing == 1);
  REQUIRE(f.grow(first, 1).error().missing == 1);
  REQUIRE(f.cuts.used().empty());
  REQUIRE(f.state(last) == sequence_state::running);
  REQUIRE(f.held(last) == 2);
  unpin(f, token);
  REQUIRE(f.available() == 0);
  REQUIRE(f.grow(last, 0).has_value());
  REQUIRE(f.cache.plan_cuts(first, 1, f.cuts)->freed == 1);
}

TEST_CASE("commit: a plan is refused where a block of a victim was pinned since", "[cache][pin]") {
  fixture f(small(6));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id last = f.running(1, 16);
  REQUIRE(f.cache.plan_cuts(first, 2, f.cuts)->freed == 2);
  const pave::pin_token token = pin(f, last, 3, 4);
  REQUIRE(f.cache.commit(first, f.cuts.used()).code() == errc::stale);
  REQUIRE(f.held(last) == 4);
  unpin(f, token);
  REQUIRE(f.cache.commit(first, f.cuts.used()).value() == 2);
}

TEST_CASE("finish and abort: pinned blocks stay unavailable until the last pin of each ends", "[cache][pin]") {
  fixture f(small(6));
  const bool aborts = GENERATE(false, true);
  const pave::sequence_id id = f.running(0, 16);
  const pave::pin_token whole = pin(f, id, 0, 4);
  const pave::pin_token end = pin(f, id, 3, 4);
  REQUIRE((aborts ? f.cache.abort(id) : f.cache.finish(id)).has_value());
  REQUIRE(f.available() == 2);
  const bool whole_is_first = GENERATE(false, true);
  unpin(f, whole_is_first ? whole : end);
  REQUIRE(f.available() == (whole_is_first ? 5 : 2));
  unpin(f, whole_is_first ? end : whole);
  REQUIRE(f.available() == 6);
  REQUIRE(f.cache.pool().unpin(whole).code() == errc::stale);
}

TEST_CASE("kv_cache: a cut sequence comes back with other blocks than those that are pinned", "[cache][pin]") {
  fixture f(small(8));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id last = f.running(1, 16);
  const std::vector<pave::block_id> before = f.table(last);
  const pave::pin_token token = pin(f, last, 3, 4);
  REQUIRE(f.grow(first, 12).has_value());
  REQUIRE(f.cuts.used()[0].blocks == pave::block_range{2, 4});
  REQUIRE(f.cuts.used()[0].freed == 1);
  REQUIRE(f.cache.finish(first).has_value());
  REQUIRE(f.available() == 5);
  REQUIRE(f.restore()->blocks == pave::block_range{2, 5});
  for (const pave::block_id block : f.table(last)) REQUIRE(block != before[3]);
  REQUIRE(f.cache.pool().holders(before[3]) == 1);
  unpin(f, token);
  REQUIRE(f.available() == 3);
}

TEST_CASE("kv_cache: where content is kept, a pinned block is found again, pinned or not", "[cache][pin]") {
  pave_tests::cache_fixture<pave_tests::keep_policies> f(small(8));
  const pave::sequence_id id = f.running(0, 16);
  const std::vector<pave::block_id> before = f.table(id);
  const pave::pin_token token = pin(f, id, 2, 4);
  f.cache.reset();
  REQUIRE(f.available() == 6);
  REQUIRE(f.restore(17)->found.empty());  // after a reset nothing is found
  f.next_step();
  const pave::pin_token again = pin(f, id, 2, 4);
  const std::vector<pave::block_id> now = f.table(id);
  unpin(f, token);
  f.take(id, 4, 2);
  REQUIRE(f.available() == 5);
  const bool is_pinned = GENERATE(false, true);
  if (!is_pinned) unpin(f, again);
  const pave::restore back = f.restore().value();
  REQUIRE(back.found == pave::token_range{4, 16});
  REQUIRE(back.taken == (is_pinned ? 2 : 4));
  REQUIRE(f.table(id)[2] == now[2]);
  REQUIRE(f.table(id)[3] == now[3]);
  REQUIRE(now[2] != before[2]);
}

TEST_CASE("reset: pinned blocks stay unavailable, and their pins end later", "[cache][pin]") {
  fixture f(small(6));
  const pave::sequence_id id = f.running(0, 16);
  const pave::pin_token token = pin(f, id, 1, 3);
  f.cache.reset();
  REQUIRE(f.available() == 4);
  REQUIRE(f.cache.gap(id).value() == pave::token_range{0, 16});
  unpin(f, token);
  REQUIRE(f.available() == 6);
}

TEST_CASE("fork: a pinned block is not written by a fork, which gets a copy of it", "[cache][fork][pin]") {
  fixture f(small(6));
  const pave::sequence_id parent = f.running(0, 6);
  const pave::sequence_id child = f.cache.fork(parent, 1).value();
  const pave::pin_token token = pin(f, parent, 1, 2);
  const pave::block_id pinned = f.table(parent)[1];
  REQUIRE(f.grow(parent, 1)->copy->from == pinned);
  REQUIRE(f.grow(child, 1)->copy->from == pinned);
  REQUIRE(f.cache.pool().holders(pinned) == 1);
  REQUIRE(f.available() == 2);
  unpin(f, token);
  REQUIRE(f.available() == 3);
}

TEST_CASE("fork: where the block to be written is pinned, it does not help that a sibling lets go of it",
          "[cache][fork][pin]") {
  fixture f(small(2));
  const pave::sequence_id parent = f.running(0, 6);
  const pave::sequence_id child = f.cache.fork(parent, 1).value();
  const pave::pin_token token = pin(f, parent, 1, 2);
  REQUIRE(f.grow(parent, 1).error().missing == 1);
  REQUIRE(f.cuts.used().empty());
  REQUIRE(f.held(child) == 2);
  unpin(f, token);
  // The one that runs does not let go of it for one that waits.
  REQUIRE(f.restore().error().missing == 1);
  REQUIRE(f.grow(child, 1).error().missing == 1);
  const pave::restore back = f.restore().value();
  REQUIRE(back.sequence == parent);
  REQUIRE_FALSE(back.copy);
  REQUIRE(f.held(child) == 1);
}

TEST_CASE("kv_cache: with a fence, a pinned block comes free after the pin and the steps of all its holders",
          "[cache][fence][pin]") {
  pave_tests::fence_fixture<> f(pave_tests::small_with_steps(6));
  const pave::sequence_id id = f.running(0, 7);
  const pave::pin_token token = pin(f, id, 0, 2);
  REQUIRE(f.grow(id, 1).has_value());
  const pave::step_id of_sequence = f.step;
  const pave::step_id of_transfer = f.begin();
  f.finish(id);
  REQUIRE(f.available() == 4);
  REQUIRE(f.fenced() == 0);  // held by the pin
  SECTION("the steps are done first") {
    f.complete(of_sequence);
    f.complete(of_transfer);
    REQUIRE(f.available() == 4);
    unpin(f, token, of_transfer);
    REQUIRE(f.available() == 6);
  }
  SECTION("the pin ends first, with a step of its own") {
    unpin(f, token, of_transfer);
    REQUIRE(f.fenced() == 2);
    f.complete(of_sequence);
    REQUIRE(f.fenced() == 2);
    f.complete(of_transfer);
    REQUIRE(f.available() == 6);
  }
  SECTION("the pin ends first, without a step: the sequence's counts") {
    unpin(f, token);
    REQUIRE(f.fenced() == 2);
    f.complete(of_sequence);
    REQUIRE(f.available() == 6);
  }
}

TEST_CASE("kv_cache: with a fence, pinned blocks are not counted as on their way", "[cache][fence][pin]") {
  pave_tests::fence_fixture<> f(pave_tests::small_with_steps(6));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id last = f.running(1, 15);
  REQUIRE(f.grow(last, 1).has_value());
  const pave::step_id in_flight = f.step;
  f.begin();
  const pave::pin_token token = pin(f, last, 3, 4);
  REQUIRE(pave_tests::waits_for(f.grow(first, 1), 1, in_flight));
  REQUIRE(f.cuts.used()[0].blocks == pave::block_range{2, 4});
  REQUIRE(f.cuts.used()[0].freed == 1);
  REQUIRE(f.fenced() == 1);
  REQUIRE(f.promised(first) == 1);
  f.complete(in_flight);
  REQUIRE(f.restore()->sequence == first);
  REQUIRE(f.available() == 0);
  unpin(f, token);
  REQUIRE(f.available() == 1);
}
