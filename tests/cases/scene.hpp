// SPDX-License-Identifier: Apache-2.0
// A cache with a few sequences in it, and a small engine that runs them to their ends.
#ifndef PAVE_TESTS_CASES_SCENE_HPP
#define PAVE_TESTS_CASES_SCENE_HPP

#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/cache.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pave_tests {

struct whole_planner : pave::planner_policies {
  using demand = pave::whole_sequence;
};
/// What engines do today.
struct whole_policies : pave::cache_policies {
  using planner = whole_planner;
};

template <class Policies = pave::cache_policies>
class scene {
 public:
  using cache_type = pave::kv_cache<Policies>;
  static constexpr bool is_exact = cache_type::planner_type::spares_requester;

  scene(std::int64_t blocks, std::int64_t tokens_per_block, std::int64_t reserve = 0)
      : room_(17), cuts(pave::span<pave::cut>(room_)) {
    pave::kv_cache_options options;
    options.blocks = blocks;
    options.tokens_per_block = tokens_per_block;
    options.sequences = 16;
    options.steps_in_flight = 4;
    options.reserve = reserve;
    auto made = cache_type::create(options);
    REQUIRE(made);
    cache = std::move(*made);
  }
  scene(const scene&) = delete;
  scene& operator=(const scene&) = delete;

  pave::sequence_id admit(std::int64_t rank, std::int64_t tokens) {
    const auto id = cache.admit(rank, tokens);
    REQUIRE(id);
    return *id;
  }
  /// A sequence whose prompt is in the cache. It must be the most important one that waits.
  pave::sequence_id run(std::int64_t rank, std::int64_t tokens) {
    const pave::sequence_id id = admit(rank, tokens);
    const auto step = cache.begin_step();
    REQUIRE(step);
    const auto in = cache.next_restore(tokens, cuts);
    REQUIRE(in);
    REQUIRE(in->sequence == id);
    REQUIRE(cache.complete(*step));
    REQUIRE(cache.computed(id)->value() == tokens);
    return id;
  }
  pave::step_id open() {
    const auto step = cache.begin_step();
    REQUIRE(step);
    return *step;
  }
  std::vector<std::int32_t> table(pave::sequence_id id) const { return values(*cache.block_table(id)); }
  std::int64_t held(pave::sequence_id id) const { return static_cast<std::int64_t>(cache.block_table(id)->size()); }
  std::int64_t available() const { return cache.pool().available().value(); }
  pave::sequence_state state(pave::sequence_id id) const { return cache.progress(id)->state; }

 private:
  std::vector<pave::cut> room_;

 public:
  pave::cut_list cuts;
  cache_type cache;
};

/// Everything that can be seen of a cache, to see that a refused call moved nothing.
struct sight {
  std::vector<std::uint32_t> holders;
  std::vector<std::vector<std::int32_t>> tables;
  std::vector<std::int64_t> numbers;

  friend bool operator==(const sight& a, const sight& b) {
    return a.holders == b.holders && a.tables == b.tables && a.numbers == b.numbers;
  }
};

template <class Cache>
sight look(const Cache& cache, const std::vector<pave::sequence_id>& ids) {
  sight seen;
  seen.holders = all_holders(cache.pool());
  const auto snapshot = cache.snapshot();
  seen.numbers = {snapshot.available.value(),
                  snapshot.held.value(),
                  snapshot.tokens_lost.value(),
                  snapshot.tokens_restored.value(),
                  snapshot.tokens_revived.value(),
                  snapshot.tokens_cached.value(),
                  static_cast<std::int64_t>(snapshot.running),
                  static_cast<std::int64_t>(snapshot.parked),
                  static_cast<std::int64_t>(snapshot.waiting)};
  for (const pave::sequence_id id : ids) {
    const auto at = cache.progress(id);
    if (!at) continue;
    seen.tables.push_back(values(*cache.block_table(id)));
    for (const auto tokens : {at->computed, at->scheduled, at->reached, at->goal})
      seen.numbers.push_back(tokens.value());
    seen.numbers.push_back(static_cast<std::int64_t>(at->state));
  }
  return seen;
}

/// An engine that runs the sequences of a scene to their ends, the most important first.
template <class Policies>
class small_engine {
 public:
  explicit small_engine(scene<Policies>& where, std::int64_t budget = 64) : scene_(where), budget_(budget) {}

  struct request {
    pave::sequence_id id;
    std::int64_t length = 0;
    int preemptions = 0;
    bool runs = false;
    bool is_done = false;
  };

  void add(pave::sequence_id id, std::int64_t length) {
    requests.push_back({id, length, 0, scene_.state(id) == pave::sequence_state::running, false});
  }

  /// @return steps until all are done; `limit` where they are not
  int run(int limit) {
    for (int steps = 0; steps < limit; ++steps) {
      if (std::all_of(requests.begin(), requests.end(), [](const request& r) { return r.is_done; })) return steps;
      step();
    }
    return limit;
  }

  std::vector<request> requests;  // by rank

 private:
  void step() {
    const pave::step_id step = scene_.open();
    std::int64_t budget = budget_;
    bool preempted = false;
    for (request& r : requests) {
      if (!r.runs || r.is_done || budget == 0) continue;
      const auto at = scene_.cache.progress(r.id);
      REQUIRE(at);
      const std::int64_t left = (std::max)(std::int64_t{1}, (at->goal - at->scheduled).value());
      const auto grown = scene_.cache.grow_or_reclaim(r.id, (std::min)(left, budget), scene_.cuts);
      preempted = stop() || preempted;
      if (grown) {
        budget -= grown->tokens.size().value();
      } else {
        REQUIRE(grown.code() == pave::errc::shortage);
        if (r.runs) ++r.preemptions;
        r.runs = false;
        preempted = true;
      }
      check_conservation(scene_.cache.pool());
    }
    while (!preempted && budget > 0) {
      const auto in = scene_.cache.next_restore(budget, scene_.cuts);
      if (!in) break;
      stop();
      budget -= in->tokens.size().value();
      for (request& r : requests) {
        if (r.id == in->sequence) r.runs = true;
      }
      check_conservation(scene_.cache.pool());
    }
    REQUIRE(scene_.cache.complete(step));
    for (request& r : requests) {
      if (r.is_done || !r.runs || scene_.cache.computed(r.id)->value() < r.length) continue;
      REQUIRE(scene_.cache.finish(r.id));
      r.is_done = true;
    }
    check_conservation(scene_.cache.pool());
  }

  bool stop() {
    for (const pave::cut& cut : scene_.cuts.used()) {
      for (request& r : requests) {
        if (r.id != cut.sequence || !r.runs) continue;
        CHECK_FALSE(cut.was_parked);
        r.runs = false;
        ++r.preemptions;
      }
    }
    return !scene_.cuts.used().empty();
  }

  scene<Policies>& scene_;
  std::int64_t budget_;
};

}  // namespace pave_tests

#endif  // PAVE_TESTS_CASES_SCENE_HPP
