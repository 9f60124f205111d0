// SPDX-License-Identifier: Apache-2.0
// A synthetic workload with the lengths and the arrival rate of the Azure Conversation trace.
#ifndef PAVE_REPLAY_WORKLOAD_HPP
#define PAVE_REPLAY_WORKLOAD_HPP

#include "traces/trace.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace replay {

/// Requests of a synthetic workload where nobody says how many.
inline constexpr std::size_t default_requests = 2000;

/// @brief Poisson arrivals at 5.53 a second; lengths by inverse transform over quantiles of the trace.
/// @return `count` requests by arrival, the first at 0; the same for the same seed with every standard library
std::vector<request> synthetic_trace(std::size_t count, std::uint64_t seed);

}  // namespace replay

#endif
