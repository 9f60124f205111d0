// SPDX-License-Identifier: Apache-2.0
// A restore_tracker at the largest numbers that it takes.
#include "support/catch.hpp"

#include <pave/tracker.hpp>

#include <cstdint>
#include <limits>

namespace {

constexpr std::int64_t most = (std::numeric_limits<std::int64_t>::max)();
constexpr pave::sequence_id id{0, 1};

pave::restore_tracker<> tracker_of(std::int64_t tokens) {
  pave::restore_tracker<> tracker = pave::restore_tracker<>::create({1}).value();
  REQUIRE(tracker.track(id, tokens).has_value());
  return tracker;
}

}  // namespace

TEST_CASE("restore_tracker: the longest sequence of all is lost and comes back whole", "[tracker]") {
  pave::restore_tracker<> tracker = tracker_of(most);
  REQUIRE(tracker.resume(id, most).value() == pave::token_range{0, most});
  REQUIRE(tracker.schedule(id, 1).code() == pave::errc::invalid_argument);
  REQUIRE(tracker.complete(id, most).has_value());
  REQUIRE(tracker.lose(id, 1).value() == pave::token_range{1, most});
  REQUIRE(tracker.park(id, most).has_value());
  REQUIRE(tracker.progress(id)->goal == most);
  REQUIRE(tracker.gap(id).value() == pave::token_range{1, most});
  REQUIRE(tracker.truncate(id, most).has_value());
  REQUIRE(tracker.resume(id, most).value() == pave::token_range{1, most});
}

TEST_CASE("restore_tracker: the largest numbers are refused, or stop at the longest sequence", "[tracker]") {
  pave::restore_tracker<> tracker = tracker_of(3);
  REQUIRE(tracker.truncate(id, most).code() == pave::errc::invalid_argument);
  REQUIRE(tracker.needs(id, most)->tokens == pave::token_range{0, 3});
  REQUIRE(tracker.resume(id, most).value() == pave::token_range{0, 3});
  REQUIRE(tracker.schedule(id, most).code() == pave::errc::invalid_argument);
  REQUIRE(tracker.complete(id, most).code() == pave::errc::invalid_argument);
  REQUIRE(tracker.lose(id, most)->empty());
  REQUIRE(tracker.schedule(id, most - 3).value() == pave::token_range{3, most});
}

TEST_CASE("restore_tracker: who is parked with all that a sequence can have is not to get more by a truncate",
          "[tracker]") {
  pave::restore_tracker<> tracker = pave::restore_tracker<>::create({1, 10}).value();
  REQUIRE(tracker.track(id, 10).has_value());
  REQUIRE(tracker.resume(id, 10).has_value());
  REQUIRE(tracker.complete(id, 10).has_value());
  REQUIRE(tracker.park(id, 0).has_value());
  REQUIRE(tracker.progress(id)->goal == 10);
  REQUIRE(tracker.truncate(id, 10).has_value());
  REQUIRE(tracker.progress(id)->goal == 10);
  REQUIRE(tracker.resume(id, 10)->last <= 10);
}
