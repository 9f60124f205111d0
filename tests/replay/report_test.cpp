// SPDX-License-Identifier: Apache-2.0
// The JSON and the table of a report.
#include "report/report.hpp"

#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

replay::report sample_report() {
  replay::report results;
  results.of = {"traces/conversation.csv", 6000, 0.5, "llama-2-13b", "a100", 3914, 16, 819'200};
  results.slo.tpot_ms = {50, 75.5};
  replay::run whole;
  whole.policy = "whole";
  whole.found.preemptions = 10;
  whole.found.self_parked = 1;
  whole.found.refused = 2;
  whole.found.blocks_short = 11;
  whole.found.blocks_reclaimed = 1011;
  whole.found.blocks_over_evicted = 1000;
  whole.found.tokens_recomputed = 1'234'567;
  whole.found.tokens_revived = 7'654;
  whole.found.restores = 9;
  whole.found.restores_from_prefix = 7;
  whole.found.restore_latency_ms = {200.0, 150.0, 180.0, 900.25};
  whole.found.tpot_ms = {40.0, 35.5, 60.0, 80.0};
  whole.found.ttft_ms = {500.0, 250.0, 900.0, 1500.0};
  whole.found.longest_gap_ms = {90.0, 70.0, 95.0, 99.0};
  whole.found.slo = {{50, 0.5, 0.25}, {75.5, 0.75, 0.5}};
  whole.found.makespan_s = 12.5;
  whole.found.throughput_tokens_per_s = 1000.0;
  whole.wall_s = 0.125;
  replay::run partial = whole;
  partial.policy = "partial";
  partial.found.tokens_recomputed = 123'456;
  partial.found.restore_latency_ms = {};
  partial.found.throughput_tokens_per_s = {};
  partial.found.slo = {{50, 0.75, 0.25}, {75.5, {}, {}}};
  results.runs = {whole, partial};
  return results;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::size_t characters(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(
      line.begin(), line.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

}  // namespace

TEST_CASE("pave-replay: the JSON has these keys, in this order", "[replay]") {
  replay::report results = sample_report();
  results.runs.pop_back();
  results.of.reserve_blocks = 40;
  results.of.watermark_percent = 1.5;
  results.of.watermark_blocks = 58;
  results.of.plans = {replay::order_choice::most_slack, replay::shape_choice::cheapest_range,
                      replay::demand_choice::ahead, 4};
  results.slo.tpot_ms = {50};
  results.runs[0].found.slo.pop_back();
  CHECK(replay::to_json(results) == R"({
  "trace": "traces/conversation.csv",
  "requests": 6000,
  "rate": 0.5,
  "model": "llama-2-13b",
  "gpu": "a100",
  "pool_blocks": 3914,
  "tokens_per_block": 16,
  "reserve_blocks": 40,
  "watermark_percent": 1.5,
  "watermark_blocks": 58,
  "victim_order": "most_slack",
  "cut_shape": "cheapest_range",
  "demand": "ahead=4",
  "find_running": false,
  "runs": [
    {
      "policy": "whole",
      "preemptions": 10,
      "self_parked": 1,
      "refused": 2,
      "blocks_short": 11,
      "blocks_reclaimed": 1011,
      "blocks_over_evicted": 1000,
      "tokens_recomputed": 1234567,
      "tokens_revived": 7654,
      "tokens_cached": 0,
      "restores": 9,
      "restores_from_prefix": 7,
      "restore_latency_ms": {
        "mean": 200.0,
        "p50": 150.0,
        "p99": 900.25
      },
      "tpot_ms": {
        "mean": 40.0,
        "p50": 35.5,
        "p90": 60.0,
        "p99": 80.0
      },
      "ttft_ms": {
        "mean": 500.0,
        "p50": 250.0,
        "p90": 900.0,
        "p99": 1500.0
      },
      "longest_gap_ms": {
        "p50": 70.0,
        "p99": 99.0
      },
      "slo": [
        {
          "tpot_ms": 50.0,
          "attainment": 0.5,
          "with_ttft": 0.25
        }
      ],
      "makespan_s": 12.5,
      "throughput_tokens_per_s": 1000.0,
      "wall_s": 0.125
    }
  ]
}
)");
}

TEST_CASE("pave-replay: what is not known is null in the JSON", "[replay]") {
  replay::report results = sample_report();
  results.runs.erase(results.runs.begin());
  const std::string json = replay::to_json(results);
  CHECK(json.find("\"mean\": null") != std::string::npos);
  CHECK(json.find("\"attainment\": null") != std::string::npos);
  CHECK(json.find("\"throughput_tokens_per_s\": null") != std::string::npos);
  CHECK(json.find("nan") == std::string::npos);
}

TEST_CASE("pave-replay: a file name that is no UTF-8 still gives JSON", "[replay]") {
  replay::report results = sample_report();
  results.of.trace =
      "tr\xE4"
      "ce \"1\".csv";
  const std::string json = replay::to_json(results);
  CHECK(json.find("\"trace\": \"tr\xEF\xBF\xBD"
                  "ce \\\"1\\\".csv\"") != std::string::npos);
}

TEST_CASE("pave-replay: the table has policies as rows, and pave in proportion to its baseline", "[replay]") {
  CHECK(replay::to_table(sample_report()) ==
        R"(conversation.csv · 6,000 requests at rate 0.5
llama-2-13b on a100 · 3,914 blocks of 16 tokens, 47.8 GiB

                 requests ─────────  blocks ────────────────────  tokens ────────────────
policy           refused  preempted  short   freed  over-evicted  recomputed  found again
whole                  2         10     11   1,011         1,000   1,234,567        7,654
partial                2         10     11   1,011         1,000     123,456        7,654
partial / whole   1.00 ×     1.00 ×         1.00 ×        1.00 ×      0.10 ×       1.00 ×

                 restores ──────────────  TPOT, ms ─────  TTFT, ms ──────  longest gap, ms
policy            count  mean ms  p99 ms     p50     p99     p50      p99      p50     p99
whole                 9    200.0   900.2    35.5    80.0   250.0  1,500.0     70.0    99.0
partial               9        –       –    35.5    80.0   250.0  1,500.0     70.0    99.0
partial / whole  1.00 ×        –       –  1.00 ×  1.00 ×  1.00 ×   1.00 ×   1.00 ×  1.00 ×

                 requests with TPOT, ms  and TTFT ≤ 2,000 ms  makespan   tokens
policy                     ≤ 50  ≤ 75.5         ≤ 50  ≤ 75.5         s    per s
whole                    50.0 %  75.0 %       25.0 %  50.0 %      12.5  1,000.0
partial                  75.0 %       –       25.0 %       –      12.5        –
partial / whole          1.50 ×       –       1.00 ×       –    1.00 ×        –
)");
}

TEST_CASE("pave-replay: without a baseline there are no proportions", "[replay]") {
  replay::report results = sample_report();
  results.runs.pop_back();
  CHECK(replay::to_table(results).find("×") == std::string::npos);
}

TEST_CASE("pave-replay: a reserve and a watermark are mentioned where there are any", "[replay]") {
  replay::report results = sample_report();
  const auto third_line = [&] { return lines_of(replay::to_table(results)).at(2); };
  CHECK(third_line().empty());
  results.of.reserve_blocks = 1040;
  CHECK(third_line() == "reserve 1,040 blocks");
  results.of.watermark_percent = 1.5;
  results.of.watermark_blocks = 58;
  CHECK(third_line() == "reserve 1,040 blocks · watermark 1.5 %, 58 blocks");
  results.of.reserve_blocks = 0;
  CHECK(third_line() == "watermark 1.5 %, 58 blocks");
}

TEST_CASE("pave-replay: pave is in proportion to each of its baselines that ran", "[replay]") {
  replay::report results = sample_report();
  results.runs.push_back(results.runs[0]);
  results.runs.back().policy = "whole+cache";
  results.runs.back().found.tokens_recomputed = 1'000'000;
  results.runs.push_back(results.runs[1]);
  results.runs.back().policy = "partial+cache";
  results.runs.back().found.tokens_recomputed = 500'000;
  const auto proportions = [&] {
    std::vector<std::string> found;
    for (const std::string& line : lines_of(replay::to_table(results))) {
      if (line.find(" / ") != std::string::npos) found.push_back(line);
    }
    return found;
  };
  REQUIRE(proportions().size() == 6);
  CHECK(proportions()[0].find("partial / whole ") == 0);
  CHECK(proportions()[0].find(" 0.10 × ") != std::string::npos);
  CHECK(proportions()[1].find("partial+cache / whole+cache ") == 0);
  CHECK(proportions()[1].find(" 0.50 × ") != std::string::npos);
  results.runs.erase(results.runs.begin());
  REQUIRE(proportions().size() == 3);
  CHECK(proportions()[0].find("partial+cache / whole+cache ") == 0);
}

TEST_CASE("pave-replay: tokens of shared prefixes have a column where there are any", "[replay]") {
  replay::report results = sample_report();
  CHECK(replay::to_table(results).find("cached") == std::string::npos);
  results.runs[1].found.tokens_cached = 4321;
  const std::string table = replay::to_table(results);
  CHECK(table.find("found again  cached\n") != std::string::npos);
  CHECK(table.find("7,654   4,321\n") != std::string::npos);
  CHECK(table.find("7,654       0\n") != std::string::npos);
}

TEST_CASE("pave-replay: the curves of a run are in the JSON where it has some", "[replay]") {
  replay::report results = sample_report();
  CHECK(replay::to_json(results).find("timeline") == std::string::npos);
  replay::curves drawn;
  drawn.timeline = {{0, 0, 0}, {1500, 12, 3}};
  drawn.tpot_percentiles_ms = {1.5, std::nullopt};
  results.runs[1].drawn = drawn;
  const nlohmann::json json = nlohmann::json::parse(replay::to_json(results));
  CHECK_FALSE(json["runs"][0].contains("timeline"));
  CHECK_FALSE(json["runs"][0].contains("tpot_percentiles_ms"));
  CHECK(json["runs"][1]["timeline"].dump() ==
        R"([{"held_blocks":0,"parked":0,"time_s":0.0},{"held_blocks":12,"parked":3,"time_s":1.5}])");
  CHECK(json["runs"][1]["tpot_percentiles_ms"].dump() == "[1.5,null]");
}

TEST_CASE("pave-replay: no line of a table is wider than 110 characters", "[replay]") {
  replay::report results = sample_report();
  for (const char* const policy : {"whole+cache", "whole+cache+back", "partial+cache", "unlimited"}) {
    results.runs.push_back(results.runs.front());
    results.runs.back().policy = policy;
    results.runs.back().found.tokens_cached = 123'456'789'012;
  }
  results.slo.tpot_ms.clear();
  for (replay::run& one : results.runs) one.found.slo.clear();
  for (int i = 0; i < 16; ++i) {
    const double bound = 123'456.789 + i;
    results.slo.tpot_ms.push_back(bound);
    for (replay::run& one : results.runs) one.found.slo.push_back({bound, 1.0, 1.0});
  }
  for (replay::run& one : results.runs) {
    one.found.tokens_recomputed = 123'456'789'012;
    one.found.blocks_short = 1'234'567'890;
    one.found.blocks_reclaimed = 123'456'789'012;
    one.found.restore_latency_ms.p99 = 1e9;
    one.found.ttft_ms.p99 = 1e10;
  }
  for (const std::string& line : lines_of(replay::to_table(results))) {
    CAPTURE(line);
    CHECK(characters(line) <= 110);
  }
}
