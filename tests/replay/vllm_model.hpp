// SPDX-License-Identifier: Apache-2.0
// vLLM V1's scheduler and block pool, said plainly: lists, maps and no pave. What the replay's baselines have to do.
#ifndef PAVE_TESTS_REPLAY_VLLM_MODEL_HPP
#define PAVE_TESTS_REPLAY_VLLM_MODEL_HPP

#include "simulation/cost_model.hpp"
#include "simulation/engine.hpp"
#include "traces/trace.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace pave_tests {

/// @cite vllm/v1/core/sched/scheduler.py, kv_cache_manager.py and block_pool.py; the rules are listed in docs/replay.md
class vllm_model {
 public:
  vllm_model(const std::vector<replay::request>& requests,
             double arrival_scale,
             const replay::engine_settings& settings,
             const replay::step_costs& costs,
             bool caches)
      : settings_(settings), costs_(costs), caches_(caches) {
    for (std::int64_t block = 0; block < settings.pool_blocks; ++block) free_.push_back(block);
    for (const replay::request& r : requests) {
      item one;
      one.prompt = r.prompt_tokens;
      one.output = r.output_tokens;
      one.hashes = r.prefix_hashes;
      one.arrival_ms = static_cast<double>(r.arrival_ticks - requests.front().arrival_ticks) / 10000 * arrival_scale;
      one.tokens = r.prompt_tokens;
      items_.push_back(one);
    }
    outcome.requests.resize(requests.size());
  }

  void run() {
    std::size_t arrived = 0;
    while (finished_ < items_.size()) {
      for (; arrived < items_.size() && items_[arrived].arrival_ms <= now_ms_; ++arrived) {
        if (blocks_for(items_[arrived].prompt + items_[arrived].output - 1) <= settings_.pool_blocks) {
          waiting_.push_back(arrived);
        } else {
          outcome.refused += 1;
          finished_ += 1;
        }
      }
      const bool preempted = schedule();
      if (scheduled_.empty()) {
        if (!preempted && arrived < items_.size()) now_ms_ = std::max(now_ms_, items_[arrived].arrival_ms);
        continue;
      }
      now_ms_ += duration_ms();
      for (const auto& [index, tokens] : scheduled_) update(index, tokens);
    }
  }

  replay::engine_outcome outcome;

 private:
  struct item {
    std::int64_t prompt = 0, output = 0;
    std::vector<std::int64_t> hashes;
    double arrival_ms = 0;
    std::int64_t tokens = 0;    // prompt and output so far
    std::int64_t computed = 0;  // in its blocks
    std::int64_t reached = 0;   // the most that ever was
    bool was_preempted = false;
    double resumed_ms = -1;
    double last_ms = 0;
    std::vector<std::int64_t> blocks;
  };
  /// What a full block contains: the request that it belongs to, or none where others can have the same, its hash, and
  /// where it ends.
  struct content {
    std::optional<std::size_t> owner;
    std::int64_t hash = 0, end = 0;
    friend bool operator<(const content& a, const content& b) {
      return std::tie(a.owner, a.hash, a.end) < std::tie(b.owner, b.hash, b.end);
    }
  };

  [[nodiscard]] std::int64_t blocks_for(std::int64_t tokens) const {
    return (tokens + settings_.tokens_per_block - 1) / settings_.tokens_per_block;
  }

  /// @return whether anybody was preempted
  bool schedule() {
    scheduled_.clear();
    std::int64_t budget = settings_.tokens_per_step;
    bool preempted = false;
    for (std::size_t place = 0; place < running_.size() && budget > 0; ++place) {
      const std::size_t index = running_[place];
      item& r = items_[index];
      const std::int64_t tokens = std::min(r.tokens - r.computed, budget);
      const std::int64_t needed = blocks_for(r.computed + tokens) - static_cast<std::int64_t>(r.blocks.size());
      const std::int64_t before = free_count();
      bool is_itself = false;
      std::int64_t victims = 0;
      std::int64_t freed = 0;
      while (needed > free_count() && !is_itself) {
        const std::size_t victim = running_.back();
        running_.pop_back();
        is_itself = victim == index;
        if (is_itself) outcome.self_parked += 1;
        if (!is_itself) victims += 1;
        const std::int64_t free_before = free_count();
        preempt(victim);
        freed += free_count() - free_before;
        preempted = true;
      }
      if (victims > 0) {
        outcome.blocks_short += needed - before;
        outcome.blocks_reclaimed += freed;
      }
      if (is_itself) break;
      take(r, needed);
      scheduled_.emplace_back(index, tokens);
      budget -= tokens;
    }
    while (!preempted && !waiting_.empty() && budget > 0 &&
           static_cast<std::int64_t>(running_.size()) < settings_.sequences) {
      const std::size_t index = waiting_.front();
      item& r = items_[index];
      const std::vector<std::int64_t> hits = find(index);
      const auto hit_blocks = static_cast<std::int64_t>(hits.size());
      const std::int64_t hit_tokens = hit_blocks * settings_.tokens_per_block;
      const auto evictable =
          std::count_if(hits.begin(), hits.end(), [this](std::int64_t b) { return holders_[b] == 0; });
      const std::int64_t watermark = running_.empty() ? 0 : settings_.watermark_blocks;
      if (blocks_for(r.tokens) - hit_blocks + evictable + watermark > free_count()) break;
      waiting_.pop_front();
      for (const std::int64_t block : hits) {
        if (holders_[block]++ == 0) free_.remove(block);
      }
      r.blocks = hits;
      r.computed = hit_tokens;
      const std::int64_t again = std::clamp<std::int64_t>(r.reached, 0, hit_tokens);
      outcome.tokens_revived += again;
      outcome.tokens_cached += hit_tokens - again;
      r.reached = std::max(r.reached, hit_tokens);
      const std::int64_t tokens = std::min(r.tokens - r.computed, budget);
      take(r, blocks_for(r.computed + tokens) - hit_blocks);
      running_.push_back(index);
      if (r.was_preempted) {
        outcome.restores += 1;
        r.was_preempted = false;
        r.resumed_ms = now_ms_;
      }
      scheduled_.emplace_back(index, tokens);
      budget -= tokens;
    }
    return preempted;
  }

