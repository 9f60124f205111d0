// SPDX-License-Identifier: Apache-2.0
// The engine model: what vLLM V1's scheduler does in a step, with every block from a cache of pave's.
#include "simulation/engine.hpp"

#include "simulation/hybrid_cache.hpp"
#include "simulation/plain_cache.hpp"
#include "simulation/policies.hpp"
#include "simulation/prompt_hashes.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <limits>
#include <stdexcept>
#include <utility>

namespace replay {
namespace {

/// Who is stopped first when blocks run short, and where the stopped queue.
enum class queueing : std::uint8_t {
  by_arrival,  ///< the last to arrive; they stay in the cache, and come back before all that wait
  to_the_back  ///< those with the fewest output tokens; they leave the cache, and queue up anew
};

constexpr double never = -1;

/// One request in the engine's hands.
struct job {
  pave::sequence_id sequence;
  std::int64_t known = 0;      ///< prompt and output tokens so far: what has to be in the cache for the next token
  std::int64_t scheduled = 0;  ///< where it stands in the cache, with the tokens of the step being put together
  std::int64_t start = 0;      ///< of these tokens
  std::int64_t reached = 0;    ///< the most tokens that were ever in the cache
  std::int64_t produced = 0;   ///< output tokens so far
  std::int64_t chunk = 0;      ///< tokens in the step being put together
  double restore_began_ms = never;
  bool is_running = false;
  bool is_stopped = false;  ///< it ran, and waits
};

/// @tparam Cache `plain_cache`, or `hybrid_cache`
template <class Cache>
class engine {
 public:
  engine(const std::vector<request>& requests,
         double arrival_scale,
         const engine_settings& settings,
         const step_costs& costs,
         queueing order)
      : requests_(requests),
        settings_(settings),
        costs_(costs),
        order_(order),
        jobs_(requests.size()),
        owner_(std::min(static_cast<std::size_t>(settings.sequences), requests.size()) + 1),
        cache_(sizes(), settings, costs) {
    outcome_.requests.resize(requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      constexpr double ticks_per_ms = 10000;
      const double since_first = static_cast<double>(requests[i].arrival_ticks - requests.front().arrival_ticks);
      outcome_.requests[i].arrival_ms = since_first / ticks_per_ms * arrival_scale;
      outcome_.requests[i].output_tokens = requests[i].output_tokens;
      jobs_[i].known = requests[i].prompt_tokens;
    }
  }

  engine_outcome run(const progress_callback& progress) {
    constexpr std::size_t steps_between_reports = 256;
    for (std::size_t steps = 0; ended_ < requests_.size(); ++steps) {
      if (steps % steps_between_reports == 0 && progress) progress(ended_);
      step();
    }
    if (progress) progress(ended_);
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] cache_sizes sizes() const {
    std::int64_t longest = 1;
    for (const request& r : requests_) {
      const bool fits = pave::blocks_for(cache_tokens(r), settings_.tokens_per_block) <= most_blocks();
      if (fits) longest = std::max(longest, cache_tokens(r));
    }
    // Those in the cache are the runners at most, and the head of the queue: the stopped arrived before all that wait,
    // or left the cache.
    return {owner_.size(), longest};
  }
  /// Of one request.
  [[nodiscard]] std::int64_t most_blocks() const {
    return costs_.is_hybrid() ? settings_.hybrid.full_blocks : settings_.pool_blocks;
  }

  /// Tokens that a request has in the cache at its end: the last one is never fed back.
  static std::int64_t cache_tokens(const request& r) { return r.prompt_tokens + r.output_tokens - 1; }

  void step() {
    const pave::step_id current = cache_.begin_step();
    budget_ = settings_.tokens_per_step;
    has_stopped_ = false;
    batch_.clear();
    let_arrive();
    grow_running();
    if (!has_stopped_) let_in();
    if (batch_.empty()) {
      wait_for_arrival();
    } else {
      now_ms_ += step_duration_ms();
    }
    cache_.complete(current);
    for (const std::size_t index : batch_) settle(index);
    forget_gone();
    if (settings_.keeps_timeline) {
      outcome_.timeline.push_back({now_ms_, cache_.held_blocks(), stopped_count_});
    }
  }

