// SPDX-License-Identifier: Apache-2.0
// The table and the JSON of several points.
#include "report/report.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

namespace {

replay::run sample_run(const std::string& policy, std::int64_t preemptions) {
  replay::run one;
  one.policy = policy;
  one.found.preemptions = preemptions;
  one.found.blocks_short = 11;
  one.found.blocks_reclaimed = 1011;
  one.found.tokens_recomputed = 12'345;
  one.found.restore_latency_ms = {200.0, 150.0, 180.0, 900.25};
  one.found.tpot_ms = {40.0, 35.5, 60.0, 80.0};
  one.found.ttft_ms = {500.0, 1250.0, 900.0, 1500.0};
  one.found.slo = {{50, 0.5, 0.25}, {75.5, 0.75, {}}};
  return one;
}

replay::report sample_point(const std::string& trace, double rate, double watermark, std::int64_t preemptions) {
  replay::report point;
  point.of.trace = trace;
  point.of.requests = 6000;
  point.of.rate = rate;
  point.of.model = "llama-2-13b";
  point.of.gpu = "a100";
  point.of.pool_blocks = 3914;
  point.of.tokens_per_block = 16;
  point.of.kv_bytes_per_token = 819'200;
  point.of.watermark_percent = watermark;
  point.of.watermark_blocks = 39;
  point.slo.tpot_ms = {50, 75.5};
  point.runs = {sample_run("whole", preemptions), sample_run("partial+cache", preemptions + 1)};
  point.runs[1].found.restore_latency_ms = {};
  return point;
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

using replay::variable;

}  // namespace

TEST_CASE("pave-replay: a sweep is one table, with a blank line between points", "[replay]") {
  const replay::sweep_report results{{variable::rate},
                                     {sample_point("a/conv.csv", 0.5, 1, 1), sample_point("a/conv.csv", 12, 1, 30)}};
  CHECK(replay::to_table(results) == R"(conv.csv · 6,000 requests
llama-2-13b on a100 · 3,914 blocks of 16 tokens, 47.8 GiB
watermark 1 %, 39 blocks

                      requests  blocks ─────      tokens  restore  p50, ms ───  % with TPOT, ms  and TTFT ≤ 2,000 ms
rate  policy         preempted  short  freed  recomputed  mean ms  TPOT   TTFT     ≤ 50  ≤ 75.5         ≤ 50  ≤ 75.5
 0.5  whole                  1     11  1,011      12,345    200.0  35.5  1,250     50.0    75.0         25.0       –
      partial+cache          2     11  1,011      12,345        –  35.5  1,250     50.0    75.0         25.0       –

  12  whole                 30     11  1,011      12,345    200.0  35.5  1,250     50.0    75.0         25.0       –
      partial+cache         31     11  1,011      12,345        –  35.5  1,250     50.0    75.0         25.0       –
)");
}

TEST_CASE("pave-replay: several sweeps have a column each, and say once what repeats", "[replay]") {
  replay::sweep_report results{{variable::rate, variable::watermark}, {}};
  for (const double rate : {0.5, 0.75}) {
    for (const double watermark : {0.0, 1.5}) results.points.push_back(sample_point("conv.csv", rate, watermark, 1));
  }
  for (replay::report& point : results.points) point.runs.pop_back();
  const std::vector<std::string> lines = lines_of(replay::to_table(results));
  REQUIRE(lines.size() == 10);
  CHECK(lines[0] == "conv.csv · 6,000 requests");
  CHECK(lines[1] == "llama-2-13b on a100 · 3,914 blocks of 16 tokens, 47.8 GiB");
  CHECK(lines[4].substr(0, 23) == "rate  watermark  policy");
  CHECK(lines[5].substr(0, 23) == " 0.5        0 %  whole ");
  CHECK(lines[6].substr(0, 23) == "          1.5 %  whole ");
  CHECK(lines[7].empty());
  CHECK(lines[8].substr(0, 23) == "0.75        0 %  whole ");
  CHECK(lines[9].substr(0, 23) == "          1.5 %  whole ");
}

TEST_CASE("pave-replay: several traces stand below each other, each under its name", "[replay]") {
  const replay::sweep_report results{{},
                                     {sample_point("a/conv.csv", 0.5, 0, 1), sample_point("b/code.csv", 0.5, 0, 3)}};
  const std::vector<std::string> lines = lines_of(replay::to_table(results));
  REQUIRE(lines.size() == 12);
  CHECK(lines[0] == "2 traces at rate 0.5");
  CHECK(lines[4].substr(0, 6) == "policy");
  CHECK(lines[5] == "conv.csv · 6,000 requests");
  CHECK(lines[6].substr(0, 6) == "whole ");
  CHECK(lines[7].substr(0, 14) == "partial+cache ");
  CHECK(lines[8].empty());
  CHECK(lines[9] == "code.csv · 6,000 requests");
  CHECK(lines[10].substr(0, 6) == "whole ");
}

TEST_CASE("pave-replay: a swept value is said again where the trace changes", "[replay]") {
  const replay::sweep_report results{{variable::rate},
                                     {sample_point("conv.csv", 0.5, 0, 1), sample_point("code.csv", 0.5, 0, 3)}};
  const std::vector<std::string> lines = lines_of(replay::to_table(results));
  REQUIRE(lines.size() == 12);
  CHECK(lines[6].substr(0, 11) == " 0.5  whole");
  CHECK(lines[10].substr(0, 11) == " 0.5  whole");
}

TEST_CASE("pave-replay: swept blocks and reserve are not in the heading", "[replay]") {
  replay::report first = sample_point("conv.csv", 0.5, 1, 1);
  replay::report second = first;
  first.of.reserve_blocks = 10;
  second.of.reserve_blocks = 20;
  second.of.pool_blocks = 1'234'567;
  const std::vector<std::string> lines =
      lines_of(replay::to_table(replay::sweep_report{{variable::blocks, variable::reserve}, {first, second}}));
  CHECK(lines.at(0) == "conv.csv · 6,000 requests at rate 0.5");
  CHECK(lines.at(1) == "llama-2-13b on a100 · blocks of 16 tokens");
  CHECK(lines.at(2) == "watermark 1 %");
  CHECK(lines.at(5).substr(0, 26) == "   blocks  reserve  policy");
  CHECK(lines.at(6).substr(0, 26) == "    3,914       10  whole ");
  CHECK(lines.at(9).substr(0, 26) == "1,234,567       20  whole ");
}

TEST_CASE("pave-replay: no line of a sweep's table is wider than 150 characters", "[replay]") {
  replay::sweep_report results{{variable::rate, variable::blocks, variable::reserve, variable::watermark}, {}};
  for (int i = 0; i < 3; ++i) {
    replay::report point = sample_point("conv.csv", 0.123456789, 12.345678901, 1);
    point.of.pool_blocks = 16'777'216;
    point.of.reserve_blocks = 16'777'216;
    point.runs[0].policy = "whole+cache+back";
    point.runs[0].found.tokens_recomputed = 123'456'789'012;
    point.runs[0].found.blocks_reclaimed = 123'456'789'012;
    point.runs[0].found.ttft_ms.p50 = 1e10;
    point.slo.tpot_ms.clear();
    for (int bound = 0; bound < 16; ++bound) point.slo.tpot_ms.push_back(123'456.789 + bound);
    for (replay::run& one : point.runs) {
      one.found.slo.clear();
      for (const double bound : point.slo.tpot_ms) one.found.slo.push_back({bound, 1.0, 1.0});
    }
    results.points.push_back(point);
  }
  for (const std::string& line : lines_of(replay::to_table(results))) {
    CAPTURE(line);
    CHECK(characters(line) <= 150);
  }
}

TEST_CASE("pave-replay: with the default bounds a sweep of two options stands in one stack", "[replay]") {
  replay::report point = sample_point("conv.csv", 0.45, 1.5, 1'234);
  point.slo.tpot_ms = {50, 60, 75, 100};
  point.runs[0].policy = "whole+cache+back";
  for (replay::run& one : point.runs) {
    one.found.slo.clear();
    for (const double bound : point.slo.tpot_ms) one.found.slo.push_back({bound, bound / 100, 0.5});
    one.found.blocks_short = 12'345;
    one.found.blocks_reclaimed = 98'765;
    one.found.tokens_recomputed = 1'234'567;
    one.found.ttft_ms.p50 = 99'999.9;
  }
  const std::vector<std::string> lines =
      lines_of(replay::to_table(replay::sweep_report{{variable::rate, variable::watermark}, {point}}));
  CHECK(lines.size() == 7);
}

TEST_CASE("pave-replay: the JSON of a sweep has the object of each point", "[replay]") {
  const replay::sweep_report results{{variable::rate},
                                     {sample_point("conv.csv", 0.5, 1, 1), sample_point("conv.csv", 12, 1, 30)}};
  const nlohmann::json json = nlohmann::json::parse(replay::to_json(results));
  REQUIRE(json.size() == 1);
  REQUIRE(json["points"].size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(json["points"][i] == nlohmann::json::parse(replay::to_json(results.points[i])));
  }
}
