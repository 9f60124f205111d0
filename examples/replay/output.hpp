// SPDX-License-Identifier: Apache-2.0
// Results to a file or to standard output, whole or with a sentence that says why not.
#ifndef PAVE_REPLAY_OUTPUT_HPP
#define PAVE_REPLAY_OUTPUT_HPP

#include <string>

namespace replay {

/// Throws `input_error` where `path` cannot be written; what the file holds stays as it is.
void check_writable(const std::string& path);

/// Replaces what the file holds. Throws `input_error`.
void write_file(const std::string& path, const std::string& text);

/// Throws `input_error` where not all of it could be written.
void write_standard_output(const std::string& text);

}  // namespace replay

#endif
