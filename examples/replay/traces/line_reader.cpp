// SPDX-License-Identifier: Apache-2.0
// The buffer of the line reader: a line that straddles its end is moved to its front before more is read.
#include "traces/line_reader.hpp"

#include "traces/trace.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace replay {

namespace {

constexpr std::size_t buffer_size = 2 * line_reader::longest_line;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

[[noreturn]] void refuse_file(const std::string& path, int error) {
  throw input_error(path + " cannot be read: " + std::strerror(error));
}

}  // namespace

line_reader::line_reader(const std::string& path)
    : path_(path), file_(std::fopen(path.c_str(), "rb")), buffer_(buffer_size) {
  if (!file_) refuse_file(path_, errno);
}

void line_reader::refill() {
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_), buffer_.begin() + static_cast<std::ptrdiff_t>(end_),
            buffer_.begin());
  end_ -= begin_;
  begin_ = 0;
  const std::size_t wanted = buffer_.size() - end_;
  const std::size_t got = std::fread(buffer_.data() + end_, 1, wanted, file_.get());
  if (got < wanted) {
    if (std::ferror(file_.get()) != 0) refuse_file(path_, errno);
    at_end_of_file_ = true;
  }
  end_ += got;
}

std::optional<std::string_view> line_reader::next() {
  std::string_view unread(buffer_.data() + begin_, end_ - begin_);
  std::size_t length = unread.find('\n');
  if (length == std::string_view::npos && !at_end_of_file_) {
    refill();
    unread = std::string_view(buffer_.data() + begin_, end_ - begin_);
    length = unread.find('\n');
  }
  if (unread.empty()) return std::nullopt;

  std::string_view line = unread.substr(0, length);
  begin_ += length == std::string_view::npos ? line.size() : line.size() + 1;
  ++line_number_;
  if (line.size() > longest_line) {
    throw input_error(path_ + ", line " + std::to_string(line_number_) + ": the line is longer than " +
                      std::to_string(longest_line) + " bytes");
  }
  if (line_number_ == 1 && line.substr(0, byte_order_mark.size()) == byte_order_mark) {
    line.remove_prefix(byte_order_mark.size());
  }
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

}  // namespace replay
