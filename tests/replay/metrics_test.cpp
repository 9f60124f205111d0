// SPDX-License-Identifier: Apache-2.0
// Metrics of samples made by hand.
#include "simulation/metrics.hpp"

#include "support/catch.hpp"

#include <optional>
#include <vector>

namespace {

replay::request_outcome fate(double arrival, double first, double last, std::int64_t tokens, double gap = 0) {
  replay::request_outcome one;
  one.arrival_ms = arrival;
  one.first_token_ms = first;
  one.last_token_ms = last;
  one.output_tokens = tokens;
  one.longest_gap_ms = gap;
  return one;
}

replay::request_outcome refused(double arrival) {
  replay::request_outcome one;
  one.arrival_ms = arrival;
  one.refused = true;
  return one;
}

}  // namespace

TEST_CASE("pave-replay: a percentile is the smallest value with at least so much of the sample at or below it",
          "[replay]") {
  std::vector<double> hundred;
  for (int i = 1; i <= 100; ++i) hundred.push_back(i);
  for (int percent = 1; percent <= 100; ++percent) {
    CAPTURE(percent);
    CHECK(replay::percentile(hundred, percent) == percent);
  }
  CHECK(replay::percentile({1, 2, 3, 4}, 50) == 2);
  CHECK(replay::percentile({1, 2, 3, 4}, 51) == 3);
  CHECK(replay::percentile({1, 2, 3, 4}, 99) == 4);
  CHECK(replay::percentile({1, 2, 3}, 50) == 2);
  CHECK(replay::percentile({1, 1, 1, 9}, 75) == 1);
  CHECK(replay::percentile({5}, 1) == 5);
  CHECK(replay::percentile({5}, 99) == 5);
  CHECK(replay::percentile({}, 50) == std::nullopt);
}

TEST_CASE("pave-replay: a sample is described whatever its order, an empty one not at all", "[replay]") {
  const replay::distribution known = replay::describe({30, 10, 20, 40});
  CHECK(known.mean == 25);
  CHECK(known.p50 == 20);
  CHECK(known.p90 == 40);
  CHECK(known.p99 == 40);
  const replay::distribution nothing = replay::describe({});
  CHECK_FALSE(nothing.mean);
  CHECK_FALSE(nothing.p50);
  CHECK_FALSE(nothing.p90);
  CHECK_FALSE(nothing.p99);
}

TEST_CASE("pave-replay: TPOT and TTFT are taken from each request's own times", "[replay]") {
  replay::engine_outcome outcome;
  outcome.requests = {fate(100, 150, 450, 4, 180), fate(200, 400, 400, 1), fate(300, 310, 350, 3, 25)};
  const replay::summary found = replay::summarize(outcome, {{}, 2000});
  CHECK(replay::tpot_sample(outcome) == std::vector<double>{100, 20});
  // (450 - 150) / 3 and (350 - 310) / 2; the request of one token has no TPOT and no gap.
  CHECK(found.tpot_ms.mean == 60);
  CHECK(found.tpot_ms.p50 == 20);
  CHECK(found.tpot_ms.p99 == 100);
  CHECK(found.ttft_ms.mean.value() == Approx((50.0 + 200 + 10) / 3));
  CHECK(found.ttft_ms.p50 == 50);
  CHECK(found.ttft_ms.p99 == 200);
  CHECK(found.longest_gap_ms.p50 == 25);
  CHECK(found.longest_gap_ms.p99 == 180);
}

TEST_CASE("pave-replay: attainment counts the requests with a TPOT and the refused, which miss", "[replay]") {
  replay::engine_outcome outcome;
  outcome.requests = {
      fate(0, 100, 200, 3),    // TPOT 50, TTFT 100
      fate(0, 3000, 3120, 3),  // TPOT 60, TTFT 3000
      fate(0, 2000, 2150, 3),  // TPOT 75, TTFT 2000
      fate(0, 100, 100, 1),    // no TPOT
      refused(0),
  };
  const replay::summary found = replay::summarize(outcome, {{49.9, 50, 60, 75}, 2000});
  REQUIRE(found.slo.size() == 4);
  CHECK(found.slo[0].tpot_ms == 49.9);
  CHECK(found.slo[0].share == 0);
  CHECK(found.slo[1].share == 0.25);
  CHECK(found.slo[1].with_ttft == 0.25);
  CHECK(found.slo[2].share == 0.5);
  CHECK(found.slo[2].with_ttft == 0.25);
  CHECK(found.slo[3].share == 0.75);
  CHECK(found.slo[3].with_ttft == 0.5);
}

TEST_CASE("pave-replay: where no request has a TPOT and none was refused, attainment is unknown", "[replay]") {
  replay::engine_outcome outcome;
  outcome.requests = {fate(0, 100, 100, 1)};
  const replay::summary found = replay::summarize(outcome, {{50}, 2000});
  CHECK_FALSE(found.slo.at(0).share);
  CHECK_FALSE(found.slo.at(0).with_ttft);
  CHECK_FALSE(found.tpot_ms.p50);
  CHECK_FALSE(found.restore_latency_ms.mean);
}

TEST_CASE("pave-replay: over-evicted blocks are those reclaimed beyond the shortage", "[replay]") {
  replay::engine_outcome outcome;
  outcome.preemptions = 5;
  outcome.self_parked = 1;
  outcome.refused = 2;
  outcome.blocks_short = 7;
  outcome.blocks_reclaimed = 107;
  outcome.tokens_recomputed = 1600;
  outcome.tokens_revived = 320;
  outcome.tokens_cached = 5120;
  outcome.restores = 4;
  outcome.restores_from_prefix = 3;
  outcome.restore_latencies_ms = {30, 10};
  const replay::summary found = replay::summarize(outcome, {});
  CHECK(found.preemptions == 5);
  CHECK(found.self_parked == 1);
  CHECK(found.refused == 2);
  CHECK(found.blocks_short == 7);
  CHECK(found.blocks_reclaimed == 107);
  CHECK(found.blocks_over_evicted == 100);
  CHECK(found.tokens_recomputed == 1600);
  CHECK(found.tokens_revived == 320);
  CHECK(found.tokens_cached == 5120);
  CHECK(found.restores == 4);
  CHECK(found.restores_from_prefix == 3);
  CHECK(found.restore_latency_ms.mean == 20);
  CHECK(found.restore_latency_ms.p50 == 10);
  CHECK(found.restore_latency_ms.p99 == 30);
}

TEST_CASE("pave-replay: throughput is what completed requests generated, over the makespan", "[replay]") {
  replay::engine_outcome outcome;
  outcome.requests = {fate(0, 100, 1000, 300), fate(0, 100, 2000, 200), refused(0)};
  outcome.requests.back().output_tokens = 999;
  outcome.makespan_ms = 2000;
  const replay::summary found = replay::summarize(outcome, {});
  CHECK(found.makespan_s == 2);
  CHECK(found.throughput_tokens_per_s == 250);
  outcome.makespan_ms = 0;
  CHECK_FALSE(replay::summarize(outcome, {}).throughput_tokens_per_s);
}
