// SPDX-License-Identifier: Apache-2.0
// What --sweep asks for: one of the options below, and the values that it takes one after another.
#ifndef PAVE_REPLAY_SWEEP_HPP
#define PAVE_REPLAY_SWEEP_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace replay {

/// An option that may be swept.
enum class variable : std::uint8_t { rate, blocks, reserve, watermark };

inline constexpr std::size_t variable_count = 4;

/// As the command line has it: "rate".
std::string variable_name(variable which);

struct sweep {
  variable varied = variable::rate;
  std::vector<std::string> values;  ///< as if each had been typed for the option
};

/// @brief Reads `NAME=FIRST:LAST:STEP` or `NAME=A,B,C`, once for each --sweep.
/// A range is counted in units of its last decimal: it holds the decimal numbers that a person would list, and LAST.
/// @return the sweeps in their order; each value is one that its option takes in some pool
/// @error throws `input_error`
std::vector<sweep> read_sweeps(const std::vector<std::string>& texts);

}  // namespace replay

#endif
