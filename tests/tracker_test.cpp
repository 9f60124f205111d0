// SPDX-License-Identifier: Apache-2.0
// The tracker: what is missing, when it may come back, and in which chunks.
#include "model/random.hpp"
#include "support/catch.hpp"

#include <pave/tracker.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace {

using pave::errc;
using pave::restore_tracker;
using pave::sequence_id;
using pave::sequence_state;
using pave::token_range;
using pave_tests::expect;

constexpr std::int64_t most = (std::numeric_limits<std::int64_t>::max)();

struct first_chunk_policies : pave::tracker_policies {
  using resume_gate = pave::first_chunk;
};

template <class Policies = pave::tracker_policies>
restore_tracker<Policies> tracker_of(std::size_t sequences, pave::token_count longest = most) {
  pave::tracker_options options;
  options.sequences = sequences;
  options.longest = longest;
  auto made = restore_tracker<Policies>::create(options);
  REQUIRE(made);
  return std::move(*made);
}

/// One that has run: `computed` tokens of it are in the cache.
template <class Tracker>
void start(Tracker& tracker, sequence_id id, std::int64_t computed) {
  REQUIRE(tracker.track(id, computed));
  REQUIRE(tracker.resume(id, computed));
  REQUIRE(tracker.complete(id, computed));
}

constexpr sequence_id first{0, 1};

template <class Tracker>
void check_stale(Tracker& tracker, sequence_id id) {
  CHECK(tracker.forget(id).code() == errc::stale);
  CHECK(tracker.progress(id).code() == errc::stale);
  CHECK(tracker.gap(id).code() == errc::stale);
  CHECK(tracker.schedule(id, 1).code() == errc::stale);
  CHECK(tracker.complete(id, 0).code() == errc::stale);
  CHECK(tracker.unschedule(id, 0).code() == errc::stale);
  CHECK(tracker.lose(id, 0).code() == errc::stale);
  CHECK(tracker.park(id, 0).code() == errc::stale);
  CHECK(tracker.needs(id, 1).code() == errc::stale);
  CHECK(tracker.resume(id, 1).code() == errc::stale);
  CHECK(tracker.needs(id, 1, 1).code() == errc::stale);
  CHECK(tracker.resume(id, 1, 1).code() == errc::stale);
  CHECK(tracker.truncate(id, 0).code() == errc::stale);
}

template <class Tracker>
void check_empty(Tracker& tracker) {
  check_stale(tracker, {0, 0});
  check_stale(tracker, {0, 1});
  CHECK(tracker.track({0, 1}, 1).code() == errc::invalid_argument);
  for (const auto state :
       {sequence_state::ended, sequence_state::waiting, sequence_state::running, sequence_state::parked}) {
    CHECK(tracker.count(state) == 0);
  }
}

}  // namespace

TEST_CASE("restore_tracker: create refuses no slots, too many, and sequences without tokens", "[tracker]") {
  CHECK(restore_tracker<>::create({}).code() == errc::invalid_argument);
  CHECK(restore_tracker<>::create({0, 10}).code() == errc::invalid_argument);
  CHECK(restore_tracker<>::create({std::size_t{1} << 32, 10}).code() == errc::invalid_argument);
  CHECK(restore_tracker<>::create({(std::numeric_limits<std::size_t>::max)(), 10}).code() == errc::invalid_argument);
  CHECK(restore_tracker<>::create({1, 0}).code() == errc::invalid_argument);
  CHECK(restore_tracker<>::create({1, -1}).code() == errc::invalid_argument);
  CHECK(restore_tracker<>::create({1, 1}));
  CHECK(restore_tracker<>::create({1}));
}

TEST_CASE("restore_tracker: a default one and a moved-from one have no slots, and refuse every call", "[tracker]") {
  restore_tracker<> none;
  check_empty(none);
  auto tracker = tracker_of(2);
  start(tracker, first, 10);
  REQUIRE(tracker.lose(first, 4));
  REQUIRE(tracker.park(first, 11));
  restore_tracker<> moved = std::move(tracker);
  check_empty(tracker);  // NOLINT(bugprone-use-after-move)
  CHECK(moved.count(sequence_state::parked) == 1);
  CHECK(moved.gap(first)->size().value() == 6);
  CHECK(moved.counts().lost.value() == 6);
  none = std::move(moved);
  check_empty(moved);  // NOLINT(bugprone-use-after-move)
  CHECK(none.gap(first)->size().value() == 6);
}

