// SPDX-License-Identifier: Apache-2.0
// What a kv_cache has to answer: the plan found block by block, the resume gate by the book, whom it refuses, and the
// laws of a list of cuts.
#ifndef PAVE_TESTS_MODEL_CACHE_ORACLE_HPP
#define PAVE_TESTS_MODEL_CACHE_ORACLE_HPP

#include "model/cache_model.hpp"
#include "model/random.hpp"

#include <pave/cache.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace pave_tests {

struct model_answer {
  pave::errc code = pave::errc::ok;
  std::int64_t missing = 0;
};

struct model_plan {
  std::vector<pave::cut> cuts;
  std::size_t asked = 0;  // cuts before those of sharers were added
  std::int64_t freed = 0, given_up = 0, missing = 0;

  /// What a planner says that has room for so many cuts.
  [[nodiscard]] model_answer answer(std::size_t room) const {
    if (asked > room) return {pave::errc::buffer_too_small, 0};
    if (missing > 0) return {pave::errc::shortage, missing};
    if (cuts.size() > room) return {pave::errc::buffer_too_small, 0};
    return {};
  }
};

/// Who has let go of what: a block comes free with the last of its holders. What `found` names does not, since the
/// requester takes it.
class letting_go {
 public:
  explicit letting_go(const cache_model& model, const std::vector<std::int32_t>& found = {})
      : holders_(model.holders()), found_(found) {}

  /// @return whether the block comes free by it
  bool operator()(std::int32_t block) {
    gone_[block] += 1;
    return is_free(block);
  }
  /// Whether one holder stays.
  [[nodiscard]] bool is_left_to_one(std::int32_t block) const {
    const auto gone = gone_.find(block);
    return gone != gone_.end() && gone->second + 1 == holders_[static_cast<std::size_t>(block)];
  }
  [[nodiscard]] bool is_free(std::int32_t block) const {
    const auto gone = gone_.find(block);
    return gone != gone_.end() && gone->second == holders_[static_cast<std::size_t>(block)] &&
           std::count(found_.begin(), found_.end(), block) == 0;
  }

 private:
  std::vector<std::uint32_t> holders_;
  std::vector<std::int32_t> found_;
  std::map<std::int32_t, std::uint32_t> gone_;
};

/// The blocks of a cut, from the end.
inline std::vector<std::int32_t> blocks_of(cache_model& model, const pave::cut& c) {
  const std::vector<std::int32_t>& table = model.find(c.sequence)->table;
  return {table.rbegin() + (static_cast<std::int64_t>(table.size()) - c.blocks.last.value()),
          table.rend() - c.blocks.first.value()};
}

/// Each cut frees what comes free after those before it.
inline void count_freed(cache_model& model, model_plan& plan, const std::vector<std::int32_t>& found) {
  letting_go gone(model, found);
  plan.given_up = 0;
  for (pave::cut& c : plan.cuts) {
    c.freed = 0;
    for (const std::int32_t block : blocks_of(model, c)) c.freed += gone(block) ? 1 : 0;
    plan.given_up += (c.blocks.size() - c.freed).value();
  }
}

