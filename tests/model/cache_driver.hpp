// SPDX-License-Identifier: Apache-2.0
// Each call of a kv_cache, made and checked against the model; and made on a twin, unless it is refused.
#ifndef PAVE_TESTS_MODEL_CACHE_DRIVER_HPP
#define PAVE_TESTS_MODEL_CACHE_DRIVER_HPP

#include "model/cache_model.hpp"
#include "model/cache_oracle.hpp"
#include "model/random.hpp"

#include <pave/cache.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pave_tests {

/// The twin never sees a refused call. That it stays the same shows that the same calls give the same ids (law 10), and
/// that a refused call changes nothing (law 3), down to the order of the free blocks.
template <class Policies>
class cache_driver {
 public:
  using cache_type = pave::kv_cache<Policies>;

  cache_driver(const model_options& chosen, std::uint64_t seed)
      : random(seed),
        model(chosen),
        cache_(make(chosen)),
        twin_(make(chosen)),
        room_(static_cast<std::size_t>(chosen.sequences)),
        twin_room_(room_) {}

  void admit(std::int64_t rank, std::int64_t tokens, std::int64_t at_most) {
    const pave::result<pave::sequence_id> id = cache_.admit(rank, tokens, at_most);
    model_answer expected =
        tokens < 1 || at_most < 0 ? model_answer{pave::errc::invalid_argument} : ever_holds(std::max(tokens, at_most));
    const bool is_full = model.sequences.size() == static_cast<std::size_t>(model.options.sequences);
    if (expected.code == pave::errc::ok && is_full) expected.code = pave::errc::table_full;
    if (!agree(id, expected)) return;
    expect(model.find(*id) == nullptr && std::count(model.ended.begin(), model.ended.end(), *id) == 0,
           "an id is given out once");
    expect(twin_.admit(rank, tokens, at_most).value() == *id, "law 10: the twin gives the same id");
    model.admit(*id, rank, tokens);
    check();
  }

  void end(pave::sequence_id id, bool aborts) {
    const pave::result<void> done = aborts ? cache_.abort(id) : cache_.finish(id);
    model_sequence* s = model.find(id);
    if (!agree(done, {s == nullptr ? pave::errc::stale : pave::errc::ok})) return;
    (aborts ? twin_.abort(id) : twin_.finish(id)).value();
    model.end(s->arrival);
    check();
  }

  void set_rank(pave::sequence_id id, std::int64_t rank) {
    model_sequence* s = model.find(id);
    if (!agree(cache_.set_rank(id, rank), {s == nullptr ? pave::errc::stale : pave::errc::ok})) return;
    twin_.set_rank(id, rank).value();
    s->rank = rank;
    check();
  }

  void truncate(pave::sequence_id id, std::int64_t length) {
    model_sequence* s = model.find(id);
    model_answer expected;
    if (s == nullptr) {
      expected.code = pave::errc::stale;
    } else if (length < 0 || length > s->goal) {
      expected.code = pave::errc::invalid_argument;
    }
    if (!agree(cache_.truncate(id, length), expected)) return;
    twin_.truncate(id, length).value();
    model.truncate(*s, length);
    check();
  }

  void begin_step() {
    const bool is_busy = static_cast<std::int64_t>(model.steps.size()) == model.options.steps_in_flight;
    const pave::result<pave::step_id> step = cache_.begin_step();
    if (!agree(step, {is_busy ? pave::errc::busy : pave::errc::ok})) return;
    expect(twin_.begin_step().value() == *step, "law 10: the twin begins the same step");
    model.begin();
    expect(step->value() == model.last_begun, "steps are counted from 1");
    check();
  }

  void complete(std::int64_t step) {
    model_answer expected;
    if (step < 1 || step > model.last_begun) {
      expected.code = pave::errc::no_step;
    } else if (step <= model.last_complete() || of_step(step).is_done) {
      expected.code = pave::errc::stale;
    } else {
      if (step == model.last_begun) model.launch();
      model.stream.run_through(step);
    }
    if (!agree(cache_.complete(step), expected)) return;
    twin_.complete(step).value();
    model.complete(step);
    check();
    for (const auto& [arrival, s] : model.sequences) {
      expect(model.stream.holds(s.table, s.computed, s.tokens), "what counts as computed has the right content");
    }
  }

