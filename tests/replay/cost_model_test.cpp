// SPDX-License-Identifier: Apache-2.0
// Step costs: the table by name, and sums worked out by hand.
#include "simulation/cost_model.hpp"

#include "support/catch.hpp"

#include <string>
#include <utility>
#include <vector>

namespace {

constexpr replay::step_costs round_costs{10, 0.5, 0.001, 20, 2, 0.01, 1, 1};

const replay::step_costs& costs_of(const char* model, const char* gpu) {
  const replay::fitted_costs* const found = replay::find_costs(model, gpu);
  REQUIRE(found != nullptr);
  return found->costs;
}

}  // namespace

TEST_CASE("pave-replay: a step of prefills alone pays the base of a prefill once", "[replay]") {
  replay::step_time step(round_costs);
  CHECK(step.milliseconds() == 0);
  step.add_prefill(100, 0);
  // 10 + 0.5 * 100 + 0.001 * 100 * 50.5
  CHECK(step.milliseconds() == Approx(65.05));
  step.add_prefill(10, 200);
  // + 0.5 * 10 + 0.001 * 10 * 205.5
  CHECK(step.milliseconds() == Approx(65.05 + 5 + 2.055));
}

TEST_CASE("pave-replay: a step with a decode pays the decode and, for prefills, no base", "[replay]") {
  replay::step_time step(round_costs);
  step.add_decode(1000);
  // 20 + 2 + 0.01 * 1000
  CHECK(step.milliseconds() == Approx(32));
  step.add_decode(500);
  CHECK(step.milliseconds() == Approx(39));
  step.add_prefill(100, 0);
  CHECK(step.milliseconds() == Approx(39 + 55.05));
}

TEST_CASE("pave-replay: the order in which a step is added up does not matter", "[replay]") {
  replay::step_time one(round_costs);
  one.add_prefill(100, 7);
  one.add_decode(1000);
  replay::step_time other(round_costs);
  other.add_decode(1000);
  other.add_prefill(100, 7);
  CHECK(one.milliseconds() == other.milliseconds());
}

TEST_CASE("pave-replay: a prefill in chunks attends to as much as one at once", "[replay]") {
  const replay::step_costs& costs = costs_of("llama-2-13b", "a100");
  replay::step_time whole(costs);
  whole.add_prefill(4000, 0);
  replay::step_time chunks(costs);
  chunks.add_prefill(2048, 0);
  chunks.add_prefill(1952, 2048);
  CHECK(chunks.milliseconds() == Approx(whole.milliseconds()));
}

TEST_CASE("pave-replay: a full recompute on A100 takes what was measured for Llama-2-13B", "[replay]") {
  const std::vector<std::pair<int, double>> known{{1024, 136}, {2048, 253}, {3072, 384}, {4096, 506}};
  for (const auto& [tokens, milliseconds] : known) {
    CAPTURE(tokens);
    replay::step_time step(costs_of("llama-2-13b", "a100"));
    step.add_prefill(tokens, 0);
    CHECK(step.milliseconds() == Approx(milliseconds).epsilon(0.1));
  }
}

TEST_CASE("pave-replay: step costs are found by name, whatever its case", "[replay]") {
  CHECK(costs_of("llama-2-13b", "a100").kv_tokens == 62'634);
  CHECK(&costs_of("Llama-2-13B", "A100") == &costs_of("llama-2-13b", "a100"));
  CHECK(costs_of("llama-2-7b", "h100").decode_base == 5.97);
  CHECK(costs_of("codellama-34b", "h100").prefill_attention == 3.83e-6);
  CHECK(costs_of("llama-3-8b", "a100").kv_bytes_per_token == 131'072);
}

TEST_CASE("pave-replay: an unknown name is told from a pair without figures", "[replay]") {
  CHECK(replay::find_costs("llama-3-8b", "h100") == nullptr);
  CHECK(replay::is_known_model("LLAMA-3-8B"));
  CHECK(replay::is_known_gpu("h100"));
  CHECK_FALSE(replay::is_known_model("llama"));
  CHECK_FALSE(replay::is_known_model(""));
  CHECK_FALSE(replay::is_known_gpu("a100 "));
  CHECK(replay::known_models() == "llama-2-7b, llama-3-8b, llama-2-13b, codellama-34b, llama-2-13b-hybrid");
  CHECK(replay::known_gpus() == "a100, h100");
}