  [[nodiscard]] double step_duration_ms() const {
    step_time time(costs_);
    for (const std::size_t index : batch_) {
      const job& j = jobs_[index];
      if (j.chunk == 1 && j.produced > 0 && j.scheduled == j.known) {
        time.add_decode(j.scheduled);
      } else {
        time.add_prefill(j.chunk, j.start);
      }
    }
    return time.milliseconds();
  }

  void let_arrive() {
    for (; next_arrival_ < requests_.size() && outcome_.requests[next_arrival_].arrival_ms <= now_ms_;
         ++next_arrival_) {
      queue_.push_back(next_arrival_);
    }
  }

  /// Running requests come first, in their order. One that cannot grow stops, and so do those that it takes from.
  void grow_running() {
    for (const std::size_t index : running_) {
      job& j = jobs_[index];
      if (budget_ == 0) break;
      if (!j.is_running) continue;
      const auto grown = cache_.grow(j.sequence, std::min(cache_.remaining(j.sequence, j.known), budget_));
      if (!cache_.answer().stopped.empty()) account_cuts(j);
      if (grown) {
        put_in_batch(index, *grown);
      } else {
        if (grown.code() != pave::errc::shortage) throw std::logic_error(pave::to_string(grown.code()));
        outcome_.self_parked += 1;
        stop(index);
      }
    }
  }

  /// The head of the queue is all of the queue that the cache needs to know.
  void let_in() {
    while (budget_ > 0 && running_count_ < settings_.sequences) {
      admit_head();
      const auto next = cache_.restore(budget_);
      if (!next) break;
      const std::size_t index = owner_[next->sequence.slot];
      job& j = jobs_[index];
      if (!cache_.answer().stopped.empty()) {
        outcome_.blocks_short += cache_.answer().blocks_short;
        outcome_.blocks_reclaimed += cache_.answer().blocks_reclaimed;
        read_progress();
      }
      if (has_head_ && index == queue_.front()) {
        queue_.pop_front();
        has_head_ = false;
      }
      begin_to_run(index);
      account_found(j, next->found);
      put_in_batch(index, next->tokens);
    }
  }

  void admit_head() {
    while (!has_head_ && !queue_.empty()) {
      const std::size_t index = queue_.front();
      const auto admitted =
          cache_.admit(static_cast<std::int64_t>(index), jobs_[index].known, cache_tokens(requests_[index]));
      if (admitted) {
        jobs_[index].sequence = *admitted;
        if constexpr (Cache::finds) {
          cache_.set_hashes(*admitted, hashes_of(requests_[index], index, settings_.tokens_per_block,
                                                 cache_tokens(requests_[index])));
        }
        owner_[admitted->slot] = index;
        has_head_ = true;
      } else if (admitted.code() == pave::errc::never_fits) {
        outcome_.requests[index].refused = true;
        outcome_.refused += 1;
        ended_ += 1;
        queue_.pop_front();
      } else {
        throw std::logic_error(pave::to_string(admitted.code()));
      }
    }
  }

  void begin_to_run(std::size_t index) {
    job& j = jobs_[index];
    if (j.is_stopped) {
      outcome_.restores += 1;
      if (j.scheduled > 0) outcome_.restores_from_prefix += 1;
      j.restore_began_ms = now_ms_;
      j.is_stopped = false;
      stopped_count_ -= 1;
      parked_.erase(std::remove(parked_.begin(), parked_.end(), index), parked_.end());
    }
    j.is_running = true;
    running_count_ += 1;
    if (order_ == queueing::to_the_back) {
      running_.push_back(index);
      rank_by_output(j, index);
    } else {
      running_.insert(std::upper_bound(running_.begin(), running_.end(), index), index);
    }
  }

