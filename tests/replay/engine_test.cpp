// SPDX-License-Identifier: Apache-2.0
// The engine under each policy: the baselines against a plain model of vLLM's scheduler, and small scenes by hand.
#include "simulation/engine.hpp"

#include "model/random.hpp"
#include "replay/vllm_model.hpp"
#include "simulation/cost_model.hpp"
#include "support/catch.hpp"
#include "traces/trace.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using pave_tests::expect;
using replay::policy;

constexpr policy all_policies[] = {policy::whole,   policy::whole_cache,   policy::whole_cache_back,
                                   policy::partial, policy::partial_cache, policy::unlimited};

const replay::step_costs& costs() { return replay::find_costs("llama-2-13b", "a100")->costs; }

replay::engine_outcome run(policy chosen,
                           const std::vector<replay::request>& requests,
                           const replay::engine_settings& settings) {
  return replay::run_engine(chosen, requests, 1, settings, costs(), {});
}

replay::plan_choice plans(replay::order_choice order, replay::shape_choice shape, replay::demand_choice demand) {
  return {order, shape, demand, demand == replay::demand_choice::exact ? 0 : 3};
}

/// A few dozen requests over a pool that is short of blocks, with prefixes that some of them share.
struct small_world {
  explicit small_world(std::uint64_t seed, bool shares_prefixes) {
    pave_tests::random_source random(pave_tests::mix(seed));
    constexpr std::int64_t tokens_per_block[] = {1, 16, 48, 512, 700};
    settings.tokens_per_block = tokens_per_block[random.index(5)];
    settings.pool_blocks = random.between(4, 24) * std::max<std::int64_t>(1, 256 / settings.tokens_per_block);
    settings.tokens_per_step = random.between(1, 4) * 512;
    settings.sequences = random.between(2, 12);
    settings.watermark_blocks = random.one_in(3) ? random.between(0, settings.pool_blocks / 4) : 0;
    std::int64_t now = 0;
    const std::int64_t count = random.between(1, 50);
    std::int64_t fresh_hash = 1000;
    for (std::int64_t i = 0; i < count; ++i) {
      replay::request r;
      now += random.one_in(3) ? 0 : random.between(0, 400'000);
      r.arrival_ticks = now - (requests.empty() ? now : 0);
      if (requests.empty()) now = 0;
      r.prompt_tokens = random.between(1, random.one_in(6) ? 3000 : 500);
      r.output_tokens = random.between(1, random.one_in(4) ? 40 : 400);
      if (shares_prefixes) {
        const std::int64_t family = random.between(0, 2);
        const std::int64_t shared = random.between(0, 8);
        for (std::int64_t h = 0; h * 512 < r.prompt_tokens; ++h) {
          const bool is_partial = (h + 1) * 512 > r.prompt_tokens;  // its hash is of fewer tokens
          r.prefix_hashes.push_back(h < shared && !is_partial ? family * 100 + h : fresh_hash++);
        }
      }
      requests.push_back(r);
    }
  }

  std::vector<replay::request> requests;
  replay::engine_settings settings;
};

void expect_same(const replay::engine_outcome& got, const replay::engine_outcome& expected) {
  expect(got.preemptions == expected.preemptions, "preemptions");
  expect(got.self_parked == expected.self_parked, "self_parked");
  expect(got.refused == expected.refused, "refused");
  expect(got.blocks_short == expected.blocks_short, "blocks_short");
  expect(got.blocks_reclaimed == expected.blocks_reclaimed, "blocks_reclaimed");
  expect(got.tokens_recomputed == expected.tokens_recomputed, "tokens_recomputed");
  expect(got.tokens_revived == expected.tokens_revived, "tokens_revived");
  expect(got.tokens_cached == expected.tokens_cached, "tokens_cached");
  expect(got.restores == expected.restores, "restores");
  expect(got.restore_latencies_ms == expected.restore_latencies_ms, "restore_latencies_ms");
  expect(got.makespan_ms == expected.makespan_ms, "makespan_ms");
  for (std::size_t i = 0; i < got.requests.size(); ++i) {
    expect(got.requests[i].first_token_ms == expected.requests[i].first_token_ms, "first_token_ms");
    expect(got.requests[i].last_token_ms == expected.requests[i].last_token_ms, "last_token_ms");
    expect(got.requests[i].longest_gap_ms == expected.requests[i].longest_gap_ms, "longest_gap_ms");
  }
}

replay::engine_outcome vllm(const small_world& world, bool caches) {
  pave_tests::vllm_model model(world.requests, 1, world.settings, costs(), caches);
  model.run();
  return model.outcome;
}

}  // namespace

