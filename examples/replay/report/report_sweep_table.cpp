// SPDX-License-Identifier: Apache-2.0
// The table form of a sweep: a row for each trace, point and policy; what repeats from row to row is said once.
#include "report/figures.hpp"
#include "report/report.hpp"
#include "report/report_heading.hpp"
#include "report/slo_columns.hpp"
#include "report/table_layout.hpp"

#include <utility>

namespace replay {

namespace {

constexpr std::size_t widest = 150;

std::string value_in_words(const setting& of, variable which) {
  switch (which) {
    case variable::rate: return as_typed(of.rate);
    case variable::blocks: return whole(of.pool_blocks);
    case variable::reserve: return whole(of.reserve_blocks);
    case variable::watermark: break;
  }
  return as_typed(of.watermark_percent) + " %";
}

std::string percent(double share) { return tenths(share * 100); }

std::size_t count_traces(const std::vector<report>& points) {
  std::size_t traces = 1;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].of.trace != points[i - 1].of.trace) ++traces;
  }
  return traces;
}

column make_column(const sweep_report& results,
                   const std::string& group,
                   const std::string& name,
                   figure_form form,
                   const value_of& value) {
  column made{group, name, {}};
  for (const report& point : results.points) {
    for (const run& one : point.runs) {
      const std::optional<double> known = value(one.found);
      made.cells.push_back(known ? form(*known) : unknown_figure);
    }
  }
  return made;
}

std::vector<column> figure_columns(const sweep_report& results) {
  const auto make = [&](const std::string& group, const std::string& name, figure_form form, const value_of& value) {
    return make_column(results, group, name, form, value);
  };
  using count_of = std::int64_t summary::*;
  const auto count = [&](const char* group, const char* name, count_of member) {
    return make(group, name, whole, [member](const summary& of) { return static_cast<double>(of.*member); });
  };
  std::vector<column> columns{
      count("requests", "preempted", &summary::preemptions),
      count("blocks", "short", &summary::blocks_short),
      count("blocks", "freed", &summary::blocks_reclaimed),
      count("tokens", "recomputed", &summary::tokens_recomputed),
      make("restore", "mean ms", tenths, [](const summary& of) { return of.restore_latency_ms.mean; }),
      make("p50, ms", "TPOT", tenths, [](const summary& of) { return of.tpot_ms.p50; }),
      make("p50, ms", "TTFT", whole, [](const summary& of) { return of.ttft_ms.p50; }),
  };
  const std::vector<column> attainments = slo_columns(results.points.front().slo, "% with TPOT, ms", percent, make);
  columns.insert(columns.end(), attainments.begin(), attainments.end());
  return columns;
}

/// Labels of the rows, and the lines that part them.
class row_labels {
 public:
  row_labels(const sweep_report& results, std::size_t traces) : results_(results), names_traces_(traces > 1) {
    for (const variable which : results.swept) labels_.push_back({"", variable_name(which), {}});
    labels_.push_back({"", "policy", {}, alignment::left});
    for (std::size_t i = 0; i < results.points.size(); ++i) add_point(i);
  }

  table beside(std::vector<column> figures) const { return {labels_, std::move(figures), above_}; }

 private:
  void add_point(std::size_t index) {
    const report& point = results_.points[index];
    const bool is_new_trace = index == 0 || point.of.trace != results_.points[index - 1].of.trace;
    // From this swept value on the row says something else than the row above it.
    const std::size_t changed = is_new_trace ? 0 : first_change(index);
    for (std::size_t row = 0; row < point.runs.size(); ++row) {
      for (std::size_t i = 0; i < results_.swept.size(); ++i) {
        const bool is_said = row == 0 && i >= changed;
        labels_[i].cells.push_back(is_said ? value_in_words(point.of, results_.swept[i]) : std::string());
      }
      labels_.back().cells.push_back(point.runs[row].policy);
      above_.emplace_back();
    }
    std::string& line = above_[above_.size() - point.runs.size()];
    const bool stands_apart = point.runs.size() > 1 || is_new_trace || changed + 1 < results_.swept.size();
    if (index > 0 && stands_apart) line += "\n";
    if (names_traces_ && is_new_trace) line += trace_in_words(point.of) + "\n";
  }

  std::size_t first_change(std::size_t index) const {
    const setting& here = results_.points[index].of;
    const setting& before = results_.points[index - 1].of;
    std::size_t i = 0;
    while (i < results_.swept.size() &&
           value_in_words(here, results_.swept[i]) == value_in_words(before, results_.swept[i])) {
      ++i;
    }
    return i;
  }

  const sweep_report& results_;
  bool names_traces_;
  std::vector<column> labels_;
  std::vector<std::string> above_;
};

}  // namespace

std::string to_table(const sweep_report& results) {
  const std::size_t traces = count_traces(results.points);
  std::string text = heading(results.points.front().of, results.swept, traces);
  add_table(text, row_labels(results, traces).beside(figure_columns(results)), widest);
  return text;
}

}  // namespace replay
