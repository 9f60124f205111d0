// SPDX-License-Identifier: Apache-2.0
// An engine that makes random calls of a kv_cache in every state, and one that then just goes on until all is done.
#ifndef PAVE_TESTS_MODEL_CACHE_WALK_HPP
#define PAVE_TESTS_MODEL_CACHE_WALK_HPP

#include "model/cache_driver.hpp"
#include "model/cache_model.hpp"
#include "model/cache_notes.hpp"
#include "model/random.hpp"

#include <pave/cache.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pave_tests {

template <class Policies>
class cache_walk {
 public:
  cache_walk(const model_options& chosen, std::uint64_t seed)
      : driver_(chosen, seed),
        model_(driver_.model),
        random_(driver_.random),
        runs_at_launch_(random_.one_in(2)),
        families_(random_.between(1, 2)) {}

  void wander(int calls) {
    for (int call = 1; call <= calls; ++call) {
      try {
        random_call();
        if (runs_at_launch_ || random_.one_in(10)) model_.stream.run_all();
      } catch (const fault& found) {
        throw fault(std::string(found.what()) + " (call " + std::to_string(call) + ")");
      }
    }
  }

  /// Law 4: whatever happened before, an engine that goes on finishes all sequences.
  void go_on_until_all_is_done() {
    while (!model_.outside.empty()) driver_.release_outside(*model_.outside.begin());
    while (!model_.steps.empty()) driver_.complete(model_.steps.front().id);
    std::map<std::int64_t, std::int64_t> lengths;  // by arrival
    std::int64_t steps_left = 100;
    for (const auto& [arrival, s] : model_.sequences) {
      lengths[arrival] = std::min(model_.longest(), s.goal + random_.between(0, 24));
      steps_left += 10 + 10 * lengths[arrival];
    }
    for (const auto& [arrival, length] : lengths) {
      if (random_.one_in(2)) offer_to(model_.sequences.at(arrival).id);
    }
    const bool restores_after_cuts = random_.one_in(2);
    for (; !model_.sequences.empty(); --steps_left) {
      expect(steps_left > 0, "law 4: an engine that goes on gets everything done");
      go_on(lengths, restores_after_cuts);
    }
    while (!model_.steps.empty()) driver_.complete(model_.steps.front().id);
    model_.stream.run_all();
    expect(model_.available() == model_.options.blocks, "in the end all blocks are available");
  }

 private:
  // --- an engine's loop ---

  void go_on(const std::map<std::int64_t, std::int64_t>& lengths, bool restores_after_cuts) {
    const bool is_full = static_cast<std::int64_t>(model_.steps.size()) == model_.options.steps_in_flight;
    if (is_full || (!model_.steps.empty() && random_.one_in(3))) {
      driver_.complete(model_.steps.front().id);
      std::vector<pave::sequence_id> done;
      for (const auto& [arrival, s] : model_.sequences) {
        if (s.computed >= lengths.at(arrival)) done.push_back(s.id);
      }
      for (const pave::sequence_id id : done) driver_.end(id, false);
      return;
    }
    driver_.begin_step();
    std::int64_t budget = random_.between(1, 40);
    const std::int64_t lost = model_.in_state(pave::sequence_state::parked);
    for (const pave::sequence_id id : running_by_rank()) {
      const model_sequence& s = *model_.find(id);
      const std::int64_t tokens = std::min(budget, lengths.at(s.arrival) - s.scheduled);
      if (s.runs_now() && tokens > 0 && driver_.grow(id, tokens, everyone())) budget -= tokens;
    }
    if (!restores_after_cuts && model_.in_state(pave::sequence_state::parked) != lost) return;
    while (budget > 0) {
      const std::optional<std::int64_t> tokens = driver_.restore_next(budget, everyone());
      if (!tokens) break;
      budget -= *tokens;
    }
    const model_sequence* first = model_.first_in_line();
    expect(model_.in_state(pave::sequence_state::running) > 0 || first == nullptr || first->promised > 0,
           "law 4: where nobody runs, the first in line comes in, or has blocks on their way");
  }

  // --- random calls; never two choices in one argument list, whose order compilers choose ---

