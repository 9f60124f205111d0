// SPDX-License-Identifier: Apache-2.0
// The engine over a hybrid model: its two pools, its step costs, and what each policy does when they run short.
#include "simulation/cost_model.hpp"
#include "simulation/engine.hpp"
#include "simulation/hybrid_pools.hpp"
#include "support/catch.hpp"
#include "traces/trace.hpp"
#include "traces/workload.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

using replay::policy;

const replay::step_costs& costs() { return replay::find_costs("llama-2-13b-hybrid", "a100")->costs; }

replay::request of(std::int64_t prompt, std::int64_t output) {
  replay::request r;
  r.prompt_tokens = prompt;
  r.output_tokens = output;
  return r;
}

replay::engine_outcome run(policy chosen,
                           const std::vector<replay::request>& requests,
                           std::int64_t pool_blocks,
                           replay::gate gate = replay::gate::whole_gap) {
  replay::engine_settings settings;
  settings.pool_blocks = pool_blocks;
  settings.resume_gate = gate;
  settings.keeps_timeline = true;
  settings.hybrid = replay::divide_pool(requests, pool_blocks, settings.tokens_per_block, costs());
  return replay::run_engine(chosen, requests, 1, settings, costs(), {});
}

bool same(const replay::engine_outcome& a, const replay::engine_outcome& b) {
  return a.preemptions == b.preemptions && a.blocks_reclaimed == b.blocks_reclaimed &&
         a.tokens_recomputed == b.tokens_recomputed && a.makespan_ms == b.makespan_ms;
}

}  // namespace

TEST_CASE("pave-replay: a hybrid's pools share the memory so that both hold as many requests", "[replay]") {
  // All in the window: both pools have a block for each of all layers.
  CHECK(replay::divide_pool({of(100, 1)}, 1000, 16, costs()).full_blocks == 1000);
  CHECK(replay::divide_pool({of(100, 1)}, 1000, 16, costs()).window_blocks == 1000);
  // 650 blocks of a request, of which 65 in the window: 10 x + 30 y = 40 000, and x = 10 y.
  const replay::hybrid_pools divided = replay::divide_pool({of(10'400, 1)}, 1000, 16, costs());
  CHECK(divided.full_blocks == 3076);
  CHECK(divided.window_blocks == 308);
  CHECK(divided.full_blocks * 10 + divided.window_blocks * 30 <= 40'000);
}

TEST_CASE("pave-replay: a layer with a window attends to no more than that", "[replay]") {
  const auto decode = [](std::int64_t context) {
    replay::step_time step(costs());
    step.add_decode(context);
    return step.milliseconds() - costs().decode_base - costs().decode_per_sequence;
  };
  CHECK(decode(1000) == Approx(1000 * costs().decode_attention));
  CHECK(decode(9024) == Approx((9024 + 3 * 1024) / 4.0 * costs().decode_attention));
  const auto prefill = [](std::int64_t tokens, std::int64_t cached) {
    replay::step_time step(costs());
    step.add_prefill(tokens, cached);
    const auto count = static_cast<double>(tokens);
    return (step.milliseconds() - costs().prefill_base - costs().prefill_per_token * count) / costs().prefill_attention;
  };
  for (const std::int64_t cached : {0, 500, 1000, 1024, 5000}) {
    CAPTURE(cached);
    double sum = 0;
    for (std::int64_t context = cached + 1; context <= cached + 200; ++context) {
      sum += static_cast<double>(context + 3 * std::min<std::int64_t>(context, 1024)) / 4;
    }
    CHECK(prefill(200, cached) == Approx(sum));
  }
}

TEST_CASE("pave-replay: over a hybrid's pools each policy serves all, and none holds more than there is", "[replay]") {
  const std::vector<replay::request> requests = replay::synthetic_trace(300, 7);
  constexpr std::int64_t blocks = 2500;
  for (const policy chosen : {policy::whole, policy::whole_cache, policy::whole_cache_back, policy::partial,
                              policy::partial_cache, policy::unlimited}) {
    CAPTURE(static_cast<int>(chosen));
    const replay::engine_outcome outcome = run(chosen, requests, blocks);
    CHECK(outcome.refused == 0);
    CHECK((outcome.preemptions == 0) == (chosen == policy::unlimited));
    for (const replay::request_outcome& one : outcome.requests) {
      if (one.last_token_ms < one.first_token_ms || one.first_token_ms < one.arrival_ms)
        FAIL("a request has its times");
    }
    if (chosen == policy::unlimited) continue;
    for (const replay::moment& now : outcome.timeline) {
      if (now.held_blocks > blocks) FAIL("no more is held than there is");
    }
    CHECK(outcome.blocks_reclaimed >= outcome.blocks_short);
    CHECK(same(outcome, run(chosen, requests, blocks)));
  }
}

TEST_CASE("pave-replay: over a hybrid's pools partial computes less again than whole", "[replay]") {
  const std::vector<replay::request> requests = replay::synthetic_trace(300, 7);
  const replay::engine_outcome whole = run(policy::whole, requests, 2500);
  const replay::engine_outcome partial = run(policy::partial, requests, 2500);
  CHECK(2 * partial.tokens_recomputed < whole.tokens_recomputed);
  CHECK(2 * partial.blocks_reclaimed < whole.blocks_reclaimed);
  CHECK(whole.restores_from_prefix == 0);
  CHECK(2 * partial.restores_from_prefix > partial.restores);
  CHECK_FALSE(same(partial, run(policy::partial, requests, 2500, replay::gate::first_chunk)));
}

TEST_CASE("pave-replay: of a hybrid's long prompts the window keeps little, and more requests fit", "[replay]") {
  std::vector<replay::request> requests(12, of(4000, 20));
  for (std::size_t i = 0; i < requests.size(); ++i) requests[i].arrival_ticks = static_cast<std::int64_t>(i);
  const replay::step_costs& plain = replay::find_costs("llama-2-13b", "a100")->costs;
  replay::engine_settings settings;
  settings.pool_blocks = 1300;  // five requests of 251 blocks
  const replay::engine_outcome one_group = replay::run_engine(policy::partial, requests, 1, settings, plain, {});
  const replay::engine_outcome hybrid = run(policy::partial, requests, 1300);
  CHECK(hybrid.requests.back().first_token_ms < one_group.requests.back().first_token_ms);
}
