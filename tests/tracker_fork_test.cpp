// SPDX-License-Identifier: Apache-2.0
// The tracker, where a sequence begins as another one: what it has of it, and what it misses.
#include "support/catch.hpp"

#include <pave/tracker.hpp>

#include <cstdint>
#include <limits>

namespace {

using pave::errc;
using pave::sequence_id;
using pave::sequence_state;
using pave::token_range;

constexpr sequence_id first{0, 1};
constexpr sequence_id second{1, 1};

/// One of three that runs, with 10 tokens computed and 4 more in flight.
pave::restore_tracker<> running_one() {
  pave::restore_tracker<> tracker = pave::restore_tracker<>::create({3, 100}).value();
  REQUIRE(tracker.track(first, 10));
  REQUIRE(tracker.resume(first, 10));
  REQUIRE(tracker.complete(first, 10));
  REQUIRE(tracker.schedule(first, 4));
  return tracker;
}

}  // namespace

TEST_CASE("restore_tracker: a fork has of the other one what is before its end", "[tracker][fork]") {
  pave::restore_tracker<> tracker = running_one();
  const std::int64_t end = GENERATE(0, 7, 10, 12, 14);
  REQUIRE(tracker.fork(first, second, end));
  const pave::sequence_progress at = tracker.progress(second).value();
  REQUIRE(at.state == sequence_state::running);
  REQUIRE(at.scheduled == end);
  REQUIRE(at.computed == (end < 10 ? end : 10));
  REQUIRE(at.goal == 14);
  REQUIRE(tracker.count(sequence_state::running) == 2);
  // It was in the cache, and this one has to compute it.
  REQUIRE(tracker.counts().lost == (end < 10 ? 10 - end : 0));
  REQUIRE(tracker.gap(second).value() == token_range{end, end < 10 ? 10 : end});
  REQUIRE(tracker.progress(first)->scheduled == 14);
  if (end < 14) REQUIRE(tracker.schedule(second, 14 - end));
  REQUIRE(tracker.counts().restored == tracker.counts().lost);
  REQUIRE(tracker.forget(first));
  REQUIRE(tracker.complete(second, 14));
  REQUIRE(tracker.forget(second));
  REQUIRE(tracker.count(sequence_state::running) == 0);
}

TEST_CASE("restore_tracker: a fork of a parked sequence is parked, with a gap of its own", "[tracker][fork]") {
  pave::restore_tracker<> tracker = running_one();
  REQUIRE(tracker.lose(first, 8));
  REQUIRE(tracker.park(first, 0));
  REQUIRE(tracker.counts().lost == 6);
  REQUIRE(tracker.fork(first, second, 8));
  REQUIRE(tracker.count(sequence_state::parked) == 2);
  REQUIRE(tracker.count(sequence_state::running) == 0);
  REQUIRE(tracker.counts().lost == 12);
  REQUIRE(tracker.resume(first, 50).value() == token_range{8, 15});
  REQUIRE(tracker.gap(second).value() == token_range{8, 14});
  REQUIRE(tracker.resume(second, 50).value() == token_range{8, 15});
  REQUIRE(tracker.counts().restored == 12);
}

TEST_CASE("restore_tracker: fork refuses what cannot be, and changes nothing", "[tracker][fork]") {
  pave::restore_tracker<> tracker = running_one();
  REQUIRE(tracker.fork({0, 2}, second, 0).code() == errc::stale);
  REQUIRE(tracker.fork({2, 1}, second, 0).code() == errc::stale);
  REQUIRE(tracker.fork(first, {3, 1}, 0).code() == errc::invalid_argument);
  REQUIRE(tracker.fork(first, second, -1).code() == errc::invalid_argument);
  REQUIRE(tracker.fork(first, second, (std::numeric_limits<std::int64_t>::min)()).code() == errc::invalid_argument);
  REQUIRE(tracker.fork(first, second, 15).code() == errc::invalid_argument);
  REQUIRE(tracker.fork(first, first, 10).code() == errc::busy);
  REQUIRE(tracker.fork(first, {0, 2}, 10).code() == errc::busy);
  REQUIRE(tracker.progress(second).code() == errc::stale);
  REQUIRE(tracker.progress(first)->scheduled == 14);
  REQUIRE(tracker.count(sequence_state::running) == 1);
  REQUIRE(tracker.counts().lost == 0);
}
