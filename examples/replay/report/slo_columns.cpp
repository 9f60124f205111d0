// SPDX-License-Identifier: Apache-2.0
// Bounds under one heading, in groups that fit a line.
#include "report/slo_columns.hpp"

#include "report/figures.hpp"

#include <algorithm>
#include <cstddef>

namespace replay {

namespace {

using share_of = std::optional<double> attainment::*;

constexpr std::size_t bounds_in_group = 6;

}  // namespace

std::vector<column> slo_columns(const objectives& slo,
                                const std::string& group,
                                figure_form form,
                                const column_maker& make) {
  const std::vector<double>& bounds = slo.tpot_ms;
  std::vector<column> columns;
  for (std::size_t first = 0; first < bounds.size(); first += bounds_in_group) {
    const std::size_t last = (std::min)(first + bounds_in_group, bounds.size());
    const auto add = [&](const std::string& heading, share_of member) {
      for (std::size_t i = first; i < last; ++i) {
        columns.push_back(make(heading, "≤ " + as_typed(bounds[i]), form,
                               [i, member](const summary& of) { return of.slo[i].*member; }));
      }
    };
    add(group, &attainment::share);
    add("and TTFT ≤ " + as_typed(slo.ttft_ms) + " ms", &attainment::with_ttft);
  }
  return columns;
}

}  // namespace replay