  void random_call() {
    if (model_.options.indexed && random_.one_in(5)) return set_hashes();
    const std::int64_t kind = random_.between(0, 99);
    if (kind < 8 || model_.sequences.empty()) return admit();
    if (kind < 26) return step();
    if (kind < 30) return driver_.begin_step();
    if (kind < 35) return complete();
    if (kind < 37) return model_.launch();
    if (kind < 38) return random_.one_in(2) ? fork() : fork_in_place_of();
    if (kind < 39) return offer_to(random_id());
    if (kind < 42) return admit_relative();
    if (kind < 45) return truncate();
    if (kind < 47) return end();
    if (kind < 50) return set_rank();
    if (kind < 55) return hold_outside();
    if (kind < 56) return driver_.move_about();
    if (!may_schedule()) return step();
    if (kind < 57) return driver_.park(random_id());
    if (kind < 63) return plan_and_commit();
    if (kind < 64) return random_.one_in(6) ? driver_.reset() : decode_all();
    if (kind < 74) return restore();
    if (kind < 80) return decode_all();
    grow();
  }

  /// A launched step takes nothing more.
  [[nodiscard]] bool may_schedule() const { return !(model_.is_open && model_.is_launched); }

  /// What an engine does in a step, up to its launch.
  void step() {
    if (static_cast<std::int64_t>(model_.steps.size()) == model_.options.steps_in_flight) complete(0);
    driver_.begin_step();
    decode_all();
    restore();
  }

  void admit() {
    const std::int64_t longest = model_.longest();
    const std::int64_t tokens = random_.one_in(12) ? random_.between(-1, longest + 20)
                                                   : random_.between(1, 1 + longest / random_.between(1, 8));
    const std::int64_t at_most = random_.one_in(4) ? random_.between(-1, longest + 20) : 0;
    const auto family = static_cast<std::uint64_t>(random_.between(1, families_));
    const std::int64_t rank = random_rank();
    const pave::sequence_id id = driver_.admit(rank, tokens, at_most, family, random_common(longest));
    if (model_.find(id) != nullptr && random_.one_in(2)) offer_to(id);
  }
  /// Somebody comes with the same beginning as one that holds blocks, and finds it.
  void admit_relative() {
    const model_sequence* s = random_sequence();
    if (s == nullptr || s->table.empty()) return;
    driver_.note_blocks(*s);
    const std::int64_t more = random_.between(1, 2 * model_.options.tokens_per_block);
    const std::int64_t tokens = random_.one_in(2) ? s->computed + more : random_.between(1, model_.longest());
    const model_sequence* first = model_.first_in_line();
    const std::int64_t rank = first == nullptr || random_.one_in(4) ? s->rank : first->rank - 1;
    const pave::sequence_id id = driver_.admit(rank, tokens, 0, s->family, s->common);
    if (model_.find(id) != nullptr) offer_to(id);
    if (may_schedule()) restore();
  }

  void fork() {
    const pave::sequence_id parent = random_id();
    const model_sequence* s = model_.find(parent);
    const std::int64_t rank = s == nullptr || random_.one_in(3) ? random_rank() : s->rank;
    for (std::int64_t more = random_.between(1, 2); more > 0; --more) driver_.fork(parent, rank);
  }

  /// A fork goes on alone, from before what steps in flight still compute of the other one.
  void fork_in_place_of() {
    const pave::sequence_id parent = random_id();
    if (model_.find(parent) == nullptr) return;
    const pave::sequence_id id = driver_.fork(parent, random_rank());
    if (random_.one_in(2)) driver_.end(parent, true);
    const model_sequence* s = model_.find(id);
    if (s == nullptr) return;
    driver_.truncate(id, random_.between(std::max<std::int64_t>(0, s->scheduled - 3), s->goal));
    if (may_schedule()) static_cast<void>(driver_.grow(id, random_.between(1, 3), everyone()));
  }

  void end() {
    const pave::sequence_id id = random_id();
    const model_sequence* s = model_.find(id);
    if (s != nullptr && !random_.one_in(4)) driver_.note_blocks(*s);
    driver_.end(id, random_.one_in(2));
  }

  /// The engine's prefix cache says which blocks have the beginning of a sequence.
  void offer_to(pave::sequence_id id) {
    const model_sequence* s = model_.find(id);
    driver_.offer_prefix(id, s == nullptr ? std::vector<prefix_note>{} : random_offer(*s));
  }

  /// Names for what the engine knows of a sequence: all of it, or some.
  void set_hashes() {
    const pave::sequence_id id = random_id();
    const model_sequence* s = model_.find(id);
    const std::int64_t known = s == nullptr ? 0 : static_cast<std::int64_t>(s->names.size());
    const auto too_many = static_cast<std::size_t>(model_.options.blocks_per_sequence - known + 1);
    if (s == nullptr || random_.one_in(40)) return driver_.set_hashes(id, known, std::vector<std::uint64_t>(too_many));
    if (random_.one_in(40)) return driver_.set_hashes(id, random_.one_in(2) ? -1 : known + 1, {});
    const auto all = static_cast<std::int64_t>(s->tokens.size()) / model_.options.tokens_per_block;
    const std::int64_t first = random_.one_in(3) ? random_.between(0, known) : known;
    const std::vector<std::uint64_t> ends = model_.stream.ends_of_blocks(s->tokens);
    const std::int64_t last = random_.one_in(2) ? all : random_.between(0, all);
    if (first < last) driver_.set_hashes(id, first, {ends.begin() + first, ends.begin() + last});
  }

