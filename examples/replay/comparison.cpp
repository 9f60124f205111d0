// SPDX-License-Identifier: Apache-2.0
// Runs, one a task; of each only what the report says is kept.
#include "comparison.hpp"

#include "command_line/policy_names.hpp"
#include "parallel.hpp"
#include "report/curves.hpp"
#include "report/progress.hpp"
#include "simulation/hybrid_pools.hpp"
#include "simulation/metrics.hpp"
#include "traces/workload.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

namespace replay {

namespace {

/// With what follows from the trace.
engine_settings settings_for(const options& chosen, const loaded_trace& trace, const point& at) {
  engine_settings engine = at.engine;
  const step_costs& costs = chosen.costs->costs;
  if (costs.is_hybrid()) {
    engine.hybrid = divide_pool(trace.requests, engine.pool_blocks, engine.tokens_per_block, costs);
  }
  return engine;
}

/// Of the requests that do not fit the engine refuses each; a pool that none fits is a mistake.
void check_pools(const options& chosen, const loaded_trace& trace) {
  const bool limited =
      std::any_of(chosen.policies.begin(), chosen.policies.end(), [](policy one) { return one != policy::unlimited; });
  if (!limited) return;
  std::int64_t least = (std::numeric_limits<std::int64_t>::max)();
  for (const request& one : trace.requests) {
    // The last token is never an input, so no KV of it is kept.
    least = (std::min)(least, one.prompt_tokens + one.output_tokens - 1);
  }
  for (const point& at : chosen.points) {
    const std::int64_t per_block = at.engine.tokens_per_block;
    const std::int64_t needed = (least + per_block - 1) / per_block;
    const step_costs& costs = chosen.costs->costs;
    const hybrid_pools pools = settings_for(chosen, trace, at).hybrid;
    const bool fits = costs.is_hybrid() ? can_hold(pools, needed, per_block, costs) : needed <= at.engine.pool_blocks;
    if (fits) continue;
    std::string refusal = "no request";
    if (chosen.traces.size() > 1) refusal += " of " + trace.name;
    refusal +=
        costs.is_hybrid() ? " fits the pools of " + std::to_string(pools.full_blocks) + " and " : " fits the pool of ";
    refusal += std::to_string(costs.is_hybrid() ? pools.window_blocks : at.engine.pool_blocks);
    refusal += " blocks of " + std::to_string(per_block) + " tokens: the smallest needs " + std::to_string(needed);
    throw input_error(refusal);
  }
}

setting describe_setting(const options& chosen, const loaded_trace& trace, const point& at) {
  setting of;
  of.trace = trace.name;
  of.requests = trace.requests.size();
  of.rate = at.rate;
  of.model = chosen.costs->model;
  of.gpu = chosen.costs->gpu;
  of.pool_blocks = at.engine.pool_blocks;
  of.tokens_per_block = at.engine.tokens_per_block;
  of.kv_bytes_per_token = chosen.costs->costs.kv_bytes_per_token;
  of.reserve_blocks = at.engine.reserve_blocks;
  of.watermark_percent = at.watermark_percent;
  of.plans = at.engine.plans;
  of.finds_running = at.engine.finds_running;
  of.watermark_blocks = at.engine.watermark_blocks;
  if (chosen.costs->costs.is_hybrid()) of.hybrid = settings_for(chosen, trace, at).hybrid;
  return of;
}

run run_policy(policy which, const options& chosen, const loaded_trace& trace, const point& at, progress_bar& bar) {
  using clock = std::chrono::steady_clock;
  std::size_t reported = 0;
  const auto report_progress = [&](std::size_t ended) {
    bar.add(ended - reported);
    reported = ended;
  };
  const clock::time_point start = clock::now();
  const engine_outcome outcome = run_engine(which, trace.requests, 1 / at.rate, settings_for(chosen, trace, at),
                                            chosen.costs->costs, report_progress);
  const std::chrono::duration<double> elapsed = clock::now() - start;
  run done;
  done.policy = policy_name(which);
  done.found = summarize(outcome, chosen.slo);
  done.wall_s = elapsed.count();
  if (chosen.has_curves) done.drawn = curves_of(outcome);
  return done;
}

}  // namespace

std::vector<loaded_trace> load_traces(const options& chosen) {
  std::vector<loaded_trace> traces;
  for (const std::string& file : chosen.traces) {
    traces.push_back({file, read_trace(file, chosen.requests.value_or(every_row))});
  }
  if (traces.empty()) {
    traces.push_back({"synthetic (seed " + std::to_string(chosen.seed) + ")",
                      synthetic_trace(chosen.requests.value_or(default_requests), chosen.seed)});
  }
  for (const loaded_trace& trace : traces) check_pools(chosen, trace);
  return traces;
}

std::vector<report> compare(const options& chosen, const std::vector<loaded_trace>& traces) {
  std::vector<report> reports;
  std::size_t requests = 0;
  for (const loaded_trace& trace : traces) {
    for (const point& at : chosen.points) {
      report results;
      results.of = describe_setting(chosen, trace, at);
      results.slo = chosen.slo;
      results.runs.resize(chosen.policies.size());
      reports.push_back(results);
      requests += trace.requests.size() * chosen.policies.size();
    }
  }
  progress_bar bar("replaying", requests);
  const std::size_t policies = chosen.policies.size();
  run_parallel(reports.size() * policies, chosen.jobs, [&](std::size_t task) {
    const std::size_t place = task / policies;
    const std::size_t which = task % policies;
    const loaded_trace& trace = traces[place / chosen.points.size()];
    const point& at = chosen.points[place % chosen.points.size()];
    reports[place].runs[which] = run_policy(chosen.policies[which], chosen, trace, at, bar);
  });
  return reports;
}

}  // namespace replay
