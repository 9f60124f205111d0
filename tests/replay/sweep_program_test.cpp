// SPDX-License-Identifier: Apache-2.0
// Sweeps and several traces through the program itself.
#include "replay/program.hpp"
#include "support/catch.hpp"
#include "support/temporary_file.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace {

using nlohmann::json;
using pave_tests::program_outcome;
using pave_tests::run_program;
using pave_tests::temporary_file;
using pave_tests::without_wall_time;

/// What the program prints as JSON, wall time apart.
json parsed(const std::string& arguments) {
  const program_outcome got = run_program(arguments + " --json -");
  CAPTURE(arguments, got.err);
  REQUIRE(got.status == 0);
  return json::parse(without_wall_time(got.out));
}

}  // namespace

TEST_CASE("pave-replay: the number of jobs changes nothing in the results", "[replay]") {
  const std::string arguments = "--requests 150 --blocks 500 --sweep rate=0.4:1.0:0.2 --sweep watermark=0,5 --jobs ";
  CHECK(parsed(arguments + "1") == parsed(arguments + "4"));
  const program_outcome table = run_program(arguments + "1");
  CHECK(table.status == 0);
  CHECK(table.err.empty());
  CHECK(table.out == run_program(arguments + "4").out);
  const std::string single = "--requests 150 --blocks 500 --curves --jobs ";
  CHECK(parsed(single + "1") == parsed(single + "4"));
}

TEST_CASE("pave-replay: each point of a sweep is what its options give alone", "[replay]") {
  const temporary_file trace(pave_tests::azure_header + pave_tests::azure_row + "2023-11-16 18:15:47,400,20\n");
  const std::string common = "--policies whole,partial --trace '" + trace.path() + "' ";
  const json swept = parsed(common + "--sweep rate=0.5,1.0 --sweep blocks=40:60:20 --reserve 3")["points"];
  REQUIRE(swept.size() == 4);
  CHECK(swept[0] == parsed(common + "--rate 0.5 --blocks 40 --reserve 3"));
  CHECK(swept[1] == parsed(common + "--rate 0.5 --blocks 60 --reserve 3"));
  CHECK(swept[2] == parsed(common + "--rate 1 --blocks 40 --reserve 3"));
  CHECK(swept[3] == parsed(common + "--rate 1 --blocks 60 --reserve 3"));
}

TEST_CASE("pave-replay: a swept rate is printed as it would be typed", "[replay]") {
  const json points = parsed("--requests 2 --policies whole --sweep rate=0.3:1.0:0.1")["points"];
  std::string rates;
  for (const json& point : points) rates += point["rate"].dump() + " ";
  CHECK(rates == "0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0 ");
}

TEST_CASE("pave-replay: several traces are replayed one by one, in their order", "[replay]") {
  const temporary_file first(pave_tests::azure_header + pave_tests::azure_row);
  const temporary_file second(pave_tests::azure_header + pave_tests::azure_row + "2023-11-16 18:15:47,400,20\n");
  const std::string both = "--trace '" + first.path() + "' --trace '" + second.path() + "' ";
  const json points = parsed(both + "--sweep rate=1,2")["points"];
  REQUIRE(points.size() == 4);
  CHECK(points[0]["trace"] == first.path());
  CHECK(points[1]["trace"] == first.path());
  CHECK(points[2]["trace"] == second.path());
  CHECK(points[3]["trace"] == second.path());
  CHECK(points[1]["rate"] == 2);
  CHECK(points[2]["rate"] == 1);
  CHECK(points[1]["requests"] == 1);
  CHECK(points[2]["requests"] == 2);
  CHECK(parsed(both)["points"].size() == 2);
  CHECK(parsed(both + "--requests 1")["points"][1]["requests"] == 1);
}

TEST_CASE("pave-replay: a watermark is in the results, in per cent and in blocks", "[replay]") {
  const json point = parsed("--requests 20 --watermark 1.5 --reserve 7");
  CHECK(point["watermark_percent"] == 1.5);
  CHECK(point["watermark_blocks"] == 58);
  CHECK(point["reserve_blocks"] == 7);
  CHECK(pave_tests::contains(run_program("--requests 20 --watermark 1.5 --reserve 7").out,
                             "\nreserve 7 blocks · watermark 1.5 %, 58 blocks\n"));
}

TEST_CASE("pave-replay: a watermark does not change what happens without a limit", "[replay]") {
  // Each of the two needs half of the blocks that all need together: of those none is left to spare.
  const temporary_file trace(pave_tests::azure_header + pave_tests::azure_row + pave_tests::azure_row);
  const std::string arguments = "--policies unlimited --trace '" + trace.path() + "'";
  CHECK(parsed(arguments)["runs"] == parsed(arguments + " --watermark 100")["runs"]);
}

TEST_CASE("pave-replay: all six policies run, in one order, and report the same keys", "[replay]") {
  const json runs = parsed("--requests 100 --blocks 500")["runs"];
  const std::vector<std::string> names{"whole",   "whole+cache",   "whole+cache+back",
                                       "partial", "partial+cache", "unlimited"};
  REQUIRE(runs.size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    CHECK(runs[i]["policy"] == names[i]);
    CHECK(runs[i]["tokens_revived"].is_number_integer());
    CHECK(runs[i]["tokens_cached"].is_number_integer());
    CHECK_FALSE(runs[i].contains("timeline"));
  }
}

TEST_CASE("pave-replay: with --curves every run has all percentiles of TPOT", "[replay]") {
  const json runs = parsed("--requests 100 --blocks 500 --curves")["runs"];
  REQUIRE(runs.size() == 6);
  for (const json& run : runs) {
    REQUIRE(run["tpot_percentiles_ms"].size() == 101);
    CHECK(run["tpot_percentiles_ms"][50] == run["tpot_ms"]["p50"]);
    CHECK(run["tpot_percentiles_ms"][99] == run["tpot_ms"]["p99"]);
    CHECK(run["tpot_percentiles_ms"][0] <= run["tpot_percentiles_ms"][1]);
    REQUIRE(run["timeline"].is_array());
    CHECK(run["timeline"].size() <= 400);
    CHECK(run["timeline"].size() > 100);
    CHECK(run["timeline"].back()["time_s"] == run["makespan_s"]);
  }
}

TEST_CASE("pave-replay: sweeps that cannot be are refused by the program, too", "[replay]") {
  CHECK(
      pave_tests::refusal("--sweep rate=1:2:0") ==
      "--sweep rate takes a step above 0 in decimal digits, at most nine before the point and nine after it, not '0'");
  CHECK(pave_tests::refusal("--sweep rate=1 --rate 1") == "--sweep rate does not go with --rate");
  CHECK(pave_tests::refusal("--sweep blocks=1000,1") ==
        "no request fits the pool of 1 blocks of 16 tokens: the smallest needs 3");
  CHECK(pave_tests::refusal("--sweep rate=1 rate=2") == "unexpected argument 'rate=2'; --help lists the options");
}
