// SPDX-License-Identifier: Apache-2.0
// A kv_cache whose cuts leave gaps anywhere: no attention reads a missing token, and none that was kept comes back
// twice.
#include "model/gap_walk.hpp"

#include "support/catch.hpp"
#include "support/keeping.hpp"

#include <pave/cache.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

/// A user's: any range that frees what is wanted, by a number that depends on what is there.
struct anywhere {
  static constexpr bool keeps_prefix = false;
  template <class View>
  static pave::shaped_cut cut(const View& view, std::size_t candidate, pave::block_count wanted) {
    std::vector<pave::shaped_cut> all;
    const pave::block_count end = view.blocks(candidate);
    for (pave::block_count first = 0; first < end; first += 1) {
      if (view.reclaimable(candidate, first, first + 1) == 0) continue;
      pave::shaped_cut one{{first, first}, 0};
      for (pave::block_count at = first; at < end && one.freed < wanted; at += 1) {
        if (view.reclaimable(candidate, at, at + 1) == 0) continue;
        one = {{first, at + 1}, one.freed + 1};
      }
      if (all.empty() || one.freed == all.front().freed) all.push_back(one);
    }
    if (all.empty()) return {{end, end}, 0};
    return all[pave_tests::mix(static_cast<std::uint64_t>(end.value() * 64 + wanted.value())) % all.size()];
  }
};

template <class Shape, class Order = pave::least_important, class Demand = pave::exact>
struct cutting : pave::planner_policies {
  using cut_shape = Shape;
  using victim_order = Order;
  using demand = Demand;
};
template <class Planner, class Pool = pave::pool_policies, class Tracker = pave::tracker_policies>
struct bundle : pave::cache_policies {
  using planner = Planner;
  using pool = Pool;
  using tracker = Tracker;
};
struct delaying : pave::pool_policies {
  using fence = pave::after_step;
};
struct alone : pave::pool_policies {
  using sharing = pave::exclusive;
};
struct chunk_by_chunk : pave::tracker_policies {
  using resume_gate = pave::first_chunk;
};
struct two_ahead : pave::ahead {
  constexpr two_ahead() noexcept : pave::ahead{2} {}
};
struct two_more : pave::to_watermark {
  constexpr two_more() noexcept : pave::to_watermark{2} {}
};

using anywhere_at_all = cutting<anywhere>;
using cheapest_ranges = cutting<pave::cheapest_range>;
using cheapest_plans = cutting<pave::cheapest_range, pave::cheapest_restore>;

}  // namespace

TEMPLATE_TEST_CASE("kv_cache: gaps anywhere come back from the front, each lost token once, and nothing else",
                   "[cache][model]",
                   bundle<cheapest_ranges>,
                   bundle<cutting<pave::head_after_shared>>,
                   bundle<cheapest_plans>,
                   bundle<anywhere_at_all>,
                   (bundle<anywhere_at_all, delaying>),
                   (bundle<anywhere_at_all, alone>),
                   (bundle<anywhere_at_all, pave::pool_policies, chunk_by_chunk>),
                   (bundle<anywhere_at_all, pave_tests::keeping<>>),
                   (bundle<cheapest_ranges, delaying, chunk_by_chunk>),
                   (bundle<cheapest_plans, pave_tests::keeping<>>),
                   (bundle<cutting<pave::head_after_shared, pave::largest, two_ahead>>),
                   (bundle<cutting<pave::tail, pave::cheapest_restore, two_more>>)) {
  std::int64_t gaps_inside = 0;
  pave_tests::for_each_seed(2000, [&](std::uint64_t seed) {
    pave_tests::random_source random(pave_tests::mix(seed));
    pave::kv_cache_options options;
    options.blocks = random.between(1, random.one_in(4) ? 60 : 20);
    options.tokens_per_block = random.one_in(3) ? 1 : random.between(2, 5);
    options.sequences = static_cast<std::size_t>(random.between(1, 8));
    options.steps_in_flight = static_cast<std::size_t>(random.between(1, 3));
    pave_tests::gap_walk<TestType> walk(options, seed);
    walk.wander(150);
    walk.go_on_until_all_is_done();
    gaps_inside += walk.gaps_inside();
  });
  if (!TestType::planner::cut_shape::keeps_prefix) CHECK(gaps_inside > 100);
}
