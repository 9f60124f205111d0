// SPDX-License-Identifier: Apache-2.0
// What every resume gate does, alone and in a tracker and a cache.
#ifndef PAVE_TESTS_CONTRACT_RESUME_GATE_CONTRACT_HPP
#define PAVE_TESTS_CONTRACT_RESUME_GATE_CONTRACT_HPP

#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/cache.hpp>
#include <pave/policy/resume_gate.hpp>
#include <pave/tracker.hpp>

#include <array>
#include <cstdint>
#include <utility>

namespace pave_tests {

template <class Gate>
struct tracker_with_gate : pave::tracker_policies {
  using resume_gate = Gate;
};
template <class Gate>
struct cache_with_gate : pave::cache_policies {
  using tracker = tracker_with_gate<Gate>;
};

template <class Gate>
void check_resume_gate() {
  static_assert(pave::is_resume_gate_v<Gate>);

  SECTION("it takes at least the chunk, at most what must fit, and that is at most what remains") {
    const Gate gate{};
    for (std::int64_t remaining = 1; remaining <= 70; ++remaining) {
      for (std::int64_t chunk = 1; chunk <= remaining; ++chunk) {
        const pave::token_count fits = gate.must_fit(remaining, chunk);
        const pave::token_count takes = gate.allocates(remaining, chunk);
        if (chunk <= takes && takes <= fits && fits <= remaining) continue;
        CAPTURE(remaining, chunk);
        CHECK(takes >= chunk);
        CHECK(takes <= fits);
        CHECK(fits <= remaining);
      }
    }
  }

  SECTION("a tracker computes every missing token once, in chunks of any budget") {
    const std::int64_t budget = GENERATE(1, 3, 7, 64, 1000);
    auto made = pave::restore_tracker<tracker_with_gate<Gate>>::create({1});
    REQUIRE(made);
    auto tracker = std::move(*made);
    const pave::sequence_id id{0, 1};
    REQUIRE(tracker.track(id, 50));
    std::int64_t computed = 0;
    const auto run = [&](pave::token_range tokens) {
      CHECK(tokens.first.value() == computed);
      CHECK(tokens.size().value() <= budget);
      computed = tokens.last.value();
      REQUIRE(tracker.complete(id, computed));
    };
    const auto come_in = [&](std::int64_t goal) {
      const auto need = tracker.needs(id, budget);
      REQUIRE(need);
      CHECK(need->tokens.first.value() == computed);
      CHECK(need->must_fit.value() <= goal);
      CHECK(need->allocates >= need->tokens.last);
      const auto first = tracker.resume(id, budget);
      REQUIRE(first);
      CHECK(*first == need->tokens);
      run(*first);
      while (computed < goal) {
        const auto next = tracker.schedule(id, computed + budget < goal ? budget : goal - computed);
        REQUIRE(next);
        run(*next);
      }
    };
    come_in(50);
    REQUIRE(tracker.lose(id, 16));
    computed = 16;
    REQUIRE(tracker.park(id, 51));
    come_in(51);
    CHECK(tracker.counts().lost.value() == 34);
    CHECK(tracker.counts().restored.value() == 34);
  }

  SECTION("a cache with it brings two sequences to their ends in a pool for one and a half") {
    pave::kv_cache_options options;
    options.blocks = 9;
    options.tokens_per_block = 4;
    options.sequences = 2;
    auto made = pave::kv_cache<cache_with_gate<Gate>>::create(options);
    REQUIRE(made);
    auto cache = std::move(*made);
    struct request {
      pave::sequence_id id;
      bool runs = false;
      bool done = false;
      bool is_scheduled = false;
    };
    std::array<request, 2> requests;
    for (auto& each : requests) {
      const auto id = cache.admit(1, 5, 24);
      REQUIRE(id);
      each.id = *id;
    }
    std::array<pave::cut, 4> room;
    pave::cut_list cuts(room);
    const auto stop = [&] {
      for (const auto& cut : cuts.used()) {
        for (auto& each : requests) {
          if (each.id == cut.sequence && !each.done) each.runs = each.is_scheduled = false;
        }
      }
    };
    int steps = 0;
    for (; steps < 500 && !(requests[0].done && requests[1].done); ++steps) {
      const auto step = cache.begin_step();
      REQUIRE(step);
      for (auto& each : requests) {
        if (each.done || !each.runs) continue;
        const auto at = cache.progress(each.id);
        REQUIRE(at);
        const std::int64_t left = (at->goal - at->scheduled).value();
        const auto grown = cache.grow_or_reclaim(each.id, left < 1 ? 1 : (left < 3 ? left : 3), cuts);
        stop();
        each.is_scheduled = grown.has_value();
        if (!grown) {
          CHECK(grown.code() == pave::errc::shortage);
          each.runs = false;
        }
        check_conservation(cache.pool());
      }
      while (const auto next = cache.next_restore(3, cuts)) {
        stop();
        for (auto& each : requests) {
          if (each.id == next->sequence) each.runs = each.is_scheduled = true;
        }
        check_conservation(cache.pool());
      }
      REQUIRE(cache.complete(*step));
      for (auto& each : requests) {
        if (each.done || !each.runs) continue;
        if (cache.computed(each.id)->value() >= 24) {
          REQUIRE(cache.finish(each.id));
          each.done = true;
        }
      }
    }
    CHECK(steps < 200);
    CHECK(cache.pool().available().value() == 9);
    CHECK(cache.snapshot().tokens_lost == cache.snapshot().tokens_restored);
  }
}

}  // namespace pave_tests

#endif  // PAVE_TESTS_CONTRACT_RESUME_GATE_CONTRACT_HPP
