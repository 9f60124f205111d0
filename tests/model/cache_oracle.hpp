// SPDX-License-Identifier: Apache-2.0
// What a kv_cache has to answer: the plan found block by block, the resume gate by the book, and the laws of a list of
// cuts.
#ifndef PAVE_TESTS_MODEL_CACHE_ORACLE_HPP
#define PAVE_TESTS_MODEL_CACHE_ORACLE_HPP

#include "model/cache_model.hpp"
#include "model/random.hpp"

#include <pave/cache.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace pave_tests {

struct model_answer {
  pave::errc code = pave::errc::ok;
  std::int64_t missing = 0;
};

struct model_plan {
  std::vector<pave::cut> cuts;
  std::int64_t freed = 0, given_up = 0, missing = 0;

  /// What a planner says that has room for so many cuts.
  [[nodiscard]] model_answer answer(std::size_t room) const {
    if (cuts.size() > room) return {pave::errc::buffer_too_small, 0};
    if (missing > 0) return {pave::errc::shortage, missing};
    return {};
  }
};

/// Takes one block after another: each time from the least important that has one, parked ones before running ones.
inline model_plan plan_for(const cache_model& model,
                           const model_sequence& requester,
                           std::int64_t shortage,
                           bool parked_only) {
  model_plan plan;
  std::map<std::int64_t, std::int64_t> kept;  // by arrival
  for (const auto& [arrival, s] : model.sequences) kept[arrival] = s.held();
  while (plan.freed < shortage) {
    const model_sequence* victim = nullptr;
    for (const auto& [arrival, s] : model.sequences) {
      if (!cache_model::more_important(requester, s) || (parked_only && s.runs_now())) continue;
      if (model.reclaimable(s, 0, kept[arrival]) == 0) continue;
      const bool sooner =
          victim == nullptr ||
          (victim->runs_now() != s.runs_now() ? victim->runs_now() : cache_model::more_important(*victim, s));
      if (sooner) victim = &s;
    }
    if (victim == nullptr) break;
    std::int64_t& last = kept[victim->arrival];
    if (plan.cuts.empty() || plan.cuts.back().sequence != victim->id) {
      plan.cuts.push_back({victim->id, {victim->held(), victim->held()}, 0, !victim->runs_now()});
    }
    std::int64_t first = model.options.whole_victims ? 0 : last - 1;
    while (model.reclaimable(*victim, first, last) == 0) --first;
    const std::int64_t freed = model.reclaimable(*victim, first, last);
    plan.cuts.back().freed += freed;
    plan.cuts.back().blocks.first = first;
    plan.freed += freed;
    last = first;
  }
  for (const pave::cut& c : plan.cuts) plan.given_up += (c.blocks.size() - c.freed).value();
  plan.missing = std::max<std::int64_t>(0, shortage - plan.freed);
  return plan;
}

inline bool same_cuts(pave::span<const pave::cut> a, pave::span<const pave::cut> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const pave::cut& x, const pave::cut& y) {
    return x.sequence == y.sequence && x.blocks == y.blocks && x.freed == y.freed && x.was_parked == y.was_parked;
  });
}

/// The laws, read off the cuts themselves and the state before them.
inline void expect_lawful(cache_model& model,
                          const model_sequence& requester,
                          std::int64_t shortage,
                          pave::span<const pave::cut> cuts) {
  std::int64_t freed = 0;
  std::map<std::int64_t, std::int64_t> kept;
  const model_sequence* least_stopped = nullptr;
  for (const pave::cut& c : cuts) {
    const model_sequence* victim = model.find(c.sequence);
    expect(victim != nullptr && cache_model::more_important(requester, *victim),
           "law 4: only less important ones are cut");
    expect(kept.count(victim->arrival) == 0, "one cut a victim");
    expect(c.blocks.last == victim->held() && c.blocks.first >= 0 && !c.blocks.empty(),
           "a cut is an end of what is held");
    expect(c.freed == model.reclaimable(*victim, c.blocks.first.value(), c.blocks.last.value()),
           "law 2: what is said to come free does");
    expect(c.was_parked == !victim->runs_now(), "a cut says who has to be stopped");
    kept[victim->arrival] = c.blocks.first.value();
    if (victim->runs_now()) least_stopped = victim;
    freed += c.freed.value();
    const bool needs_first = model.reclaimable(*victim, c.blocks.first.value(), c.blocks.first.value() + 1) == 1;
    expect(needs_first || model.options.whole_victims, "law 2: no cut could be shortened");
  }
  expect(model.options.whole_victims ? freed >= shortage : freed == shortage, "law 2: exactly the shortage comes free");
  if (least_stopped == nullptr) return;
  for (const auto& [arrival, s] : model.sequences) {
    if (s.runs_now() || !cache_model::more_important(requester, s)) continue;
    const std::int64_t left = kept.count(arrival) != 0 ? kept[arrival] : s.held();
    expect(model.reclaimable(s, 0, left) == 0, "law 5: what parked ones hold is used up before one is stopped");
  }
}

