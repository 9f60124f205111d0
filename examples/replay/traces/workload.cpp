// SPDX-License-Identifier: Apache-2.0
// Quantile tables of Azure Conversation, and the draws from them.
#include "traces/workload.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <random>

namespace replay {

namespace {

struct quantile {
  double share;   ///< of the requests that are at most as long
  double prompt;  ///< tokens
  double output;  ///< tokens
};

// Quantiles of AzureLLMInferenceTrace_conv.csv (19,366 requests), from "Azure LLM inference trace 2023", Microsoft,
// CC BY 4.0, https://github.com/Azure/AzurePublicDataset; described in P. Patel et al., "Splitwise: Efficient
// generative LLM inference using phase splitting", ISCA 2024. Denser in the tail, where blocks run short. Prompt and
// output are drawn independently: in the trace they hardly depend on each other (correlation -0.11, of ranks 0.07).
constexpr std::array<quantile, 40> quantiles{{
    // clang-format off
    {0, 2, 7}, {0.01, 29, 16}, {0.03125, 165, 33}, {0.0625, 194, 45}, {0.09375, 206, 53}, {0.125, 235, 60},
    {0.15625, 374, 68}, {0.1875, 383, 75}, {0.21875, 391, 81}, {0.25, 396, 85}, {0.28125, 401, 89}, {0.3125, 405, 92},
    {0.34375, 412, 95}, {0.375, 428, 99}, {0.40625, 818, 104}, {0.4375, 966, 110}, {0.46875, 1001, 118},
    {0.5, 1020, 129}, {0.53125, 1037, 141}, {0.5625, 1052, 157}, {0.59375, 1067, 171}, {0.625, 1083, 195},
    {0.65625, 1100, 223}, {0.6875, 1120, 377}, {0.71875, 1147, 389}, {0.75, 1189, 395}, {0.78125, 1312, 397},
    {0.8125, 1335, 402}, {0.84375, 1770, 411}, {0.875, 2310, 416}, {0.90625, 3018, 427}, {0.9375, 4079, 440},
    {0.96875, 4089, 502}, {0.98, 4098, 540}, {0.99, 4142, 601}, {0.995, 4831, 644}, {0.998, 5652, 918},
    {0.999, 6212, 954}, {0.9999, 7930, 1000}, {1, 14050, 1000},
    // clang-format on
}};

constexpr double arrivals_per_second = 5.53;
constexpr double ticks_per_second = 1e7;

/// In [0, 1), from the upper 53 bits; the distributions of <random> differ between standard libraries.
double draw_uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11U) * 0x1p-53; }

using length_column = double quantile::*;

std::int64_t draw_length(std::mt19937_64& random, length_column length) {
  const double share = draw_uniform(random);
  const auto above = std::upper_bound(quantiles.begin(), quantiles.end(), share,
                                      [](double wanted, const quantile& row) { return wanted < row.share; });
  const auto below = std::prev(above);
  const double part = (share - below->share) / (above->share - below->share);
  return std::llround((*below).*length + part * ((*above).*length - (*below).*length));
}

}  // namespace

std::vector<request> synthetic_trace(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<request> requests;
  requests.reserve(count);
  std::int64_t now = 0;
  while (requests.size() < count) {
    request next;
    next.arrival_ticks = now;
    next.prompt_tokens = draw_length(random, &quantile::prompt);
    next.output_tokens = draw_length(random, &quantile::output);
    requests.push_back(next);
    now += std::llround(-std::log1p(-draw_uniform(random)) / arrivals_per_second * ticks_per_second);
  }
  return requests;
}

}  // namespace replay
