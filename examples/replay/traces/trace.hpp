// SPDX-License-Identifier: Apache-2.0
// Requests of a trace, and the reader of the files of Azure LLM inference traces and of Mooncake traces.
#ifndef PAVE_REPLAY_TRACE_HPP
#define PAVE_REPLAY_TRACE_HPP

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace replay {

/// Tokens of a prompt between the ends of the prefixes that its hashes name.
inline constexpr std::int64_t tokens_per_hash = 512;

struct request {
  std::int64_t arrival_ticks = 0;  ///< units of 100 ns since the first arrival
  std::int64_t prompt_tokens = 0;
  std::int64_t output_tokens = 0;
  /// One for each `tokens_per_hash` tokens begun; it names the whole prompt up to their end. Empty where none are
  /// known.
  std::vector<std::int64_t> prefix_hashes;
};

/// A fault of what the user gave; `what()` is one sentence for him.
struct input_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Tokens of one prompt or one output, at most: it bounds the block tables of an unlimited pool.
inline constexpr std::int64_t max_tokens = 1'000'000;

/// Stands for no limit on the rows that `read_trace` takes.
inline constexpr std::size_t every_row = (std::numeric_limits<std::size_t>::max)();

/// @brief Reads a trace of one row a request; its first line tells the format.
/// An Azure trace is CSV: a header `TIMESTAMP,ContextTokens,GeneratedTokens`, and timestamps `YYYY-MM-DD HH:MM:SS` with
/// up to seven digits of a fraction. A Mooncake trace is a JSON object a line: `timestamp` in whole milliseconds,
/// `input_length`, `output_length` and, in every row or in none, `hash_ids`; other keys are passed over.
/// Lines end in LF or CRLF, the last one also in neither; a byte order mark and blank lines at the end are accepted;
/// so are equal timestamps.
/// @param limit rows after it are neither read nor checked
/// @return at least one request, by arrival; the first arrives at 0
/// @error throws `input_error`, which names the file and the line
std::vector<request> read_trace(const std::string& path, std::size_t limit = every_row);

}  // namespace replay

#endif