TEST_CASE("restore_tracker: an empty one, moved from or not, has lost and restored nothing", "[tracker]") {
  auto tracker = tracker_of(1);
  start(tracker, first, 10);
  REQUIRE(tracker.lose(first, 4));
  const restore_tracker<> moved = std::move(tracker);
  CHECK(restore_tracker<>().counts().lost.value() == 0);
  CHECK(tracker.counts().lost.value() == 0);  // NOLINT(bugprone-use-after-move)
  CHECK(moved.counts().lost.value() == 6);
}

TEST_CASE("restore_tracker: a new sequence waits, with nothing computed and nothing missing", "[tracker]") {
  auto tracker = tracker_of(3);
  REQUIRE(tracker.track({2, 9}, 40));
  const auto at = tracker.progress({2, 9});
  REQUIRE(at);
  CHECK(at->state == sequence_state::waiting);
  CHECK(at->computed.value() == 0);
  CHECK(at->scheduled.value() == 0);
  CHECK(at->goal.value() == 40);
  CHECK(tracker.gap({2, 9})->empty());
  CHECK(tracker.count(sequence_state::waiting) == 1);
  CHECK_FALSE(tracker.needs({2, 9}, 8)->resumes);
}

TEST_CASE("restore_tracker: track refuses what cannot be, and changes nothing", "[tracker]") {
  auto tracker = tracker_of(2, 100);
  CHECK(tracker.track(first, 0).code() == errc::invalid_argument);
  CHECK(tracker.track(first, -3).code() == errc::invalid_argument);
  CHECK(tracker.track(first, 101).code() == errc::invalid_argument);
  CHECK(tracker.track({2, 1}, 10).code() == errc::invalid_argument);
  CHECK(tracker.count(sequence_state::waiting) == 0);
  REQUIRE(tracker.track(first, 100));
  CHECK(tracker.track(first, 10).code() == errc::busy);
  CHECK(tracker.track({0, 2}, 10).code() == errc::busy);
  CHECK(tracker.progress(first)->goal.value() == 100);
  CHECK(tracker.count(sequence_state::waiting) == 1);
}

TEST_CASE("restore_tracker: a slot is used again, and the old id is stale", "[tracker]") {
  auto tracker = tracker_of(1);
  start(tracker, first, 20);
  REQUIRE(tracker.lose(first, 8));
  REQUIRE(tracker.forget(first));
  check_stale(tracker, first);
  REQUIRE(tracker.track({0, 2}, 5));
  check_stale(tracker, first);
  CHECK(tracker.gap({0, 2})->empty());
  CHECK(tracker.progress({0, 2})->reached.value() == 0);
  check_stale(tracker, {0, 3});
  check_stale(tracker, {1, 1});
  check_stale(tracker, {(std::numeric_limits<std::uint32_t>::max)(), 1});
}

TEST_CASE("restore_tracker: sequences are counted by state, and may end in any", "[tracker]") {
  auto tracker = tracker_of(3);
  const auto counts = [&] {
    return std::vector<std::size_t>{tracker.count(sequence_state::waiting), tracker.count(sequence_state::running),
                                    tracker.count(sequence_state::parked), tracker.count(sequence_state::ended)};
  };
  REQUIRE(tracker.track({0, 1}, 5));
  REQUIRE(tracker.track({1, 1}, 5));
  REQUIRE(tracker.track({2, 1}, 5));
  CHECK(counts() == std::vector<std::size_t>{3, 0, 0, 0});
  REQUIRE(tracker.resume({1, 1}, 5));
  REQUIRE(tracker.resume({2, 1}, 5));
  REQUIRE(tracker.park({2, 1}, 6));
  CHECK(counts() == std::vector<std::size_t>{1, 1, 1, 0});
  REQUIRE(tracker.park({2, 1}, 6));
  CHECK(counts() == std::vector<std::size_t>{1, 1, 1, 0});
  REQUIRE(tracker.forget({0, 1}));
  REQUIRE(tracker.forget({1, 1}));
  REQUIRE(tracker.forget({2, 1}));
  CHECK(counts() == std::vector<std::size_t>{0, 0, 0, 0});
}