  /// The fewer output tokens, and among equals the longer the prompt, the sooner a request is stopped.
  void rank_by_output(const job& j, std::size_t index) {
    static_assert(max_tokens < (std::int64_t{1} << 21), "a prompt does not reach into the output's part of the rank");
    cache_.set_rank(j.sequence, requests_[index].prompt_tokens - (j.produced << 21));
  }

  void wait_for_arrival() {
    if (has_stopped_ || ended_ == requests_.size()) return;
    if (running_count_ > 0 || next_arrival_ == requests_.size()) throw std::logic_error("the engine stands still");
    now_ms_ = std::max(now_ms_, outcome_.requests[next_arrival_].arrival_ms);
  }

  void put_in_batch(std::size_t index, pave::token_range tokens) {
    job& j = jobs_[index];
    j.chunk = tokens.size().value();
    j.start = tokens.first.value();
    j.scheduled = tokens.last.value();
    budget_ -= j.chunk;
    batch_.push_back(index);
  }

  /// Tokens of a request that came in, and that nobody has to compute.
  void account_found(job& j, std::int64_t found) {
    const std::int64_t had = std::clamp<std::int64_t>(j.reached - j.scheduled, 0, found);
    outcome_.tokens_revived += had;
    outcome_.tokens_cached += found - had;
    j.scheduled += found;
    j.reached = std::max(j.reached, j.scheduled);
  }

  /// A requester that only took from itself had nobody to take from, and is counted as self-parked.
  void account_cuts(const job& requester) {
    read_progress();
    const reclaimed& answer = cache_.answer();
    if (answer.stopped.size() == 1 && answer.stopped[0].sequence == requester.sequence) return;
    outcome_.blocks_short += answer.blocks_short;
    outcome_.blocks_reclaimed += answer.blocks_reclaimed;
    for (const stopped_one& one : answer.stopped) {
      if (!one.was_parked && one.sequence != requester.sequence) stop(owner_[one.sequence.slot]);
    }
  }

  void read_progress() {
    for (const stopped_one& one : cache_.answer().stopped) {
      jobs_[owner_[one.sequence.slot]].scheduled = cache_.progress(one.sequence).scheduled.value();
    }
  }

  void stop(std::size_t index) {
    job& j = jobs_[index];
    const auto in_batch = std::find(batch_.begin(), batch_.end(), index);
    if (in_batch != batch_.end()) {
      batch_.erase(in_batch);
      budget_ += j.chunk;
    }
    j.is_running = false;
    j.is_stopped = true;
    j.restore_began_ms = never;
    running_count_ -= 1;
    stopped_count_ += 1;
    outcome_.preemptions += 1;
    has_stopped_ = true;
    if (order_ == queueing::to_the_back) {
      cache_.finish(j.sequence);
      j.scheduled = 0;
      queue_.push_back(index);
    } else {
      parked_.push_back(index);
    }
  }

  /// The step is done for one request of it.
  void settle(std::size_t index) {
    job& j = jobs_[index];
    outcome_.tokens_recomputed += std::max<std::int64_t>(0, std::min(j.reached, j.scheduled) - j.start);
    j.reached = std::max(j.reached, j.scheduled);
    if (j.scheduled == j.known) yield_token(index);
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
    if (order_ == queueing::to_the_back) rank_by_output(j, index);
    if (settings_.plans.order == order_choice::most_slack && j.produced > 1) note_slack(j, fate);
    if (j.produced == fate.output_tokens) {
      cache_.finish(j.sequence);
      j.is_running = false;
      running_count_ -= 1;
      ended_ += 1;
      outcome_.makespan_ms = now_ms_;
    }
  }

  /// Who has had the least time per token so far can wait the longest, whatever the bound.
  void note_slack(const job& j, const request_outcome& fate) {
    constexpr double us_per_ms = 1000;
    const double per_token = (fate.last_token_ms - fate.first_token_ms) / static_cast<double>(j.produced - 1);
    cache_.set_slack(j.sequence, -static_cast<std::int64_t>(per_token * us_per_ms));
  }

