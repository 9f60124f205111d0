// SPDX-License-Identifier: Apache-2.0
// The table form of one report: policies as rows, and pave in proportion to its baselines.
#include "report/figures.hpp"
#include "report/report.hpp"
#include "report/report_heading.hpp"
#include "report/slo_columns.hpp"
#include "report/table_layout.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace replay {

namespace {

constexpr std::size_t widest = 110;

/// Two policies that both ran.
struct proportion {
  const run& pave;
  const run& baseline;
};

/// The run of a policy, or null.
const run* find_run(const report& results, std::string_view policy) {
  const auto named =
      std::find_if(results.runs.begin(), results.runs.end(), [&](const run& one) { return one.policy == policy; });
  return named == results.runs.end() ? nullptr : &*named;
}

std::vector<proportion> proportions_of(const report& results) {
  struct pair {
    std::string_view pave;
    std::string_view baseline;
  };
  constexpr std::array<pair, 2> pairs{{{"partial", "whole"}, {"partial+cache", "whole+cache"}}};
  std::vector<proportion> known;
  for (const pair& one : pairs) {
    const run* const pave = find_run(results, one.pave);
    const run* const baseline = find_run(results, one.baseline);
    if (pave != nullptr && baseline != nullptr) known.push_back({*pave, *baseline});
  }
  return known;
}

std::string percent(double share) { return tenths(share * 100) + " %"; }

/// One cell for each run; then one for each proportion.
column make_column(
    const report& results, const std::string& group, const std::string& name, figure_form form, const value_of& value) {
  column made{group, name, {}};
  for (const run& one : results.runs) {
    const std::optional<double> known = value(one.found);
    made.cells.push_back(known ? form(*known) : unknown_figure);
  }
  for (const proportion& one : proportions_of(results)) {
    const std::optional<double> upper = value(one.pave.found);
    const std::optional<double> lower = value(one.baseline.found);
    made.cells.push_back(upper && lower && *lower > 0 ? number(*upper / *lower, 2) + " ×" : unknown_figure);
  }
  return made;
}

using count_of = std::int64_t summary::*;
using sample_of = distribution summary::*;
using figure_of = std::optional<double> distribution::*;

std::vector<column> memory_columns(const report& results) {
  const auto count = [&](const char* group, const char* name, count_of member) {
    return make_column(results, group, name, whole,
                       [member](const summary& of) { return static_cast<double>(of.*member); });
  };
  // The more a policy frees at a time, the fewer shortages it meets: fewer are not better.
  column shortages = count("blocks", "short", &summary::blocks_short);
  for (std::size_t row = results.runs.size(); row < shortages.cells.size(); ++row) shortages.cells[row].clear();
  std::vector<column> columns{
      count("requests", "refused", &summary::refused),
      count("requests", "preempted", &summary::preemptions),
      shortages,
      count("blocks", "freed", &summary::blocks_reclaimed),
      count("blocks", "over-evicted", &summary::blocks_over_evicted),
      count("tokens", "recomputed", &summary::tokens_recomputed),
      count("tokens", "found again", &summary::tokens_revived),
  };
  const bool shares_prefixes =
      std::any_of(results.runs.begin(), results.runs.end(), [](const run& one) { return one.found.tokens_cached > 0; });
  if (shares_prefixes) columns.push_back(count("tokens", "cached", &summary::tokens_cached));
  return columns;
}

std::vector<column> latency_columns(const report& results) {
  const auto latency = [&](const char* group, const char* name, sample_of sample, figure_of member) {
    return make_column(results, group, name, tenths,
                       [sample, member](const summary& of) { return (of.*sample).*member; });
  };
  return {
      make_column(results, "restores", "count", whole,
                  [](const summary& of) { return static_cast<double>(of.restores); }),
      latency("restores", "mean ms", &summary::restore_latency_ms, &distribution::mean),
      latency("restores", "p99 ms", &summary::restore_latency_ms, &distribution::p99),
      latency("TPOT, ms", "p50", &summary::tpot_ms, &distribution::p50),
      latency("TPOT, ms", "p99", &summary::tpot_ms, &distribution::p99),
      latency("TTFT, ms", "p50", &summary::ttft_ms, &distribution::p50),
      latency("TTFT, ms", "p99", &summary::ttft_ms, &distribution::p99),
      latency("longest gap, ms", "p50", &summary::longest_gap_ms, &distribution::p50),
      latency("longest gap, ms", "p99", &summary::longest_gap_ms, &distribution::p99),
  };
}

/// What the run came to as a whole.
std::vector<column> service_columns(const report& results) {
  const auto make = [&](const std::string& group, const std::string& name, figure_form form, const value_of& value) {
    return make_column(results, group, name, form, value);
  };
  std::vector<column> columns = slo_columns(results.slo, "requests with TPOT, ms", percent, make);
  columns.push_back(make("makespan", "s", tenths, [](const summary& of) { return of.makespan_s; }));
  columns.push_back(make("tokens", "per s", tenths, [](const summary& of) { return of.throughput_tokens_per_s; }));
  return columns;
}

}  // namespace

std::string to_table(const report& results) {
  column names{"", "policy", {}, alignment::left};
  for (const run& one : results.runs) names.cells.push_back(one.policy);
  for (const proportion& one : proportions_of(results)) {
    names.cells.push_back(one.pave.policy + " / " + one.baseline.policy);
  }
  std::string text = heading(results.of, {}, 1);
  add_table(text, {{names}, memory_columns(results), {}}, widest);
  add_table(text, {{names}, latency_columns(results), {}}, widest);
  add_table(text, {{names}, service_columns(results), {}}, widest);
  return text;
}

}  // namespace replay