/// Asks one after another, parked ones before running ones and the least important first, and takes blocks from the end
/// of each that would come free if all who were asked before let go of everything. Then all holders of those blocks are
/// cut.
/// @param found blocks that the requester has found, so that it gains nothing by them
inline model_plan plan_for(cache_model& model,
                           const model_sequence& requester,
                           std::int64_t shortage,
                           bool parked_only,
                           const std::vector<std::int32_t>& found = {}) {
  std::vector<const model_sequence*> victims;
  for (const auto& [arrival, s] : model.sequences) {
    if (cache_model::more_important(requester, s) && !(parked_only && s.runs_now())) victims.push_back(&s);
  }
  std::sort(victims.begin(), victims.end(), [&](const model_sequence* a, const model_sequence* b) {
    if (a->runs_now() != b->runs_now()) return b->runs_now();
    if (model.options.largest_first && a->held() != b->held()) return b->held() < a->held();
    return cache_model::more_important(*b, *a);
  });
  model_plan plan;
  letting_go all(model, found);
  std::set<std::int32_t> freed;
  for (const model_sequence* s : victims) {
    if (plan.freed >= shortage) break;
    for (const std::int32_t block : s->table) all(block);
    std::int64_t first = s->held();
    for (std::int64_t at = s->held() - 1; at >= 0; --at) {
      if (plan.freed >= shortage && !model.options.whole_victims) break;
      const std::int32_t block = s->table[static_cast<std::size_t>(at)];
      if (!all.is_free(block)) continue;
      freed.insert(block);
      plan.freed += 1;
      first = at;
    }
    if (first == s->held()) continue;
    if (model.options.whole_victims) first = 0;
    plan.cuts.push_back({s->id, {first, s->held()}, 0, !s->runs_now()});
  }
  plan.asked = plan.cuts.size();
  plan.missing = std::max<std::int64_t>(0, shortage - plan.freed);
  if (plan.missing == 0) {
    for (const model_sequence* s : victims) {
      const auto own =
          std::find_if(plan.cuts.begin(), plan.cuts.end(), [&](const pave::cut& c) { return c.sequence == s->id; });
      const auto first =
          std::find_if(s->table.begin(), s->table.end(), [&](std::int32_t block) { return freed.count(block) != 0; });
      if (first == s->table.end()) continue;
      const std::int64_t at = model.options.whole_victims ? 0 : first - s->table.begin();
      if (own == plan.cuts.end()) {
        plan.cuts.push_back({s->id, {at, s->held()}, 0, !s->runs_now()});
      } else if (at < own->blocks.first.value()) {
        own->blocks.first = at;
      }
    }
  }
  count_freed(model, plan, found);
  return plan;
}

/// Who else holds the block that a sequence is to write into, if all of them may be cut.
inline std::vector<const model_sequence*> cuttable_sharers(cache_model& model,
                                                           const model_sequence& s,
                                                           bool parked_only) {
  const std::int64_t next = s.scheduled / model.options.tokens_per_block;
  const std::int32_t block = s.table[static_cast<std::size_t>(next)];
  std::vector<const model_sequence*> sharers;
  for (const auto& [arrival, other] : model.sequences) {
    const bool holds = other.held() > next && other.table[static_cast<std::size_t>(next)] == block;
    const bool may_be_cut = cache_model::more_important(s, other) && !(parked_only && other.runs_now());
    if (arrival != s.arrival && holds && may_be_cut) sharers.push_back(&other);
  }
  if (sharers.size() + 1 != model.holders()[static_cast<std::size_t>(block)]) sharers.clear();
  std::sort(sharers.begin(), sharers.end(), [](auto* a, auto* b) { return cache_model::more_important(*b, *a); });
  return sharers;
}

