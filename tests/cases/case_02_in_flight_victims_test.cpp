// SPDX-License-Identifier: Apache-2.0
// Victims whose blocks were still in flight, one after another, without progress (vLLM 49674).
#include "cases/fence_scene.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

using pave_tests::fence_scene;

/// Sequences by rank, each of so many blocks, which fill the pool and all run in the step in flight.
struct all_in_flight : fence_scene {
  all_in_flight(std::size_t sequences, std::int64_t blocks_each, std::int64_t each)
      : fence_scene(static_cast<std::int64_t>(sequences) * blocks_each, each) {
    const std::int64_t tokens = blocks_each * each;
    for (std::size_t i = 0; i < sequences; ++i)
      ids.push_back(tokens > 1 ? run(static_cast<std::int64_t>(i), tokens - 1)
                               : admit(static_cast<std::int64_t>(i), 1));
    in_flight = begin();
    for (const pave::sequence_id id : ids) {
      if (tokens > 1) {
        REQUIRE(grow(id, 1));
      } else {
        REQUIRE(restore());
      }
    }
    REQUIRE(available() == 0);
    begin();
  }
  /// @return sequences that were stopped by the last call
  std::size_t stopped() {
    std::size_t count = 0;
    for (const pave::cut& c : cuts.used()) count += c.was_parked ? 0 : 1;
    return count;
  }
  std::int64_t blocks_cut() {
    std::int64_t count = 0;
    for (const pave::cut& c : cuts.used()) count += c.freed.value();
    return count;
  }

  std::vector<pave::sequence_id> ids;
  pave::step_id in_flight;
};

}  // namespace

TEST_CASE("case 02: of four sequences in flight at step 5 one gives one block, once, and the requester gets it",
          "[cases]") {
  all_in_flight s(4, 2, 16);
  REQUIRE(s.in_flight == pave::step_id{5});
  const auto refused = s.grow(s.ids[0], 1);
  CHECK(refused.code() == pave::errc::shortage);
  CHECK(refused.error().missing.value() == 1);
  CHECK(refused.error().arriving.value() == 1);
  CHECK(refused.error().by == pave::step_id{5});
  REQUIRE(s.cuts.used().size() == 1);
  CHECK(s.cuts.used()[0].sequence == s.ids[3]);
  CHECK(s.cuts.used()[0].blocks == pave::block_range{1, 2});
  CHECK(s.cuts.used()[0].freed.value() == 1);
  CHECK(s.cache.promised(s.ids[0])->blocks.value() == 1);
  CHECK(s.cache.promised(s.ids[0])->by == pave::step_id{5});

  CHECK(s.grow(s.ids[0], 1).code() == pave::errc::waits);
  CHECK(s.restore().error().by == pave::step_id{5});
  CHECK(s.cuts.used().empty());
  s.begin();
  CHECK(s.restore().error().arriving.value() == 1);
  CHECK(s.cuts.used().empty());
  for (const std::size_t i : {1U, 2U}) {
    CHECK(s.state(s.ids[i]) == pave::sequence_state::running);
    CHECK(s.held(s.ids[i]) == 2);
  }

  s.complete(s.in_flight);
  const auto in = s.restore();
  REQUIRE(in);
  CHECK(in->sequence == s.ids[0]);
  CHECK(s.held(s.ids[0]) == 3);
  CHECK(s.cuts.used().empty());
  CHECK(s.available() == 0);
}

TEST_CASE("case 02: whatever is short is cut for once, exactly, and is there after the step (vLLM 49674)", "[cases]") {
  const std::size_t sequences = GENERATE(2U, 4U, 7U);
  const std::int64_t blocks_each = GENERATE(1, 2, 5);
  const std::int64_t each = GENERATE(1, 16);
  const auto others = static_cast<std::int64_t>(sequences - 1) * blocks_each;
  for (std::int64_t shortage = 1; shortage <= others; ++shortage) {
    CAPTURE(sequences, blocks_each, each, shortage);
    all_in_flight s(sequences, blocks_each, each);
    const auto refused = s.grow(s.ids[0], shortage * each);
    CHECK(refused.error().missing.value() == shortage);
    CHECK(refused.error().arriving.value() == shortage);
    CHECK(refused.error().by == s.in_flight);
    CHECK(s.blocks_cut() == shortage);
    CHECK(s.stopped() == static_cast<std::size_t>((shortage + blocks_each - 1) / blocks_each));
    for (int again = 0; again < 2; ++again) {
      CHECK(s.restore().error().arriving.value() == shortage);
      CHECK(s.cuts.used().empty());
    }
    s.complete(s.in_flight);
    const auto in = s.restore();
    REQUIRE(in);
    CHECK(in->sequence == s.ids[0]);
    CHECK(in->taken.value() == shortage);
    CHECK(s.cuts.used().empty());
    CHECK(s.available() == 0);
  }
}

