// SPDX-License-Identifier: Apache-2.0
// How large and how small the values of the command line may be.
#ifndef PAVE_REPLAY_LIMITS_HPP
#define PAVE_REPLAY_LIMITS_HPP

#include <cstddef>
#include <cstdint>

namespace replay {

inline constexpr std::size_t most_requests = 10'000'000;
inline constexpr std::size_t most_jobs = 1024;
inline constexpr std::size_t most_points = 4096;  ///< of all sweeps together
inline constexpr std::size_t most_bounds = 16;
inline constexpr std::int64_t most_blocks = 16'777'216;
inline constexpr std::int64_t most_tokens_per_block = 65'536;
inline constexpr double shortest_bound_ms = 0.001;
inline constexpr double longest_bound_ms = 1e6;
inline constexpr double lowest_rate = 0.001;
inline constexpr double highest_rate = 1000;
inline constexpr double highest_watermark_percent = 100;

}  // namespace replay

#endif
