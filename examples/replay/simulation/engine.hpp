// SPDX-License-Identifier: Apache-2.0
// A continuous-batching engine, as vLLM V1 schedules, over a pave::kv_cache and simulated step times.
#ifndef PAVE_REPLAY_ENGINE_HPP
#define PAVE_REPLAY_ENGINE_HPP

#include "simulation/cost_model.hpp"
#include "simulation/hybrid_pools.hpp"
#include "simulation/plan_choice.hpp"
#include "traces/trace.hpp"

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace replay {

/// What happens when the pool runs short.
enum class policy : std::uint8_t {
  whole,             ///< whole-request preemption, content forgotten: vLLM without prefix caching
  whole_cache,       ///< the same, content kept until its block is reused, and found again: vLLM's default
  whole_cache_back,  ///< the same, victims by fewest output tokens, and the preempted queue up anew: SGLang
  partial,           ///< pave: exactly the missing blocks
  partial_cache,     ///< pave, content kept until its block is reused
  unlimited,         ///< a pool that never runs short
};

/// When a stopped or waiting request may come in, under `policy::partial`.
enum class gate : std::uint8_t { whole_gap, first_chunk };

struct engine_settings {
  std::int64_t pool_blocks = 0;  ///< usable blocks; `policy::unlimited` ignores it
  std::int64_t tokens_per_block = 16;
  std::int64_t tokens_per_step = 2048;  ///< token budget of one step, prefill and decode together
  std::int64_t sequences = 256;         ///< requests that run at the same time, at most
  std::int64_t reserve_blocks = 0;      ///< what a resumed request must leave available
  std::int64_t watermark_blocks = 0;    ///< what every request that comes in must leave available
  gate resume_gate = gate::whole_gap;
  bool finds_running = false;   ///< under policies without a cache requests find the prefixes of those that run
  hybrid_pools hybrid;          ///< of a hybrid model; `policy::unlimited` ignores them
  plan_choice plans;            ///< of `policy::partial` and `policy::partial_cache`
  bool keeps_timeline = false;  ///< whether the outcome has the state after each step
};

/// The state after one step.
struct moment {
  double time_ms = 0;            ///< since the first arrival
  std::int64_t held_blocks = 0;  ///< that belong to a request
  std::int64_t parked = 0;       ///< requests that ran, were stopped and wait
};

/// One request's fate. Times are milliseconds since the first arrival of the trace.
struct request_outcome {
  double arrival_ms = 0;
  double first_token_ms = 0;
  double last_token_ms = 0;
  double longest_gap_ms = 0;  ///< the longest time between two successive tokens
  std::int64_t output_tokens = 0;
  bool refused = false;  ///< can never fit the pool; it has no times
};

/// What one policy did with one trace.
struct engine_outcome {
  std::vector<request_outcome> requests;     ///< in the order of the trace
  std::vector<double> restore_latencies_ms;  ///< one for each restore that yielded a token
  std::int64_t preemptions = 0;              ///< times a running request was stopped, self-parked ones included
  std::int64_t self_parked = 0;              ///< of these: the requester itself; whom it may take from held too little
  std::int64_t refused = 0;                  ///< requests that can never fit
  std::int64_t blocks_short = 0;             ///< blocks missing at failed grows that were answered by cuts
  std::int64_t blocks_reclaimed = 0;         ///< blocks that came free in answer
  std::int64_t tokens_recomputed = 0;        ///< computed, given up and computed again
  std::int64_t tokens_revived = 0;           ///< given up and found again: their blocks had not been reused
  std::int64_t tokens_cached = 0;         ///< of prompts, found before they were ever computed: others' equal prefixes
  std::int64_t restores = 0;              ///< times a stopped request ran again
  std::int64_t restores_from_prefix = 0;  ///< of these: it had kept its first tokens, at least some
  double makespan_ms = 0;                 ///< from the first arrival to the last token
  std::vector<moment> timeline;           ///< by time; empty unless it was asked for
};

/// Called now and then with the number of requests that have ended so far.
using progress_callback = std::function<void(std::size_t ended)>;

/// @brief Replays `requests` under `chosen`; deterministic.
/// @param requests by arrival, as `read_trace` and `synthetic_trace` give them
/// @param arrival_scale arrivals are multiplied by this (2 is half the rate)
/// @pre the settings are within the limits that the command line checks; of a hybrid model the pools are divided,
///   plans are the default ones, and nothing is found of those that run without a cache
engine_outcome run_engine(policy chosen,
                          const std::vector<request>& requests,
                          double arrival_scale,
                          const engine_settings& settings,
                          const step_costs& costs,
                          const progress_callback& progress);

}  // namespace replay

#endif