TEST_CASE("pave-replay: whole is vLLM's scheduler without prefix caching", "[replay][model]") {
  pave_tests::for_each_seed(300, [](std::uint64_t seed) {
    const small_world world(seed, false);
    expect_same(run(policy::whole, world.requests, world.settings), vllm(world, false));
  });
}

TEST_CASE("pave-replay: whole+cache is vLLM's scheduler with prefix caching", "[replay][model]") {
  pave_tests::for_each_seed(300, [](std::uint64_t seed) {
    const small_world world(seed, false);
    expect_same(run(policy::whole_cache, world.requests, world.settings), vllm(world, true));
  });
}

TEST_CASE("pave-replay: whole+cache finds the prefixes of others as vLLM does", "[replay][model]") {
  pave_tests::for_each_seed(300, [](std::uint64_t seed) {
    const small_world world(seed, true);
    expect_same(run(policy::whole_cache, world.requests, world.settings), vllm(world, true));
  });
}

TEST_CASE("pave-replay: prefixes of those that run are found without a cache, where it is asked for",
          "[replay][model]") {
  std::int64_t cached = 0;
  pave_tests::for_each_seed(60, [&](std::uint64_t seed) {
    for (const policy chosen : {policy::whole, policy::partial}) {
      small_world shared(seed, true);
      expect(run(chosen, shared.requests, shared.settings).tokens_cached == 0,
             "nothing is found unless it is asked for");
      shared.settings.finds_running = true;
      const replay::engine_outcome found = run(chosen, shared.requests, shared.settings);
      expect(found.restores == found.preemptions, "who is stopped comes back");
      cached += found.tokens_cached;
      small_world alone(seed, false);
      const replay::engine_outcome without = run(chosen, alone.requests, alone.settings);
      alone.settings.finds_running = true;
      expect_same(run(chosen, alone.requests, alone.settings), without);
    }
  });
  CHECK(cached > 10'000);
}

TEST_CASE("pave-replay: the worlds that are compared with vLLM are short of blocks, and share some",
          "[replay][model]") {
  std::int64_t preemptions = 0;
  std::int64_t revived = 0;
  std::int64_t recomputed = 0;
  std::int64_t cached = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const small_world world(seed, true);
    const replay::engine_outcome outcome = vllm(world, true);
    preemptions += outcome.preemptions;
    revived += outcome.tokens_revived;
    recomputed += outcome.tokens_recomputed;
    cached += outcome.tokens_cached;
  }
  CHECK(preemptions > 100);
  CHECK(revived > 10'000);
  CHECK(recomputed > 10'000);
  CHECK(cached > 10'000);
}

TEST_CASE("pave-replay: under every policy each request gets all its tokens, in a pool that never overflows",
          "[replay][model]") {
  pave_tests::for_each_seed(60, [](std::uint64_t seed) {
    small_world world(seed, seed % 2 == 0);
    world.settings.keeps_timeline = true;
    for (const policy chosen : all_policies) {
      const replay::engine_outcome outcome = run(chosen, world.requests, world.settings);
      std::int64_t served = 0;
      for (const replay::request_outcome& fate : outcome.requests) {
        if (fate.refused) continue;
        served += 1;
        expect(fate.first_token_ms > fate.arrival_ms, "no token before its request");
        expect(fate.output_tokens == 1 || fate.last_token_ms > fate.first_token_ms, "tokens come one after another");
        expect(fate.last_token_ms <= outcome.makespan_ms, "the last token ends the run");
      }
      expect(served + outcome.refused == static_cast<std::int64_t>(world.requests.size()), "nobody is forgotten");
      expect(outcome.restores == outcome.preemptions, "who is stopped comes back");
      expect(outcome.restores_from_prefix <= outcome.restores, "some of them had kept something");
      expect(!outcome.timeline.empty() && outcome.timeline.back().held_blocks == 0, "the pool is empty at the end");
      expect(outcome.timeline.back().parked == 0, "nobody waits at the end");
      if (chosen == policy::unlimited) {
        expect(outcome.preemptions == 0 && outcome.refused == 0, "a pool without limit never runs short");
      } else {
        for (const replay::moment& now : outcome.timeline) {
          expect(now.held_blocks <= world.settings.pool_blocks, "no more blocks than there are");
        }
      }
      const bool is_exact = chosen == policy::partial || chosen == policy::partial_cache;
      expect(!is_exact || outcome.blocks_reclaimed == outcome.blocks_short, "pave frees what is missing");
    }
  });
}

TEST_CASE("pave-replay: a watermark holds newcomers back, and not the only one", "[replay]") {
  std::vector<replay::request> requests(2);
  requests[0].prompt_tokens = 64;
  requests[1].prompt_tokens = 16;
  for (replay::request& r : requests) r.output_tokens = 8;
  replay::engine_settings settings;
  settings.pool_blocks = 8;
  settings.watermark_blocks = 4;
  // The first takes 4 of 8 blocks although 4 have to stay free, since nobody runs; the second waits for its end.
  const replay::engine_outcome held_back = run(policy::whole, requests, settings);
  CHECK(held_back.requests[1].first_token_ms > held_back.requests[0].last_token_ms);
  settings.watermark_blocks = 0;
  const replay::engine_outcome together = run(policy::whole, requests, settings);
  CHECK(together.requests[1].first_token_ms == together.requests[0].first_token_ms);
  settings.watermark_blocks = 4;
  CHECK(run(policy::unlimited, requests, settings).requests[1].first_token_ms == together.requests[0].first_token_ms);
}

namespace {

/// Two of the same length run until they need a fourth block each and none is left; a third one waits that needs four.
replay::engine_outcome two_runners_and_one_in_line(policy chosen) {
  std::vector<replay::request> requests(3);
  for (replay::request& r : requests) {
    r.prompt_tokens = 47;
    r.output_tokens = 20;
  }
  requests[2].prompt_tokens = 60;
  requests[2].output_tokens = 2;
  requests[2].arrival_ticks = 10;
  replay::engine_settings settings;
  settings.pool_blocks = 6;
  return run(chosen, requests, settings);
}

}  // namespace

TEST_CASE("pave-replay: who is stopped comes back first, or under whole+cache+back after all that wait", "[replay]") {
  const replay::engine_outcome at_the_front = two_runners_and_one_in_line(policy::whole_cache);
  CHECK(at_the_front.preemptions >= 1);
  CHECK(at_the_front.requests[1].last_token_ms < at_the_front.requests[2].first_token_ms);
  CHECK(at_the_front.tokens_revived > 0);
  const replay::engine_outcome at_the_back = two_runners_and_one_in_line(policy::whole_cache_back);
  CHECK(at_the_back.preemptions >= 1);
  CHECK(at_the_back.requests[1].last_token_ms > at_the_back.requests[2].last_token_ms);
}

TEST_CASE("pave-replay: under whole+cache+back the one with the fewest output tokens is stopped, whoever came first",
          "[replay]") {
  // The second one is served its prompt first: 600 tokens a step, and the first one's prompt takes three steps.
  std::vector<replay::request> requests(2);
  requests[0].prompt_tokens = 1280;
  requests[0].output_tokens = 40;
  requests[1].prompt_tokens = 16;
  requests[1].output_tokens = 40;
  replay::engine_settings settings;
  settings.pool_blocks = 83;  // 80 and 1 blocks for the prompts, and 2 more
  settings.tokens_per_step = 600;
  const auto longest_gap = [&](policy chosen, std::size_t which) {
    return run(chosen, requests, settings).requests[which].longest_gap_ms;
  };
  // First come, first served: the second one pays. By output, and among equals by the longer prompt: the first one.
  CHECK(longest_gap(policy::whole_cache, 1) > longest_gap(policy::whole_cache, 0));
  CHECK(longest_gap(policy::whole_cache_back, 0) > longest_gap(policy::whole_cache_back, 1));
}

TEST_CASE("pave-replay: a block that a request finds with another was not short, and is not said to be", "[replay]") {
  // Small pool, long outputs, shared prefixes: restores that find held blocks and take others from the parked.
  const auto request_of = [](std::int64_t ms, std::int64_t prompt, std::int64_t output,
                             std::vector<std::int64_t> hashes) {
    replay::request r;
    r.arrival_ticks = ms * 10'000;
    r.prompt_tokens = prompt;
    r.output_tokens = output;
    r.prefix_hashes = std::move(hashes);
    return r;
  };
  const std::vector<replay::request> requests{request_of(0, 512, 1482, {2}), request_of(10, 512, 1426, {4}),
                                              request_of(22, 1449, 630, {4, 6, 7}),
                                              request_of(37, 1031, 2490, {2, 8, 9}), request_of(49, 1024, 707, {4, 5})};
  replay::engine_settings settings;
  settings.tokens_per_block = 32;
  settings.pool_blocks = 116;
  const replay::engine_outcome outcome = run(policy::partial_cache, requests, settings);
  CHECK(outcome.tokens_cached > 0);
  CHECK(outcome.blocks_short > 0);
  CHECK(outcome.blocks_reclaimed == outcome.blocks_short);
}

TEST_CASE("replay: plans of every kind end every request, free what was asked for, and lose no token", "[replay]") {
  using replay::demand_choice;
  using replay::order_choice;
  using replay::shape_choice;
  const auto order = GENERATE(order_choice::least_important, order_choice::largest, order_choice::most_slack,
                              order_choice::cheapest_restore);
  const auto shape = GENERATE(shape_choice::tail, shape_choice::head_after_shared, shape_choice::cheapest_range);
  const auto demand = GENERATE(demand_choice::exact, demand_choice::ahead, demand_choice::to_watermark);
  const policy chosen = GENERATE(policy::partial, policy::partial_cache);
  pave_tests::for_each_seed(4, [&](std::uint64_t seed) {
    small_world world(seed, chosen == policy::partial_cache);
    world.settings.plans = plans(order, shape, demand);
    world.settings.resume_gate = seed % 2 == 0 ? replay::gate::whole_gap : replay::gate::first_chunk;
    const replay::engine_outcome outcome = run(chosen, world.requests, world.settings);
    expect(demand != demand_choice::exact || outcome.blocks_reclaimed == outcome.blocks_short, "exact");
    expect(outcome.blocks_reclaimed >= outcome.blocks_short, "no less than was short");
    for (const replay::request_outcome& fate : outcome.requests) {
      expect(fate.refused || fate.last_token_ms > 0, "each ends, or is refused");
    }
    if (order == order_choice::least_important && shape == shape_choice::tail && demand == demand_choice::exact) {
      world.settings.plans = {order, shape, demand_choice::to_watermark, 0};
      const replay::engine_outcome by_choice = run(chosen, world.requests, world.settings);
      expect(outcome.makespan_ms == by_choice.makespan_ms, "what is chosen at run time is what is the default");
      expect(outcome.restore_latencies_ms == by_choice.restore_latencies_ms, "to the last restore");
    }
  });
}
