// SPDX-License-Identifier: Apache-2.0
// How a run went, in as many points as a picture shows.
#ifndef PAVE_REPLAY_CURVES_HPP
#define PAVE_REPLAY_CURVES_HPP

#include "simulation/engine.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace replay {

inline constexpr std::size_t most_moments = 400;

struct curves {
  std::vector<moment> timeline;                            ///< at most `most_moments`, on an even grid of time
  std::vector<std::optional<double>> tpot_percentiles_ms;  ///< the smallest, then the percentiles 1 to 100
};

/// @brief The state at evenly spaced times from 0 to the last moment.
/// @param timeline by time; before its first moment nothing is held
/// @return as many points as `timeline` has, at most `most`
std::vector<moment> on_even_grid(const std::vector<moment>& timeline, std::size_t most);

curves curves_of(const engine_outcome& outcome);

}  // namespace replay

#endif