TEST_CASE("restore_tracker: a prompt is computed in chunks under the budget of each step", "[tracker]") {
  const std::int64_t budget = GENERATE(1, 2, 7, 32, 99, 100, 101, 5000);
  auto tracker = tracker_of(1);
  REQUIRE(tracker.track(first, 100));
  auto chunk = tracker.resume(first, budget);
  std::int64_t at = 0;
  while (true) {
    REQUIRE(chunk);
    CHECK(chunk->first.value() == at);
    CHECK(chunk->size().value() == (std::min)(budget, 100 - at));
    at = chunk->last.value();
    CHECK(tracker.progress(first)->scheduled.value() == at);
    REQUIRE(tracker.complete(first, at));
    CHECK(tracker.progress(first)->computed.value() == at);
    if (at == 100) break;
    chunk = tracker.schedule(first, (std::min)(budget, 100 - at));
  }
  CHECK(tracker.counts().lost.value() == 0);
  CHECK(tracker.counts().restored.value() == 0);
}

TEST_CASE("restore_tracker: a cut makes what was behind it the gap", "[tracker]") {
  const std::int64_t kept = GENERATE(0, 1, 15, 16, 63, 64, 65, 1000);
  auto tracker = tracker_of(1);
  start(tracker, first, 64);
  const auto lost = tracker.lose(first, kept);
  REQUIRE(lost);
  const std::int64_t left = (std::min)(kept, std::int64_t{64});
  CHECK(*lost == token_range{left, 64});
  CHECK(*tracker.gap(first) == token_range{left, 64});
  CHECK(tracker.progress(first)->computed.value() == left);
  CHECK(tracker.progress(first)->reached.value() == 64);
  CHECK(tracker.counts().lost.value() == 64 - left);
  CHECK(tracker.lose(first, -1).code() == errc::invalid_argument);
}

TEST_CASE("restore_tracker: a parked sequence comes in with its gap and its next token, once", "[tracker]") {
  auto tracker = tracker_of(1);
  start(tracker, first, 64);
  REQUIRE(tracker.lose(first, 48));
  REQUIRE(tracker.park(first, 65));
  const auto need = tracker.needs(first, 10);
  REQUIRE(need);
  CHECK(need->tokens == token_range{48, 58});
  CHECK(need->must_fit.value() == 65);
  CHECK(need->allocates.value() == 65);
  CHECK(need->resumes);
  CHECK(tracker.progress(first)->state == sequence_state::parked);
  CHECK(*tracker.resume(first, 10) == token_range{48, 58});
  CHECK(*tracker.gap(first) == token_range{58, 64});
  CHECK(tracker.counts().restored.value() == 10);
  CHECK(*tracker.schedule(first, 7) == token_range{58, 65});
  CHECK(tracker.gap(first)->empty());
  CHECK(tracker.counts().restored.value() == 16);
  REQUIRE(tracker.complete(first, 65));
  CHECK(tracker.counts().lost.value() == 16);
}

TEST_CASE("first_chunk: only the first chunk must fit, and only it is taken", "[tracker]") {
  auto tracker = tracker_of<first_chunk_policies>(1);
  start(tracker, first, 64);
  REQUIRE(tracker.lose(first, 16));
  REQUIRE(tracker.park(first, 65));
  const auto need = tracker.needs(first, 10);
  REQUIRE(need);
  CHECK(need->tokens == token_range{16, 26});
  CHECK(need->must_fit.value() == 26);
  CHECK(need->allocates.value() == 26);
  CHECK(tracker.needs(first, 1000)->must_fit.value() == 65);
}

TEST_CASE("restore_tracker: cut again in the middle of a restore, only the rest is the gap", "[tracker]") {
  auto tracker = tracker_of(1);
  start(tracker, first, 100);
  REQUIRE(tracker.lose(first, 20));
  REQUIRE(tracker.park(first, 101));
  REQUIRE(tracker.resume(first, 40));
  REQUIRE(tracker.complete(first, 60));
  SECTION("behind what is restored") {
    CHECK(*tracker.lose(first, 48) == token_range{48, 60});
    CHECK(*tracker.gap(first) == token_range{48, 100});
    CHECK(tracker.counts().lost.value() == 92);
  }
  SECTION("before what was kept") {
    CHECK(*tracker.lose(first, 10) == token_range{10, 60});
    CHECK(*tracker.gap(first) == token_range{10, 100});
    CHECK(tracker.counts().lost.value() == 130);
  }
  SECTION("where nothing is held yet") {
    CHECK(tracker.lose(first, 80)->empty());
    CHECK(*tracker.gap(first) == token_range{60, 100});
    CHECK(tracker.counts().lost.value() == 80);
  }
  REQUIRE(tracker.park(first, 0));
  CHECK(tracker.progress(first)->goal.value() == 101);
  const token_range gap = *tracker.gap(first);
  CHECK(*tracker.resume(first, 1000) == token_range{gap.first, 101});
  CHECK(tracker.counts().lost == tracker.counts().restored);
}