/// A plan for one who needs a copy among others: it does without where all who hold that block, too, let go of it.
inline model_plan plan_with_copy(cache_model& model,
                                 const model_sequence& s,
                                 std::int64_t shortage,
                                 bool parked_only,
                                 bool copies,
                                 const std::vector<std::int32_t>& found = {}) {
  model_plan plan = plan_for(model, s, shortage, parked_only, found);
  if (!copies || shortage <= 0) return plan;
  if (model.options.whole_victims && !parked_only) return plan;  // who asks gives up all, too
  const auto written = static_cast<std::size_t>(s.scheduled / model.options.tokens_per_block);
  if (s.rewrites && model.is_in_use(s.table[written])) return plan;
  const std::vector<const model_sequence*> sharers = cuttable_sharers(model, s, parked_only);
  const bool in_flight = std::any_of(sharers.begin(), sharers.end(), [&](const model_sequence* victim) {
    return model.options.delays && model.last_use_if_cut(*victim) > model.last_complete();
  });
  if (sharers.empty() || (s.rewrites && in_flight)) return plan;
  const std::int64_t next = s.scheduled / model.options.tokens_per_block;
  const auto cut_of = [](model_plan& of, const model_sequence* victim) {
    return std::find_if(of.cuts.begin(), of.cuts.end(), [&](const pave::cut& c) { return c.sequence == victim->id; });
  };
  const bool all_lose_it = std::all_of(sharers.begin(), sharers.end(), [&](const model_sequence* victim) {
    const auto own = cut_of(plan, victim);
    return own != plan.cuts.end() && own->blocks.first <= next;
  });
  const bool all_parked =
      std::none_of(sharers.begin(), sharers.end(), [](const auto* victim) { return victim->runs_now(); });
  const bool stops_one =
      std::any_of(plan.cuts.begin(), plan.cuts.end(), [](const pave::cut& c) { return !c.was_parked; });
  if (plan.missing == 0 && !all_lose_it && !(all_parked && stops_one)) return plan;
  model_plan without = plan_for(model, s, shortage - 1, parked_only, found);
  if (without.missing > 0) return without;
  for (const model_sequence* victim : sharers) {
    const auto own = cut_of(without, victim);
    const std::int64_t first = model.options.whole_victims ? 0 : next;
    if (own == without.cuts.end()) {
      without.cuts.push_back({victim->id, {first, victim->held()}, 0, !victim->runs_now()});
    } else if (own->blocks.first > first) {
      own->blocks.first = first;
    }
  }
  count_freed(model, without, found);
  return without;
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
                          pave::span<const pave::cut> cuts,
                          const std::vector<std::int32_t>& found = {},
                          bool copies = false) {
  std::int64_t freed = 0;
  letting_go gone(model, found);
  std::map<std::int64_t, std::int64_t> kept;
  bool stops_one = false;
  for (const pave::cut& c : cuts) {
    const model_sequence* victim = model.find(c.sequence);
    expect(victim != nullptr && cache_model::more_important(requester, *victim),
           "law 4: only less important ones are cut");
    expect(kept.count(victim->arrival) == 0, "one cut a victim");
    expect(c.blocks.last == victim->held() && c.blocks.first >= 0 && !c.blocks.empty(),
           "a cut is an end of what is held");
    std::int64_t of_cut = 0;
    for (const std::int32_t block : blocks_of(model, c)) of_cut += gone(block) ? 1 : 0;
    expect(c.freed == of_cut, "law 2: what is said to come free does");
    expect(c.was_parked == !victim->runs_now(), "a cut says who has to be stopped");
    kept[victim->arrival] = c.blocks.first.value();
    stops_one = stops_one || victim->runs_now();
    freed += of_cut;
  }
  // Where all others let go of what it is to write into, it needs no copy: as good as a block that comes free.
  std::int32_t spared = -1;
  if (copies) {
    const std::int32_t block =
        requester.table[static_cast<std::size_t>(requester.scheduled / model.options.tokens_per_block)];
    if (gone.is_left_to_one(block)) {
      spared = block;
      freed += 1;
    }
  }
  for (const pave::cut& c : cuts) {
    const std::int32_t last = blocks_of(model, c).back();
    if (model.options.whole_victims) {
      expect(c.blocks.first == 0, "a whole victim gives up all it has");
    } else {
      expect(gone.is_free(last) || last == spared, "law 2: no cut could be shortened");
    }
  }
  expect(model.options.whole_victims ? freed >= shortage : freed == shortage, "law 2: exactly the shortage comes free");
  if (!stops_one) return;
  letting_go all_parked(model, found);
  for (const auto& [arrival, s] : model.sequences) {
    if (s.runs_now() || !cache_model::more_important(requester, s)) continue;
    for (const std::int32_t block : s.table) all_parked(block);
  }
  for (const auto& [arrival, s] : model.sequences) {
    if (s.runs_now() || !cache_model::more_important(requester, s)) continue;
    const std::int64_t left = kept.count(arrival) != 0 ? kept[arrival] : s.held();
    for (std::int64_t at = 0; at < left; ++at) {
      expect(!all_parked.is_free(s.table[static_cast<std::size_t>(at)]),
             "law 5: what parked ones hold is used up before one is stopped");
    }
  }
}

/// What a sequence needs in order to come in.
struct model_need {
  std::vector<std::int32_t> found;  // blocks that have its content
  std::int64_t start = 0;           // what it has, and has found
  std::int64_t tokens = 0;          // that the open step computes
  std::int64_t fresh = 0;           // blocks for these, and for the others that must fit
  std::int64_t takes = 0;           // of what is available: the found ones that nobody holds, and the fresh ones
  bool copies = false;              // takes one more, for a copy
  std::int64_t headroom = 0;        // what stays available besides
};

