// SPDX-License-Identifier: Apache-2.0
// The attainments of a report as columns, whatever its rows are.
#ifndef PAVE_REPLAY_SLO_COLUMNS_HPP
#define PAVE_REPLAY_SLO_COLUMNS_HPP

#include "report/table_layout.hpp"
#include "simulation/metrics.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace replay {

using figure_form = std::string (*)(double);
using value_of = std::function<std::optional<double>(const summary&)>;

/// Makes a column of a report's rows: group, name, how a figure looks, and which one it is.
using column_maker = std::function<column(const std::string&, const std::string&, figure_form, const value_of&)>;

/// @brief At each bound the attainment of TPOT alone, then that of TPOT and TTFT.
/// So many bounds that they fill a line go on under the same headings in the next.
/// @param group heading of the first
std::vector<column> slo_columns(const objectives& slo,
                                const std::string& group,
                                figure_form form,
                                const column_maker& make);

}  // namespace replay

#endif