TEST_CASE("restore_tracker: tokens in flight when they are cut have to come back", "[tracker]") {
  auto tracker = tracker_of(1);
  start(tracker, first, 32);
  REQUIRE(tracker.schedule(first, 8));
  REQUIRE(tracker.lose(first, 36));
  CHECK(*tracker.gap(first) == token_range{36, 40});
  CHECK(tracker.progress(first)->computed.value() == 32);
  CHECK(tracker.complete(first, 40).code() == errc::invalid_argument);
  REQUIRE(tracker.complete(first, 36));
  CHECK(tracker.progress(first)->computed.value() == 36);
  CHECK(tracker.counts().lost.value() == 4);
  REQUIRE(tracker.lose(first, 16));
  CHECK(tracker.progress(first)->computed.value() == 16);
  REQUIRE(tracker.park(first, 0));
  CHECK(tracker.progress(first)->goal.value() == 41);
  CHECK(*tracker.resume(first, 1000) == token_range{16, 41});
  CHECK(tracker.counts().lost == tracker.counts().restored);
}

TEST_CASE("restore_tracker: what was scheduled and is not run is no loss, and no restore", "[tracker]") {
  auto tracker = tracker_of(1);
  start(tracker, first, 32);
  REQUIRE(tracker.schedule(first, 8));
  REQUIRE(tracker.unschedule(first, 32));
  CHECK(tracker.gap(first)->empty());
  CHECK(tracker.progress(first)->scheduled.value() == 32);
  CHECK(tracker.counts().lost.value() == 0);

  REQUIRE(tracker.lose(first, 16));
  REQUIRE(tracker.park(first, 0));
  REQUIRE(tracker.resume(first, 10));
  CHECK(tracker.counts().restored.value() == 10);
  REQUIRE(tracker.unschedule(first, 20));
  CHECK(tracker.counts().restored.value() == 4);
  CHECK(*tracker.gap(first) == token_range{20, 32});
  CHECK(tracker.unschedule(first, 15).code() == errc::invalid_argument);
  REQUIRE(tracker.unschedule(first, 1000));
  CHECK(tracker.progress(first)->scheduled.value() == 20);
  CHECK(tracker.counts().restored.value() == 4);
}

TEST_CASE("restore_tracker: a chunk that passes the gap restores only what was lost", "[tracker]") {
  auto tracker = tracker_of(1);
  start(tracker, first, 32);
  REQUIRE(tracker.lose(first, 30));
  REQUIRE(tracker.park(first, 40));
  CHECK(*tracker.resume(first, 100) == token_range{30, 40});
  CHECK(tracker.counts().restored.value() == 2);
  REQUIRE(tracker.unschedule(first, 31));
  CHECK(tracker.counts().restored.value() == 1);
}

TEST_CASE("restore_tracker: schedule and complete refuse what cannot be, and change nothing", "[tracker]") {
  auto tracker = tracker_of(1, 100);
  REQUIRE(tracker.track(first, 10));
  CHECK(tracker.schedule(first, 1).code() == errc::waits);
  CHECK(tracker.complete(first, 1).code() == errc::invalid_argument);
  CHECK(tracker.resume(first, 0).code() == errc::invalid_argument);
  CHECK(tracker.resume(first, -1).code() == errc::invalid_argument);
  REQUIRE(tracker.resume(first, 10));
  CHECK(tracker.resume(first, 10).code() == errc::busy);
  CHECK(tracker.needs(first, 10).code() == errc::busy);
  CHECK(tracker.schedule(first, -1).code() == errc::invalid_argument);
  CHECK(tracker.schedule(first, 91).code() == errc::invalid_argument);
  CHECK(tracker.schedule(first, most).code() == errc::invalid_argument);
  CHECK(tracker.complete(first, 11).code() == errc::invalid_argument);
  CHECK(tracker.progress(first)->scheduled.value() == 10);
  CHECK(tracker.schedule(first, 0)->empty());
  CHECK(*tracker.schedule(first, 90) == token_range{10, 100});
  REQUIRE(tracker.complete(first, 50));
  REQUIRE(tracker.complete(first, 20));
  CHECK(tracker.progress(first)->computed.value() == 50);
  REQUIRE(tracker.park(first, 101));
  CHECK(tracker.schedule(first, 1).code() == errc::waits);
}

