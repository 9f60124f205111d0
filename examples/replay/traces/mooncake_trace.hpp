// SPDX-License-Identifier: Apache-2.0
// The reader of a row of Mooncake's traces, which are JSON lines.
#ifndef PAVE_REPLAY_MOONCAKE_TRACE_HPP
#define PAVE_REPLAY_MOONCAKE_TRACE_HPP

#include "traces/trace.hpp"

#include <string_view>

namespace replay {

/// Whether a line begins as every row does: with a brace, perhaps after blanks.
bool begins_mooncake_row(std::string_view line) noexcept;

/// @param line one JSON object; keys that are not read may hold anything
/// @return the request, with `arrival_ticks` since the timestamp 0, and without hashes where the row has no `hash_ids`
/// @error throws `input_error` with what is wrong, without file and line
/// @cite https://github.com/kvcache-ai/Mooncake
request mooncake_row(std::string_view line);

}  // namespace replay

#endif
