// SPDX-License-Identifier: Apache-2.0
// A pave::group_cache over full-attention and window layers as the engine model sees a cache.
#ifndef PAVE_REPLAY_HYBRID_CACHE_HPP
#define PAVE_REPLAY_HYBRID_CACHE_HPP

#include "simulation/cache_calls.hpp"
#include "simulation/cost_model.hpp"
#include "simulation/hybrid_pools.hpp"
#include "simulation/policies.hpp"

#include <pave/group_cache.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace replay {

/// What is short and comes free is counted in blocks of as many layers as both groups' are a multiple of; what is held,
/// in blocks of all layers.
template <class Policies>
class hybrid_cache {
  using cache_type = pave::group_cache<Policies>;

 public:
  static constexpr bool finds = cache_type::prefix_index_type::finds;

  /// @error throws `std::runtime_error`: there is no memory for it
  hybrid_cache(const cache_sizes& sizes, const engine_settings& settings, const step_costs& costs)
      : layers_{costs.full_layers, costs.window_layers},
        tokens_per_block_(settings.tokens_per_block),
        cache_(make(sizes, settings, costs)) {}

  pave::step_id begin_step() { return cache_.begin_step().value(); }
  void complete(pave::step_id step) { cache_.complete(step).value(); }
  pave::result<pave::sequence_id> admit(std::int64_t rank, std::int64_t tokens, std::int64_t at_most) {
    return cache_.admit(rank, tokens, at_most);
  }
  void set_hashes(pave::sequence_id id, const std::vector<pave::block_hash>& hashes) {
    for (std::size_t g = 0; g < groups; ++g) cache_.set_hashes(id, g, 0, hashes).value();
  }
  void set_rank(pave::sequence_id id, std::int64_t rank) { cache_.set_rank(id, rank).value(); }
  void set_slack(pave::sequence_id id, std::int64_t slack) { cache_.set_slack(id, slack).value(); }
  void finish(pave::sequence_id id) {
    running_.erase(std::remove(running_.begin(), running_.end(), id), running_.end());
    cache_.finish(id).value();
  }
  [[nodiscard]] pave::sequence_progress progress(pave::sequence_id id) const { return cache_.progress(id).value(); }
  [[nodiscard]] std::int64_t held_blocks() const {
    amounts held{};
    for (std::size_t g = 0; g < groups; ++g) held[g] = cache_.pool(g).held().value();
    return (held[0] * layers_[0] + held[1] * layers_[1]) / (layers_[0] + layers_[1]);
  }
  [[nodiscard]] std::int64_t remaining(pave::sequence_id id, std::int64_t known) const {
    return known - progress(id).scheduled.value();
  }

  pave::result<pave::token_range> grow(pave::sequence_id id, std::int64_t tokens) {
    const std::int64_t scheduled = progress(id).scheduled.value();
    const amounts before = available();
    const auto grown = cache_.grow_or_reclaim(id, tokens);
    answer_ = {};
    if (grown) {
      note(grown->cuts, grown->reclaimed);
      return grown->tokens;
    }
    note_in_vain(before, (pave::blocks_for(scheduled + tokens, tokens_per_block_) -
                          pave::blocks_for(scheduled, tokens_per_block_))
                             .value());
    return grown.error();
  }
  pave::result<came_in> restore(std::int64_t budget) {
    const auto next = cache_.next_restore(budget);
    answer_ = {};
    if (!next) return next.error();
    note(next->cuts, next->reclaimed);
    running_.push_back(next->sequence);
    return came_in{next->sequence, next->found.size().value(), next->tokens};
  }
  [[nodiscard]] const reclaimed& answer() const { return answer_; }

 private:
  static constexpr std::size_t groups = 2;
  using amounts = std::array<std::int64_t, groups>;

  static cache_type make(const cache_sizes& sizes, const engine_settings& settings, const step_costs& costs) {
    const auto share = [&](std::int64_t blocks, std::int64_t of) { return blocks * of / settings.pool_blocks; };
    const std::array<std::int64_t, groups> pools{settings.hybrid.full_blocks, settings.hybrid.window_blocks};
    const std::array<pave::kv_group, groups> kinds{
        pave::kv_group{settings.tokens_per_block},
        pave::kv_group{settings.tokens_per_block, costs.window - 1}};  // the window has the token itself, too
    std::vector<pave::group_pool_options> options;
    for (std::size_t g = 0; g < groups; ++g) {
      options.push_back(
          {kinds[g], pools[g], share(settings.reserve_blocks, pools[g]), share(settings.watermark_blocks, pools[g])});
    }
    return made_or_throw(cache_type::create({sizes.longest, sizes.sequences, 1}, options));
  }
  [[nodiscard]] amounts available() const {
    amounts count{};
    for (std::size_t g = 0; g < groups; ++g) count[g] = cache_.pool(g).available().value();
    return count;
  }
  [[nodiscard]] std::int64_t together(const amounts& blocks) const {
    return (blocks[0] * layers_[0] + blocks[1] * layers_[1]) / std::gcd(layers_[0], layers_[1]);
  }
  void note(pave::span<const pave::group_cut> cuts, pave::span<const pave::plan> by_group) {
    for (const pave::group_cut& c : cuts) {
      answer_.stopped.push_back({c.sequence, c.was_parked});
      running_.erase(std::remove(running_.begin(), running_.end(), c.sequence), running_.end());
    }
    amounts missing{};
    amounts freed{};
    for (std::size_t g = 0; g < groups; ++g) {
      missing[g] = by_group[g].demand.value();
      freed[g] = by_group[g].freed.value();
    }
    answer_.blocks_short = together(missing);
    answer_.blocks_reclaimed = together(freed);
  }
  /// Who asked waits now, and so do those that gave up all and were too few.
  void note_in_vain(const amounts& before, std::int64_t wanted) {
    const auto waits = [this](pave::sequence_id id) { return progress(id).state != pave::sequence_state::running; };
    for (const pave::sequence_id id : running_) {
      if (waits(id)) answer_.stopped.push_back({id, false});
    }
    running_.erase(std::remove_if(running_.begin(), running_.end(), waits), running_.end());
    const amounts now = available();
    amounts missing{};
    amounts freed{};
    for (std::size_t g = 0; g < groups; ++g) {
      missing[g] = std::max<std::int64_t>(0, wanted - before[g]);
      freed[g] = now[g] - before[g];
    }
    answer_.blocks_short = together(missing);
    answer_.blocks_reclaimed = together(freed);
  }

  amounts layers_;
  std::int64_t tokens_per_block_;
  cache_type cache_;
  std::vector<pave::sequence_id> running_;
  reclaimed answer_;
};

}  // namespace replay

#endif