inline model_need need_of(const cache_model& model, const model_sequence& s, std::int64_t budget) {
  model_need need;
  need.found = model.found_by(s);
  const auto found = static_cast<std::int64_t>(need.found.size());
  need.start = s.scheduled + found * model.options.tokens_per_block;
  need.tokens = std::min(budget, s.goal - need.start);
  const std::int64_t must_fit = model.options.whole_gap ? s.goal : need.start + need.tokens;
  need.fresh = std::max<std::int64_t>(0, model.blocks_for(must_fit) - s.held() - found);
  const auto is_free = [&](std::int32_t block) { return model.is_free(block); };
  need.takes = need.fresh + std::count_if(need.found.begin(), need.found.end(), is_free);
  need.copies = model.copies(s, need.tokens);
  const bool resumes = s.state == pave::sequence_state::parked;
  const std::int64_t asked = std::max(resumes ? model.options.reserve : 0, model.options.watermark);
  // More than the whole pool cannot be asked for, and nothing where nobody else runs.
  if (model.in_state(pave::sequence_state::running) > 0) need.headroom = std::min(asked, model.options.blocks);
  return need;
}

inline model_answer ever_holds(const cache_model& model, std::int64_t tokens) {
  const std::int64_t blocks = model.blocks_for(tokens);
  const std::int64_t most = (std::min)(model.options.blocks, model.options.blocks_per_sequence);
  if (blocks > most) return {pave::errc::never_fits, blocks - most};
  return {};
}

struct model_growth {
  model_answer answer;
  std::vector<pave::cut> cuts;
  std::int64_t takes = 0;
  bool copies = false;  // takes one more, for a copy
  bool parks = false;
};

/// @param room how many cuts fit the list
inline model_growth answer_to_grow(cache_model& model, const model_sequence* s, std::int64_t tokens, std::size_t room) {
  model_growth grown;
  if (s == nullptr) {
    grown.answer.code = pave::errc::stale;
  } else if (!s->runs_now()) {
    grown.answer.code = pave::errc::waits;
  } else if (!model.is_open) {
    grown.answer.code = pave::errc::no_step;
  } else if (tokens < 0) {
    grown.answer.code = pave::errc::invalid_argument;
  }
  if (grown.answer.code != pave::errc::ok) return grown;
  grown.copies = model.copies(*s, tokens);
  if (tokens <= s->held() * model.options.tokens_per_block - s->scheduled && !grown.copies) return grown;

  grown.answer = ever_holds(model, s->scheduled + tokens);
  if (grown.answer.code != pave::errc::ok) return grown;
  grown.takes = std::max<std::int64_t>(0, model.blocks_for(s->scheduled + tokens) - s->held());
  const std::int64_t shortage = grown.takes + (grown.copies ? 1 : 0) - model.counts_on(*s);
  model_plan plan = plan_with_copy(model, *s, shortage, false, grown.copies);
  if (plan.missing > 0 && model.options.whole_victims) {  // the baseline: all go, and the requester, too
    plan = plan_for(model, *s, shortage - plan.missing, false);
    if (s->held() > 0) plan.cuts.push_back({s->id, {0, s->held()}, 0, false});
    const std::int64_t missing = shortage - plan.freed;
    count_freed(model, plan, {});
    plan.missing = missing;
    plan.asked = plan.cuts.size();
    grown.answer = plan.answer(room);
    if (grown.answer.code == pave::errc::shortage) grown.cuts = plan.cuts;
  } else {
    grown.answer = plan.answer(room);
    if (grown.answer.code == pave::errc::ok) grown.cuts = plan.cuts;
    if (grown.answer.code == pave::errc::ok) {
      expect_lawful(model, *s, std::max<std::int64_t>(0, shortage), plan.cuts, {}, grown.copies);
    }
  }
  grown.parks = grown.answer.code == pave::errc::shortage;
  return grown;
}

struct model_commit {
  model_answer answer;
  std::int64_t freed = 0;
};

