// SPDX-License-Identifier: Apache-2.0
// Samples of a timeline, and the percentiles of TPOT.
#include "report/curves.hpp"

#include "simulation/metrics.hpp"

#include <algorithm>

namespace replay {

std::vector<moment> on_even_grid(const std::vector<moment>& timeline, std::size_t most) {
  const std::size_t count = (std::min)(timeline.size(), most);
  std::vector<moment> grid;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const double time = timeline.back().time_ms * static_cast<double>(i) / static_cast<double>(count - 1);
    const auto after = std::upper_bound(timeline.begin(), timeline.end(), time,
                                        [](double at, const moment& one) { return at < one.time_ms; });
    grid.push_back(after == timeline.begin() ? moment{} : *(after - 1));
    grid.back().time_ms = time;
  }
  if (count > 0) grid.push_back(timeline.back());
  return grid;
}

curves curves_of(const engine_outcome& outcome) {
  std::vector<double> tpot = tpot_sample(outcome);
  std::sort(tpot.begin(), tpot.end());
  curves drawn;
  drawn.timeline = on_even_grid(outcome.timeline, most_moments);
  drawn.tpot_percentiles_ms.push_back(tpot.empty() ? std::optional<double>() : tpot.front());
  for (int percent = 1; percent <= 100; ++percent) drawn.tpot_percentiles_ms.push_back(percentile(tpot, percent));
  return drawn;
}

}  // namespace replay
