// SPDX-License-Identifier: Apache-2.0
// Finds the format by the first line, reads row by row, and holds each row against the one above.
#include "traces/trace.hpp"

#include "traces/azure_trace.hpp"
#include "traces/line_reader.hpp"
#include "traces/mooncake_trace.hpp"

#include <optional>
#include <string_view>
#include <utility>

namespace replay {

namespace {

bool is_blank(std::string_view line) noexcept { return line.find_first_not_of(" \t") == std::string_view::npos; }

/// The rows of a file in whichever format, their arrivals as the format counts them.
class row_reader {
 public:
  explicit row_reader(const std::string& path) : path_(path), lines_(path), first_row_(lines_.next()) {
    if (!first_row_) throw input_error(path_ + " holds no requests: it is empty");
    if (begins_mooncake_row(*first_row_)) {
      parse_ = mooncake_row;
    } else if (*first_row_ == azure_header) {
      first_row_.reset();
    } else {
      throw fault("the header is not " + std::string(azure_header) +
                  " of an Azure trace, nor is the line a JSON object of a Mooncake trace");
    }
  }

  /// @return nothing after the last row
  std::optional<request> next() {
    const std::optional<std::string_view> line = first_row_ ? std::exchange(first_row_, std::nullopt) : next_line();
    if (!line) return std::nullopt;
    try {
      return parse_(*line);
    } catch (const input_error& wrong) {
      throw fault(wrong.what());
    }
  }

  /// What is wrong with the row that `next` came to last, with file and line.
  input_error fault(const std::string& wrong) const {
    return input_error(path_ + ", line " + std::to_string(lines_.line_number()) + ": " + wrong);
  }

 private:
  /// Nothing where only blank lines are left.
  std::optional<std::string_view> next_line() {
    std::optional<std::string_view> line = lines_.next();
    if (!line || !is_blank(*line)) return line;
    while (line && is_blank(*line)) line = lines_.next();
    if (line) throw fault("a row follows a blank line");
    return std::nullopt;
  }

  std::string path_;
  line_reader lines_;
  std::optional<std::string_view> first_row_;  // where the first line is a row and was not handed out yet
  request (*parse_)(std::string_view line) = azure_row;
};

}  // namespace

std::vector<request> read_trace(const std::string& path, std::size_t limit) {
  row_reader rows(path);
  std::vector<request> requests;
  std::int64_t start = 0;
  while (requests.size() < limit) {
    std::optional<request> row = rows.next();
    if (!row) break;
    if (requests.empty()) start = row->arrival_ticks;
    row->arrival_ticks -= start;
    if (!requests.empty()) {
      const request& above = requests.back();
      if (row->arrival_ticks < above.arrival_ticks) throw rows.fault("the timestamp goes backwards");
      if (row->prefix_hashes.empty() != above.prefix_hashes.empty()) {
        throw rows.fault("either every row has hash_ids or none has");
      }
    }
    requests.push_back(*std::move(row));
  }
  if (requests.empty()) throw input_error(path + " holds no requests");
  return requests;
}

}  // namespace replay
