// SPDX-License-Identifier: Apache-2.0
// The engine model: what vLLM V1's scheduler does in a step, with every block from a pave::kv_cache.
#include "engine.hpp"

#include <pave/pave.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace replay {
namespace {

/// pave as it comes.
using partial_policies = pave::cache_policies;

/// pave, but a restore may begin as soon as its first chunk fits.
struct first_chunk_policies : pave::cache_policies {
  struct tracker : pave::tracker_policies {
    using resume_gate = pave::first_chunk;
  };
};

/// vLLM's admission: there has to be room for the whole sequence, but it takes its blocks chunk by chunk.
struct whole_sequence_fits {
  [[nodiscard]] static constexpr pave::token_count must_fit(pave::token_count remaining, pave::token_count) noexcept {
    return remaining;
  }
  [[nodiscard]] static constexpr pave::token_count allocates(pave::token_count, pave::token_count chunk) noexcept {
    return chunk;
  }
};
static_assert(pave::is_resume_gate_v<whole_sequence_fits>);

/// vLLM without prefix caching: whole victims, then the requester itself.
struct whole_policies : pave::cache_policies {
  struct planner : pave::planner_policies {
    using demand = pave::whole_sequence;
  };
  struct tracker : pave::tracker_policies {
    using resume_gate = whole_sequence_fits;
  };
};

constexpr double never = -1;

/// One request in the engine's hands. Its rank is its place in the trace: first come, first served.
struct job {
  pave::sequence_id sequence;
  std::int64_t known = 0;      ///< prompt and output tokens so far: what has to be in the cache for the next token
  std::int64_t scheduled = 0;  ///< tokens in the cache, those of the step being put together included
  std::int64_t produced = 0;   ///< output tokens so far
  std::int64_t chunk = 0;      ///< tokens in the step being put together
  double restore_began_ms = never;
  bool is_running = false;
};

template <class Policies>
class engine {
 public:
  engine(const std::vector<request>& requests,
         double arrival_scale,
         const engine_settings& settings,
         std::int64_t pool_blocks,
         const step_costs& costs)
      : requests_(requests),
        settings_(settings),
        costs_(costs),
        jobs_(requests.size()),
        owner_(std::min(static_cast<std::size_t>(settings.sequences), requests.size()) + 1),
        cut_room_(owner_.size()),
        cuts_(pave::span<pave::cut>(cut_room_)),
        cache_(make_cache(pool_blocks)) {
    outcome_.requests.resize(requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      constexpr double ticks_per_ms = 10000;
      const double since_first = static_cast<double>(requests[i].arrival_ticks - requests.front().arrival_ticks);
      outcome_.requests[i].arrival_ms = since_first / ticks_per_ms * arrival_scale;
      outcome_.requests[i].output_tokens = requests[i].output_tokens;
    }
  }

  engine_outcome run(const progress_callback& progress) {
    constexpr std::size_t steps_between_reports = 256;
    for (std::size_t steps = 0; ended_ < requests_.size(); ++steps) {
      if (steps % steps_between_reports == 0 && progress) progress(ended_);
      step();
    }
    if (progress) progress(ended_);
    outcome_.tokens_recomputed = cache_.snapshot().tokens_restored.value();
    return std::move(outcome_);
  }

 private:
  pave::kv_cache<Policies> make_cache(std::int64_t pool_blocks) const {
    std::int64_t longest = 1;
    for (const request& r : requests_) {
      const bool fits = pave::blocks_for(cache_tokens(r), settings_.tokens_per_block) <= pool_blocks;
      if (fits) longest = std::max(longest, cache_tokens(r));
    }
    pave::kv_cache_options options;
    options.blocks = pool_blocks;
    options.tokens_per_block = settings_.tokens_per_block;
    // Parked requests arrived before all that wait, so those in the cache are the runners at most, and the head of the
    // queue.
    options.sequences = owner_.size();
    options.blocks_per_sequence = pave::blocks_for(longest, settings_.tokens_per_block);
    options.reserve = settings_.reserve_blocks;
    options.steps_in_flight = 1;
    auto made = pave::kv_cache<Policies>::create(options);
    if (!made) throw std::runtime_error(std::string("the KV cache cannot be made: ") + pave::to_string(made.code()));
    return std::move(made).value();
  }

  /// Tokens that a request has in the cache at its end: the last one is never fed back.
  static std::int64_t cache_tokens(const request& r) { return r.prompt_tokens + r.output_tokens - 1; }