  void truncate() {
    const pave::sequence_id id = random_id();
    driver_.truncate(id, random_length(model_.find(id)));
  }
  void set_rank() {
    const pave::sequence_id id = random_id();
    driver_.set_rank(id, random_rank());
  }
  void grow() {
    const pave::sequence_id id = random_id();
    const std::int64_t tokens = random_growth();
    static_cast<void>(driver_.grow(id, tokens, random_room()));
  }

  void complete() {
    if (model_.steps.empty() || random_.one_in(20)) return driver_.complete(random_.between(-1, model_.last_begun + 2));
    complete(random_.one_in(4) ? random_.index(model_.steps.size()) : 0);
  }
  void complete(std::size_t which) {
    driver_.complete(model_.steps[which].id);
    for (const auto& [arrival, s] : model_.sequences) {
      if (random_.one_in(2)) driver_.note_blocks(s);
    }
  }

  void restore() {
    if (random_.one_in(15)) return static_cast<void>(driver_.restore_next(random_.between(-1, 0), everyone()));
    for (int most = 8; most > 0; --most) {
      const model_sequence* first = model_.first_in_line();
      if (first != nullptr && random_.one_in(2)) offer_to(first->id);
      const std::int64_t budget = random_budget();
      if (!driver_.restore_next(budget, random_room())) return;
    }
  }

  void decode_all() {
    for (const pave::sequence_id id : running_by_rank()) {
      const model_sequence* s = model_.find(id);
      if (!s->runs_now() || driver_.grow(id, 1, everyone())) continue;
      const bool is_over = s->runs_now() && model_.takes_more();  // it can have no more
      if (is_over && random_.one_in(3)) driver_.end(id, false);
    }
  }

  void plan_and_commit() {
    const pave::sequence_id requester = random_id();
    const std::int64_t shortage = random_.between(-1, random_.one_in(4) ? model_.options.blocks : 3);
    std::vector<pave::cut> cuts = driver_.plan_cuts(requester, shortage, random_room());
    if (random_.one_in(4) || (cuts.empty() && !random_.one_in(10))) return;
    if (random_.one_in(5) && !cuts.empty()) forge(cuts[random_.index(cuts.size())]);
    if (random_.one_in(20) && !cuts.empty()) cuts.push_back(cuts.front());
    if (random_.one_in(2)) meanwhile(cuts);
    if (may_schedule()) driver_.commit(random_.one_in(12) ? random_id() : requester, cuts);
  }
  void forge(pave::cut& c) {
    const std::int64_t by = random_.one_in(2) ? 1 : -1;
    switch (random_.between(0, 5)) {
      case 0: c.blocks.first += by; break;
      case 1: c.blocks.last += by; break;
      case 2: c.freed += by; break;
      case 3: c.was_parked = !c.was_parked; break;
      case 4: c.sequence.generation += 1; break;
      default: c.sequence = random_id(); break;
    }
  }
  /// Something happens between a plan and its commitment, to a victim where that can be.
  void meanwhile(const std::vector<pave::cut>& cuts) {
    if (cuts.empty()) return random_call();
    const model_sequence* victim = model_.find(cuts[random_.index(cuts.size())].sequence);
    if (victim == nullptr || victim->table.empty()) return random_call();
    switch (random_.between(0, 4)) {
      case 0: return driver_.end(victim->id, false);
      case 1: return driver_.truncate(victim->id, random_.between(0, victim->goal));
      case 2: return driver_.share_outside(victim->table[random_.index(victim->table.size())]);
      case 3: return static_cast<void>(driver_.grow(victim->id, random_growth(), everyone()));
      default: return random_call();
    }
  }

