// SPDX-License-Identifier: Apache-2.0
// Options as the program takes them from its arguments.
#include "command_line/options.hpp"

#include "command_line/policy_names.hpp"
#include "support/catch.hpp"
#include "traces/trace.hpp"

#include <string>
#include <vector>

namespace {

using words = std::vector<std::string>;

replay::options parse(const words& arguments) {
  std::vector<const char*> argv{"pave-replay"};
  for (const std::string& one : arguments) argv.push_back(one.c_str());
  std::string text;
  return replay::parse_command_line(static_cast<int>(argv.size()), argv.data(), text).value();
}

std::string refusal(const words& arguments) {
  try {
    static_cast<void>(parse(arguments));
  } catch (const replay::input_error& fault) {
    return fault.what();
  }
  return "accepted";
}

/// Every point as rate/blocks/reserve/watermark blocks.
words points_of(const words& arguments) {
  const replay::options chosen = parse(arguments);
  words points;
  for (const replay::point& one : chosen.points) {
    std::string rate = std::to_string(one.rate);
    rate.erase(rate.find_last_not_of('0') + 1);
    points.push_back(rate + "/" + std::to_string(one.engine.pool_blocks) + "/" +
                     std::to_string(one.engine.reserve_blocks) + "/" + std::to_string(one.engine.watermark_blocks));
  }
  return points;
}

}  // namespace

TEST_CASE("pave-replay: without options there is one point of defaults, and every policy", "[replay]") {
  const replay::options chosen = parse({});
  CHECK(chosen.is_single());
  CHECK(points_of({}) == words{"1./3914/0/0"});
  CHECK(chosen.points[0].watermark_percent == 0);
  CHECK_FALSE(chosen.points[0].engine.keeps_timeline);
  CHECK_FALSE(chosen.has_curves);
  CHECK(chosen.jobs >= 1);
  CHECK(chosen.policies == std::vector<replay::policy>{replay::policy::whole, replay::policy::whole_cache,
                                                       replay::policy::whole_cache_back, replay::policy::partial,
                                                       replay::policy::partial_cache, replay::policy::unlimited});
}

TEST_CASE("pave-replay: every policy has one name, and no other name is known", "[replay]") {
  CHECK(replay::known_policies(" ") == "whole whole+cache whole+cache+back partial partial+cache unlimited");
  const std::vector<replay::policy> all = parse({}).policies;
  for (const replay::policy one : all) CHECK(replay::find_policy(replay::policy_name(one)) == one);
  CHECK_FALSE(replay::find_policy(""));
  CHECK_FALSE(replay::find_policy("whole+"));
}

TEST_CASE("pave-replay: sweeps are every combination, the last one changing fastest", "[replay]") {
  CHECK(points_of({"--sweep", "rate=0.5,2", "--sweep", "blocks=100,300"}) ==
        words{"0.5/100/0/0", "0.5/300/0/0", "2./100/0/0", "2./300/0/0"});
  CHECK(points_of({"--sweep", "blocks=100,300", "--sweep", "rate=0.5,2"}) ==
        words{"0.5/100/0/0", "2./100/0/0", "0.5/300/0/0", "2./300/0/0"});
  CHECK(points_of({"--reserve", "7", "--sweep", "blocks=100:300:100", "--watermark", "1.5"}) ==
        words{"1./100/7/1", "1./200/7/3", "1./300/7/4"});
  const replay::options chosen = parse({"--sweep", "watermark=0,1", "--sweep", "rate=0.5,2", "--sweep", "reserve=3"});
  CHECK(chosen.swept ==
        std::vector<replay::variable>{replay::variable::watermark, replay::variable::rate, replay::variable::reserve});
  CHECK(chosen.points.size() == 4);
}

TEST_CASE("pave-replay: several traces, or a sweep of one value, ask for the report of many points", "[replay]") {
  CHECK(parse({"--trace", "a"}).is_single());
  CHECK_FALSE(parse({"--trace", "a", "--trace", "b"}).is_single());
  CHECK_FALSE(parse({"--sweep", "rate=1"}).is_single());
  CHECK(parse({"--trace", "a", "--trace", "[b,c]"}).traces == words{"a", "[b,c]"});
}

TEST_CASE("pave-replay: a swept rate is the same number as a typed one", "[replay]") {
  const std::vector<replay::point> points = parse({"--sweep", "rate=0.3:1.0:0.1"}).points;
  const words typed{"0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1"};
  REQUIRE(points.size() == typed.size());
  for (std::size_t i = 0; i < typed.size(); ++i) {
    CHECK(points[i].rate == parse({"--rate", typed[i]}).points.at(0).rate);
  }
}

TEST_CASE("pave-replay: what is swept is not given by its own option as well", "[replay]") {
  CHECK(refusal({"--rate", "1", "--sweep", "rate=1,2"}) == "--sweep rate does not go with --rate");
  CHECK(refusal({"--sweep", "blocks=1,2", "--blocks", "9"}) == "--sweep blocks does not go with --blocks");
  CHECK(refusal({"--sweep", "reserve=1,2", "--reserve", "0"}) == "--sweep reserve does not go with --reserve");
  CHECK(refusal({"--sweep", "watermark=1", "--watermark", "0"}) == "--sweep watermark does not go with --watermark");
}

TEST_CASE("pave-replay: a reserve is within the pool of each point", "[replay]") {
  CHECK(refusal({"--sweep", "reserve=0,4000"}) == "--sweep reserve takes a whole number from 0 to 3914, not '4000'");
  CHECK(refusal({"--reserve", "100", "--sweep", "blocks=50,200"}) ==
        "--reserve takes a whole number from 0 to 50, not '100'");
  CHECK(refusal({"--sweep", "reserve=50,100", "--sweep", "blocks=100,50"}) ==
        "--sweep reserve takes a whole number from 0 to 50, not '100'");
  CHECK(points_of({"--sweep", "reserve=50,100", "--blocks", "100"}) == words{"1./100/50/0", "1./100/100/0"});
}

TEST_CASE("pave-replay: a watermark is a share of the pool, rounded down to whole blocks", "[replay]") {
  const auto blocks = [](const std::string& percent, const std::string& pool) {
    return parse({"--watermark", percent, "--blocks", pool}).points.at(0).engine.watermark_blocks;
  };
  CHECK(blocks("1", "3914") == 39);
  CHECK(blocks("1", "99") == 0);
  CHECK(blocks("1", "100") == 1);
  CHECK(blocks("100", "3914") == 3914);
  CHECK(blocks("99.99", "3914") == 3913);
  CHECK(blocks("0", "3914") == 0);
  // These shares are whole numbers of blocks, which the nearest doubles miss from below.
  for (int hundredths = 1; hundredths <= 10'000; ++hundredths) {
    const std::string digits = std::to_string(10'000 + hundredths);
    const std::string percent = std::to_string(hundredths / 100) + "." + digits.substr(digits.size() - 2);
    CAPTURE(percent);
    REQUIRE(blocks(percent, "10000") == hundredths);
  }
}

TEST_CASE("pave-replay: curves keep the timeline of every run", "[replay]") {
  const replay::options chosen = parse({"--curves", "--json", "-", "--sweep", "rate=1,2"});
  CHECK(chosen.has_curves);
  for (const replay::point& one : chosen.points) CHECK(one.engine.keeps_timeline);
}

TEST_CASE("pave-replay: as many jobs as were asked for", "[replay]") {
  CHECK(parse({"--jobs", "3"}).jobs == 3);
  CHECK(refusal({"--jobs", "0"}) == "--jobs takes a whole number from 1 to 1024, not '0'");
}
