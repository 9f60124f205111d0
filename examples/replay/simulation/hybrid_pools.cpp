// SPDX-License-Identifier: Apache-2.0
// Sums over the trace.
#include "simulation/hybrid_pools.hpp"

#include <pave/layout.hpp>

#include <algorithm>

namespace replay {

hybrid_pools divide_pool(const std::vector<request>& requests,
                         std::int64_t pool_blocks,
                         std::int64_t tokens_per_block,
                         const step_costs& costs) {
  const std::int64_t window = pave::blocks_for(costs.window, tokens_per_block).value() + 1;
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

}  // namespace replay