TEST_CASE("case 02: two that are short in one step stop only whom each needs, and both come in (vLLM 49674)",
          "[cases]") {
  const bool less_important_asks_first = GENERATE(false, true);
  all_in_flight s(5, 2, 16);
  const std::size_t first = less_important_asks_first ? 1 : 0;
  REQUIRE(s.grow(s.ids[first], 1).error().arriving.value() == 1);
  CHECK(s.cuts.used().size() == 1);
  REQUIRE(s.grow(s.ids[1 - first], 1).error().arriving.value() == 1);
  if (less_important_asks_first) {
    CHECK(s.cuts.used().empty());  // it takes the other one's
    CHECK(s.restore().error().arriving.value() == 1);
    CHECK(s.held(s.ids[4]) == 1);
  } else {
    REQUIRE(s.cuts.used().size() == 1);
    CHECK(s.cuts.used()[0].sequence == s.ids[4]);
    CHECK(s.held(s.ids[4]) == 0);
  }
  s.complete(s.in_flight);
  CHECK(s.restore()->sequence == s.ids[0]);
  CHECK(s.restore()->sequence == s.ids[1]);
  CHECK(s.held(s.ids[4]) == 0);
  CHECK(s.held(s.ids[3]) == 2);
  CHECK(s.state(s.ids[3]) == pave::sequence_state::running);
  CHECK(s.available() == 0);
}

TEST_CASE("case 02: with several steps in flight the requester waits for the last that ran its victim (vLLM 49674)",
          "[cases]") {
  const std::int64_t steps = GENERATE(1, 2, 3);
  const bool ends_in_order = GENERATE(false, true);
  CAPTURE(steps, ends_in_order);
  fence_scene s(4, 16);
  const auto requester = s.run(0, 32);
  const auto victim = s.run(1, 32 - steps);
  std::vector<pave::step_id> in_flight;
  for (std::int64_t i = 0; i < steps; ++i) {
    in_flight.push_back(s.begin());
    REQUIRE(s.grow(victim, 1));
  }
  s.begin();
  REQUIRE(s.grow(requester, 1).error().by == in_flight.back());
  if (!ends_in_order) std::reverse(in_flight.begin(), in_flight.end());
  for (const pave::step_id step : in_flight) {
    CHECK(s.restore().code() == pave::errc::shortage);
    CHECK(s.cuts.used().empty());
    s.complete(step);
  }
  CHECK(s.restore()->sequence == requester);
}

TEST_CASE("case 02: an engine that always has steps in flight makes progress, and finishes all (vLLM 49674)",
          "[cases]") {
  const std::int64_t blocks = GENERATE(4, 6, 9);
  const std::int64_t lag = GENERATE(1, 2, 3);
  CAPTURE(blocks, lag);
  fence_scene s(blocks, 4);
  std::vector<pave::sequence_id> left;
  for (std::int64_t i = 0; i < 5; ++i) left.push_back(s.admit(i, 5));
  int stops = 0;
  int steps = 0;
  std::vector<pave::step_id> in_flight;
  for (; !left.empty() && steps < 400; ++steps) {
    in_flight.push_back(s.begin());
    for (const pave::sequence_id id : left) {
      if (s.state(id) != pave::sequence_state::running) continue;
      static_cast<void>(s.grow(id, 1));
      for (const pave::cut& c : s.cuts.used()) stops += c.was_parked ? 0 : 1;
    }
    while (s.restore()) continue;
    if (static_cast<std::int64_t>(in_flight.size()) <= lag) continue;
    s.complete(in_flight.front());
    in_flight.erase(in_flight.begin());
    for (std::size_t i = 0; i < left.size();) {
      if (s.cache.computed(left[i])->value() < 16) {
        ++i;
        continue;
      }
      s.finish(left[i]);
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  CHECK(left.empty());
  CHECK(stops <= 3 * 5);
  for (const pave::step_id step : in_flight) s.complete(step);
  CHECK(s.available() == blocks);
}
