// SPDX-License-Identifier: Apache-2.0
// The table form of a report: policies as rows, stacked where one table would be too wide.
#include "report.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

namespace replay {

namespace {

constexpr std::size_t widest = 110;
constexpr std::string_view between = "  ";
constexpr const char* unknown = "–";

/// `digits`, with a comma before each group of three of its whole part.
std::string grouped(std::string digits) {
  const std::size_t whole = (std::min)(digits.find('.'), digits.size());
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  for (std::size_t at = whole; at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string number(double value, int decimals) {
  // The largest double has 309 digits before its point.
  char digits[330];
  const int size = std::snprintf(digits, sizeof digits, "%.*f", decimals, value);
  return grouped(std::string(digits, static_cast<std::size_t>(size)));
}

using form = std::string (*)(double);

std::string whole(double value) { return number(value, 0); }
std::string tenths(double value) { return number(value, 1); }
std::string percent(double share) { return number(share * 100, 1) + " %"; }

/// A figure as it is typed: 0.5, 75, 2,000.
std::string typed(double value) {
  std::string digits = number(value, 3);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return digits;
}

/// Columns that a text takes on a terminal: bytes that begin a character of UTF-8.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

struct column {
  std::string group;  ///< heading of this column and of those next to it that have the same; may be empty
  std::string name;
  std::vector<std::string> cells;  ///< one for each policy

  std::size_t columns() const {
    std::size_t needed = width(name);
    for (const std::string& cell : cells) needed = (std::max)(needed, width(cell));
    return needed;
  }
};

/// Neighbours under one heading, wide enough for it.
struct column_group {
  std::vector<column> members;
  std::vector<std::size_t> widths;

  std::size_t columns() const {
    return std::accumulate(widths.begin(), widths.end(), between.size() * (widths.size() - 1));
  }
};

using value_of = std::function<std::optional<double>(const summary&)>;

/// The run of a policy, or null.
const run* find_run(const report& results, std::string_view policy) {
  const auto named =
      std::find_if(results.runs.begin(), results.runs.end(), [&](const run& one) { return one.policy == policy; });
  return named == results.runs.end() ? nullptr : &*named;
}

/// One cell for each run; and, where pave and its baseline both ran, their ratio.
column make_column(const report& results, std::string group, std::string name, form shape, const value_of& value) {
  column made{std::move(group), std::move(name), {}};
  for (const run& one : results.runs) {
    const std::optional<double> known = value(one.found);
    made.cells.push_back(known ? shape(*known) : unknown);
  }
  const run* const pave = find_run(results, "partial");
  const run* const baseline = find_run(results, "whole");
  if (pave != nullptr && baseline != nullptr) {
    const std::optional<double> upper = value(pave->found);
    const std::optional<double> lower = value(baseline->found);
    made.cells.push_back(upper && lower && *lower > 0 ? number(*upper / *lower, 2) + " ×" : unknown);
  }
  return made;
}

std::vector<column_group> group(const std::vector<column>& columns) {
  std::vector<column_group> groups;
  for (const column& one : columns) {
    if (groups.empty() || one.group.empty() || groups.back().members.back().group != one.group) groups.emplace_back();
    groups.back().members.push_back(one);
    groups.back().widths.push_back(one.columns());
  }
  for (column_group& one : groups) {
    const std::size_t needed = width(one.members.front().group);
    if (one.columns() < needed) one.widths.front() += needed - one.columns();
  }
  return groups;
}

std::string right_aligned(const std::string& text, std::size_t columns) {
  return std::string(columns - width(text), ' ') + text;
}

/// The heading, and a rule over the columns that it is for where they are several.
std::string heading_of(const column_group& one) {
  const std::string& words = one.members.front().group;
  if (one.members.size() == 1) return right_aligned(words, one.columns());
  std::string line = words;
  for (std::size_t drawn = width(words); drawn < one.columns(); ++drawn) {
    line += drawn == width(words) ? std::string(" ") : std::string("─");
  }
  return line;
}

void add_line(std::string& text, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  text += line + "\n";
}

/// The policies on the left, groups [first, last) on the right.
void add_table(std::string& text,
               const column& names,
               const std::vector<column_group>& groups,
               std::size_t first,
               std::size_t last) {
  const std::string indent(names.columns(), ' ');
  std::string headings = indent;
  for (std::size_t i = first; i < last; ++i) headings += std::string(between) + heading_of(groups[i]);
  add_line(text, headings);
  const auto line = [&](const std::string& name, const auto& cell) {
    std::string made = name + std::string(indent.size() - width(name), ' ');
    for (std::size_t i = first; i < last; ++i) {
      for (std::size_t member = 0; member < groups[i].members.size(); ++member) {
        made += std::string(between) + right_aligned(cell(groups[i].members[member]), groups[i].widths[member]);
      }
    }
    add_line(text, made);
  };
  line(names.name, [](const column& one) { return one.name; });
  for (std::size_t row = 0; row < names.cells.size(); ++row) {
    line(names.cells[row], [row](const column& one) { return one.cells[row]; });
  }
}

/// One table below another, each as wide as may be.
void add_tables(std::string& text, const column& names, const std::vector<column>& columns) {
  const std::vector<column_group> groups = group(columns);
  std::size_t first = 0;
  while (first < groups.size()) {
    std::size_t taken = names.columns();
    std::size_t last = first;
    do {
      taken += between.size() + groups[last].columns();
      ++last;
    } while (last < groups.size() && taken + between.size() + groups[last].columns() <= widest);
    text += "\n";
    add_table(text, names, groups, first, last);
    first = last;
  }
}

std::string heading(const report& results) {
  const setting& of = results.of;
  // Without a slash rfind gives npos, and npos + 1 is 0.
  const std::string file = of.trace.substr(of.trace.rfind('/') + 1);
  const double tokens = static_cast<double>(of.pool_blocks) * static_cast<double>(of.tokens_per_block);
  const double gib = tokens * static_cast<double>(of.kv_bytes_per_token) / (1024.0 * 1024.0 * 1024.0);
  return file + " · " + whole(static_cast<double>(of.requests)) + " requests at rate " + typed(of.rate) + "\n" +
         of.model + " on " + of.gpu + " · " + whole(static_cast<double>(of.pool_blocks)) + " blocks of " +
         whole(static_cast<double>(of.tokens_per_block)) + " tokens, " + tenths(gib) + " GiB\n";
}

using count_of = std::int64_t summary::*;
using sample_of = distribution summary::*;
using figure_of = std::optional<double> distribution::*;
using share_of = std::optional<double> attainment::*;

std::vector<column> memory_columns(const report& results) {
  const auto count = [&](const char* group, const char* name, count_of member) {
    return make_column(results, group, name, whole,
                       [member](const summary& of) { return static_cast<double>(of.*member); });
  };
  // The more a policy frees at a time, the fewer shortages it meets: fewer are not better.
  const auto without_ratio = [&](column made) {
    if (made.cells.size() > results.runs.size()) made.cells.back().clear();
    return made;
  };
  const auto restore = [&](const char* name, figure_of member) {
    return make_column(results, "restores", name, tenths,
                       [member](const summary& of) { return of.restore_latency_ms.*member; });
  };
  return {
      count("requests", "refused", &summary::refused),
      count("requests", "preempted", &summary::preemptions),
      without_ratio(count("blocks", "short", &summary::blocks_short)),
      count("blocks", "freed", &summary::blocks_reclaimed),
      count("blocks", "over-evicted", &summary::blocks_over_evicted),
      count("tokens", "recomputed", &summary::tokens_recomputed),
      count("restores", "count", &summary::restores),
      restore("mean ms", &distribution::mean),
      restore("p99 ms", &distribution::p99),
  };
}

std::vector<column> latency_columns(const report& results) {
  const auto latency = [&](const char* group, const char* name, sample_of sample, figure_of member) {
    return make_column(results, group, name, tenths,
                       [sample, member](const summary& of) { return (of.*sample).*member; });
  };
  return {
      latency("TPOT, ms", "p50", &summary::tpot_ms, &distribution::p50),
      latency("TPOT, ms", "p99", &summary::tpot_ms, &distribution::p99),
      latency("TTFT, ms", "p50", &summary::ttft_ms, &distribution::p50),
      latency("TTFT, ms", "p99", &summary::ttft_ms, &distribution::p99),
      latency("longest gap, ms", "p50", &summary::longest_gap_ms, &distribution::p50),
      latency("longest gap, ms", "p99", &summary::longest_gap_ms, &distribution::p99),
      make_column(results, "makespan", "s", tenths, [](const summary& of) { return of.makespan_s; }),
      make_column(results, "tokens", "per s", tenths, [](const summary& of) { return of.throughput_tokens_per_s; }),
  };
}

/// Bounds under one heading; so many that they fill a line go on under the same heading in the next.
std::vector<column> slo_columns(const report& results) {
  constexpr std::size_t bounds_in_group = 6;
  const std::vector<double>& bounds = results.slo.tpot_ms;
  std::vector<column> columns;
  for (std::size_t first = 0; first < bounds.size(); first += bounds_in_group) {
    const std::size_t last = (std::min)(first + bounds_in_group, bounds.size());
    const auto add = [&](const std::string& group, share_of member) {
      for (std::size_t i = first; i < last; ++i) {
        columns.push_back(make_column(results, group, "≤ " + typed(bounds[i]), percent,
                                      [i, member](const summary& of) { return of.slo[i].*member; }));
      }
    };
    add("requests with TPOT, ms", &attainment::share);
    add("and TTFT ≤ " + typed(results.slo.ttft_ms) + " ms", &attainment::with_ttft);
  }
  return columns;
}

}  // namespace

std::string to_table(const report& results) {
  column names{"", "policy", {}};
  for (const run& one : results.runs) names.cells.push_back(one.policy);
  if (find_run(results, "partial") != nullptr && find_run(results, "whole") != nullptr) {
    names.cells.emplace_back("partial / whole");
  }
  std::string text = heading(results);
  add_tables(text, names, memory_columns(results));
  add_tables(text, names, latency_columns(results));
  add_tables(text, names, slo_columns(results));
  return text;
}

}  // namespace replay