TEST_CASE("restore_tracker: the goal of a parked sequence is at least its next token, at most the longest",
          "[tracker]") {
  auto tracker = tracker_of(1, 100);
  start(tracker, first, 60);
  SECTION("it never shrinks, and the default asks for one more") {
    REQUIRE(tracker.park(first, 0));
    CHECK(tracker.progress(first)->goal.value() == 61);
    REQUIRE(tracker.park(first, 70));
    CHECK(tracker.progress(first)->goal.value() == 70);
    REQUIRE(tracker.park(first, 65));
    CHECK(tracker.progress(first)->goal.value() == 70);
  }
  SECTION("over the longest") {
    REQUIRE(tracker.park(first, 1000));
    CHECK(tracker.progress(first)->goal.value() == 100);
    REQUIRE(tracker.park(first, most));
    CHECK(tracker.progress(first)->goal.value() == 100);
    CHECK(tracker.needs(first, 1000)->tokens == token_range{60, 100});
  }
  SECTION("of one that is as long as can be") {
    REQUIRE(tracker.schedule(first, 40));
    REQUIRE(tracker.complete(first, 100));
    REQUIRE(tracker.lose(first, 90));
    REQUIRE(tracker.park(first, 0));
    CHECK(tracker.progress(first)->goal.value() == 100);
    CHECK(*tracker.resume(first, 1000) == token_range{90, 100});
  }
  SECTION("of one that is as long as can be, and has lost nothing") {
    REQUIRE(tracker.schedule(first, 40));
    REQUIRE(tracker.park(first, 0));
    CHECK(tracker.progress(first)->goal.value() == 100);
    REQUIRE(tracker.truncate(first, 100));
    CHECK(tracker.progress(first)->goal.value() == 100);
  }
}

TEST_CASE("restore_tracker: what is taken back does not come back, in any state", "[tracker]") {
  auto tracker = tracker_of(1);
  SECTION("while it waits") {
    REQUIRE(tracker.track(first, 50));
    REQUIRE(tracker.truncate(first, 30));
    CHECK(tracker.progress(first)->goal.value() == 30);
    CHECK(*tracker.resume(first, 100) == token_range{0, 30});
  }
  SECTION("while it runs, with tokens in flight") {
    start(tracker, first, 50);
    REQUIRE(tracker.schedule(first, 4));
    REQUIRE(tracker.truncate(first, 52));
    CHECK(tracker.progress(first)->scheduled.value() == 52);
    CHECK(tracker.progress(first)->computed.value() == 50);
    REQUIRE(tracker.complete(first, 52));
    REQUIRE(tracker.truncate(first, 40));
    CHECK(tracker.progress(first)->computed.value() == 40);
    CHECK(tracker.gap(first)->empty());
    CHECK(*tracker.schedule(first, 2) == token_range{40, 42});
  }
  SECTION("while it is parked, inside its gap") {
    start(tracker, first, 50);
    REQUIRE(tracker.lose(first, 20));
    REQUIRE(tracker.park(first, 51));
    REQUIRE(tracker.truncate(first, 30));
    CHECK(*tracker.gap(first) == token_range{20, 30});
    CHECK(*tracker.resume(first, 100) == token_range{20, 30});
  }
  SECTION("while it is parked, before its gap") {
    start(tracker, first, 50);
    REQUIRE(tracker.lose(first, 20));
    REQUIRE(tracker.park(first, 51));
    REQUIRE(tracker.truncate(first, 10));
    CHECK(tracker.gap(first)->empty());
    CHECK(tracker.progress(first)->computed.value() == 10);
    CHECK(tracker.progress(first)->goal.value() == 11);
    CHECK(*tracker.resume(first, 100) == token_range{10, 11});
  }
  SECTION("to nothing") {
    start(tracker, first, 50);
    REQUIRE(tracker.truncate(first, 0));
    CHECK(tracker.progress(first)->goal.value() == 0);
    CHECK(tracker.progress(first)->computed.value() == 0);
  }
  SECTION("a length that it was not to have is refused") {
    start(tracker, first, 50);
    CHECK(tracker.truncate(first, 51).code() == errc::invalid_argument);
    CHECK(tracker.truncate(first, -1).code() == errc::invalid_argument);
    REQUIRE(tracker.truncate(first, 50));
    CHECK(tracker.progress(first)->computed.value() == 50);
  }
}

