// SPDX-License-Identifier: Apache-2.0
// The command line as it was typed, and the options that it comes to once it is checked.
#ifndef PAVE_REPLAY_TYPED_VALUES_HPP
#define PAVE_REPLAY_TYPED_VALUES_HPP

#include "command_line/options.hpp"

#include <optional>
#include <string>
#include <vector>

namespace replay {

// Defaults of options of which it matters whether they were typed.
inline constexpr const char* default_rate = "1";
inline constexpr const char* default_reserve = "0";
inline constexpr const char* default_watermark = "0";

/// The values as they were typed, or their defaults; nothing where the default is no text, or stands above.
struct typed_values {
  std::vector<std::string> traces;
  std::optional<std::string> seed;
  std::optional<std::string> requests;
  std::optional<std::string> rate;
  std::string model = "llama-2-13b";
  std::string gpu = "a100";
  std::optional<std::string> blocks;
  std::string tokens_per_block = "16";
  std::string policies;
  std::optional<std::string> reserve;
  std::optional<std::string> watermark;
  std::string resume_gate = "whole_gap";
  std::string victim_order = "least_important";
  std::string cut_shape = "tail";
  std::string demand = "exact";
  bool find_running = false;
  std::vector<std::string> sweeps;
  std::string slo_tpot_ms = "50,60,75,100";
  std::string slo_ttft_ms = "2000";
  std::optional<std::string> json;
  bool curves = false;
  std::optional<std::string> jobs;
};

/// @brief Takes every value to the last character, or refuses it.
/// @error throws `input_error`
options check(const typed_values& typed);

}  // namespace replay

#endif