  void step() {
    const pave::step_id current = cache_.begin_step().value();
    budget_ = settings_.tokens_per_step;
    has_stopped_ = false;
    step_time time(costs_);
    batch_.clear();
    grow_running();
    if (!has_stopped_) let_in();
    for (const std::size_t index : batch_) {
      const job& j = jobs_[index];
      if (j.chunk == 1 && j.produced > 0 && j.scheduled == j.known) {
        time.add_decode(j.scheduled);
      } else {
        time.add_prefill(j.chunk, j.scheduled - j.chunk);
      }
    }
    if (batch_.empty()) {
      wait_for_arrival();
    } else {
      now_ms_ += time.milliseconds();
    }
    cache_.complete(current).value();
    for (const std::size_t index : batch_) {
      if (jobs_[index].scheduled == jobs_[index].known) yield_token(index);
    }
    forget_gone();
  }

  /// Running requests come first, in their order. One that cannot grow stops, and so do those that it takes from.
  void grow_running() {
    for (const std::size_t index : running_) {
      job& j = jobs_[index];
      if (budget_ == 0) break;
      if (!j.is_running) continue;
      const std::int64_t chunk = std::min(j.known - j.scheduled, budget_);
      const pave::block_count available = cache_.pool().available();
      const auto grown = cache_.grow_or_reclaim(j.sequence, chunk, cuts_);
      if (!cuts_.used().empty()) {
        account_cuts(j, (grown ? grown->blocks.size() : blocks_of_next(j, chunk)) - available);
      }
      if (grown) {
        put_in_batch(index, chunk);
      } else {
        if (grown.code() != pave::errc::shortage) throw std::logic_error(pave::to_string(grown.code()));
        outcome_.self_parked += 1;
        stop(j);
      }
    }
  }

  /// The head of the queue is all of the queue that the cache needs to know.
  void let_in() {
    while (budget_ > 0 && running_count_ < settings_.sequences) {
      admit_head();
      const pave::block_count available = cache_.pool().available();
      const auto next = cache_.next_restore(budget_, cuts_);
      if (!next) break;
      const std::size_t index = owner_[next->sequence.slot];
      job& j = jobs_[index];
      if (!cuts_.used().empty()) {
        outcome_.blocks_short += (next->blocks.size() - available).value();
        account_freed();
      }
      j.is_running = true;
      running_count_ += 1;
      running_.insert(std::upper_bound(running_.begin(), running_.end(), index), index);
      if (next->resumed) {
        outcome_.restores += 1;
        j.restore_began_ms = now_ms_;
      } else {
        has_head_ = false;
      }
      put_in_batch(index, next->tokens.size().value());
    }
  }

  void admit_head() {
    while (!has_head_ && next_arrival_ < requests_.size() && outcome_.requests[next_arrival_].arrival_ms <= now_ms_) {
      const std::size_t index = next_arrival_++;
      const request& r = requests_[index];
      const auto admitted = cache_.admit(static_cast<std::int64_t>(index), r.prompt_tokens, cache_tokens(r));
      if (admitted) {
        jobs_[index].sequence = *admitted;
        jobs_[index].known = r.prompt_tokens;
        owner_[admitted->slot] = index;
        has_head_ = true;
      } else if (admitted.code() == pave::errc::never_fits) {
        outcome_.requests[index].refused = true;
        outcome_.refused += 1;
        ended_ += 1;
      } else {
        throw std::logic_error(pave::to_string(admitted.code()));
      }
    }
  }

  void wait_for_arrival() {
    if (has_stopped_ || ended_ == requests_.size()) return;
    if (running_count_ > 0 || next_arrival_ == requests_.size()) throw std::logic_error("the engine stands still");
    now_ms_ = std::max(now_ms_, outcome_.requests[next_arrival_].arrival_ms);
  }

  void put_in_batch(std::size_t index, std::int64_t chunk) {
    job& j = jobs_[index];
    j.chunk = chunk;
    j.scheduled += chunk;
    budget_ -= chunk;
    batch_.push_back(index);
  }

  /// A requester that only took from itself had nobody to take from, and is counted as self-parked.
  void account_cuts(job& requester, pave::block_count shortage) {
    const auto used = cuts_.used();
    if (used.size() == 1 && used[0].sequence == requester.sequence) {
      read_progress(requester);
      return;
    }
    outcome_.blocks_short += shortage.value();
    account_freed();
    for (const pave::cut& c : used) {
      if (!c.was_parked && c.sequence != requester.sequence) stop(jobs_[owner_[c.sequence.slot]]);
    }
  }

