// SPDX-License-Identifier: Apache-2.0
// pave-bench: eviction_planner, by looking at all requests and by an index, beside engines' ways by block; and
// group_planner, over one group and over three.
#include "baselines/evictions_by_block.hpp"
#include "support/random.hpp"
#include "support/running_requests.hpp"

#include <pave/group_planner.hpp>
#include <pave/planner.hpp>
#include <pave/victim_index.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

template <class Order = pave::least_important, class Shape = pave::tail>
struct policies : pave::planner_policies {
  using victim_order = Order;
  using cut_shape = Shape;
};

/// Where a plan is written to.
struct buffers {
  explicit buffers(std::size_t candidates) : room(candidates), scratch(candidates), cuts(room) {}
  std::vector<pave::basic_cut<std::size_t>> room;
  std::vector<std::uint32_t> scratch;
  pave::basic_cut_list<std::size_t> cuts;
};

constexpr pave::rank most_important{-1, 0};

void finish(benchmark::State& state, const buffers& of, std::int64_t freed, std::int64_t shortage) {
  state.counters["cuts"] = static_cast<double>(of.cuts.used().size());
  if (freed != shortage) state.SkipWithError("the plan does not free what was asked for");
}

template <class Policies>
void scan(benchmark::State& state) {
  const bench::request_lengths requests(static_cast<std::size_t>(state.range(0)), 64);
  const std::int64_t shortage = requests.shortage_for(static_cast<std::size_t>(state.range(1)));
  buffers to(requests.size());
  const pave::eviction_planner<Policies> planner;
  std::int64_t freed = 0;
  for (auto _ : state) {
    const auto plan =
        planner(requests, most_important, shortage, pave::victims::parked_then_running, to.cuts, to.scratch);
    freed = plan->freed.value();
    benchmark::ClobberMemory();
  }
  finish(state, to, freed, shortage);
}

template <class Policies>
void by_index(benchmark::State& state) {
  const bench::request_lengths requests(static_cast<std::size_t>(state.range(0)), 64);
  const std::int64_t shortage = requests.shortage_for(static_cast<std::size_t>(state.range(1)));
  auto index = pave::victim_index<pave::rank, typename Policies::victim_order>::create(requests.size()).value();
  for (std::size_t i = 0; i < requests.size(); ++i) index.insert(requests, i).value();
  buffers to(requests.size());
  const pave::eviction_planner<Policies> planner;
  std::int64_t freed = 0;
  for (auto _ : state) {
    const auto plan = planner(requests, index, most_important, shortage, pave::victims::parked_then_running, to.cuts);
    freed = plan->freed.value();
    benchmark::ClobberMemory();
  }
  finish(state, to, freed, shortage);
}

/// A random request has a token more, and the index hears of it.
template <class Order>
void refresh(benchmark::State& state) {
  bench::request_lengths requests(static_cast<std::size_t>(state.range(0)), 64);
  auto index = pave::victim_index<pave::rank, Order>::create(requests.size()).value();
  for (std::size_t i = 0; i < requests.size(); ++i) index.insert(requests, i).value();
  bench::random_source random(5);
  for (auto _ : state) {
    const std::size_t i = bench::index_below(requests.size(), random.word());
    requests.lengthen(i);
    index.refresh(requests, i).value();
  }
}

/// A random request goes, and comes again.
template <class Order>
void replace(benchmark::State& state) {
  const bench::request_lengths requests(static_cast<std::size_t>(state.range(0)), 64);
  auto index = pave::victim_index<pave::rank, Order>::create(requests.size()).value();
  for (std::size_t i = 0; i < requests.size(); ++i) index.insert(requests, i).value();
  bench::random_source random(5);
  for (auto _ : state) {
    const std::size_t i = bench::index_below(requests.size(), random.word());
    index.erase(i).value();
    index.insert(requests, i).value();
  }
}

void over_tables(benchmark::State& state) {
  const bench::request_tables requests(256, static_cast<std::size_t>(state.range(0)));
  buffers to(requests.rows.size());
  const pave::eviction_planner<> planner;
  std::int64_t freed = 0;
  for (auto _ : state) {
    const auto plan = planner(requests.view(), most_important, state.range(1), pave::victims::parked_then_running,
                              to.cuts, to.scratch);
    freed = plan->freed.value();
    benchmark::ClobberMemory();
  }
  finish(state, to, freed, state.range(1));
}

