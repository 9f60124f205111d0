// SPDX-License-Identifier: Apache-2.0
// What a restore_tracker makes of tokens whose content was found again.
#include "support/catch.hpp"

#include <pave/tracker.hpp>

#include <cstdint>
#include <limits>
#include <utility>

namespace {

using pave::errc;
using pave::restore_tracker;
using pave::sequence_id;
using pave::sequence_state;
using pave::token_range;

constexpr std::int64_t most = (std::numeric_limits<std::int64_t>::max)();
constexpr sequence_id id{0, 1};

struct first_chunk_policies : pave::tracker_policies {
  using resume_gate = pave::first_chunk;
};

template <class Policies = pave::tracker_policies>
restore_tracker<Policies> tracker_of(std::int64_t tokens, pave::token_count longest = most) {
  pave::tracker_options options;
  options.sequences = 1;
  options.longest = longest;
  auto tracker = restore_tracker<Policies>::create(options).value();
  REQUIRE(tracker.track(id, tokens).has_value());
  return tracker;
}
/// One that ran, and is parked with `kept` of its `computed` tokens.
template <class Policies = pave::tracker_policies>
restore_tracker<Policies> parked(std::int64_t computed, std::int64_t kept, pave::token_count longest = most) {
  auto tracker = tracker_of<Policies>(computed, longest);
  REQUIRE(tracker.resume(id, computed).has_value());
  REQUIRE(tracker.complete(id, computed).has_value());
  REQUIRE(tracker.lose(id, kept).has_value());
  REQUIRE(tracker.park(id, 0).has_value());
  return tracker;
}

template <class Tracker>
void require_same_answer(Tracker& tracker, std::int64_t budget, std::int64_t found, errc code) {
  const pave::sequence_progress before = tracker.progress(id).value();
  REQUIRE(tracker.needs(id, budget, found).code() == code);
  REQUIRE(tracker.resume(id, budget, found).code() == code);
  const pave::sequence_progress after = tracker.progress(id).value();
  REQUIRE(after.state == before.state);
  REQUIRE(after.computed == before.computed);
  REQUIRE(after.scheduled == before.scheduled);
  REQUIRE(after.reached == before.reached);
  REQUIRE(tracker.counts().revived == 0);
  REQUIRE(tracker.counts().cached == 0);
}

}  // namespace

TEST_CASE("restore_tracker: found tokens count as computed, and only what follows them is scheduled", "[tracker]") {
  auto tracker = parked(64, 16);
  const pave::resume_need need = tracker.needs(id, 10, 32).value();
  REQUIRE(need.tokens == token_range{48, 58});
  REQUIRE(need.must_fit == 65);
  REQUIRE(need.allocates == 65);
  REQUIRE(need.resumes);
  REQUIRE(tracker.progress(id)->computed == 16);
  REQUIRE(tracker.resume(id, 10, 32).value() == token_range{48, 58});
  REQUIRE(tracker.progress(id)->computed == 48);
  REQUIRE(tracker.progress(id)->scheduled == 58);
  REQUIRE(tracker.progress(id)->state == sequence_state::running);
  REQUIRE(tracker.gap(id).value() == token_range{58, 64});
  const pave::restore_counts counts = tracker.counts();
  REQUIRE(counts.lost == 48);
  REQUIRE(counts.revived == 32);
  REQUIRE(counts.restored == 10);
  REQUIRE(counts.cached == 0);
}

TEST_CASE("restore_tracker: what a new sequence finds was never lost, and is cached", "[tracker]") {
  auto tracker = tracker_of(40);
  const pave::resume_need need = tracker.needs(id, 100, 32).value();
  REQUIRE(need.tokens == token_range{32, 40});
  REQUIRE_FALSE(need.resumes);
  REQUIRE(tracker.resume(id, 100, 32).value() == token_range{32, 40});
  REQUIRE(tracker.progress(id)->computed == 32);
  REQUIRE(tracker.progress(id)->reached == 32);
  REQUIRE(tracker.counts().cached == 32);
  REQUIRE(tracker.counts().revived == 0);
  // Once it has them, they can be lost and found like others.
  REQUIRE(tracker.unschedule(id, 32).has_value());
  REQUIRE(tracker.lose(id, 8)->size() == 24);
  REQUIRE(tracker.park(id, 0).has_value());
  REQUIRE(tracker.gap(id).value() == token_range{8, 32});
  REQUIRE(tracker.resume(id, 4, 16).value() == token_range{24, 28});
  REQUIRE(tracker.counts().cached == 32);
  REQUIRE(tracker.counts().revived == 16);
  REQUIRE(tracker.counts().restored == 4);
}

