// SPDX-License-Identifier: Apache-2.0
// Every policy on every trace at every point.
#ifndef PAVE_REPLAY_COMPARISON_HPP
#define PAVE_REPLAY_COMPARISON_HPP

#include "command_line/options.hpp"
#include "report/report.hpp"
#include "traces/trace.hpp"

#include <string>
#include <vector>

namespace replay {

struct loaded_trace {
  std::string name;  ///< the file, or a word for the synthetic workload
  std::vector<request> requests;
};

/// @brief Reads the traces, and refuses a pool that no request of one of them fits.
/// @error throws `input_error`
std::vector<loaded_trace> load_traces(const options& chosen);

/// @brief Runs on as many threads as `chosen.jobs` says; the results, `wall_s` apart, do not depend on it.
/// @return a report for each trace and point; those of a trace stand together, its points in their order
std::vector<report> compare(const options& chosen, const std::vector<loaded_trace>& traces);

}  // namespace replay

#endif