TEST_CASE("restore_tracker: a cut asks for no token that nobody knows, whatever was taken back before it",
          "[tracker]") {
  auto tracker = tracker_of(1, 100);
  start(tracker, first, 60);  // it yields token 60
  const auto cut = [&](std::int64_t kept) {
    REQUIRE(tracker.lose(first, kept));
    REQUIRE(tracker.park(first, 0));
  };
  const bool is_parked = GENERATE(true, false);
  const bool has_lost = GENERATE(true, false);
  if (has_lost) cut(40);
  if (has_lost && !is_parked) REQUIRE(*tracker.resume(first, 5) == token_range{40, 45});
  if (!has_lost && is_parked) cut(60);
  CHECK(tracker.progress(first)->known.value() == 61);
  std::int64_t known = 61;
  SECTION("nothing") {}
  SECTION("before what it has: the engine knows the one behind it") {
    REQUIRE(tracker.truncate(first, 30));
    known = 31;
  }
  SECTION("all behind what it has") {
    REQUIRE(tracker.truncate(first, has_lost ? 40 : 60));
    known = has_lost ? 41 : 61;
  }
  SECTION("in its gap, or nothing of it") {
    REQUIRE(tracker.truncate(first, 50));
    known = has_lost ? 50 : 51;
  }
  CHECK(tracker.progress(first)->known.value() == known);
  for (const std::int64_t kept : {20, 20, 10, 0}) {
    cut(kept);
    CHECK(tracker.progress(first)->goal.value() == known);
    CHECK(tracker.progress(first)->known.value() == known);
    CHECK(tracker.needs(first, 100)->tokens == token_range{kept, known});
  }
  REQUIRE(tracker.resume(first, 100));
  CHECK(tracker.progress(first)->known.value() == known + 1);
  cut(0);
  CHECK(tracker.progress(first)->goal.value() == known + 1);
}

TEST_CASE("restore_tracker: what a step that is not run would have yielded is not known", "[tracker]") {
  auto tracker = tracker_of(1, 100);
  start(tracker, first, 60);
  REQUIRE(tracker.schedule(first, 1));
  CHECK(tracker.progress(first)->known.value() == 62);
  REQUIRE(tracker.park(first, 0));
  SECTION("of one that was parked") {}
  SECTION("of one from which nothing was taken back then") { REQUIRE(tracker.truncate(first, 61)); }
  REQUIRE(tracker.unschedule(first, 60));
  CHECK(tracker.progress(first)->known.value() == 61);
  REQUIRE(tracker.lose(first, 0));
  CHECK(tracker.needs(first, 100)->tokens == token_range{0, 61});
}

TEST_CASE("restore_tracker: one that is as long as can be yields its last token once", "[tracker]") {
  auto tracker = tracker_of(1, 100);
  start(tracker, first, 60);
  REQUIRE(tracker.schedule(first, 40));
  SECTION("by a step that is run") {
    for (const std::int64_t kept : {90, 70, 30}) {
      CHECK(tracker.progress(first)->known.value() == 101);
      REQUIRE(tracker.lose(first, kept));
      REQUIRE(tracker.park(first, 0));
      CHECK(tracker.progress(first)->goal.value() == 100);
      CHECK(tracker.progress(first)->known.value() == 101);
      CHECK(*tracker.resume(first, 1000) == token_range{kept, 100});
      REQUIRE(tracker.unschedule(first, kept));
    }
  }
  SECTION("by a step that is not run, it does not") {
    REQUIRE(tracker.unschedule(first, 60));
    REQUIRE(tracker.lose(first, 30));
    REQUIRE(tracker.park(first, 0));
    CHECK(tracker.progress(first)->known.value() == 100);
    CHECK(*tracker.resume(first, 1000) == token_range{30, 100});
    CHECK(tracker.progress(first)->known.value() == 101);
  }
  SECTION("unless it is taken back") {
    REQUIRE(tracker.lose(first, 30));
    REQUIRE(tracker.truncate(first, 100));
    CHECK(tracker.progress(first)->known.value() == 100);
  }
}

TEST_CASE("restore_tracker: sizes near the largest do not overflow", "[tracker]") {
  auto tracker = tracker_of(1);
  REQUIRE(tracker.track(first, most));
  CHECK(*tracker.resume(first, most) == token_range{0, most});
  CHECK(tracker.schedule(first, 1).code() == errc::invalid_argument);
  REQUIRE(tracker.complete(first, most));
  REQUIRE(tracker.lose(first, most - 5));
  CHECK(tracker.gap(first)->size().value() == 5);
  REQUIRE(tracker.park(first, most));
  CHECK(tracker.progress(first)->goal.value() == most);
  CHECK(*tracker.resume(first, 1000) == token_range{most - 5, most});
}