/// How much a sequence has to find in order to come in.
struct model_need {
  std::int64_t tokens = 0;   // that the open step computes
  std::int64_t blocks = 0;   // that it takes
  std::int64_t reserve = 0;  // that stay available besides
};

inline model_need need_of(const cache_model& model, const model_sequence& s, std::int64_t budget) {
  model_need need;
  need.tokens = std::min(budget, s.goal - s.scheduled);
  const std::int64_t must_fit = model.options.whole_gap ? s.goal : s.scheduled + need.tokens;
  need.blocks = std::max<std::int64_t>(0, model.blocks_for(must_fit) - s.held());
  const bool resumes = s.state == pave::sequence_state::parked;
  const bool others_run = model.in_state(pave::sequence_state::running) > 0;
  // More than the whole pool cannot be asked for.
  need.reserve = resumes && others_run ? std::min(model.options.reserve, model.options.blocks) : 0;
  return need;
}

/// Law 1, and that cache and model are in the same state in all that can be seen.
template <class Cache>
void expect_same_state(const Cache& cache, cache_model& model) {
  const std::vector<std::uint32_t> holders = model.holders();
  const std::int64_t free = model.available();
  for (std::int64_t block = 0; block < model.options.blocks; ++block) {
    expect(cache.pool().holders(block) == holders[static_cast<std::size_t>(block)],
           "each block has the holders that the tables say");
  }
  const pave::cache_snapshot now = cache.snapshot();
  expect(now.capacity == model.options.blocks && now.available + now.fenced + now.held == now.capacity,
         "law 1: conservation");
  expect(now.available == free && now.fenced == 0, "law 1: what nobody holds is available");
  expect(static_cast<std::int64_t>(now.running) == model.in_state(pave::sequence_state::running),
         "the running ones are counted");
  expect(static_cast<std::int64_t>(now.parked) == model.in_state(pave::sequence_state::parked),
         "the parked ones are counted");
  expect(static_cast<std::int64_t>(now.waiting) == model.in_state(pave::sequence_state::waiting),
         "the waiting ones are counted");
  expect(now.tokens_lost == model.tokens_lost, "lost tokens are counted");
  expect(now.tokens_restored == model.restored(), "restored tokens are counted");
  for (const auto& [arrival, s] : model.sequences) {
    const pave::span<const pave::block_id> table = cache.block_table(s.id).value();
    const bool same_table = std::equal(table.begin(), table.end(), s.table.begin(), s.table.end(),
                                       [](pave::block_id a, std::int32_t b) { return a.value() == b; });
    expect(same_table, "a table keeps its blocks, in order");
    const pave::sequence_progress at = cache.progress(s.id).value();
    expect(at.state == s.state, "who runs, who is parked and who waits");
    expect(at.computed == s.computed && cache.computed(s.id).value() == s.computed, "what is computed");
    expect(at.scheduled == s.scheduled, "what is scheduled");
    expect(at.reached == s.reached, "what was in the cache before");
    expect(at.goal == s.goal, "what is to be in the cache");
    const pave::token_range gap{s.scheduled, std::max(s.scheduled, s.reached)};
    expect(cache.gap(s.id).value() == gap, "the gap is what was lost and is not scheduled");
  }
  for (const pave::sequence_id id : model.ended)
    expect(cache.progress(id).code() == pave::errc::stale, "an ended sequence is stale");
}

}  // namespace pave_tests

#endif