  /// @param room how many cuts fit the list
  /// @return whether the sequence goes on
  bool grow(pave::sequence_id id, std::int64_t tokens, std::size_t room) {
    model_sequence* s = model.find(id);
    const growth_answer expected = answer_to_grow(s, id, tokens, room);
    const std::int64_t goal = s == nullptr ? 0 : s->scheduled + (expected.parks ? tokens : 0);
    pave::cut_list cuts = list(room_, room);
    const pave::result<pave::growth> grown = cache_.grow_or_reclaim(id, tokens, cuts);
    expect(same_cuts(cuts.used(), expected.cuts), "the cuts are those of a plan made block by block");
    if (!agree(grown, expected.answer, expected.parks) && !expected.parks) return false;
    pave::cut_list twin_cuts = list(twin_room_, room);
    const pave::result<pave::growth> of_twin = twin_.grow_or_reclaim(id, tokens, twin_cuts);
    expect(of_twin.code() == grown.code() && same_cuts(twin_cuts.used(), cuts.used()),
           "law 10: the twin makes the same cuts");
    apply(cuts.used());
    if (expected.parks) {
      model.park(*s, goal);
      check();
      return false;
    }
    expect(grown->tokens == pave::token_range{s->scheduled, s->scheduled + tokens},
           "growth names the positions to compute");
    expect(grown->blocks == pave::block_range{s->held(), s->held() + expected.takes},
           "growth names the new entries of the table");
    model.take(*s, fresh_blocks(*s));
    model.schedule(*s, tokens, random);
    check();
    return true;
  }

  /// @return whether one came in
  bool restore_next(std::int64_t budget, std::size_t room) {
    model_sequence* s = model.first_in_line();
    model_answer expected;
    model_need need;
    model_plan plan;
    if (!model.is_open) {
      expected.code = pave::errc::no_step;
    } else if (budget < 1) {
      expected.code = pave::errc::invalid_argument;
    } else if (s == nullptr) {
      expected.code = pave::errc::nothing_waits;
    } else {
      need = need_of(model, *s, budget);
      expected = plan_for(model, *s, need.blocks + need.reserve - model.available(), true).answer(room);
      if (expected.code == pave::errc::ok) plan = plan_for(model, *s, need.blocks - model.available(), true);
      if (expected.code == pave::errc::ok)
        expect_lawful(model, *s, std::max<std::int64_t>(0, need.blocks - model.available()), plan.cuts);
    }
    pave::cut_list cuts = list(room_, room);
    const pave::result<pave::restore> next = cache_.next_restore(budget, cuts);
    expect(same_cuts(cuts.used(), plan.cuts), "the cuts are those of a plan made block by block");
    if (!agree(next, expected)) return false;
    pave::cut_list twin_cuts = list(twin_room_, room);
    const pave::restore of_twin = twin_.next_restore(budget, twin_cuts).value();
    expect(of_twin.sequence == next->sequence && same_cuts(twin_cuts.used(), cuts.used()),
           "law 10: the twin restores the same");
    expect(next->sequence == s->id, "law 6: the most important one comes in first");
    expect(next->resumed == (s->state == pave::sequence_state::parked), "a restore says whether the sequence had run");
    for (const pave::cut& c : cuts.used()) expect(c.was_parked, "law 6: nobody is stopped for a sequence that waits");
    apply(cuts.used());
    expect(next->tokens == pave::token_range{s->scheduled, s->scheduled + need.tokens},
           "a restore names the positions to compute");
    expect(next->blocks == pave::block_range{s->held(), s->held() + need.blocks},
           "a restore names the new entries of the table");
    model.take(*s, fresh_blocks(*s));
    s->state = pave::sequence_state::running;
    model.schedule(*s, need.tokens, random);
    check();
    return true;
  }