namespace {

/// A sequence token by token: which were in the cache before, and how far it has come.
struct plain_sequence {
  explicit plain_sequence(std::int64_t prompt) : goal(prompt) {}

  std::vector<bool> was_there;  // one for each token that was ever scheduled
  std::int64_t computed = 0;
  std::int64_t scheduled = 0;
  std::int64_t goal;
  sequence_state state = sequence_state::waiting;

  [[nodiscard]] std::int64_t ever() const {
    return std::find(was_there.begin(), was_there.end(), false) - was_there.begin();
  }
  /// One that waits is to compute something; one that has all that it was to have goes on with one more.
  [[nodiscard]] std::int64_t goal_now() const {
    return state != sequence_state::running && scheduled == goal ? goal + 1 : goal;
  }
  [[nodiscard]] std::int64_t missing() const {
    return std::count(was_there.begin() + static_cast<std::ptrdiff_t>(scheduled), was_there.end(), true);
  }
};

struct plain_tracker {
  std::vector<plain_sequence> sequences;
  std::int64_t lost = 0;
  std::int64_t restored = 0;
  std::int64_t revived = 0;
  std::int64_t cached = 0;

  void find(plain_sequence& s, std::int64_t tokens) {
    for (std::int64_t i = 0; i < tokens; ++i) {
      const auto at = static_cast<std::size_t>(s.scheduled);
      if (s.was_there.size() == at) s.was_there.push_back(false);
      (s.was_there[at] ? revived : cached) += 1;
      s.was_there[at] = true;
      s.computed = ++s.scheduled;
    }
  }
  void advance(plain_sequence& s, std::int64_t tokens) {
    for (std::int64_t i = 0; i < tokens; ++i) {
      const auto at = static_cast<std::size_t>(s.scheduled);
      if (s.was_there.size() == at) s.was_there.push_back(false);
      restored += s.was_there[at] ? 1 : 0;
      ++s.scheduled;
    }
    s.goal = (std::max)(s.goal, s.scheduled);
  }
};

/// One call of each kind, on both; good ones and refused ones.
void random_call(pave_tests::random_source& random, restore_tracker<>& tracker, plain_tracker& plain, bool truncates) {
  const std::size_t slot = random.index(plain.sequences.size());
  const sequence_id id{static_cast<std::uint32_t>(slot), 1};
  plain_sequence& s = plain.sequences[slot];
  const bool runs = s.state == sequence_state::running;
  switch (random.between(0, truncates ? 6 : 5)) {
    case 0: {
      const std::int64_t tokens = random.between(-1, 9);
      const auto got = tracker.schedule(id, tokens);
      if (!runs || tokens < 0) {
        expect(got.code() == (runs ? errc::invalid_argument : errc::waits), "schedule refuses");
        break;
      }
      expect(got && *got == token_range{s.scheduled, s.scheduled + tokens}, "schedule says where");
      plain.advance(s, tokens);
      break;
    }
    case 1: {
      const std::int64_t end = random.between(0, s.scheduled + 1);
      const auto got = tracker.complete(id, end);
      expect(got.code() == (end > s.scheduled ? errc::invalid_argument : errc::ok), "complete");
      if (!got) break;
      for (std::int64_t at = 0; at < end; ++at) s.was_there[static_cast<std::size_t>(at)] = true;
      s.computed = (std::max)(s.computed, end);
      break;
    }
    case 2: {
      const std::int64_t end = random.between(0, s.scheduled + 2);
      const auto got = tracker.unschedule(id, end);
      expect(got.code() == (end < s.computed ? errc::invalid_argument : errc::ok), "unschedule");
      if (!got) break;
      for (; s.scheduled > end; --s.scheduled) {
        plain.restored -= s.was_there[static_cast<std::size_t>(s.scheduled - 1)] ? 1 : 0;
      }
      break;
    }
    case 3: {
      const std::int64_t kept = random.between(0, s.scheduled + 3);
      const auto got = tracker.lose(id, kept);
      expect(got && got->size() == (std::max)(std::int64_t{0}, s.scheduled - kept), "lose says how many");
      for (std::int64_t at = 0; at < s.scheduled; ++at) s.was_there[static_cast<std::size_t>(at)] = true;
      if (s.scheduled == s.goal && kept < s.goal) ++s.goal;  // it yields its next token but once
      for (; s.scheduled > kept; --s.scheduled) ++plain.lost;
      s.computed = (std::min)(s.computed, s.scheduled);
      break;
    }
    case 4: {
      const std::int64_t goal = random.between(0, s.scheduled + 12);
      expect(tracker.park(id, goal).has_value(), "park");
      if (runs) s.state = sequence_state::parked;
      s.goal = (std::max)(s.goal, goal);
      break;
    }
    case 5: {
      const std::int64_t budget = random.between(1, 12);
      const std::int64_t found = random.one_in(2) ? 0 : random.between(-1, 9);
      const auto need = tracker.needs(id, budget, found);
      const auto got = tracker.resume(id, budget, found);
      if (runs) {
        expect(got.code() == errc::busy && need.code() == errc::busy, "one that runs does not come in");
        break;
      }
      const bool none_left = found > 0 && s.scheduled + found >= s.goal_now();
      const bool is_in_flight = found > 0 && s.computed < s.scheduled;
      if (found < 0 || none_left || is_in_flight) {
        expect(got.code() == errc::invalid_argument && need.code() == errc::invalid_argument, "resume refuses");
        break;
      }
      plain.find(s, found);
      expect(need && got && need->tokens == *got, "it gets what it needs");
      expect(need->resumes == (s.state == sequence_state::parked), "resumes says whether it ran before");
      const std::int64_t goal = s.goal_now();
      expect(need->must_fit == goal && need->allocates == goal, "the whole gap and the next tokens");
      expect(*got == token_range{s.scheduled, (std::min)(goal, s.scheduled + budget)}, "the first chunk");
      plain.advance(s, got->size().value());
      s.state = sequence_state::running;
      break;
    }
    default: {
      const std::int64_t length = random.between(-1, s.goal_now() + 1);
      const auto got = tracker.truncate(id, length);
      expect(got.code() == (length < 0 || length > s.goal_now() ? errc::invalid_argument : errc::ok), "truncate");
      if (!got) break;
      s.was_there.resize((std::min)(s.was_there.size(), static_cast<std::size_t>(length)));
      s.computed = (std::min)(s.computed, length);
      s.scheduled = (std::min)(s.scheduled, length);
      s.goal = length;
      break;
    }
  }
}

void expect_same(const restore_tracker<>& tracker, const plain_tracker& plain) {
  std::size_t running = 0;
  for (std::size_t slot = 0; slot < plain.sequences.size(); ++slot) {
    const plain_sequence& s = plain.sequences[slot];
    const sequence_id id{static_cast<std::uint32_t>(slot), 1};
    const auto now = *tracker.progress(id);
    expect(
        now.computed == s.computed && now.scheduled == s.scheduled && now.goal == s.goal_now() && now.state == s.state,
        "the same progress");
    expect(now.known == (s.scheduled == s.goal ? s.goal + 1 : s.goal), "what is known of it");
    expect(now.computed <= now.scheduled && now.scheduled <= now.goal, "computed ≤ scheduled ≤ goal");
    expect(now.state == sequence_state::running || now.scheduled < now.goal, "one that waits has something to do");
    expect(now.reached == s.ever(), "the most that was ever there");
    const auto gap = *tracker.gap(id);
    expect(gap.first == s.scheduled && gap.size() == s.missing(), "the gap is what was there and is not");
    running += s.state == sequence_state::running ? 1U : 0U;
  }
  expect(tracker.counts().lost == plain.lost, "lost");
  expect(tracker.counts().restored == plain.restored, "restored");
  expect(tracker.counts().revived == plain.revived, "revived");
  expect(tracker.counts().cached == plain.cached, "cached");
  expect(tracker.count(sequence_state::running) == running, "population");
}

}  // namespace

TEST_CASE("restore_tracker: it agrees with a plain one, and what was lost is restored, revived or still missing",
          "[tracker][random]") {
  pave_tests::for_each_seed(400, [](std::uint64_t seed) {
    pave_tests::random_source random(seed);
    const bool truncates = random.one_in(2);
    auto made = restore_tracker<>::create({3});
    expect(made.has_value(), "create");
    plain_tracker plain;
    for (std::uint32_t slot = 0; slot < 3; ++slot) {
      plain.sequences.emplace_back(random.between(1, 30));
      expect(made->track({slot, 1}, plain.sequences.back().goal).has_value(), "track");
    }
    for (int call = 0; call < 150; ++call) {
      random_call(random, *made, plain, truncates);
      expect_same(*made, plain);
      if (truncates) continue;
      std::int64_t missing = 0;
      for (const plain_sequence& s : plain.sequences) missing += s.missing();
      const pave::restore_counts counts = made->counts();
      expect(counts.lost == counts.restored + counts.revived + missing, "lost = restored + revived + missing");
    }
  });
}