  void forget_gone() {
    const auto is_gone = [this](std::size_t index) { return !jobs_[index].is_running; };
    running_.erase(std::remove_if(running_.begin(), running_.end(), is_gone), running_.end());
  }

  const std::vector<request>& requests_;
  engine_settings settings_;
  step_costs costs_;
  queueing order_;
  std::vector<job> jobs_;           // by place in the trace
  std::vector<std::size_t> owner_;  // slot of the cache → place in the trace
  Cache cache_;
  std::deque<std::size_t> queue_;     // who waits outside the cache, but for its head
  std::vector<std::size_t> running_;  // in the order in which they grow; the stopped go at the end of the step
  std::vector<std::size_t> parked_;   // the stopped that stay in the cache
  std::vector<std::size_t> batch_;    // who computes something in the step being put together
  std::int64_t running_count_ = 0;
  std::int64_t stopped_count_ = 0;
  std::int64_t budget_ = 0;
  std::size_t next_arrival_ = 0;
  std::size_t ended_ = 0;
  bool has_head_ = false;     // the head of the queue waits in the cache
  bool has_stopped_ = false;  // somebody stopped in this step
  double now_ms_ = 0;
  engine_outcome outcome_;
};

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
  const queueing order = chosen == policy::whole_cache_back ? queueing::to_the_back : queueing::by_arrival;
  engine_settings limits = settings;
  if (chosen == policy::unlimited) {
    limits.pool_blocks = blocks_without_limit(requests, settings);
    limits.hybrid = {limits.pool_blocks, limits.pool_blocks};
    limits.watermark_blocks = 0;
  }
  const auto run_hybrid = [&](auto policies) {
    return engine<hybrid_cache<decltype(policies)>>(requests, arrival_scale, limits, costs, order).run(progress);
  };
  const auto run = [&](auto policies) {
    return engine<plain_cache<decltype(policies)>>(requests, arrival_scale, limits, costs, order).run(progress);
  };
  const auto run_chosen = [&](auto policies) {
    using pool_and_all = decltype(policies);
    if (settings.plans.order == order_choice::cheapest_restore) {
      return run(with_chosen_plans<pool_and_all, pave::cheapest_restore>{});
    }
    return run(with_chosen_plans<pool_and_all, chosen_order>{});
  };
  const auto run_partial = [&](auto policies, auto of_hybrid) {
    const bool whole_gap = settings.resume_gate == gate::whole_gap || chosen == policy::unlimited;
    if (costs.is_hybrid()) {
      return whole_gap ? run_hybrid(of_hybrid) : run_hybrid(with_first_chunk<decltype(of_hybrid)>{});
    }
    if (!settings.plans.is_default() && chosen != policy::unlimited) return run_chosen(policies);
    return whole_gap ? run(policies) : run(with_first_chunk<decltype(policies)>{});
  };
  if (settings.finds_running && chosen == policy::whole) return run(finding_running<whole_policies>{});
  if (settings.finds_running && (chosen == policy::partial || chosen == policy::unlimited)) {
    return run_partial(finding_running<partial_policies>{}, hybrid_partial_policies{});
  }
  switch (chosen) {
    case policy::whole: return costs.is_hybrid() ? run_hybrid(hybrid_whole_policies{}) : run(whole_policies{});
    case policy::whole_cache:
    case policy::whole_cache_back:
      return costs.is_hybrid() ? run_hybrid(hybrid_whole_cache_policies{}) : run(whole_cache_policies{});
    case policy::partial_cache: return run_partial(partial_cache_policies{}, hybrid_partial_cache_policies{});
    case policy::partial:
    case policy::unlimited: break;
  }
  return run_partial(partial_policies{}, hybrid_partial_policies{});
}

}  // namespace replay