template <std::size_t Groups>
void over_groups(benchmark::State& state) {
  const auto requests = static_cast<std::size_t>(state.range(0));
  const bench::group_tables tables(requests);
  const auto shortage = bench::group_tables::shortage_for(state.range(1), Groups);
  std::vector<pave::basic_group_cut<std::size_t>> cuts(requests);
  std::vector<pave::basic_blocks_left_behind<std::size_t>> left_behind(requests * Groups);
  std::vector<pave::plan> groups(Groups);
  std::vector<pave::group_victim> scratch(requests);
  const pave::basic_group_plan_room<std::size_t> room{cuts, left_behind, groups, scratch};
  const pave::group_planner<> planner;
  std::size_t victims = 0;
  for (auto _ : state) {
    const auto plan = planner(tables.view(Groups), most_important, shortage, pave::victims::parked_then_running, room);
    victims = plan->cuts.size();
    benchmark::ClobberMemory();
  }
  state.counters["cuts"] = static_cast<double>(victims);
  if (groups[0].freed < shortage[0]) state.SkipWithError("the plan does not free what was asked for");
}

template <class Baseline>
void by_block(benchmark::State& state) {
  const bench::request_tables requests(256, static_cast<std::size_t>(state.range(0)));
  Baseline evict;
  for (auto _ : state) {
    if (evict(requests, static_cast<std::size_t>(state.range(1))) != static_cast<std::size_t>(state.range(1))) {
      state.SkipWithError("it does not free what was asked for");
    }
    benchmark::ClobberMemory();
  }
}

using function = void (*)(benchmark::State&);

void add(const std::string& name,
         function run,
         const std::vector<std::int64_t>& cuts,
         const std::vector<std::int64_t>& requests) {
  benchmark::RegisterBenchmark(name.c_str(), run)->ArgNames({"requests", "cuts"})->ArgsProduct({requests, cuts});
}

template <class Order>
void add_order(const std::string& order) {
  add("BM_plan_" + order + "/scan", scan<policies<Order>>, {1, 4, 64}, {256, 65536});
  add("BM_plan_" + order + "/index", by_index<policies<Order>>, {1, 4, 64}, {256, 65536});
  benchmark::RegisterBenchmark(("BM_index_refresh/" + order).c_str(), refresh<Order>)
      ->ArgName("requests")
      ->Arg(256)
      ->Arg(65536);
  benchmark::RegisterBenchmark(("BM_index_replace/" + order).c_str(), replace<Order>)
      ->ArgName("requests")
      ->Arg(256)
      ->Arg(65536);
}

[[maybe_unused]] const bool added = [] {
  add_order<pave::least_important>("least_important");
  add_order<pave::largest>("largest");
  add("BM_plan_least_important/scan_cheapest_range", scan<policies<pave::least_important, pave::cheapest_range>>,
      {1, 4, 64}, {256});
  add("BM_plan_cheapest_restore/scan", scan<policies<pave::cheapest_restore>>, {1, 4, 64}, {256, 65536});
  add("BM_plan_cheapest_restore/scan_cheapest_range", scan<policies<pave::cheapest_restore, pave::cheapest_range>>,
      {1, 4, 64}, {256, 65536});
  add("BM_plan_over_groups/one", over_groups<1>, {1, 4, 64}, {256, 65536});
  add("BM_plan_over_groups/three", over_groups<3>, {1, 4, 64}, {256, 65536});
  const auto add_blocks = [](const char* name, function run, std::int64_t most) {
    auto* bench = benchmark::RegisterBenchmark(name, run)->ArgNames({"blocks", "short"});
    for (std::int64_t blocks = 1 << 12; blocks <= most; blocks *= 16) bench->Args({blocks, 1})->Args({blocks, 4});
  };
  add_blocks("BM_plan_over_tables/scan", over_tables, 1 << 24);
  add_blocks("BM_plan_over_tables/sort_every_block", by_block<bench::sort_every_block>, 1 << 20);
  add_blocks("BM_plan_over_tables/copy_into_set", by_block<bench::copy_into_set>, 1 << 16);
  return true;
}();

}  // namespace
