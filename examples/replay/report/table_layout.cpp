// SPDX-License-Identifier: Apache-2.0
// Widths, headings and lines of text tables.
#include "report/table_layout.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

namespace replay {

namespace {

constexpr std::string_view between = "  ";

/// Columns that a text takes on a terminal: bytes that begin a character of UTF-8.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

std::size_t width_of(const column& one) {
  std::size_t needed = width(one.name);
  for (const std::string& cell : one.cells) needed = (std::max)(needed, width(cell));
  return needed;
}

/// Neighbours under one heading, wide enough for it.
struct column_group {
  std::vector<column> members;
  std::vector<std::size_t> widths;

  std::size_t columns() const {
    return std::accumulate(widths.begin(), widths.end(), between.size() * (widths.size() - 1));
  }
};

using column_groups = std::vector<column_group>;

/// @param widest that a group may be; one that is wider goes on as another under the same heading
column_groups group(const std::vector<column>& columns, std::size_t widest) {
  column_groups groups;
  for (const column& one : columns) {
    const std::size_t needed = width_of(one);
    const bool goes_on = !groups.empty() && !one.group.empty() && groups.back().members.back().group == one.group &&
                         groups.back().columns() + between.size() + needed <= widest;
    if (!goes_on) groups.emplace_back();
    groups.back().members.push_back(one);
    groups.back().widths.push_back(needed);
  }
  for (column_group& one : groups) {
    const std::size_t needed = width(one.members.front().group);
    if (one.columns() < needed) one.widths.front() += needed - one.columns();
  }
  return groups;
}

std::string aligned(const std::string& text, std::size_t columns, alignment side) {
  const std::string padding(columns - width(text), ' ');
  return side == alignment::right ? padding + text : text + padding;
}

/// The heading, and a rule over the columns that it is for where they are several.
std::string heading_of(const column_group& one) {
  const std::string& words = one.members.front().group;
  if (one.members.size() == 1) return aligned(words, one.columns(), alignment::right);
  std::string line = words;
  for (std::size_t drawn = width(words); drawn < one.columns(); ++drawn) {
    line += drawn == width(words) ? std::string(" ") : std::string("─");
  }
  return line;
}

/// One line; what would be blank at its end is left out.
std::string joined(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) line += cell + std::string(between);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

void add_stack(std::string& text, const column_groups& groups, const std::vector<std::string>& above) {
  std::vector<std::string> headings;
  for (const column_group& one : groups) headings.push_back(heading_of(one));
  text += joined(headings);
  const auto add_line = [&](const auto& cell) {
    std::vector<std::string> cells;
    for (const column_group& one : groups) {
      for (std::size_t i = 0; i < one.members.size(); ++i) {
        cells.push_back(aligned(cell(one.members[i]), one.widths[i], one.members[i].side));
      }
    }
    text += joined(cells);
  };
  add_line([](const column& one) { return one.name; });
  for (std::size_t row = 0; row < groups.front().members.front().cells.size(); ++row) {
    if (!above.empty()) text += above[row];
    add_line([row](const column& one) { return one.cells[row]; });
  }
}

}  // namespace

void add_table(std::string& text, const table& laid_out, std::size_t widest) {
  const column_groups labels = group(laid_out.labels, widest);
  std::size_t label_columns = 0;
  for (const column_group& one : labels) label_columns += one.columns() + between.size();
  const column_groups figures = group(laid_out.figures, widest - (std::min)(label_columns, widest));
  auto next = figures.begin();
  while (next != figures.end()) {
    column_groups stack = labels;
    std::size_t taken = label_columns;
    do {
      taken += next->columns() + between.size();
      stack.push_back(*next);
      ++next;
    } while (next != figures.end() && taken + next->columns() <= widest);
    text += "\n";
    add_stack(text, stack, laid_out.above);
  }
}

}  // namespace replay