inline model_commit answer_to_commit(cache_model& model,
                                     pave::sequence_id requester,
                                     const std::vector<pave::cut>& cuts) {
  const model_commit refused{{pave::errc::stale, 0}, 0};
  const model_sequence* asks = model.find(requester);
  if (asks == nullptr) return refused;
  std::vector<pave::sequence_id> named;
  for (const pave::cut& c : cuts) {
    const model_sequence* victim = model.find(c.sequence);
    if (victim == nullptr || !cache_model::more_important(*asks, *victim)) return refused;
    if (std::count(named.begin(), named.end(), c.sequence) != 0) return refused;
    if (c.was_parked != !victim->runs_now() || c.blocks.last != victim->held()) return refused;
    if (c.blocks.first < 0 || c.blocks.empty()) return refused;
    named.push_back(c.sequence);
  }
  model_commit done;
  letting_go gone(model);
  for (const pave::cut& c : cuts) {
    std::int64_t freed = 0;
    for (const std::int32_t block : blocks_of(model, c)) freed += gone(block) ? 1 : 0;
    if (c.freed != freed) return refused;
    done.freed += freed;
  }
  for (const pave::cut& c : cuts) {
    const std::vector<std::int32_t> blocks = blocks_of(model, c);
    const bool could_be_shorter = !gone.is_free(blocks.back());
    const bool is_idle = std::none_of(blocks.begin(), blocks.end(), [&](std::int32_t b) { return gone.is_free(b); });
    if (is_idle || (model.options.whole_victims ? c.blocks.first != 0 : could_be_shorter)) return refused;
  }
  return done;
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
  expect(now.available == free && now.fenced == model.fenced.size(),
         "law 1: what nobody holds is available, or on its way");
  for (std::int64_t by = model.last_complete(); by <= model.last_begun; ++by) {
    expect(cache.pool().arriving(by) == model.arriving(by), "law 8: a block comes free when its last user is done");
  }
  expect(static_cast<std::int64_t>(now.running) == model.in_state(pave::sequence_state::running),
         "the running ones are counted");
  expect(static_cast<std::int64_t>(now.parked) == model.in_state(pave::sequence_state::parked),
         "the parked ones are counted");
  expect(static_cast<std::int64_t>(now.waiting) == model.in_state(pave::sequence_state::waiting),
         "the waiting ones are counted");
  expect(now.tokens_lost == model.tokens_lost, "lost tokens are counted");
  expect(now.tokens_restored == model.restored(), "restored tokens are counted");
  expect(now.tokens_revived == model.tokens_revived, "revived tokens are counted");
  expect(now.tokens_cached == model.tokens_cached, "cached tokens are counted");
  expect(now.tokens_lost == now.tokens_restored + now.tokens_revived + model.missing() + model.tokens_given_up,
         "what was lost came back once, or is missing");
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
    expect(at.known == model.will_be_known(s), "what is known of its tokens");
    const pave::token_range gap{s.scheduled, std::max(s.scheduled, s.reached)};
    expect(cache.gap(s.id).value() == gap, "the gap is what was lost and is not scheduled");
    const pave::promised_blocks promised = cache.promised(s.id).value();
    expect(promised.blocks == s.promised, "what is promised is known");
    expect(s.promised == 0 || promised.by == s.promised_by, "and by when it is there");
  }
  for (const pave::sequence_id id : model.ended)
    expect(cache.progress(id).code() == pave::errc::stale, "an ended sequence is stale");
}

/// That the pool names the content of each held block, by one name as long as it is there.
template <class Cache>
void expect_same_content(const Cache& cache, cache_model& model) {
  const std::vector<std::uint32_t> holders = model.holders();
  for (std::int32_t block = 0; block < model.options.blocks; ++block) {
    const pave::result<pave::kept_block> named = cache.pool().content_of(block);
    expect(named.has_value() == (holders[static_cast<std::size_t>(block)] > 0), "a held block has a content");
    if (!named) continue;
    expect(named->block == block, "a content says where it is");
    if (model.options.keeps_content) {
      model.content.expect_name(block, named->generation);
    } else {
      expect(named->generation == 0, "where no content is kept, none has a name");
    }
  }
}

}  // namespace pave_tests

#endif
