// SPDX-License-Identifier: Apache-2.0
// The command line of pave-replay, checked: what is out of range never reaches the engine.
#ifndef PAVE_REPLAY_OPTIONS_HPP
#define PAVE_REPLAY_OPTIONS_HPP

#include "command_line/sweep.hpp"
#include "simulation/cost_model.hpp"
#include "simulation/engine.hpp"
#include "simulation/metrics.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace replay {

/// The settings under which every policy is run on every trace.
struct point {
  double rate = 1;  ///< 0.5 stretches arrivals to twice their length
  double watermark_percent = 0;
  engine_settings engine;
};

struct options {
  std::vector<std::string> traces;      ///< files; the synthetic workload without one
  std::uint64_t seed = 1;               ///< of the synthetic workload
  std::optional<std::size_t> requests;  ///< how many of each trace; all of it without it
  const fitted_costs* costs = nullptr;  ///< of the model on the GPU
  std::vector<policy> policies;         ///< in the order in which they were named
  std::vector<variable> swept;          ///< in the order in which they were named, the last one changing fastest
  std::vector<point> points;            ///< at least one; more than one only where something is swept
  objectives slo;
  std::optional<std::string> json;  ///< a file, or "-" for standard output
  bool has_curves = false;          ///< whether the JSON has those of each run
  std::size_t jobs = 1;             ///< runs at the same time

  /// Whether the results are those of one trace at one point, which needs no sweep's report.
  bool is_single() const { return traces.size() <= 1 && swept.empty(); }
};

/// @brief Reads the command line.
/// @param text what --help or --version asked for, to be printed instead of a run
/// @return nothing where `text` was asked for
/// @error throws `input_error`
std::optional<options> parse_command_line(int argc, const char* const* argv, std::string& text);

}  // namespace replay

#endif