TEST_CASE("restore_tracker: of found tokens those that were lost are revived, and the others are cached", "[tracker]") {
  auto tracker = parked(20, 8);
  REQUIRE(tracker.park(id, 40).has_value());
  REQUIRE(tracker.resume(id, 100, 24).value() == token_range{32, 40});
  REQUIRE(tracker.counts().revived == 12);
  REQUIRE(tracker.counts().cached == 12);
  REQUIRE(tracker.counts().restored == 0);
  REQUIRE(tracker.progress(id)->reached == 32);
}

TEST_CASE("restore_tracker: behind found tokens the gate counts from where they end", "[tracker]") {
  auto whole = parked(64, 16);
  REQUIRE(whole.needs(id, 10, 16)->must_fit == 65);
  auto chunks = parked<first_chunk_policies>(64, 16);
  const pave::resume_need need = chunks.needs(id, 10, 16).value();
  REQUIRE(need.tokens == token_range{32, 42});
  REQUIRE(need.must_fit == 42);
  REQUIRE(need.allocates == 42);
  REQUIRE(chunks.needs(id, 100, 48)->must_fit == 65);
}

TEST_CASE("restore_tracker: at least one token is left to compute", "[tracker]") {
  auto tracker = parked(64, 16);
  REQUIRE(tracker.needs(id, 10, 48)->tokens == token_range{64, 65});
  require_same_answer(tracker, 10, 49, errc::invalid_argument);
  require_same_answer(tracker, 10, 1000, errc::invalid_argument);
  REQUIRE(tracker.resume(id, 10, 48).value() == token_range{64, 65});

  auto fresh = tracker_of(8);
  require_same_answer(fresh, 10, 8, errc::invalid_argument);
  REQUIRE(fresh.resume(id, 10, 7).value() == token_range{7, 8});
}

TEST_CASE("restore_tracker: a sequence as long as can be finds all but its last token, too", "[tracker]") {
  auto tracker = parked(64, 16, 64);
  REQUIRE(tracker.progress(id)->goal == 64);
  require_same_answer(tracker, 10, 48, errc::invalid_argument);
  REQUIRE(tracker.resume(id, 10, 47).value() == token_range{63, 64});
}

TEST_CASE("restore_tracker: a number of found tokens that cannot be is refused, and changes nothing", "[tracker]") {
  auto tracker = parked(64, 16);
  for (const std::int64_t found : {std::int64_t{-1}, -most - 1, most - 16, most - 15, most - 1, most})
    require_same_answer(tracker, 10, found, errc::invalid_argument);
  for (const std::int64_t budget : {std::int64_t{0}, std::int64_t{-1}})
    require_same_answer(tracker, budget, 16, errc::invalid_argument);
  REQUIRE(tracker.resume(id, most, 16).value() == token_range{32, 65});
}

TEST_CASE("restore_tracker: nothing is found behind tokens in flight", "[tracker]") {
  auto tracker = parked(64, 16);
  REQUIRE(tracker.resume(id, 16).value() == token_range{16, 32});
  REQUIRE(tracker.park(id, 0).has_value());
  require_same_answer(tracker, 10, 16, errc::invalid_argument);
  REQUIRE(tracker.needs(id, 10, 0)->tokens == token_range{32, 42});
  REQUIRE(tracker.complete(id, 32).has_value());
  REQUIRE(tracker.resume(id, 10, 16).value() == token_range{48, 58});
}

TEST_CASE("restore_tracker: one that runs finds nothing, nor does one that has ended", "[tracker]") {
  auto tracker = tracker_of(40);
  REQUIRE(tracker.resume(id, 8).has_value());
  REQUIRE(tracker.complete(id, 8).has_value());
  require_same_answer(tracker, 10, 8, errc::busy);
  require_same_answer(tracker, 10, -1, errc::busy);
  REQUIRE(tracker.forget(id).has_value());
  REQUIRE(tracker.needs(id, 10, 8).code() == errc::stale);
  REQUIRE(tracker.resume(id, 10, 8).code() == errc::stale);
}

TEST_CASE("restore_tracker: an empty one, moved from or not, has found nothing", "[tracker]") {
  auto tracker = tracker_of(40);
  REQUIRE(tracker.resume(id, 8, 16).has_value());
  const restore_tracker<> moved = std::move(tracker);
  REQUIRE(moved.counts().cached == 16);
  REQUIRE(tracker.counts().cached == 0);  // NOLINT(bugprone-use-after-move)
  REQUIRE(restore_tracker<>().counts().revived == 0);
}
