// SPDX-License-Identifier: Apache-2.0
// What a run is judged by: percentiles, time per output token, time to first token, SLO attainment.
#ifndef PAVE_REPLAY_METRICS_HPP
#define PAVE_REPLAY_METRICS_HPP

#include "simulation/engine.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace replay {

/// @param sorted ascending
/// @param percent in (0, 100]
/// @return the smallest value with at least `percent` of the sample at or below it; nothing for an empty sample
std::optional<double> percentile(const std::vector<double>& sorted, int percent);

/// Of an empty sample nothing is known.
struct distribution {
  std::optional<double> mean;
  std::optional<double> p50;
  std::optional<double> p90;
  std::optional<double> p99;
};

distribution describe(std::vector<double> sample);

/// Bounds of a service-level objective.
struct objectives {
  std::vector<double> tpot_ms;
  double ttft_ms = 2000;
};

/// Shares of the requests that have a TPOT or were refused; a refused one misses.
struct attainment {
  double tpot_ms = 0;               ///< the bound
  std::optional<double> share;      ///< TPOT within it
  std::optional<double> with_ttft;  ///< TPOT and TTFT within their bounds
};

struct summary {
  std::int64_t preemptions = 0;
  std::int64_t self_parked = 0;
  std::int64_t refused = 0;
  std::int64_t blocks_short = 0;
  std::int64_t blocks_reclaimed = 0;
  std::int64_t blocks_over_evicted = 0;  ///< reclaimed - short
  std::int64_t tokens_recomputed = 0;
  std::int64_t tokens_revived = 0;
  std::int64_t tokens_cached = 0;
  std::int64_t restores = 0;
  std::int64_t restores_from_prefix = 0;
  distribution restore_latency_ms;
  distribution tpot_ms;         ///< of `tpot_sample`
  distribution ttft_ms;         ///< arrival to first token
  distribution longest_gap_ms;  ///< between two successive tokens, of requests of at least two tokens
  std::vector<attainment> slo;  ///< one for each bound on TPOT
  double makespan_s = 0;
  std::optional<double> throughput_tokens_per_s;  ///< generated tokens of completed requests / makespan
};

/// (last - first token time) / (tokens - 1) of each request of at least two tokens, in the order of the trace.
std::vector<double> tpot_sample(const engine_outcome& outcome);

summary summarize(const engine_outcome& outcome, const objectives& bounds);

}  // namespace replay

#endif