  void preempt(std::size_t index) {
    item& r = items_[index];
    outcome.preemptions += 1;
    give_back(index);
    r.computed = 0;
    r.was_preempted = true;
    r.resumed_ms = -1;
    waiting_.push_front(index);
  }

  void update(std::size_t index, std::int64_t tokens) {
    item& r = items_[index];
    outcome.tokens_recomputed += std::max<std::int64_t>(0, std::min(r.reached, r.computed + tokens) - r.computed);
    const std::int64_t full = r.computed / settings_.tokens_per_block;
    r.computed += tokens;
    r.reached = std::max(r.reached, r.computed);
    for (std::int64_t i = full; caches_ && i < r.computed / settings_.tokens_per_block; ++i) {
      const std::int64_t block = r.blocks[static_cast<std::size_t>(i)];
      contents_[block] = content_of(index, i);
      found_in_[contents_[block]].push_back(block);
    }
    if (r.computed < r.tokens) return;
    replay::request_outcome& fate = outcome.requests[index];
    if (r.tokens == r.prompt) {
      fate.first_token_ms = now_ms_;
    } else {
      fate.longest_gap_ms = std::max(fate.longest_gap_ms, now_ms_ - r.last_ms);
    }
    fate.last_token_ms = r.last_ms = now_ms_;
    r.tokens += 1;
    if (r.resumed_ms >= 0) outcome.restore_latencies_ms.push_back(now_ms_ - r.resumed_ms);
    r.resumed_ms = -1;
    if (r.tokens < r.prompt + r.output) return;
    give_back(index);
    running_.erase(std::find(running_.begin(), running_.end(), index));
    finished_ += 1;
    outcome.makespan_ms = now_ms_;
  }

  [[nodiscard]] double duration_ms() const {
    replay::step_time time(costs_);
    for (const auto& [index, tokens] : scheduled_) {
      const item& r = items_[index];
      const bool decodes = tokens == 1 && r.tokens > r.prompt && r.computed + 1 == r.tokens;
      if (decodes) time.add_decode(r.tokens);
      if (!decodes) time.add_prefill(tokens, r.computed);
    }
    return time.milliseconds();
  }

  // --- the block pool ---

  [[nodiscard]] std::int64_t free_count() const { return static_cast<std::int64_t>(free_.size()); }

  [[nodiscard]] content content_of(std::size_t index, std::int64_t logical) const {
    const item& r = items_[index];
    const std::int64_t end = (logical + 1) * settings_.tokens_per_block;
    if (r.hashes.empty() || end > r.prompt) return {index, 0, end};
    return {std::nullopt, r.hashes[static_cast<std::size_t>((end - 1) / 512)], end};
  }
  [[nodiscard]] std::vector<std::int64_t> find(std::size_t index) const {
    std::vector<std::int64_t> hits;
    const std::int64_t most = (items_[index].tokens - 1) / settings_.tokens_per_block;
    for (std::int64_t i = 0; i < most; ++i) {
      const auto known = found_in_.find(content_of(index, i));
      if (known == found_in_.end() || known->second.empty()) break;
      hits.push_back(known->second.front());
    }
    return hits;
  }
  void take(item& r, std::int64_t count) {
    for (; count > 0; --count) {
      const std::int64_t block = free_.front();
      free_.pop_front();
      forget(block);
      holders_[block] = 1;
      r.blocks.push_back(block);
    }
  }
  void forget(std::int64_t block) {
    const auto known = contents_.find(block);
    if (known == contents_.end()) return;
    std::vector<std::int64_t>& same = found_in_[known->second];
    same.erase(std::remove(same.begin(), same.end(), block), same.end());
    contents_.erase(known);
  }
  void give_back(std::size_t index) {
    std::vector<std::int64_t>& blocks = items_[index].blocks;
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
      if (--holders_[*block] > 0) continue;
      if (contents_.count(*block) == 0) free_.push_front(*block);
      if (contents_.count(*block) != 0) free_.push_back(*block);
    }
    blocks.clear();
  }

  replay::engine_settings settings_;
  replay::step_costs costs_;
  bool caches_;
  std::vector<item> items_;
  std::deque<std::size_t> waiting_;
  std::vector<std::size_t> running_;
  std::vector<std::pair<std::size_t, std::int64_t>> scheduled_;  // who computes how many tokens in this step
  std::list<std::int64_t> free_;
  std::map<std::int64_t, std::int64_t> holders_;
  std::map<std::int64_t, content> contents_;               // of blocks that are full
  std::map<content, std::vector<std::int64_t>> found_in_;  // the oldest first
  std::size_t finished_ = 0;
  double now_ms_ = 0;
};

}  // namespace pave_tests

#endif
