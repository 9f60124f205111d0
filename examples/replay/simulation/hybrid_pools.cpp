// SPDX-License-Identifier: Apache-2.0
// Sums over the trace.
#include "simulation/hybrid_pools.hpp"

#include <pave/layout.hpp>

#include <algorithm>

namespace replay {

namespace {

/// What the window group has of a request at most: a window begins anywhere in a block.
std::int64_t most_in_window(std::int64_t tokens_per_block, const step_costs& costs) {
  return pave::blocks_for(costs.window - 1, tokens_per_block).value() + 1;
}

}  // namespace

hybrid_pools divide_pool(const std::vector<request>& requests,
                         std::int64_t pool_blocks,
                         std::int64_t tokens_per_block,
                         const step_costs& costs) {
  const std::int64_t window = most_in_window(tokens_per_block, costs);
  double full_need = 0;
  double window_need = 0;
  for (const request& r : requests) {
    const std::int64_t blocks = pave::blocks_for(r.prompt_tokens + r.output_tokens - 1, tokens_per_block).value();
    full_need += static_cast<double>(blocks);
    window_need += static_cast<double>(std::min(blocks, window));
  }
  const auto full_layers = static_cast<double>(costs.full_layers);
  const auto window_layers = static_cast<double>(costs.window_layers);
  const double memory = static_cast<double>(pool_blocks) * (full_layers + window_layers);
  hybrid_pools pools;
  pools.full_blocks =
      static_cast<std::int64_t>(memory * full_need / (full_layers * full_need + window_layers * window_need));
  pools.window_blocks =
      (pool_blocks * (costs.full_layers + costs.window_layers) - pools.full_blocks * costs.full_layers) /
      costs.window_layers;
  return pools;
}

bool can_hold(const hybrid_pools& pools, std::int64_t blocks, std::int64_t tokens_per_block, const step_costs& costs) {
  return blocks <= pools.full_blocks &&
         std::min(blocks, most_in_window(tokens_per_block, costs)) <= pools.window_blocks;
}

}  // namespace replay
