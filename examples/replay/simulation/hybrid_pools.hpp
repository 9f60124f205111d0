// SPDX-License-Identifier: Apache-2.0
// How the memory of a hybrid model is divided between the pools of its two KV groups.
#ifndef PAVE_REPLAY_HYBRID_POOLS_HPP
#define PAVE_REPLAY_HYBRID_POOLS_HPP

#include "simulation/cost_model.hpp"
#include "traces/trace.hpp"

#include <cstdint>
#include <vector>

namespace replay {

struct hybrid_pools {
  std::int64_t full_blocks = 0;    ///< of the layers with full attention
  std::int64_t window_blocks = 0;  ///< of those with a window
};

/// @return pools that together take the memory of `pool_blocks` blocks of all layers, and that hold the ends of as many
///   requests of the trace, on average
/// @pre the model is a hybrid, and there is a request
hybrid_pools divide_pool(const std::vector<request>& requests,
                         std::int64_t pool_blocks,
                         std::int64_t tokens_per_block,
                         const step_costs& costs);

/// @param blocks of a request: of each group, but for those that its window has passed
/// @return whether both pools can hold it
bool can_hold(const hybrid_pools& pools, std::int64_t blocks, std::int64_t tokens_per_block, const step_costs& costs);

}  // namespace replay

#endif
