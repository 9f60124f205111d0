// SPDX-License-Identifier: Apache-2.0
// Reads a text file line by line through one fixed buffer, whatever its lines end in and however long they are.
#ifndef PAVE_REPLAY_LINE_READER_HPP
#define PAVE_REPLAY_LINE_READER_HPP

#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace replay {

/// Lines of a file, without LF or CRLF and without the byte order mark. Throws `input_error`, which names the file.
class line_reader {
 public:
  /// Longer lines are refused, since a device or a binary file must not fill the memory; the hashes of the longest
  /// prompt fit.
  static constexpr std::size_t longest_line = 65536;

  explicit line_reader(const std::string& path);

  /// @return the next line, valid until the next call; nothing after the last one
  std::optional<std::string_view> next();

  /// The number of the line that `next` returned last, from 1.
  std::size_t line_number() const noexcept { return line_number_; }

 private:
  struct closer {
    void operator()(std::FILE* file) const noexcept { static_cast<void>(std::fclose(file)); }
  };

  void refill();

  std::string path_;
  std::unique_ptr<std::FILE, closer> file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // what is read and not handed out yet: [begin_, end_)
  std::size_t end_ = 0;
  bool at_end_of_file_ = false;
  std::size_t line_number_ = 0;
};

}  // namespace replay

#endif
