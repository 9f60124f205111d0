// SPDX-License-Identifier: Apache-2.0
// The tracker with cuts inside of a sequence: where gaps are, and in which order they come back.
#include "model/random.hpp"
#include "support/catch.hpp"

#include <pave/tracker.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

using pave::errc;
using pave::restore_tracker;
using pave::sequence_id;
using pave::token_range;
using pave_tests::expect;

constexpr sequence_id one{0, 1};

/// One sequence that has run: `computed` tokens of it are in the cache, in blocks of 16.
restore_tracker<> ran(pave::token_count computed, pave::token_count unit = 16) {
  pave::tracker_options options;
  options.sequences = 2;
  options.longest = 4096;
  options.gap_unit = unit;
  auto tracker = restore_tracker<>::create(options).value();
  tracker.track(one, computed).value();
  tracker.resume(one, computed).value();
  tracker.complete(one, computed).value();
  return tracker;
}

/// What comes back, chunk by chunk, until the sequence is where it was and yields its next token.
std::vector<token_range> restored(restore_tracker<>& tracker, pave::token_count budget) {
  std::vector<token_range> chunks{tracker.resume(one, budget).value()};
  for (;;) {
    tracker.complete(one, chunks.back().last).value();
    const pave::sequence_progress at = tracker.progress(one).value();
    if (at.computed == at.goal) return chunks;
    const pave::token_count left =
        at.kept > at.scheduled ? tracker.gap(one)->size() : pave::token_count(at.goal - at.scheduled);
    chunks.push_back(tracker.schedule(one, (std::min)(left, budget)).value());
  }
}

}  // namespace

TEST_CASE("restore_tracker: gaps come back from the front, what was kept between them does not, then the next token",
          "[tracker]") {
  auto tracker = ran(100);
  CHECK(tracker.lose(one, token_range{64, 80}).value().value() == 16);
  tracker.park(one, 0).value();
  CHECK(tracker.lose(one, token_range{16, 48}).value().value() == 32);
  CHECK(tracker.progress(one)->computed == 16);
  CHECK(tracker.progress(one)->scheduled == 16);
  CHECK(tracker.progress(one)->kept == 100);
  CHECK(tracker.gap(one).value() == token_range{16, 48});
  CHECK(tracker.missing(one, {0, 100}).value().value() == 48);

  const pave::resume_need need = tracker.needs(one, 20).value();
  CHECK(need.tokens == token_range{16, 36});
  CHECK(need.must_fit == 101);
  const auto chunks = restored(tracker, 20);
  CHECK(chunks == std::vector<token_range>{{16, 36}, {36, 48}, {64, 80}, {100, 101}});
  CHECK(tracker.counts().lost == 48);
  CHECK(tracker.counts().restored == 48);
}

TEST_CASE("restore_tracker: gaps that touch are one, and a cut of what is gone loses nothing", "[tracker]") {
  auto tracker = ran(100);
  CHECK(tracker.lose(one, token_range{32, 48}).value().value() == 16);
  CHECK(tracker.lose(one, token_range{48, 64}).value().value() == 16);
  CHECK(tracker.lose(one, token_range{32, 64}).value().value() == 0);
  CHECK(tracker.lose(one, token_range{16, 80}).value().value() == 32);
  CHECK(tracker.gap(one).value() == token_range{16, 80});
  CHECK(tracker.counts().lost == 64);
}

TEST_CASE("restore_tracker: a cut of the end takes the gap before it along", "[tracker]") {
  auto tracker = ran(100);
  tracker.lose(one, token_range{32, 96}).value();
  CHECK(tracker.progress(one)->kept == 100);
  CHECK(tracker.lose(one, pave::token_count(96))->empty());
  CHECK(tracker.progress(one)->kept == 32);
  CHECK(tracker.gap(one).value() == token_range{32, 100});
  CHECK(tracker.counts().lost == 68);
}

TEST_CASE("restore_tracker: a block that is half restored is lost with a cut before it, and not with one behind it",
          "[tracker]") {
  auto tracker = ran(100);
  tracker.lose(one, token_range{32, 64}).value();
  tracker.park(one, 0).value();
  tracker.resume(one, 20).value();  // to 52
  tracker.complete(one, 52).value();
  SECTION("behind") {
    CHECK(tracker.lose(one, token_range{80, 96}).value().value() == 16);
    CHECK(tracker.progress(one)->computed == 52);
    CHECK(tracker.gap(one).value() == token_range{52, 64});
  }
  SECTION("before") {
    CHECK(tracker.lose(one, token_range{0, 16}).value().value() == 16 + 4);
    CHECK(tracker.gap(one).value() == token_range{0, 16});
    CHECK(tracker.missing(one, {0, 100}).value().value() == 32);
  }
}

