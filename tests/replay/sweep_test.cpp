// SPDX-License-Identifier: Apache-2.0
// What --sweep makes of ranges and lists.
#include "command_line/sweep.hpp"

#include "support/catch.hpp"
#include "traces/trace.hpp"

#include <string>
#include <vector>

namespace {

using texts = std::vector<std::string>;

texts values_of(const std::string& sweep) { return replay::read_sweeps({sweep}).at(0).values; }

std::string refusal(const texts& sweeps) {
  try {
    static_cast<void>(replay::read_sweeps(sweeps));
  } catch (const replay::input_error& fault) {
    return fault.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("pave-replay: a range holds the decimal numbers that a person would list", "[replay]") {
  CHECK(values_of("rate=0.3:1.0:0.1") == texts{"0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1.0"});
  CHECK(values_of("rate=0.3:1:0.1") == values_of("rate=0.3:1.0:0.1"));
  CHECK(values_of("rate=.3:1.:.1") == values_of("rate=0.3:1.0:0.1"));
  CHECK(values_of("rate=0.30:0.5:0.1") == texts{"0.30", "0.40", "0.50"});
  CHECK(values_of("rate=1:2:0.25") == texts{"1.00", "1.25", "1.50", "1.75", "2.00"});
  CHECK(values_of("rate=999.999999998:1000:0.000000001") == texts{"999.999999998", "999.999999999", "1000.000000000"});
  CHECK(values_of("blocks=1000:4000:1000") == texts{"1000", "2000", "3000", "4000"});
  CHECK(values_of("reserve=0:16777216:16777216") == texts{"0", "16777216"});
  CHECK(values_of("watermark=0:0.02:0.005") == texts{"0.000", "0.005", "0.010", "0.015", "0.020"});
}

TEST_CASE("pave-replay: a range goes no further than its last value", "[replay]") {
  CHECK(values_of("rate=0.3:1:0.4") == texts{"0.3", "0.7"});
  CHECK(values_of("blocks=1:6:2") == texts{"1", "3", "5"});
  CHECK(values_of("blocks=5:5:1") == texts{"5"});
  CHECK(values_of("blocks=5:6:100") == texts{"5"});
}

TEST_CASE("pave-replay: in a range every multiple of the step is as if typed", "[replay]") {
  const texts values = values_of("rate=0.001:4.095:0.001");
  REQUIRE(values.size() == 4095);
  for (std::size_t i = 0; i < values.size(); ++i) {
    // The quotient of two whole numbers is the nearest double there is, and so is a typed number.
    REQUIRE(std::stod(values[i]) == static_cast<double>(i + 1) / 1000);
  }
}

TEST_CASE("pave-replay: a list is taken as it is typed, in its order", "[replay]") {
  CHECK(values_of("rate=1,0.5,2e0") == texts{"1", "0.5", "2e0"});
  CHECK(values_of("reserve=0") == texts{"0"});
  const std::vector<replay::sweep> sweeps = replay::read_sweeps({"watermark=1", "rate=2,3"});
  REQUIRE(sweeps.size() == 2);
  CHECK(sweeps[0].varied == replay::variable::watermark);
  CHECK(sweeps[1].varied == replay::variable::rate);
  CHECK(sweeps[1].values == texts{"2", "3"});
}

TEST_CASE("pave-replay: what is no sweep is refused in one sentence", "[replay]") {
  CHECK(refusal({"rate"}) == "--sweep takes NAME=FIRST:LAST:STEP or NAME=A,B,C, not 'rate'");
  CHECK(refusal({""}) == "--sweep takes NAME=FIRST:LAST:STEP or NAME=A,B,C, not ''");
  CHECK(refusal({"seed=1"}) == "--sweep takes one of rate, blocks, reserve, watermark, not 'seed'");
  CHECK(refusal({"=1"}) == "--sweep takes one of rate, blocks, reserve, watermark, not ''");
  CHECK(refusal({"Rate=1"}) == "--sweep takes one of rate, blocks, reserve, watermark, not 'Rate'");
  CHECK(refusal({"rate="}) == "--sweep rate takes FIRST:LAST:STEP or A,B,C, not ''");
  CHECK(refusal({"rate=1:2"}) == "--sweep rate takes FIRST:LAST:STEP or A,B,C, not '1:2'");
  CHECK(refusal({"rate=1:2:3:4"}) == "--sweep rate takes FIRST:LAST:STEP or A,B,C, not '1:2:3:4'");
  CHECK(refusal({"rate=1=2"}) == "--sweep rate takes a number from 0.001 to 1000, not '1=2'");
}

TEST_CASE("pave-replay: a range that goes down, or nowhere, is refused in one sentence", "[replay]") {
  const std::string in_digits = " in decimal digits, at most nine before the point and nine after it, not ";
  for (const std::string& step : texts{"0", "0.0", "-1", "+1", "", " 1", "x", "1e0", ".", "0.1.2", "0.1234567891"}) {
    CHECK(refusal({"rate=1:2:" + step}) == "--sweep rate takes a step above 0" + in_digits + "'" + step + "'");
  }
  CHECK(refusal({"rate=2:1:0.1"}) == "--sweep rate takes a range that goes up, not '2:1:0.1'");
  CHECK(refusal({"rate=1.001:1:0.1"}) == "--sweep rate takes a range that goes up, not '1.001:1:0.1'");
  CHECK(refusal({"rate=1:2e0:1"}) == "--sweep rate takes FIRST:LAST:STEP" + in_digits + "'1:2e0:1'");
  CHECK(refusal({"rate=1:1.0000000001:1"}) == "--sweep rate takes FIRST:LAST:STEP" + in_digits + "'1:1.0000000001:1'");
}

TEST_CASE("pave-replay: each swept value is checked as the option's own", "[replay]") {
  const std::string rate = "--sweep rate takes a number from 0.001 to 1000, not ";
  CHECK(refusal({"rate=0:1:0.1"}) == rate + "'0'");
  CHECK(refusal({"rate=1:1001:1"}) == rate + "'1001'");
  CHECK(refusal({"rate=-1:1:1"}) == rate + "'-1'");
  CHECK(refusal({"rate=:1:1"}) == rate + "''");
  CHECK(refusal({"rate=1,,2"}) == rate + "''");
  CHECK(refusal({"rate=1,"}) == rate + "''");
  CHECK(refusal({"rate=1,nan"}) == rate + "'nan'");
  const std::string blocks = "--sweep blocks takes a whole number from 1 to 16777216, not ";
  CHECK(refusal({"blocks=0,1"}) == blocks + "'0'");
  CHECK(refusal({"blocks=1.5"}) == blocks + "'1.5'");
  CHECK(refusal({"blocks=1.5:2:1"}) == blocks + "'1.5'");
  CHECK(refusal({"blocks=1:2:0.5"}) == blocks + "'1.0'");
  CHECK(refusal({"reserve=-1"}) == "--sweep reserve takes a whole number from 0 to 16777216, not '-1'");
  CHECK(refusal({"watermark=99,101"}) == "--sweep watermark takes a number from 0 to 100, not '101'");
}

TEST_CASE("pave-replay: a value or a name that comes twice is refused in one sentence", "[replay]") {
  CHECK(refusal({"rate=1,2,1.0"}) == "--sweep rate names '1.0' twice");
  CHECK(refusal({"blocks=8,08"}) == "--sweep blocks names '08' twice");
  CHECK(refusal({"rate=1", "blocks=8", "rate=2"}) == "--sweep names 'rate' twice");
}

TEST_CASE("pave-replay: sweeps of too many points are refused before they are made", "[replay]") {
  const std::string sentence = "--sweep takes 4096 points at most";
  CHECK(values_of("blocks=1:4096:1").size() == 4096);
  CHECK(refusal({"blocks=1:4097:1"}) == sentence);
  CHECK(refusal({"rate=0.001:1000:0.000000001"}) == sentence);
  CHECK(refusal({"rate=1:64:1", "blocks=1:64:1"}) == "accepted");
  CHECK(refusal({"rate=1:64:1", "blocks=1:64:1", "watermark=0,1"}) == sentence);
  std::string list = "blocks=1";
  for (int i = 2; i <= 4097; ++i) list += "," + std::to_string(i);
  CHECK(refusal({list}) == sentence);
}
