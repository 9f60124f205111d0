// SPDX-License-Identifier: Apache-2.0
// The synthetic workload: the lengths and the pace of Azure Conversation, the same for the same seed.
#include "traces/workload.hpp"

#include "simulation/metrics.hpp"
#include "support/catch.hpp"
#include "support/requests.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

TEST_CASE("pave-replay: synthetic lengths are distributed as those of Azure Conversation", "[replay]") {
  const auto seed = GENERATE(std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3});
  CAPTURE(seed);
  const auto requests = replay::synthetic_trace(100'000, seed);
  REQUIRE(requests.size() == 100'000);
  const auto prompts = pave_tests::column(requests, &replay::request::prompt_tokens);
  CHECK(replay::describe(prompts).mean.value() == Approx(1154.7).epsilon(0.02));
  CHECK(replay::percentile(prompts, 50).value() == Approx(1020).epsilon(0.02));
  CHECK(replay::percentile(prompts, 95).value() == Approx(4083).epsilon(0.02));
  CHECK(replay::percentile(prompts, 99).value() == Approx(4142).epsilon(0.02));
  CHECK(prompts.front() >= 2);
  CHECK(prompts.back() <= 14'050);
  const auto outputs = pave_tests::column(requests, &replay::request::output_tokens);
  CHECK(replay::describe(outputs).mean.value() == Approx(211.1).epsilon(0.02));
  CHECK(replay::percentile(outputs, 50).value() == Approx(129).epsilon(0.04));
  CHECK(replay::percentile(outputs, 95).value() == Approx(451).epsilon(0.04));
  CHECK(replay::percentile(outputs, 99).value() == Approx(601).epsilon(0.02));
  CHECK(outputs.front() >= 7);
  CHECK(outputs.back() <= 1000);
}

TEST_CASE("pave-replay: synthetic arrivals are Poisson at 5.53 a second", "[replay]") {
  const auto requests = replay::synthetic_trace(100'000, 7);
  CHECK(requests.front().arrival_ticks == 0);
  std::vector<double> gaps;
  double squares = 0;
  for (std::size_t i = 1; i < requests.size(); ++i) {
    const std::int64_t ticks = requests[i].arrival_ticks - requests[i - 1].arrival_ticks;
    REQUIRE(ticks >= 0);
    gaps.push_back(static_cast<double>(ticks) / 1e7);
    squares += gaps.back() * gaps.back();
  }
  const double mean = replay::describe(gaps).mean.value();
  CHECK(1 / mean == Approx(5.53).epsilon(0.02));
  // The variance of an exponential distribution is the square of its mean.
  CHECK(squares / static_cast<double>(gaps.size()) - mean * mean == Approx(mean * mean).epsilon(0.03));
}

TEST_CASE("pave-replay: a seed gives one workload, another seed another, and a longer one goes on with it",
          "[replay]") {
  const auto same = [](const replay::request& one, const replay::request& other) {
    return one.arrival_ticks == other.arrival_ticks && one.prompt_tokens == other.prompt_tokens &&
           one.output_tokens == other.output_tokens;
  };
  const auto one = replay::synthetic_trace(500, 1);
  const auto again = replay::synthetic_trace(1000, 1);
  const auto other = replay::synthetic_trace(500, 2);
  CHECK(std::equal(one.begin(), one.end(), again.begin(), same));
  CHECK_FALSE(std::equal(one.begin(), one.end(), other.begin(), same));
}

TEST_CASE("pave-replay: the first requests of seed 1 are the same on every platform", "[replay]") {
  const auto requests = replay::synthetic_trace(3, 1);
  CHECK(requests[0].arrival_ticks == 0);
  CHECK(requests[0].prompt_tokens == 274);
  CHECK(requests[0].output_tokens == 63);
  CHECK(requests[1].arrival_ticks == 1'085'078);
  CHECK(requests[1].prompt_tokens == 100);
  CHECK(requests[1].output_tokens == 96);
  CHECK(requests[2].arrival_ticks == 5'466'904);
  CHECK(requests[2].prompt_tokens == 1002);
  CHECK(requests[2].output_tokens == 48);
}
