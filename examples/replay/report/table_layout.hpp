// SPDX-License-Identifier: Apache-2.0
// Text tables: figures under headings, beside labels, stacked where one table would be too wide.
#ifndef PAVE_REPLAY_TABLE_LAYOUT_HPP
#define PAVE_REPLAY_TABLE_LAYOUT_HPP

#include <cstddef>
#include <string>
#include <vector>

namespace replay {

enum class alignment : bool { left, right };

struct column {
  std::string group;  ///< heading of this column and of those next to it that have the same; may be empty
  std::string name;
  std::vector<std::string> cells;  ///< one for each row
  alignment side = alignment::right;
};

/// Rows of cells, UTF-8.
struct table {
  std::vector<column> labels;      ///< at the left of every stack
  std::vector<column> figures;     ///< as many groups beside each other as fit
  std::vector<std::string> above;  ///< lines, with their newlines, to go above each row; or nothing at all
};

/// Appends the stacks, each after a blank line and of at most `widest` columns: wider only where the labels leave less
/// than one column of figures needs.
void add_table(std::string& text, const table& laid_out, std::size_t widest);

}  // namespace replay

#endif
