// SPDX-License-Identifier: Apache-2.0
// The tables of docs/replay.md and README.md are what the replay of Azure Conversation gives today.
#include "simulation/cost_model.hpp"
#include "simulation/engine.hpp"
#include "simulation/metrics.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"
#include "traces/trace.hpp"

#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace {

using replay::policy;

struct named_policy {
  policy which;
  const char* name;
  int watermark_percent;
};

/// Policies that do the same in all that the table says share a row: of its own cuts pave finds nothing again, and with
/// the larger watermark nothing runs short.
constexpr named_policy rows[] = {
    {policy::whole, "`whole`", 0},
    {policy::whole_cache, "`whole+cache`", 0},
    {policy::whole_cache_back, "`whole+cache+back`", 0},
    {policy::partial, "`partial`, `partial+cache`", 0},
    {policy::whole_cache, "`whole+cache`, watermark 1 %", 1},
    {policy::partial, "`partial`, watermark 1 %", 1},
    {policy::partial, "any of these, watermark 5 %", 5},
    {policy::unlimited, "`unlimited`", 0},
};

std::string grouped(double value) {
  char digits[64];
  std::snprintf(digits, sizeof digits, "%.0f", value);
  std::string text = digits;
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string with_unit(const std::optional<double>& value, const char* form) {
  if (!value) return "–";
  char text[64];
  std::snprintf(text, sizeof text, form, *value);
  return text;
}

replay::summary replayed(policy which, const std::vector<replay::request>& requests, double rate, int percent) {
  const replay::fitted_costs& found = *replay::find_costs("llama-2-13b", "a100");
  replay::engine_settings settings;
  settings.pool_blocks = found.costs.kv_tokens / settings.tokens_per_block;
  settings.watermark_blocks = settings.pool_blocks * percent / 100;
  replay::objectives bounds;
  bounds.tpot_ms = {75};
  return replay::summarize(replay::run_engine(which, requests, 1 / rate, settings, found.costs, {}), bounds);
}

std::string row_of(const char* rate, const char* name, const replay::summary& s) {
  const auto percent = [](double share) { return std::optional<double>(100 * share); };
  return std::string("| ") + rate + " | " + name + " | " + grouped(static_cast<double>(s.preemptions)) + " | " +
         grouped(static_cast<double>(s.blocks_short)) + " | " + grouped(static_cast<double>(s.blocks_reclaimed)) +
         " | " + grouped(static_cast<double>(s.tokens_recomputed)) + " | " +
         with_unit(s.restore_latency_ms.mean, "%.0f ms") + " | " + with_unit(s.tpot_ms.p50, "%.1f ms") + " | " +
         with_unit(*s.ttft_ms.p50 / 1000, "%.1f s") + " | " + with_unit(percent(*s.slo[0].share), "%.1f %%") + " | " +
         with_unit(percent(*s.slo[0].with_ttft), "%.1f %%") + " |";
}

std::string text_of(const char* document) {
  std::ifstream file(std::string(PAVE_SOURCE_DIR) + "/" + document);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool same_in_the_table(const replay::summary& a, const replay::summary& b) {
  return row_of("", "", a) == row_of("", "", b);
}

}  // namespace

TEST_CASE("README.md and docs/replay.md show what the replay of Azure Conversation gives", "[replay][documents]") {
  const auto path = pave_tests::data_file("AzureLLMInferenceTrace_conv.csv");
  if (!path) {
    WARN("skipped: AzureLLMInferenceTrace_conv.csv is not there; PAVE_DATA_DIR names its folder");
    return;
  }
  const std::vector<replay::request> requests = replay::read_trace(*path, 6000);
  std::string table;
  std::string at_rate_0_50;
  for (const char* rate : {"0.40", "0.45", "0.50", "0.70"}) {
    const std::size_t before = table.size();
    const auto at = [&](policy which, int percent) { return replayed(which, requests, std::stod(rate), percent); };
    for (const named_policy& row : rows) {
      table += row_of(rate, row.name, at(row.which, row.watermark_percent)) + "\n";
    }
    CHECK(same_in_the_table(at(policy::partial, 0), at(policy::partial_cache, 0)));
    for (const policy which : {policy::whole, policy::whole_cache, policy::whole_cache_back, policy::partial_cache}) {
      CHECK(same_in_the_table(at(which, 5), at(policy::partial, 5)));
    }
    if (std::string(rate) == "0.50") at_rate_0_50 = table.substr(before);
  }
  INFO("docs/replay.md has to show\n" << table);
  CHECK(text_of("docs/replay.md").find("|\n" + table + "\n") != std::string::npos);
  INFO("README.md has to show\n" << at_rate_0_50);
  CHECK(text_of("README.md").find("|\n" + at_rate_0_50 + "\n") != std::string::npos);
}
