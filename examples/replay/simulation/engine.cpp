// SPDX-License-Identifier: Apache-2.0
// The engine model: what vLLM V1's scheduler does in a step, with every block from a pave::kv_cache.
#include "simulation/engine.hpp"

#include "simulation/policies.hpp"
#include "simulation/prompt_hashes.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
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

template <class Policies>
class engine {
  using cache_type = pave::kv_cache<Policies>;

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
        cut_room_(owner_.size()),
        cuts_(pave::span<pave::cut>(cut_room_)),
        cache_(make_cache()) {
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
  cache_type make_cache() const {
    std::int64_t longest = 1;
    for (const request& r : requests_) {
      const bool fits = pave::blocks_for(cache_tokens(r), settings_.tokens_per_block) <= settings_.pool_blocks;
      if (fits) longest = std::max(longest, cache_tokens(r));
    }
    pave::kv_cache_options options;
    options.blocks = settings_.pool_blocks;
    options.tokens_per_block = settings_.tokens_per_block;
    // Those in the cache are the runners at most, and the head of the queue: the stopped arrived before all that wait,
    // or left the cache.
    options.sequences = owner_.size();
    options.blocks_per_sequence = pave::blocks_for(longest, settings_.tokens_per_block);
    options.reserve = settings_.reserve_blocks;
    options.watermark = settings_.watermark_blocks;
    options.steps_in_flight = 1;
    auto made = create_cache(options);
    if (!made) throw std::runtime_error(std::string("the KV cache cannot be made: ") + pave::to_string(made.code()));
    return std::move(made).value();
  }

  pave::result<cache_type> create_cache(const pave::kv_cache_options& options) const {
    using planner = typename cache_type::planner_type;
    if constexpr (std::is_same_v<typename Policies::planner::demand, chosen_demand>) {
      const pave::recompute_cost cost{costs_.prefill_base, costs_.prefill_per_token, costs_.prefill_attention};
      typename planner::victim_order order{};
      if constexpr (planner::orders_victims) order.choice = settings_.plans.order;
      return cache_type::create(
          options, planner({settings_.plans.demand, settings_.plans.amount}, order, {settings_.plans.shape}, cost),
          {settings_.resume_gate == gate::whole_gap});
    } else {
      return cache_type::create(options);
    }
  }

  /// Tokens that a request has in the cache at its end: the last one is never fed back.
  static std::int64_t cache_tokens(const request& r) { return r.prompt_tokens + r.output_tokens - 1; }

  void step() {
    const pave::step_id current = cache_.begin_step().value();
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
    cache_.complete(current).value();
    for (const std::size_t index : batch_) settle(index);
    forget_gone();
    if (settings_.keeps_timeline) {
      outcome_.timeline.push_back({now_ms_, cache_.pool().held().value(), stopped_count_});
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
      const std::int64_t chunk = std::min(remaining(j), budget_);
      const pave::block_count available = cache_.pool().available();
      const auto grown = cache_.grow_or_reclaim(j.sequence, chunk, cuts_);
      if (!cuts_.used().empty()) {
        pave::block_count freed = 0;
        for (const pave::cut& c : cuts_.used()) freed += c.freed;
        const pave::block_count needed =
            grown ? available + freed - cache_.pool().available() : blocks_of_next(j, chunk);
        account_cuts(j, needed - available, freed);
      }
      if (grown) {
        put_in_batch(index, grown->tokens);
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
      const pave::block_count available = cache_.pool().available();
      const auto next = cache_.next_restore(budget_, cuts_);
      if (!next) break;
      const std::size_t index = owner_[next->sequence.slot];
      job& j = jobs_[index];
      if (!cuts_.used().empty()) {
        outcome_.blocks_short += (next->taken - available).value();
        for (const pave::cut& c : cuts_.used()) outcome_.blocks_reclaimed += c.freed.value();
        read_progress();
      }
      if (has_head_ && index == queue_.front()) {
        queue_.pop_front();
        has_head_ = false;
      }
      begin_to_run(index);
      account_found(j, next->found.size().value());
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
        if constexpr (cache_type::prefix_index_type::finds) {
          const std::vector<pave::block_hash> hashes =
              hashes_of(requests_[index], index, settings_.tokens_per_block, cache_tokens(requests_[index]));
          cache_.set_hashes(*admitted, 0, hashes).value();
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
    cache_.set_rank(j.sequence, requests_[index].prompt_tokens - (j.produced << 21)).value();
  }

  void wait_for_arrival() {
    if (has_stopped_ || ended_ == requests_.size()) return;
    if (running_count_ > 0 || next_arrival_ == requests_.size()) throw std::logic_error("the engine stands still");
    now_ms_ = std::max(now_ms_, outcome_.requests[next_arrival_].arrival_ms);
  }

  /// What the next step can compute of a request: a gap that something is kept behind comes back on its own.
  [[nodiscard]] std::int64_t remaining(const job& j) const {
    const pave::sequence_progress at = cache_.progress(j.sequence).value();
    const bool has_gap = at.kept > at.scheduled;
    return has_gap ? cache_.gap(j.sequence)->size().value() : j.known - at.scheduled.value();
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
  void account_cuts(const job& requester, pave::block_count shortage, pave::block_count freed) {
    read_progress();
    const auto used = cuts_.used();
    if (used.size() == 1 && used[0].sequence == requester.sequence) return;
    outcome_.blocks_short += shortage.value();
    outcome_.blocks_reclaimed += freed.value();
    for (const pave::cut& c : used) {
      if (!c.was_parked && c.sequence != requester.sequence) stop(owner_[c.sequence.slot]);
    }
  }

  /// What a requester that gave up everything was to get: it held just the blocks of its tokens.
  [[nodiscard]] pave::block_count blocks_of_next(const job& j, std::int64_t chunk) const {
    const pave::token_count each = settings_.tokens_per_block;
    return pave::blocks_for(j.scheduled + chunk, each) - pave::blocks_for(j.scheduled, each);
  }

  void read_progress() {
    for (const pave::cut& c : cuts_.used()) {
      jobs_[owner_[c.sequence.slot]].scheduled = cache_.progress(c.sequence)->scheduled.value();
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
      cache_.finish(j.sequence).value();
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
      cache_.finish(j.sequence).value();
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
    cache_.set_slack(j.sequence, -static_cast<std::int64_t>(per_token * us_per_ms)).value();
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
  std::vector<pave::cut> cut_room_;
  pave::cut_list cuts_;
  cache_type cache_;
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
  const auto run = [&](auto policies, queueing order = queueing::by_arrival) {
    return engine<decltype(policies)>(requests, arrival_scale, settings, costs, order).run(progress);
  };
  const auto run_chosen = [&](auto policies) {
    using pool_and_all = decltype(policies);
    if (settings.plans.order == order_choice::cheapest_restore) {
      return run(with_chosen_plans<pool_and_all, pave::cheapest_restore>{});
    }
    return run(with_chosen_plans<pool_and_all, chosen_order>{});
  };
  const bool whole_gap = settings.resume_gate == gate::whole_gap;
  switch (chosen) {
    case policy::whole: return run(whole_policies{});
    case policy::whole_cache: return run(whole_cache_policies{});
    case policy::whole_cache_back: return run(whole_cache_policies{}, queueing::to_the_back);
    case policy::partial:
      if (!settings.plans.is_default()) return run_chosen(partial_policies{});
      return whole_gap ? run(partial_policies{}) : run(with_first_chunk<partial_policies>{});
    case policy::partial_cache:
      if (!settings.plans.is_default()) return run_chosen(partial_cache_policies{});
      return whole_gap ? run(partial_cache_policies{}) : run(with_first_chunk<partial_cache_policies>{});
    case policy::unlimited: break;
  }
  engine_settings without_limit = settings;
  without_limit.pool_blocks = blocks_without_limit(requests, settings);
  without_limit.watermark_blocks = 0;
  return engine<partial_policies>(requests, arrival_scale, without_limit, costs, queueing::by_arrival).run(progress);
}

}  // namespace replay
