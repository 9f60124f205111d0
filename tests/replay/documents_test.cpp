// SPDX-License-Identifier: Apache-2.0
// The tables of docs/replay.md and README.md are what the replay of Azure Conversation gives today.
#include "simulation/cost_model.hpp"
#include "simulation/engine.hpp"
#include "simulation/hybrid_pools.hpp"
#include "simulation/metrics.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"
#include "traces/trace.hpp"

#include <pave/planner.hpp>

#include <cstddef>
#include <cstdint>
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

replay::summary replayed(policy which,
                         const std::vector<replay::request>& requests,
                         double rate,
                         int percent,
                         const replay::plan_choice& plans = {},
                         const char* model = "llama-2-13b") {
  const replay::fitted_costs& found = *replay::find_costs(model, "a100");
  replay::engine_settings settings;
  settings.pool_blocks = found.costs.kv_tokens / settings.tokens_per_block;
  settings.watermark_blocks = settings.pool_blocks * percent / 100;
  settings.plans = plans;
  if (found.costs.is_hybrid()) {
    settings.hybrid = replay::divide_pool(requests, settings.pool_blocks, settings.tokens_per_block, found.costs);
  }
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

/// The beginning of the trace; nothing, and a word about it, where the trace is not there.
std::vector<replay::request> conversation() {
  const auto path = pave_tests::data_file("AzureLLMInferenceTrace_conv.csv");
  if (path) return replay::read_trace(*path, 6000);
  WARN("skipped: AzureLLMInferenceTrace_conv.csv is not there; PAVE_DATA_DIR names its folder");
  return {};
}

bool same_in_the_table(const replay::summary& a, const replay::summary& b) {
  return row_of("", "", a) == row_of("", "", b);
}

}  // namespace

TEST_CASE("README.md and docs/replay.md show what the replay of Azure Conversation gives", "[replay][documents]") {
  const std::vector<replay::request> requests = conversation();
  if (requests.empty()) return;
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

TEST_CASE("README.md shows what a gap costs, and where", "[replay][documents]") {
  const replay::step_costs& fitted = replay::find_costs("llama-2-13b", "a100")->costs;
  const pave::recompute_cost cost{fitted.prefill_base, fitted.prefill_per_token, fitted.prefill_attention};
  const std::string text = text_of("README.md");
  for (const std::int64_t context : {1024, 4096, 16384, 32768, 65536, 131072}) {
    // One that has just these tokens, in blocks of its own.
    const pave::block_table_candidates<>::row one[] = {{{1, 1}, static_cast<std::int32_t>(context / 16)}};
    std::vector<std::int32_t> table(static_cast<std::size_t>(context / 16));
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<std::int32_t>(i);
    const std::vector<std::uint32_t> holders(table.size(), 1);
    const pave::block_table_candidates<> view(one, table.data(), table.size(), holders);
    const auto price = [&](const pave::shaped_cut& cut) {
      return cost.cost({cut.blocks.first.value() * 16, cut.blocks.last.value() * 16});
    };
    const double tail = price(pave::tail::cut(view, 0, 64));
    const double cheapest = price(pave::cheapest_range::cut(view, cost, 0, 64));
    char row[128];
    std::snprintf(row, sizeof row, "| %s | %.0f | %.0f | %.1f × |", grouped(static_cast<double>(context)).c_str(), tail,
                  cheapest, tail / cheapest);
    CAPTURE(std::string(row));
    CHECK(text.find(row) != std::string::npos);
  }
}

TEST_CASE("docs/replay.md shows what other plans do", "[replay][documents]") {
  using replay::demand_choice;
  using replay::order_choice;
  using replay::shape_choice;
  const std::vector<replay::request> requests = conversation();
  if (requests.empty()) return;
  const struct {
    const char* name;
    replay::plan_choice plans;
  } all[] = {
      {"default", {}},
      {"`--cut-shape cheapest_range`", {order_choice::least_important, shape_choice::cheapest_range}},
      {"`--victim-order most_slack`", {order_choice::most_slack}},
      {"`--victim-order largest`", {order_choice::largest}},
      {"`--victim-order cheapest_restore`", {order_choice::cheapest_restore}},
      {"`--demand ahead=8`", {order_choice::least_important, shape_choice::tail, demand_choice::ahead, 8}},
      {"`--demand to_watermark=40`",
       {order_choice::least_important, shape_choice::tail, demand_choice::to_watermark, 40}},
  };
  const std::string text = text_of("docs/replay.md");
  for (const auto& one : all) {
    const replay::summary s = replayed(policy::partial, requests, 0.5, 0, one.plans);
    const std::string row = std::string("| ") + one.name + " | " + grouped(static_cast<double>(s.preemptions)) + " | " +
                            grouped(static_cast<double>(s.blocks_reclaimed)) + " | " +
                            grouped(static_cast<double>(s.tokens_recomputed)) + " | " +
                            with_unit(s.restore_latency_ms.mean, "%.0f ms") + " | " +
                            with_unit(100 * *s.slo[0].share, "%.1f %%") + " |";
    CAPTURE(row);
    CHECK(text.find(row) != std::string::npos);
  }
}

TEST_CASE("docs/replay.md shows what the policies do over a hybrid model", "[replay][documents]") {
  const std::vector<replay::request> requests = conversation();
  if (requests.empty()) return;
  std::string table;
  std::vector<std::string> restores;
  std::vector<std::string> from_prefix;
  for (const char* rate : {"0.50", "0.70"}) {
    const auto at = [&](policy which) {
      return replayed(which, requests, std::stod(rate), 0, {}, "llama-2-13b-hybrid");
    };
    table += row_of(rate, "`whole`", at(policy::whole)) + "\n";
    table += row_of(rate, "`whole+cache`", at(policy::whole_cache)) + "\n";
    table += row_of(rate, "`partial`, `partial+cache`", at(policy::partial)) + "\n";
    CHECK(same_in_the_table(at(policy::partial), at(policy::partial_cache)));
    restores.push_back(grouped(static_cast<double>(at(policy::partial).restores)));
    from_prefix.push_back(grouped(static_cast<double>(at(policy::partial).restores_from_prefix)));
  }
  INFO("docs/replay.md has to show\n" << table);
  const std::string text = text_of("docs/replay.md");
  CHECK(text.find("|\n" + table + "\n") != std::string::npos);
  CAPTURE(restores, from_prefix);
  CHECK(text.find("Yet of " + restores[0] + " restores at 0.50 and " + restores[1] + " at 0.70") != std::string::npos);
  CHECK(text.find(from_prefix[0] + " and " + from_prefix[1] + " went on behind a kept prefix") != std::string::npos);
}