  /// @return the plan's cuts; none where there is no plan
  std::vector<pave::cut> plan_cuts(pave::sequence_id requester, std::int64_t shortage, std::size_t room) {
    const model_sequence* s = model.find(requester);
    model_answer expected;
    model_plan plan;
    if (s == nullptr) {
      expected.code = pave::errc::stale;
    } else if (shortage < 0) {
      expected.code = pave::errc::invalid_argument;
    } else {
      plan = plan_for(model, *s, shortage, false);
      expected = plan.answer(room);
    }
    pave::cut_list cuts = list(room_, room);
    const pave::result<pave::plan> planned = cache_.plan_cuts(requester, shortage, cuts);
    if (!agree(planned, expected)) {
      expect(cuts.used().empty(), "no plan, no cuts");
      return {};
    }
    expect(same_cuts(cuts.used(), plan.cuts), "the cuts are those of a plan made block by block");
    expect(planned->demand == shortage && planned->freed == plan.freed && planned->given_up == plan.given_up,
           "a plan says what it amounts to");
    expect(planned->over_evicted() == plan.freed - shortage, "a plan reports its excess");
    expect_lawful(model, *s, shortage, cuts.used());
    check();
    return plan.cuts;
  }

  void commit(pave::sequence_id requester, const std::vector<pave::cut>& cuts) {
    model_answer expected;
    const model_sequence* asks = model.find(requester);
    if (asks == nullptr) expected.code = pave::errc::stale;
    std::int64_t freed = 0;
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      const model_sequence* victim = model.find(cuts[i].sequence);
      const std::int64_t first = cuts[i].blocks.first.value();
      const bool fits = victim != nullptr && cuts[i].was_parked == !victim->runs_now() &&
                        cuts[i].blocks.last == victim->held() && first >= 0 && first < victim->held() &&
                        cuts[i].freed > 0 && cuts[i].freed == model.reclaimable(*victim, first, victim->held()) &&
                        (model.options.whole_victims ? first == 0 : model.reclaimable(*victim, first, first + 1) == 1);
      bool is_named_twice = false;
      for (std::size_t j = 0; j < i; ++j) is_named_twice = is_named_twice || cuts[j].sequence == cuts[i].sequence;
      const bool matters_less = victim != nullptr && asks != nullptr && model.more_important(*asks, *victim);
      if (!fits || is_named_twice || !matters_less) expected.code = pave::errc::stale;
      freed += cuts[i].freed.value();
    }
    const pave::result<pave::block_count> done = cache_.commit(requester, cuts);
    if (!agree(done, expected)) return;
    expect(*done == freed && twin_.commit(requester, cuts).value() == freed, "law 2: what the plan said comes free");
    apply(cuts);
    check();
  }

  void reset() {
    cache_.reset();
    twin_.reset();
    for (auto& [arrival, s] : model.sequences) model.cut(s, 0);
    check();
  }

  void share_outside(std::int32_t block) {
    const bool is_held =
        block >= 0 && block < model.options.blocks && model.holders()[static_cast<std::size_t>(block)] > 0;
    const std::vector<pave::block_id> blocks{block};
    if (!agree(cache_.pool().share(blocks), {is_held ? pave::errc::ok : pave::errc::not_held})) return;
    twin_.pool().share(blocks).value();
    model.share_outside(block);
    check();
  }
  void release_outside(std::int32_t block) {
    const std::vector<pave::block_id> blocks{block};
    cache_.pool().release(blocks).value();
    twin_.pool().release(blocks).value();
    model.release_outside(block);
    check();
  }
  void allocate_outside(std::int64_t count) {
    const std::int64_t free = model.available();
    std::vector<pave::block_id> blocks(static_cast<std::size_t>(count));
    std::vector<pave::block_id> of_twin(blocks.size());
    model_answer expected;
    if (count > free) expected = {pave::errc::shortage, count - free};
    if (count > model.options.blocks) expected = {pave::errc::never_fits, count - model.options.blocks};
    if (!agree(cache_.pool().allocate(blocks), expected)) return;
    twin_.pool().allocate(of_twin).value();
    expect(blocks == of_twin, "law 10: the twin gives the same blocks");
    for (const pave::block_id block : blocks) model.share_outside(block.value());
    check();
  }

  /// A cache that was moved goes on as if nothing had been.
  void move_about() {
    cache_type moved(std::move(cache_));
    cache_ = std::move(moved);
    check();
  }

  void check() {
    expect_same_state(cache_, model);
    expect_same_state(twin_, model);
  }

  random_source random;
  cache_model model;

 private:
  struct growth_answer {
    model_answer answer;
    std::vector<pave::cut> cuts;
    std::int64_t takes = 0;
    bool parks = false;
  };

  static cache_type make(const model_options& chosen) {
    pave::kv_cache_options options;
    options.blocks = chosen.blocks;
    options.tokens_per_block = chosen.tokens_per_block;
    options.sequences = static_cast<std::size_t>(chosen.sequences);
    options.blocks_per_sequence = chosen.blocks_per_sequence;
    options.steps_in_flight = static_cast<std::size_t>(chosen.steps_in_flight);
    options.reserve = chosen.reserve;
    return cache_type::create(options).value();
  }

  /// Whether cache and model give the same answer; true where the call was carried out. A refused one has changed
  /// nothing, unless the sequence parks.
  template <class Result>
  bool agree(const Result& result, const model_answer& expected, bool parks = false) {
    expect(result.code() == expected.code, "the cache and the model give the same answer");
    expect(result.error().missing == expected.missing, "the cache and the model miss the same number of blocks");
    if (!result && !parks) expect_same_state(cache_, model);
    return result.has_value();
  }

  [[nodiscard]] model_answer ever_holds(std::int64_t tokens) const {
    const std::int64_t blocks = model.blocks_for(tokens);
    const std::int64_t most = (std::min)(model.options.blocks, model.options.blocks_per_sequence);
    if (blocks > most) return {pave::errc::never_fits, blocks - most};
    return {};
  }

  growth_answer answer_to_grow(model_sequence* s, pave::sequence_id id, std::int64_t tokens, std::size_t room) {
    growth_answer grown;
    if (s == nullptr) {
      grown.answer.code = pave::errc::stale;
    } else if (!s->runs_now()) {
      grown.answer.code = pave::errc::waits;
    } else if (!model.is_open) {
      grown.answer.code = pave::errc::no_step;
    } else if (tokens < 0) {
      grown.answer.code = pave::errc::invalid_argument;
    }
    if (grown.answer.code != pave::errc::ok || tokens <= s->held() * model.options.tokens_per_block - s->scheduled)
      return grown;

    grown.answer = ever_holds(s->scheduled + tokens);
    if (grown.answer.code != pave::errc::ok) return grown;
    grown.takes = model.blocks_for(s->scheduled + tokens) - s->held();
    const std::int64_t shortage = grown.takes - model.available();
    model_plan plan = plan_for(model, *s, shortage, false);
    if (plan.missing > 0 && model.options.whole_victims) {  // the baseline: all go, and the requester, too
      if (s->held() > 0) plan.cuts.push_back({id, {0, s->held()}, model.reclaimable(*s, 0, s->held()), false});
      grown.answer = plan.answer(room);
      if (grown.answer.code == pave::errc::shortage) grown.cuts = plan.cuts;
    } else {
      grown.answer = plan.answer(room);
      if (grown.answer.code == pave::errc::ok) grown.cuts = plan.cuts;
      if (grown.answer.code == pave::errc::ok) expect_lawful(model, *s, std::max<std::int64_t>(0, shortage), plan.cuts);
    }
    grown.parks = grown.answer.code == pave::errc::shortage;
    return grown;
  }

  static pave::cut_list list(std::vector<pave::cut>& room, std::size_t size) {
    return pave::cut_list(pave::span<pave::cut>(room.data(), size));
  }
  void apply(pave::span<const pave::cut> cuts) {
    for (const pave::cut& c : cuts) model.cut(*model.find(c.sequence), c.blocks.first.value());
  }
  /// What the cache's table has beyond the model's.
  std::vector<std::int32_t> fresh_blocks(const model_sequence& s) {
    std::vector<std::int32_t> fresh;
    const pave::span<const pave::block_id> table = cache_.block_table(s.id).value();
    for (std::size_t i = s.table.size(); i < table.size(); ++i) fresh.push_back(table[i].value());
    return fresh;
  }
  [[nodiscard]] const model_step& of_step(std::int64_t step) const {
    return model.steps.at(static_cast<std::size_t>(step - model.last_complete() - 1));
  }

  cache_type cache_;
  cache_type twin_;
  std::vector<pave::cut> room_;
  std::vector<pave::cut> twin_room_;
};

}  // namespace pave_tests

#endif
