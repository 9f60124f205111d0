// SPDX-License-Identifier: Apache-2.0
// Each call of a kv_cache, made and checked against the model; and made on a twin, unless it is refused.
#ifndef PAVE_TESTS_MODEL_CACHE_DRIVER_HPP
#define PAVE_TESTS_MODEL_CACHE_DRIVER_HPP

#include "model/cache_content.hpp"
#include "model/cache_model.hpp"
#include "model/cache_notes.hpp"
#include "model/cache_oracle.hpp"
#include "model/random.hpp"

#include <pave/cache.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
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

  /// @param common how many of its tokens are those of its family
  /// @return its id, if it was admitted
  pave::sequence_id admit(
      std::int64_t rank, std::int64_t tokens, std::int64_t at_most, std::uint64_t family, std::int64_t common) {
    const pave::result<pave::sequence_id> id = cache_.admit(rank, tokens, at_most);
    model_answer expected;
    if (tokens < 1 || at_most < 0) {
      expected.code = pave::errc::invalid_argument;
    } else {
      expected = ever_holds(model, std::max(tokens, at_most));
    }
    const bool is_full = model.sequences.size() == static_cast<std::size_t>(model.options.sequences);
    if (expected.code == pave::errc::ok && is_full) expected.code = pave::errc::table_full;
    if (!agree(id, expected)) return {};
    expect(model.find(*id) == nullptr && std::count(model.ended.begin(), model.ended.end(), *id) == 0,
           "an id is given out once");
    expect(twin_.admit(rank, tokens, at_most).value() == *id, "law 10: the twin gives the same id");
    model_sequence s;
    s.id = *id;
    s.rank = rank;
    s.goal = tokens;
    s.family = family;
    s.common = common;
    model.admit(s, random);
    check();
    return *id;
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

  void park(pave::sequence_id id) {
    model_sequence* s = model.find(id);
    model_answer expected;
    if (s == nullptr) {
      expected.code = pave::errc::stale;
    } else if (!s->runs_now()) {
      expected.code = pave::errc::waits;
    }
    if (!agree(cache_.park(id), expected)) return;
    twin_.park(id).value();
    model.cut(*s, s->held());
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

  void offer_prefix(pave::sequence_id id, const std::vector<prefix_note>& offer) {
    std::vector<pave::kept_block> blocks;
    for (const prefix_note& note : offer) blocks.push_back(note.kept);
    model_sequence* s = model.find(id);
    model_answer expected;
    if (s == nullptr) {
      expected.code = pave::errc::stale;
    } else if (s->runs_now()) {
      expected.code = pave::errc::busy;
    }
    if (!agree(cache_.offer_prefix(id, blocks), expected)) return;
    twin_.offer_prefix(id, blocks).value();
    s->remembered.clear();
    for (std::size_t logical = s->table.size(); logical < offer.size(); ++logical)
      s->remembered[static_cast<std::int64_t>(logical)] = offer[logical].content;
    check();
  }
  /// The engine names what its blocks will have, from `first` on.
  void set_hashes(pave::sequence_id id, std::int64_t first, const std::vector<std::uint64_t>& names) {
    if constexpr (Policies::prefix_index::finds) {
      std::vector<pave::block_hash> hashes;
      hashes.reserve(names.size());
      for (const std::uint64_t name : names) hashes.push_back({name, 1});
      model_sequence* s = model.find(id);
      model_answer expected;
      const std::int64_t too_many = first + static_cast<std::int64_t>(names.size()) - model.options.blocks_per_sequence;
      if (s == nullptr) {
        expected.code = pave::errc::stale;
      } else if (first < 0 || first > static_cast<std::int64_t>(s->names.size())) {
        expected.code = pave::errc::invalid_argument;
      } else if (too_many > 0) {
        expected = {pave::errc::never_fits, too_many};
      }
      if (!agree(cache_.set_hashes(id, first, hashes), expected)) return;
      twin_.set_hashes(id, first, hashes).value();
      model.set_names(*s, first, names);
      check();
    }
  }
  /// The engine notes what is in the full blocks of a sequence.
  void note_blocks(const model_sequence& s) {
    const std::vector<std::uint64_t> ends = model.stream.ends_of_blocks(s.tokens);
    for (std::int64_t logical = 0; logical < model.full_blocks(s); ++logical) {
      const auto at = static_cast<std::size_t>(logical);
      notes.add({cache_.pool().content_of(s.table[at]).value(), model.content.of(s.table[at]), ends[at]});
    }
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
      expect(model.holds_computed(s), "what counts as computed has the right content");
    }
  }

  /// A sequence comes that begins as another one does.
  pave::sequence_id fork(pave::sequence_id parent, std::int64_t rank) {
    if constexpr (cache_type::pool_type::can_share) {
      const model_sequence* s = model.find(parent);
      const bool is_full = model.sequences.size() == static_cast<std::size_t>(model.options.sequences);
      model_answer expected;
      if (is_full) expected.code = pave::errc::table_full;
      if (s == nullptr) expected.code = pave::errc::stale;
      const pave::result<pave::sequence_id> id = cache_.fork(parent, rank);
      if (!agree(id, expected)) return {};
      expect(model.find(*id) == nullptr && std::count(model.ended.begin(), model.ended.end(), *id) == 0,
             "an id is given out once");
      expect(twin_.fork(parent, rank).value() == *id, "law 10: the twin gives the same id");
      model.fork(*s, *id, rank, random);
      check();
      return *id;
    } else {
      return {};
    }
  }

  /// @param room how many cuts fit the list
  /// @return whether the sequence goes on
  bool grow(pave::sequence_id id, std::int64_t tokens, std::size_t room) {
    model_sequence* s = model.find(id);
    const bool is_solvent = model.is_solvent();
    const model_growth expected = answer_to_grow(model, s, tokens, room);
    const std::int64_t goal =
        s == nullptr ? 0 : s->scheduled + (expected.answer.code == pave::errc::ok || expected.parks ? tokens : 0);
    pave::cut_list cuts = list(room_, room);
    const pave::result<pave::growth> grown = cache_.grow_or_reclaim(id, tokens, cuts);
    expect(same_cuts(cuts.used(), expected.cuts), "the cuts are those of a plan made block by block");
    const bool is_done = expected.answer.code == pave::errc::ok;
    if (!is_done && !expected.parks) {
      agree(grown, expected.answer);
      return false;
    }
    pave::cut_list twin_cuts = list(twin_room_, room);
    const pave::result<pave::growth> of_twin = twin_.grow_or_reclaim(id, tokens, twin_cuts);
    expect(of_twin.code() == grown.code() && same_cuts(twin_cuts.used(), cuts.used()),
           "law 10: the twin makes the same cuts");
    apply(cuts.used());
    if (expected.parks) {
      expect_refused(grown, expected.answer);
      model.park(*s, goal);
      check();
      return false;
    }
    const bool copies = expected.copies && model.copies(*s, tokens);
    const bool asks = expected.takes > 0 || expected.copies;
    if (asks && has_to_wait(*s, expected.takes + (copies ? 1 : 0), is_solvent && !cuts.used().empty(), grown)) {
      model.park(*s, goal);
      check();
      return false;
    }
    expect(grown.has_value(), "what is there is given");
    expect(grown->tokens == pave::token_range{s->scheduled, s->scheduled + tokens},
           "growth names the positions to compute");
    expect(grown->blocks == pave::block_range{s->held(), s->held() + expected.takes},
           "growth names the new entries of the table");
    make_copy(*s, copies, grown->copy);
    model.take(*s, fresh_blocks(*s));
    if (asks) model.keep_to_what_is_there();
    s->known = std::max(s->known, s->scheduled + tokens);  // the engine has some to be computed: it knows them
    expect(grown->yields == (tokens > 0 && s->scheduled + tokens == s->known),
           "a token comes out behind the last that is known");
    model.schedule(*s, tokens, grown->yields, random);
    check();
    return true;
  }

  /// @return how many tokens the step computes of the one that came in, if one did
  std::optional<std::int64_t> restore_next(std::int64_t budget, std::size_t room) {
    model_sequence* s = model.first_in_line();
    const bool is_solvent = model.is_solvent();
    model_answer expected;
    model_need need;
    model_plan plan;
    if (!model.is_open) {
      expected.code = pave::errc::no_step;
    } else if (budget < 0) {
      expected.code = pave::errc::invalid_argument;
    } else if (s == nullptr) {
      expected.code = pave::errc::nothing_waits;
    } else if (budget == 0) {
      expected.code = pave::errc::no_budget;
    } else if (model.more_comes(*s)) {
      expected.code = pave::errc::busy;
    } else {
      need = need_of(model, *s, budget);
      const std::int64_t shortage = need.takes + (need.copies ? 1 : 0) - model.counts_on(*s);
      expected = plan_with_copy(model, *s, shortage + need.headroom, true, need.copies, need.found).answer(room);
      if (expected.code == pave::errc::ok) {
        plan = plan_with_copy(model, *s, shortage, true, need.copies, need.found);
        expect_lawful(model, *s, std::max<std::int64_t>(0, shortage), plan.cuts, need.found, need.copies);
      }
    }
    pave::cut_list cuts = list(room_, room);
    const pave::result<pave::restore> next = cache_.next_restore(budget, cuts);
    expect(same_cuts(cuts.used(), plan.cuts), "the cuts are those of a plan made block by block");
    if (expected.code != pave::errc::ok) {
      agree(next, expected);
      return std::nullopt;
    }
    pave::cut_list twin_cuts = list(twin_room_, room);
    const pave::result<pave::restore> of_twin = twin_.next_restore(budget, twin_cuts);
    expect(of_twin.code() == next.code() && same_cuts(twin_cuts.used(), cuts.used()),
           "law 10: the twin restores the same");
    for (const pave::cut& c : cuts.used()) expect(c.was_parked, "law 6: nobody is stopped for a sequence that waits");
    apply(cuts.used());
    const bool copies = need.copies && model.copies(*s, need.tokens);
    const auto is_free = [&](std::int32_t block) { return model.is_free(block); };
    need.takes = need.fresh + std::count_if(need.found.begin(), need.found.end(), is_free);
    const std::int64_t on_their_way = model.not_there_yet(need.found);
    std::int64_t until = 0;
    for (const pave::cut& c : cuts.used()) until = std::max(until, model.find(c.sequence)->last_use());
    const bool was_short = is_solvent && !cuts.used().empty();
    if (has_to_wait(*s, need.takes + (copies ? 1 : 0), was_short, next, on_their_way, until)) {
      check();
      return std::nullopt;
    }
    expect(next.has_value() && of_twin->sequence == next->sequence, "what is there is given");
    expect(next->sequence == s->id, "law 6: the most important one comes in first");
    expect(next->resumed == (s->state == pave::sequence_state::parked), "a restore says whether the sequence had run");
    expect(next->found == pave::token_range{s->scheduled, need.start}, "all that is still there is found");
    expect(next->tokens == pave::token_range{need.start, need.start + need.tokens},
           "a restore names the positions to compute");
    const std::int64_t held = s->held() + static_cast<std::int64_t>(need.found.size()) + need.fresh;
    expect(next->blocks == pave::block_range{s->held(), held}, "a restore names the new entries of the table");
    std::vector<std::int32_t> fresh = fresh_blocks(*s);
    expect(fresh.size() >= need.found.size() && std::equal(need.found.begin(), need.found.end(), fresh.begin()),
           "the found blocks come first");
    fresh.erase(fresh.begin(), fresh.begin() + static_cast<std::ptrdiff_t>(need.found.size()));
    make_copy(*s, copies, next->copy);
    model.come_in(*s, need.found, fresh);
    model.keep_to_what_is_there();
    // One that parked in the open step, and comes in again, goes on with what the engine says, as by a second growth.
    if (model.opens_to(*s, s->known)) s->known += need.tokens;
    model.schedule(*s, need.tokens, next->yields, random);
    expect(next->yields == (need.tokens > 0 && s->scheduled == s->known),
           "a token comes out behind the last that is known");
    check();
    return need.tokens;
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
    expect(answer_to_commit(model, requester, plan.cuts).answer.code == pave::errc::ok,
           "a plan can be carried out as long as nothing changes");
    check();
    return plan.cuts;
  }

  void commit(pave::sequence_id requester, const std::vector<pave::cut>& cuts) {
    const model_commit expected = answer_to_commit(model, requester, cuts);
    const pave::result<pave::block_count> done = cache_.commit(requester, cuts);
    if (!agree(done, expected.answer)) return;
    expect(*done == expected.freed && twin_.commit(requester, cuts).value() == expected.freed,
           "law 2: what the plan said comes free");
    apply(cuts);
    if (model.options.delays && expected.freed > 0) {
      model_sequence& s = *model.find(requester);
      s.promised += expected.freed;
      s.promised_by = model.when(s, s.promised);
    }
    model.keep_to_what_is_there();
    check();
  }

  void reset() {
    cache_.reset();
    twin_.reset();
    model.reset();
    check();
  }

  void share_outside(std::int32_t block) {
    const bool is_held =
        block >= 0 && block < model.options.blocks && model.holders()[static_cast<std::size_t>(block)] > 0;
    const std::vector<pave::block_id> blocks{block};
    const pave::errc of_held = cache_type::pool_type::can_share ? pave::errc::ok : pave::errc::table_full;
    if (!agree(cache_.pool().share(blocks), {is_held ? of_held : pave::errc::not_held, 0})) return;
    twin_.pool().share(blocks).value();
    model.share_outside(block);
    check();
  }
  void release_outside(std::int32_t block,
                       std::int64_t last_use = 0,
                       pave::content left = pave::content::worth_keeping) {
    const std::vector<pave::block_id> blocks{block};
    cache_.pool().release(blocks, last_use, left).value();
    twin_.pool().release(blocks, last_use, left).value();
    model.release_outside(block, last_use, left == pave::content::worth_keeping);
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
    std::vector<std::int32_t> numbers;
    for (const pave::block_id block : blocks) numbers.push_back(block.value());
    model.allocate_outside(numbers);
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
    expect_same_content(cache_, model);
    for (const prefix_note& note : notes.all()) {
      expect(cache_.pool().is_kept(note.kept) == model.is_kept(note.content),
             "content is there until its block is reused, left as worthless or written anew");
    }
  }

  random_source random;
  cache_model model;
  prefix_notes notes;  // the engine's

 private:
  static cache_type make(const model_options& chosen) {
    pave::kv_cache_options options;
    options.blocks = chosen.blocks;
    options.tokens_per_block = chosen.tokens_per_block;
    options.sequences = static_cast<std::size_t>(chosen.sequences);
    options.blocks_per_sequence = chosen.blocks_per_sequence;
    options.steps_in_flight = static_cast<std::size_t>(chosen.steps_in_flight);
    options.reserve = chosen.reserve;
    options.watermark = chosen.watermark;
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

  template <class Result>
  static void expect_refused(const Result& result, const model_answer& expected) {
    expect(result.code() == expected.code, "the cache and the model give the same answer");
    expect(result.error().missing == expected.missing, "the cache and the model miss the same number of blocks");
    expect(result.error().arriving == 0, "what cannot be had is not on its way");
  }
  /// Whether blocks that a sequence takes are on their way: they are promised to it, and it has to wait.
  template <class Result>
  bool has_to_wait(model_sequence& s,
                   std::int64_t takes,
                   bool was_short,
                   const Result& result,
                   std::int64_t on_their_way = 0,
                   std::int64_t until = 0) {
    const std::int64_t missing = std::max(takes - model.available_to(s), on_their_way);
    if (was_short && !model.options.whole_victims)
      expect(model.counts_on(s) == takes, "law 2: it counts on just what it takes");
    s.promised = 0;
    if (missing <= 0) return false;
    expect(model.options.delays, "blocks are on their way only where a fence delays them");
    s.promised = takes;
    s.promised_by = on_their_way > 0 ? std::max(until, model.when(s, takes)) : model.when(s, takes);
    expect(result.code() == pave::errc::shortage, "it has to wait for what is on its way");
    expect(result.error().missing == missing && result.error().arriving == missing, "and hears how much that is");
    expect(result.error().by == s.promised_by, "and by which step it is there");
    return true;
  }
  void make_copy(model_sequence& s, bool copies, const std::optional<pave::block_copy>& copy) {
    expect(copies == copy.has_value(), "who writes into a block that others hold gets a copy of it, and nobody else");
    if (!copy) return;
    const auto next = static_cast<std::size_t>(s.scheduled / model.options.tokens_per_block);
    expect(copy->from.value() == s.table[next], "a copy is made of the block that is to be written");
    expect(copy->to == cache_.block_table(s.id).value()[next], "and goes to the one in its place");
    expect(copy->tokens == s.scheduled % model.options.tokens_per_block, "and has the tokens that are in it");
    model.copy(s, copy->to.value());
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
