// SPDX-License-Identifier: Apache-2.0
// Timelines thinned to an even grid, and percentiles of TPOT.
#include "report/curves.hpp"

#include "support/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

std::vector<replay::moment> steps_of_10_ms(std::size_t count) {
  std::vector<replay::moment> timeline;
  for (std::size_t i = 1; i <= count; ++i) {
    const std::int64_t step = static_cast<std::int64_t>(i);
    timeline.push_back({10.0 * static_cast<double>(i), step, step % 7});
  }
  return timeline;
}

}  // namespace

TEST_CASE("pave-replay: a timeline is sampled on an even grid, each time with the state of the last step", "[replay]") {
  const std::vector<replay::moment> grid = replay::on_even_grid(steps_of_10_ms(1000), 400);
  REQUIRE(grid.size() == 400);
  CHECK(grid.front().time_ms == 0);
  CHECK(grid.front().held_blocks == 0);
  CHECK(grid.front().parked == 0);
  CHECK(grid.back().time_ms == 10'000);
  CHECK(grid.back().held_blocks == 1000);
  for (std::size_t i = 1; i < grid.size(); ++i) {
    CHECK(grid[i].time_ms - grid[i - 1].time_ms == Approx(10'000.0 / 399));
    CHECK(grid[i].held_blocks == static_cast<std::int64_t>(grid[i].time_ms / 10));
    CHECK(grid[i].parked == grid[i].held_blocks % 7);
  }
}

TEST_CASE("pave-replay: uneven steps make an even grid", "[replay]") {
  const std::vector<replay::moment> grid = replay::on_even_grid({{10, 1, 0}, {11, 2, 1}, {11, 3, 2}, {40, 4, 3}}, 400);
  REQUIRE(grid.size() == 4);
  const std::vector<std::int64_t> held{0, 3, 3, 4};
  for (std::size_t i = 0; i < grid.size(); ++i) {
    CHECK(grid[i].time_ms == Approx(40.0 * static_cast<double>(i) / 3));
    CHECK(grid[i].held_blocks == held[i]);
  }
}

TEST_CASE("pave-replay: short timelines have short grids", "[replay]") {
  CHECK(replay::on_even_grid({}, 400).empty());
  const std::vector<replay::moment> one = replay::on_even_grid({{5, 3, 1}}, 400);
  REQUIRE(one.size() == 1);
  CHECK(one[0].time_ms == 5);
  CHECK(one[0].held_blocks == 3);
}

TEST_CASE("pave-replay: the percentiles of TPOT begin with the smallest", "[replay]") {
  replay::engine_outcome outcome;
  for (int i = 200; i >= 1; --i) {
    replay::request_outcome fate;
    fate.output_tokens = 2;
    fate.last_token_ms = i;
    outcome.requests.push_back(fate);
  }
  const replay::curves drawn = replay::curves_of(outcome);
  REQUIRE(drawn.tpot_percentiles_ms.size() == 101);
  CHECK(drawn.tpot_percentiles_ms[0] == 1);
  for (std::size_t percent = 1; percent <= 100; ++percent) {
    CHECK(drawn.tpot_percentiles_ms[percent] == 2.0 * static_cast<double>(percent));
  }
  CHECK(drawn.timeline.empty());
  const replay::curves nothing = replay::curves_of({});
  REQUIRE(nothing.tpot_percentiles_ms.size() == 101);
  for (const auto& one : nothing.tpot_percentiles_ms) CHECK_FALSE(one);
}
