// SPDX-License-Identifier: Apache-2.0
// The reader of a row of the Azure LLM inference traces, which are CSV.
#ifndef PAVE_REPLAY_AZURE_TRACE_HPP
#define PAVE_REPLAY_AZURE_TRACE_HPP

#include "traces/trace.hpp"

#include <string_view>

namespace replay {

/// The first line of a file.
inline constexpr std::string_view azure_header = "TIMESTAMP,ContextTokens,GeneratedTokens";

/// @param line what follows the header
/// @return the request, with `arrival_ticks` since the year 1
/// @error throws `input_error` with what is wrong, without file and line
/// @cite https://github.com/Azure/AzurePublicDataset
request azure_row(std::string_view line);

}  // namespace replay

#endif