  /// What a requester that gave up everything was to get: it held just the blocks of its tokens.
  [[nodiscard]] pave::block_count blocks_of_next(const job& j, std::int64_t chunk) const {
    const pave::token_count each = settings_.tokens_per_block;
    return pave::blocks_for(j.scheduled + chunk, each) - pave::blocks_for(j.scheduled, each);
  }

  void account_freed() {
    for (const pave::cut& c : cuts_.used()) {
      outcome_.blocks_reclaimed += c.freed.value();
      read_progress(jobs_[owner_[c.sequence.slot]]);
    }
  }

  void read_progress(job& j) { j.scheduled = cache_.progress(j.sequence)->scheduled.value(); }

  void stop(job& j) {
    j.is_running = false;
    j.restore_began_ms = never;
    running_count_ -= 1;
    outcome_.preemptions += 1;
    has_stopped_ = true;
  }

  void yield_token(std::size_t index) {
    job& j = jobs_[index];
    request_outcome& fate = outcome_.requests[index];
    if (j.produced == 0) {
      fate.first_token_ms = now_ms_;
    } else {
      fate.longest_gap_ms = std::max(fate.longest_gap_ms, now_ms_ - fate.last_token_ms);
    }
    fate.last_token_ms = now_ms_;
    j.produced += 1;
    j.known += 1;
    if (j.restore_began_ms >= 0) {
      outcome_.restore_latencies_ms.push_back(now_ms_ - j.restore_began_ms);
      j.restore_began_ms = never;
    }
    if (j.produced == fate.output_tokens) {
      cache_.finish(j.sequence).value();
      j.is_running = false;
      running_count_ -= 1;
      ended_ += 1;
      outcome_.makespan_ms = now_ms_;
    }
  }

  void forget_gone() {
    const auto is_gone = [this](std::size_t index) { return !jobs_[index].is_running; };
    running_.erase(std::remove_if(running_.begin(), running_.end(), is_gone), running_.end());
  }

  const std::vector<request>& requests_;
  engine_settings settings_;
  step_costs costs_;
  std::vector<job> jobs_;           // by place in the trace
  std::vector<std::size_t> owner_;  // slot of the cache → place in the trace
  std::vector<pave::cut> cut_room_;
  pave::cut_list cuts_;
  pave::kv_cache<Policies> cache_;
  std::vector<std::size_t> running_;  // by rank; those that stopped are taken out at the end of the step
  std::vector<std::size_t> batch_;    // who computes something in the step being put together
  std::int64_t running_count_ = 0;
  std::int64_t budget_ = 0;
  std::size_t next_arrival_ = 0;
  std::size_t ended_ = 0;
  bool has_head_ = false;     // the head of the queue waits in the cache
  bool has_stopped_ = false;  // somebody stopped in this step
  double now_ms_ = 0;
  engine_outcome outcome_;
};

template <class Policies>
engine_outcome run_with(const std::vector<request>& requests,
                        double arrival_scale,
                        const engine_settings& settings,
                        std::int64_t pool_blocks,
                        const step_costs& costs,
                        const progress_callback& progress) {
  return engine<Policies>(requests, arrival_scale, settings, pool_blocks, costs).run(progress);
}

/// Blocks that all requests need together, or as many of the longest as can run: no pool needs more.
std::int64_t blocks_without_limit(const std::vector<request>& requests, const engine_settings& settings) {
  std::int64_t longest = 1;
  std::int64_t all = 0;
  for (const request& r : requests) {
    const std::int64_t blocks = pave::blocks_for(r.prompt_tokens + r.output_tokens, settings.tokens_per_block).value();
    longest = std::max(longest, blocks);
    all += blocks;
  }
  const std::int64_t most = (std::numeric_limits<std::int32_t>::max)();
  return std::min({all, longest * settings.sequences, most});
}

}  // namespace

engine_outcome run_engine(policy chosen,
                          const std::vector<request>& requests,
                          double arrival_scale,
                          const engine_settings& settings,
                          const step_costs& costs,
                          const progress_callback& progress) {
  const std::int64_t blocks = settings.pool_blocks;
  switch (chosen) {
    case policy::whole: return run_with<whole_policies>(requests, arrival_scale, settings, blocks, costs, progress);
    case policy::unlimited:
      return run_with<partial_policies>(requests, arrival_scale, settings, blocks_without_limit(requests, settings),
                                        costs, progress);
    case policy::partial: break;
  }
  if (settings.resume_gate == gate::first_chunk) {
    return run_with<first_chunk_policies>(requests, arrival_scale, settings, blocks, costs, progress);
  }
  return run_with<partial_policies>(requests, arrival_scale, settings, blocks, costs, progress);
}

}  // namespace replay
