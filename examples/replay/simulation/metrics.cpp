// SPDX-License-Identifier: Apache-2.0
// Samples taken from the fates of the requests, and what is said of them.
#include "simulation/metrics.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace replay {

namespace {

struct latencies {
  double tpot_ms;
  double ttft_ms;
};

double ttft_of(const request_outcome& fate) { return fate.first_token_ms - fate.arrival_ms; }

bool has_tpot(const request_outcome& fate) { return !fate.refused && fate.output_tokens >= 2; }

double tpot_of(const request_outcome& fate) {
  return (fate.last_token_ms - fate.first_token_ms) / static_cast<double>(fate.output_tokens - 1);
}

std::optional<double> share_of(std::ptrdiff_t part, std::size_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::optional<double> percentile(const std::vector<double>& sorted, int percent) {
  if (sorted.empty()) return std::nullopt;
  // In integers: 0.07 * 100 is more than 7 in binary floating point, and would take the eighth of a hundred values.
  const std::size_t values = (sorted.size() * static_cast<std::size_t>(percent) + 99) / 100;
  return sorted[values - 1];
}

distribution describe(std::vector<double> sample) {
  std::sort(sample.begin(), sample.end());
  distribution known;
  if (!sample.empty()) {
    known.mean = std::accumulate(sample.begin(), sample.end(), 0.0) / static_cast<double>(sample.size());
  }
  known.p50 = percentile(sample, 50);
  known.p90 = percentile(sample, 90);
  known.p99 = percentile(sample, 99);
  return known;
}

std::vector<double> tpot_sample(const engine_outcome& outcome) {
  std::vector<double> sample;
  for (const request_outcome& fate : outcome.requests) {
    if (has_tpot(fate)) sample.push_back(tpot_of(fate));
  }
  return sample;
}

summary summarize(const engine_outcome& outcome, const objectives& bounds) {
  std::vector<double> tpot;
  std::vector<double> ttft;
  std::vector<double> longest_gap;
  std::vector<latencies> judged;
  std::size_t refused = 0;
  std::int64_t generated = 0;
  for (const request_outcome& fate : outcome.requests) {
    if (fate.refused) {
      ++refused;
      continue;
    }
    generated += fate.output_tokens;
    ttft.push_back(ttft_of(fate));
    if (!has_tpot(fate)) continue;
    tpot.push_back(tpot_of(fate));
    longest_gap.push_back(fate.longest_gap_ms);
    judged.push_back({tpot.back(), ttft.back()});
  }

  summary result;
  result.preemptions = outcome.preemptions;
  result.self_parked = outcome.self_parked;
  result.refused = outcome.refused;
  result.blocks_short = outcome.blocks_short;
  result.blocks_reclaimed = outcome.blocks_reclaimed;
  result.blocks_over_evicted = outcome.blocks_reclaimed - outcome.blocks_short;
  result.tokens_recomputed = outcome.tokens_recomputed;
  result.tokens_revived = outcome.tokens_revived;
  result.tokens_cached = outcome.tokens_cached;
  result.restores = outcome.restores;
  result.restores_from_prefix = outcome.restores_from_prefix;
  result.restore_latency_ms = describe(outcome.restore_latencies_ms);
  result.tpot_ms = describe(std::move(tpot));
  result.ttft_ms = describe(std::move(ttft));
  result.longest_gap_ms = describe(std::move(longest_gap));
  for (const double bound : bounds.tpot_ms) {
    const auto within =
        std::count_if(judged.begin(), judged.end(), [&](const latencies& of) { return of.tpot_ms <= bound; });
    const auto within_both = std::count_if(judged.begin(), judged.end(), [&](const latencies& of) {
      return of.tpot_ms <= bound && of.ttft_ms <= bounds.ttft_ms;
    });
    const std::size_t all = judged.size() + refused;
    result.slo.push_back({bound, share_of(within, all), share_of(within_both, all)});
  }
  result.makespan_s = outcome.makespan_ms / 1000;
  if (result.makespan_s > 0) result.throughput_tokens_per_s = static_cast<double>(generated) / result.makespan_s;
  return result;
}

}  // namespace replay
