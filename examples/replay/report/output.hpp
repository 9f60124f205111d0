// SPDX-License-Identifier: Apache-2.0
// Results to a file or to standard output, whole or with a sentence that says why not.
#ifndef PAVE_REPLAY_OUTPUT_HPP
#define PAVE_REPLAY_OUTPUT_HPP

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace replay {

/// A file, or a pipe, that is opened before the work and written after it. Members throw `input_error`.
class output_file {
 public:
  /// What a file holds stays as it is until it is written.
  explicit output_file(const std::string& path);

  /// Replaces what the file holds, and closes it.
  void write(const std::string& text);

 private:
  struct closer {
    void operator()(std::FILE* file) const noexcept { static_cast<void>(std::fclose(file)); }
  };

  std::string path_;
  std::unique_ptr<std::FILE, closer> file_;
};

/// @brief Opens the file that --json names, before the work.
/// @param inputs files that it must not overwrite
/// @error throws `input_error`, also where the file is what standard output goes to
output_file open_json(const std::string& path, const std::vector<std::string>& inputs);

/// Throws `input_error` where not all of it could be written.
void write_standard_output(const std::string& text);

}  // namespace replay

#endif
