// SPDX-License-Identifier: Apache-2.0
// The command line of pave-replay, checked: what is out of range never reaches the engine.
#ifndef PAVE_REPLAY_OPTIONS_HPP
#define PAVE_REPLAY_OPTIONS_HPP

#include "cost_model.hpp"
#include "engine.hpp"
#include "metrics.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace replay {

struct options {
  std::optional<std::string> trace;     ///< a file; the synthetic workload without one
  std::uint64_t seed = 1;               ///< of the synthetic workload
  std::optional<std::size_t> requests;  ///< how many; all of a trace without it
  double rate = 1;                      ///< 0.5 stretches arrivals to twice their length
  const fitted_costs* costs = nullptr;  ///< of the model on the GPU
  std::vector<policy> policies;         ///< in the order in which they were named
  engine_settings engine;
  objectives slo;
  std::optional<std::string> json;  ///< a file, or "-" for standard output
};

/// @brief Reads the command line.
/// @param text what --help or --version asked for, to be printed instead of a run
/// @return nothing where `text` was asked for
/// @error throws `input_error`
std::optional<options> parse_command_line(int argc, const char* const* argv, std::string& text);

std::string_view policy_name(policy which) noexcept;

}  // namespace replay

#endif