TEST_CASE("restore_tracker: truncation forgets what was kept behind it, and gaps that nothing follows", "[tracker]") {
  auto tracker = ran(100);
  tracker.lose(one, token_range{32, 64}).value();
  tracker.park(one, 0).value();
  SECTION("in what was kept") {
    tracker.truncate(one, 70).value();
    CHECK(tracker.progress(one)->kept == 70);
    CHECK(tracker.gap(one).value() == token_range{32, 64});
  }
  SECTION("in the gap") {
    tracker.truncate(one, 50).value();
    CHECK(tracker.progress(one)->kept == 32);
    CHECK(tracker.gap(one).value() == token_range{32, 50});
  }
  SECTION("before it") {
    tracker.truncate(one, 20).value();
    CHECK(tracker.progress(one)->kept == 20);
    CHECK(tracker.gap(one)->empty());
  }
}

TEST_CASE("restore_tracker: a gap inside is refused where it is out of place, and without a gap_unit", "[tracker]") {
  auto tracker = ran(100);
  CHECK(tracker.lose(one, token_range{8, 32}).code() == errc::invalid_argument);
  CHECK(tracker.lose(one, token_range{16, 40}).code() == errc::invalid_argument);
  CHECK(tracker.lose(one, token_range{32, 32}).code() == errc::invalid_argument);
  CHECK(tracker.lose(one, token_range{-16, 32}).code() == errc::invalid_argument);
  CHECK(tracker.lose({0, 2}, token_range{16, 32}).code() == errc::stale);
  CHECK(tracker.lose({1, 1}, token_range{16, 32}).code() == errc::stale);
  CHECK(tracker.missing({1, 1}, {0, 9}).code() == errc::stale);
  CHECK(tracker.counts().lost == 0);
  auto ends_only = ran(100, 0);
  CHECK_FALSE(ends_only.knows_gaps());
  CHECK(ends_only.lose(one, token_range{16, 32}).code() == errc::invalid_argument);
  CHECK(ends_only.lose(one, token_range{16, 100}).value().value() == 84);
  CHECK(ends_only.missing(one, {0, 200}).value().value() == 0);
  pave::tracker_options options;
  options.sequences = 1;
  options.gap_unit = -1;
  CHECK(restore_tracker<>::create(options).code() == errc::invalid_argument);
}

TEST_CASE("restore_tracker: any cuts, restores and interruptions agree with a list of what each token is",
          "[tracker][random]") {
  pave_tests::for_each_seed(3000, [](std::uint64_t seed) {
    pave_tests::random_source random(seed);
    const std::int64_t unit = random.between(1, 5);
    const std::int64_t length = random.between(1, random.one_in(5) ? 700 : 60);
    auto tracker = ran(length, unit);
    std::vector<bool> there(static_cast<std::size_t>(length), true);
    const auto next_missing = [&] {
      return static_cast<std::int64_t>(std::find(there.begin(), there.end(), false) - there.begin());
    };
    for (int i = 0; i < 30; ++i) {
      if (random.one_in(2)) {
        const std::int64_t first = random.between(0, (length - 1) / unit);
        const std::int64_t last = random.between(first + 1, (length - 1) / unit + 1);
        const bool was_there = next_missing() > first * unit;
        const std::int64_t cursor = next_missing();
        tracker.lose(one, token_range{first * unit, last * unit}).value();
        tracker.park(one, 0).value();
        // The block in which a restore stands goes with a cut before it, if something is kept behind.
        const std::int64_t half = cursor / unit * unit;
        const bool is_half = cursor % unit != 0 && cursor < length && was_there && last * unit <= half;
        const auto behind = there.begin() + (std::min)(length, half + unit);
        if (is_half && std::find(behind, there.end(), true) != there.end()) {
          std::fill(there.begin() + half, behind, false);
        }
        for (std::int64_t at = first * unit; at < (std::min)(length, last * unit); ++at) {
          there[static_cast<std::size_t>(at)] = false;
        }
      } else if (tracker.progress(one)->state == pave::sequence_state::parked) {
        const token_range chunk = tracker.resume(one, random.between(1, 20)).value();
        expect(chunk.first == next_missing(), "the first that is missing comes first");
        for (std::int64_t at = chunk.first.value(); at < chunk.last.value(); ++at) {
          if (at == length) there.push_back(false);
          expect(!there[static_cast<std::size_t>(at)], "none that is there comes back");
          there[static_cast<std::size_t>(at)] = true;
        }
        tracker.complete(one, chunk.last).value();
        if (static_cast<std::int64_t>(there.size()) > length) return;  // it yields its next token
      }
      const pave::sequence_progress at = tracker.progress(one).value();
      expect(at.scheduled == next_missing() && at.computed == at.scheduled, "all before the first that is missing");
      std::int64_t kept = length;
      while (kept > at.scheduled.value() && !there[static_cast<std::size_t>(kept - 1)]) --kept;
      expect(at.kept == kept, "what is kept, and how far");
      expect(tracker.missing(one, {0, kept}).value() == std::count(there.begin(), there.begin() + kept, false),
             "how many are missing before it");
    }
  });
}
