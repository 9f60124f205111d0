// SPDX-License-Identifier: Apache-2.0
// A pave::kv_cache as the engine model sees a cache: calls that say who was stopped, and what was short and came free.
#ifndef PAVE_REPLAY_PLAIN_CACHE_HPP
#define PAVE_REPLAY_PLAIN_CACHE_HPP

#include "simulation/cache_calls.hpp"
#include "simulation/policies.hpp"

#include <pave/cache.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace replay {

template <class Policies>
class plain_cache {
  using cache_type = pave::kv_cache<Policies>;

 public:
  static constexpr bool finds = cache_type::prefix_index_type::finds;

  /// @error throws `std::runtime_error`: there is no memory for it
  plain_cache(const cache_sizes& sizes, const engine_settings& settings, const step_costs& costs)
      : tokens_per_block_(settings.tokens_per_block),
        room_(sizes.sequences),
        list_(pave::span<pave::cut>(room_)),
        cache_(make(sizes, settings, costs)) {}

  pave::step_id begin_step() { return cache_.begin_step().value(); }
  void complete(pave::step_id step) { cache_.complete(step).value(); }
  pave::result<pave::sequence_id> admit(std::int64_t rank, std::int64_t tokens, std::int64_t at_most) {
    return cache_.admit(rank, tokens, at_most);
  }
  void set_hashes(pave::sequence_id id, const std::vector<pave::block_hash>& hashes) {
    cache_.set_hashes(id, 0, hashes).value();
  }
  void set_rank(pave::sequence_id id, std::int64_t rank) { cache_.set_rank(id, rank).value(); }
  void set_slack(pave::sequence_id id, std::int64_t slack) { cache_.set_slack(id, slack).value(); }
  void finish(pave::sequence_id id) { cache_.finish(id).value(); }
  [[nodiscard]] pave::sequence_progress progress(pave::sequence_id id) const { return cache_.progress(id).value(); }
  [[nodiscard]] std::int64_t held_blocks() const { return cache_.pool().held().value(); }
  /// What the next step can compute of a sequence that is to have `known` tokens: a gap that something is kept behind
  /// comes back on its own.
  [[nodiscard]] std::int64_t remaining(pave::sequence_id id, std::int64_t known) const {
    const pave::sequence_progress at = progress(id);
    return at.kept > at.scheduled ? cache_.gap(id)->size().value() : known - at.scheduled.value();
  }

  pave::result<pave::token_range> grow(pave::sequence_id id, std::int64_t tokens) {
    const std::int64_t scheduled = progress(id).scheduled.value();
    const pave::block_count available = cache_.pool().available();
    const auto grown = cache_.grow_or_reclaim(id, tokens, list_);
    const pave::block_count freed = note_cuts();
    if (!grown) {
      // What a requester that gave up everything was to get: it held just the blocks of its tokens.
      const pave::block_count next =
          pave::blocks_for(scheduled + tokens, tokens_per_block_) - pave::blocks_for(scheduled, tokens_per_block_);
      answer_.blocks_short = (next - available).value();
      return grown.error();
    }
    answer_.blocks_short = (freed - cache_.pool().available()).value();
    return grown->tokens;
  }
  pave::result<came_in> restore(std::int64_t budget) {
    const pave::block_count available = cache_.pool().available();
    const auto next = cache_.next_restore(budget, list_);
    static_cast<void>(note_cuts());
    if (!next) return next.error();
    answer_.blocks_short = (next->taken - available).value();
    return came_in{next->sequence, next->found.size().value(), next->tokens};
  }
  /// Of the last call of these two.
  [[nodiscard]] const reclaimed& answer() const { return answer_; }

 private:
  static cache_type make(const cache_sizes& sizes, const engine_settings& settings, const step_costs& costs) {
    pave::kv_cache_options options;
    options.blocks = settings.pool_blocks;
    options.tokens_per_block = settings.tokens_per_block;
    options.sequences = sizes.sequences;
    options.blocks_per_sequence = pave::blocks_for(sizes.longest, settings.tokens_per_block);
    options.reserve = settings.reserve_blocks;
    options.watermark = settings.watermark_blocks;
    options.steps_in_flight = 1;
    return made_or_throw(create(options, settings, costs));
  }
  static pave::result<cache_type> create(const pave::kv_cache_options& options,
                                         [[maybe_unused]] const engine_settings& settings,
                                         [[maybe_unused]] const step_costs& costs) {
    if constexpr (std::is_same_v<typename Policies::planner::demand, chosen_demand>) {
      using planner = typename cache_type::planner_type;
      const pave::recompute_cost cost{costs.prefill_base, costs.prefill_per_token, costs.prefill_attention};
      typename planner::victim_order order{};
      if constexpr (planner::orders_victims) order.choice = settings.plans.order;
      return cache_type::create(
          options, planner({settings.plans.demand, settings.plans.amount}, order, {settings.plans.shape}, cost),
          {settings.resume_gate == gate::whole_gap});
    } else {
      return cache_type::create(options);
    }
  }
  pave::block_count note_cuts() {
    answer_ = {};
    pave::block_count freed = 0;
    for (const pave::cut& c : list_.used()) {
      answer_.stopped.push_back({c.sequence, c.was_parked});
      freed += c.freed;
    }
    answer_.blocks_reclaimed = freed.value();
    return freed;
  }

  std::int64_t tokens_per_block_;
  std::vector<pave::cut> room_;
  pave::cut_list list_;
  cache_type cache_;
  reclaimed answer_;
};

}  // namespace replay

#endif