  void hold_outside() {
    if (model_.outside.size() > 3 || (!model_.outside.empty() && random_.one_in(2))) {
      const auto which = static_cast<std::ptrdiff_t>(random_.index(model_.outside.size()));
      const pave::content left = random_.one_in(4) ? pave::content::worthless : pave::content::worth_keeping;
      const std::int64_t last_use = random_.one_in(2) ? random_.between(model_.last_complete(), model_.last_begun) : 0;
      return driver_.release_outside(*std::next(model_.outside.begin(), which), last_use, left);
    }
    if (random_.one_in(6))
      return driver_.allocate_outside(random_.between(0, random_.one_in(4) ? model_.options.blocks + 2 : 2));
    const model_sequence* s = random_sequence();
    if (s == nullptr || s->table.empty() || random_.one_in(10)) {
      return driver_.share_outside(static_cast<std::int32_t>(random_.between(-1, model_.options.blocks)));
    }
    driver_.share_outside(s->table[random_.index(s->table.size())]);
  }

  // --- random arguments ---

  model_sequence* random_sequence() {
    if (model_.sequences.empty()) return nullptr;
    return &std::next(model_.sequences.begin(), static_cast<std::ptrdiff_t>(random_.index(model_.sequences.size())))
                ->second;
  }
  pave::sequence_id random_id() {
    if (random_.one_in(40))
      return {static_cast<std::uint32_t>(random_.between(0, 12)), static_cast<std::uint32_t>(random_.between(0, 3))};
    if (random_.one_in(30) && !model_.ended.empty()) return model_.ended[random_.index(model_.ended.size())];
    const model_sequence* s = random_sequence();
    return s == nullptr ? pave::sequence_id{} : s->id;
  }
  /// How many tokens a sequence has in common with its family: all, none, or some.
  std::int64_t random_common(std::int64_t longest) {
    if (random_.one_in(5)) return 0;
    return random_.one_in(2) ? longest : random_.between(0, longest);
  }
  /// Blocks with the tokens of a sequence, as far as the engine knows any. Of those that the sequence holds, and behind
  /// the last that it could take, it says whatever it likes; some of the others are out of date.
  std::vector<prefix_note> random_offer(const model_sequence& s) {
    std::vector<prefix_note> offer;
    const std::vector<std::uint64_t> ends = model_.stream.ends_of_blocks(s.tokens);
    const std::int64_t beyond = random_.one_in(4) ? random_.between(1, model_.options.blocks_per_sequence + 2) : 0;
    const std::int64_t last = (s.goal - 1) / model_.options.tokens_per_block;
    if (random_.one_in(15)) return offer;
    for (std::int64_t logical = 0; logical < last + beyond; ++logical) {
      const auto at = static_cast<std::size_t>(logical);
      const bool is_passed_over = logical < s.held() || logical >= last;
      const prefix_note* note = driver_.notes.any(random_);
      if (!is_passed_over && at >= ends.size()) break;
      const bool is_stale = note != nullptr && !model_.content.is_there(note->content) && random_.one_in(20);
      if (!is_passed_over && !is_stale) note = driver_.notes.find(ends[at], random_);
      if (note == nullptr) break;
      offer.push_back(*note);
    }
    return offer;
  }
  std::int64_t random_rank() { return random_.one_in(3) ? random_.between(-3, 3) : 0; }
  std::int64_t random_budget() {
    return random_.one_in(3) ? random_.between(1, 5) : random_.between(1, model_.longest() + 1);
  }
  std::int64_t random_length(const model_sequence* s) {
    if (s == nullptr || random_.one_in(15)) return random_.between(-2, model_.longest() + 2);
    return random_.between(random_.one_in(4) ? 0 : std::max<std::int64_t>(0, s->goal - 6), s->goal);
  }
  std::int64_t random_growth() {
    if (random_.one_in(30))
      return random_.one_in(2) ? random_.between(-2, 0) : std::int64_t{1} << random_.between(1, 62);
    return random_.one_in(3) ? random_.between(1, 3 * model_.options.tokens_per_block) : random_.between(1, 5);
  }
  std::size_t random_room() { return random_.one_in(8) ? random_.index(everyone()) : everyone(); }
  [[nodiscard]] std::size_t everyone() const { return static_cast<std::size_t>(model_.options.sequences); }

  [[nodiscard]] std::vector<pave::sequence_id> running_by_rank() const {
    std::vector<const model_sequence*> running;
    for (const auto& [arrival, s] : model_.sequences) {
      if (s.runs_now()) running.push_back(&s);
    }
    std::sort(running.begin(), running.end(),
              [](const auto* a, const auto* b) { return cache_model::more_important(*a, *b); });
    std::vector<pave::sequence_id> ids(running.size());
    std::transform(running.begin(), running.end(), ids.begin(), [](const model_sequence* s) { return s->id; });
    return ids;
  }

  cache_driver<Policies> driver_;
  cache_model& model_;
  random_source& random_;
  bool runs_at_launch_;
  std::int64_t families_;
};

}  // namespace pave_tests

#endif
