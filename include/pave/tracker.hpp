// SPDX-License-Identifier: Apache-2.0
// What each sequence lost, when it may come back, and in which steps.
#ifndef PAVE_TRACKER_HPP
#define PAVE_TRACKER_HPP

#include <pave/detail/buffer.hpp>
#include <pave/detail/bundles.hpp>
#include <pave/detail/detect.hpp>
#include <pave/detail/gap_map.hpp>
#include <pave/policy/resume_gate.hpp>
#include <pave/result.hpp>
#include <pave/units.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace pave {
inline namespace v0 {

/// @brief The default policies of a tracker. Derive from it and name what is to change.
struct tracker_policies {
  using resume_gate = whole_gap;
};

namespace detail {
template <class Policies>
constexpr bool is_whole_tracker_bundle() noexcept {
  static_assert(has_tracker_slots_v<Policies>,
                "pave: a restore_tracker takes a bundle of its policies: derive from tracker_policies, and name in it "
                "what is to change");
  static_assert(names_whole_parts_v<Policies> || !has_tracker_slots_v<Policies>,
                "pave: a bundle names a slot of another part, and nothing reads it there: name it in a bundle of its "
                "part, derived from pool_policies, planner_policies or tracker_policies");
  return has_tracker_slots_v<Policies>;
}
template <class Policies>
using tracker_bundle_or_default = std::conditional_t<is_whole_tracker_bundle<Policies>(), Policies, tracker_policies>;
}  // namespace detail

struct tracker_options {
  std::size_t sequences = 0;  ///< slots: how many sequences live at the same time, 1 … 2^32 − 1
  token_count longest = (std::numeric_limits<std::int64_t>::max)();  ///< tokens that one sequence can have, at least 1
  /// Cuts inside of a sequence are multiples of it: tokens of a block. 0: only ends are cut. Otherwise a bit is kept
  /// for each block of the `longest` sequence, so that this one has to be given, too.
  token_count gap_unit = 0;
};

enum class sequence_state : std::uint8_t {
  ended,    ///< not tracked
  waiting,  ///< has not run yet
  running,
  parked,  ///< has run, and waits for blocks
};

/// @brief Where one sequence stands, in token positions: computed ≤ scheduled ≤ goal.
struct sequence_progress {
  token_count computed;   ///< [0, computed) is in the cache, by completed steps
  token_count scheduled;  ///< [computed, scheduled) is written by steps that are scheduled or in flight, or was kept
  token_count kept;       ///< [scheduled, kept) has gaps, and behind each something that was kept; no more: none
  token_count reached;    ///< the most that was ever in the cache; [scheduled, reached) is the gap, or has gaps
  token_count goal;       ///< what has to be in the cache before the sequence yields its next token, as far as is known
  token_count known;      ///< tokens that are known, with the one that scheduled steps yield: `goal`, or one more
  sequence_state state = sequence_state::ended;
};

/// @brief What a sequence that waits needs in order to come in.
struct resume_need {
  token_range tokens;     ///< what the coming step would compute: the first chunk
  token_count must_fit;   ///< blocks have to be there for [0, must_fit)
  token_count allocates;  ///< and are taken for [0, allocates)
  bool resumes = false;   ///< it ran before; false for a sequence that is new
};

/// @brief What was lost and came back, over all sequences, since `create`.
struct restore_counts {
  token_count lost;      ///< tokens cut from sequences that have to come back
  token_count restored;  ///< of these: tokens scheduled to be computed again; they are no cache hits
  token_count revived;   ///< of these: tokens that were found again, in blocks that had not been reused
  token_count cached;    ///< tokens that were found before the sequence ever had them: a prefix that it shares
};

/// @brief Follows each sequence through schedule, complete, cut, park and resume. It knows tokens; blocks are the
/// caller's.
///
/// What a cut takes from the end of a sequence becomes its gap. A parked sequence that comes in computes its gap and
/// its next tokens as one prefill over the prefix that it kept, in chunks of the step's budget; cut again in the
/// middle, it keeps what it has, and only the rest is its gap.
///
/// With a `gap_unit`, cuts can take something from the inside, too, any number of times. Gaps come back from the front
/// to the back, each as a prefill of its own, since each token attends to all before it; what was kept between them is
/// passed over. Only then the sequence goes on at its end.
///
/// No step that it asks for computes a token that is not known: the prompt's are, those of which the engine has said so
/// by `schedule` or `park`, and the one behind the goal once a step is scheduled that computes all up to there. `known`
/// counts them; a step that makes it grow is one that yields a token.
///
/// An engine with tables of its own calls it in this order. For a sequence that runs: `schedule`, then `complete` once
/// the step is done. For a cut: `lose` what its blocks held, then `park`. For one that waits: ask what it `needs`, get
/// the blocks, then `resume`; `complete` follows as for any step.
/// @complexity constant, but for `create`; with a `gap_unit` linear in the gaps of the sequence, and in its blocks by
/// 64
/// @threadsafety one thread at a time
template <class Policies = tracker_policies>
class restore_tracker {
 public:
  using resume_gate_type = typename detail::tracker_bundle_or_default<Policies>::resume_gate;

  static_assert(
      detail::is_detected_as_v<token_count, detail::resume_gate_must_fit, resume_gate_type>,
      "pave: a resume_gate policy needs `token_count must_fit(token_count remaining, token_count chunk) const`");
  static_assert(
      detail::is_detected_as_v<token_count, detail::resume_gate_allocates, resume_gate_type>,
      "pave: a resume_gate policy needs `token_count allocates(token_count remaining, token_count chunk) const`");

  /// @brief Makes a tracker without sequences. The only call that takes memory.
  /// @error `invalid_argument`: no slots, or more than 32 bits count
  /// @error `out_of_memory`
  [[nodiscard]] static result<restore_tracker> create(const tracker_options& options,
                                                      resume_gate_type gate = {}) noexcept {
    if (options.sequences < 1 || options.sequences > (std::numeric_limits<std::uint32_t>::max)() ||
        options.longest < 1 || options.gap_unit < 0) {
      return errc::invalid_argument;
    }
    restore_tracker tracker;
    tracker.gate_ = std::move(gate);
    tracker.longest_ = options.longest;
    if (!tracker.entries_.reserve(options.sequences) ||
        !tracker.gaps_.reserve(options.sequences, options.longest, options.gap_unit)) {
      return errc::out_of_memory;
    }
    return tracker;
  }

  /// @brief An empty tracker, without slots, as a moved-from one is.
  restore_tracker() noexcept = default;

  /// @brief A sequence comes, and waits: nothing of it is computed.
  /// @param id any slot that is not in use; its generation tells it from the slot's sequences before and after it
  /// @param tokens what has to be computed before it yields its first new token: its prompt
  /// @error `invalid_argument`: no tokens, more than the longest sequence has, or a slot that does not exist
  /// @error `busy`: the slot is in use
  result<void> track(sequence_id id, token_count tokens) noexcept {
    if (id.slot >= entries_.size() || tokens < 1 || tokens > longest_) return errc::invalid_argument;
    entry& e = entries_[id.slot];
    if (e.state != sequence_state::ended) return errc::busy;
    e = entry{};
    e.goal = tokens;
    e.generation = id.generation;
    enter(e, sequence_state::waiting);
    return {};
  }

  /// @brief A sequence comes that has what another one has: its state, its goal and its gap, and its tokens up to
  /// `end`. What it misses of them counts as lost, and what was kept behind a gap is not its own. Of the steps behind
  /// `end` only complete ones count as run for it, too, so that it knows what they yielded.
  /// @param from the other one
  /// @param id as for `track`
  /// @param end at most what is scheduled of the other one; behind it nothing is in the blocks of the new one
  /// @error `stale`: the other one has ended
  /// @error `invalid_argument`: a slot that does not exist, or an end out of its range
  /// @error `busy`: the slot is in use
  result<void> fork(sequence_id from, sequence_id id, token_count end) noexcept {
    const entry* other = find(from);
    if (other == nullptr) return errc::stale;
    const sequence_progress at = progress_of(from.slot);
    if (id.slot >= entries_.size() || end < 0 || end > at.scheduled) return errc::invalid_argument;
    entry& e = entries_[id.slot];
    if (e.state != sequence_state::ended) return errc::busy;
    const sequence_state state = other->state;
    e = *other;
    e.state = sequence_state::ended;
    e.generation = id.generation;
    e.computed = detail::smaller(at.computed, end);
    e.scheduled = end;
    e.kept = 0;
    if (at.computed == e.goal && end < e.goal) take_up_next(e);
    counts_.get().lost += detail::larger<token_count>(0, e.reached - end);
    enter(e, state);
    return {};
  }

  /// @brief A sequence ends, in any state.
  /// @error `stale`
  result<void> forget(sequence_id id) noexcept {
    entry* e = find(id);
    if (e == nullptr) return errc::stale;
    enter(*e, sequence_state::ended);
    return {};
  }

  /// @return where the sequence stands
  /// @error `stale`
  [[nodiscard]] result<sequence_progress> progress(sequence_id id) const noexcept {
    if (find(id) == nullptr) return errc::stale;
    return progress_of(id.slot);
  }
  /// @return what was cut and is not scheduled yet, of several gaps the first; empty where nothing is missing
  /// @error `stale`
  [[nodiscard]] result<token_range> gap(sequence_id id) const noexcept {
    const entry* e = find(id);
    if (e == nullptr) return errc::stale;
    const token_count start = next_position(id.slot);
    return token_range{start, start < e->kept ? end_of_gap(id.slot, start) : detail::larger(start, e->reached)};
  }

  /// @return whether cuts can leave gaps inside: there is a `gap_unit`
  [[nodiscard]] bool knows_gaps() const noexcept { return gaps_.stores_gaps(); }
  /// @return tokens of a range that are in gaps before something that was kept
  /// @error `stale`
  [[nodiscard]] result<token_count> missing(sequence_id id, token_range range) const noexcept {
    const entry* e = find(id);
    if (e == nullptr) return errc::stale;
    const token_range behind{detail::larger(range.first, e->scheduled), detail::smaller(range.last, e->kept)};
    return behind.empty() ? token_count(0) : gaps_.missing(id.slot, behind);
  }

  /// @brief The coming step computes the next `tokens` tokens of a running sequence.
  /// @return their positions: fewer than asked for where a gap ends before something that was kept
  /// @error `stale`
  /// @error `waits`: it is not running
  /// @error `invalid_argument`: a negative number, or more than the longest sequence has
  result<token_range> schedule(sequence_id id, token_count tokens) noexcept {
    entry* e = find(id);
    if (e == nullptr) return errc::stale;
    if (e->state != sequence_state::running) return errc::waits;
    if (tokens < 0 || tokens > longest_ - next_position(id.slot)) return errc::invalid_argument;
    return advance(id.slot, tokens);
  }

  /// @brief A scheduled step is done: [0, end) is in the cache.
  /// @param end at most what is scheduled; less than what is computed already changes nothing
  /// @error `stale`
  /// @error `invalid_argument`: over what is scheduled
  result<void> complete(sequence_id id, token_count end) noexcept {
    entry* e = find(id);
    if (e == nullptr) return errc::stale;
    if (end > e->scheduled) return errc::invalid_argument;
    if (end <= e->computed) return {};
    e->computed = end;
    e->reached = detail::larger(e->reached, end);
    return {};
  }

  /// @brief A scheduled step is not run for this sequence: [end, scheduled) is to be scheduled again. One call for each
  /// step, and before a cut takes something inside: what is scheduled counts as there for `lose`. The goal stays what
  /// it was: where tokens before it depend on an earlier step that is taken back, too, `truncate` says what is known.
  /// @error `stale`
  /// @error `invalid_argument`: less than what is computed
  result<void> unschedule(sequence_id id, token_count end) noexcept {
    entry* e = find(id);
    if (e == nullptr) return errc::stale;
    if (end < e->computed) return errc::invalid_argument;
    counts_.get().restored -= overlap({end, e->scheduled}, e->reached);
    e->scheduled = detail::smaller(e->scheduled, end);
    return {};
  }

  /// @brief A cut took all blocks beyond the first `kept` tokens: what was there becomes the gap.
  /// @param kept tokens at the front whose blocks are still held; more than is scheduled loses nothing
  /// @return the tokens lost by this cut
  /// @error `stale`
  /// @error `invalid_argument`: a negative number
  result<token_range> lose(sequence_id id, token_count kept) noexcept {
    entry* e = find(id);
    if (e == nullptr) return errc::stale;
    if (kept < 0) return errc::invalid_argument;
    const token_range lost{detail::smaller(kept, e->scheduled), e->scheduled};
    const bool had_all = next_position(id.slot) == e->goal;
    // What is in flight was written before it was lost, and is computed a second time.
    e->reached = detail::larger(e->reached, detail::larger(e->scheduled, e->kept));
    if (e->kept > e->scheduled) {
      const token_count from = detail::larger(kept, e->scheduled);
      counts_.get().lost += kept_behind_gaps(id.slot, {from, detail::larger(from, e->kept)});
    }
    forget_behind(id.slot, kept);
    e->scheduled = lost.first;
    e->computed = detail::smaller(e->computed, lost.first);
    counts_.get().lost += lost.size();
    if (had_all && next_position(id.slot) < e->goal) take_up_next(*e);
    return lost;
  }

  /// @brief A cut took the blocks of a range of tokens: what was there becomes a gap, and what is behind it stays.
  /// @param lost multiples of the `gap_unit`; one that ends at or behind all that the sequence has is as if it had no
  ///   end
  /// @return how many tokens were lost by this cut. Where it lies before a gap that is only half restored, the block in
  ///   which that restore stands is lost, too
  /// @error `stale`
  /// @error `invalid_argument`: an empty range, one that is out of place, or inside, and the tracker has no `gap_unit`
  result<token_count> lose(sequence_id id, token_range lost) noexcept {
    entry* e = find(id);
    if (e == nullptr) return errc::stale;
    if (lost.first < 0 || lost.empty()) return errc::invalid_argument;
    const token_count before = counts_.get().lost;
    if (lost.last >= detail::larger(e->scheduled, e->kept)) {
      static_cast<void>(lose(id, lost.first).value());
      return counts_.get().lost - before;
    }
    if (!gaps_.stores_gaps() || !gaps_.is_boundary(lost.first) || !gaps_.is_boundary(lost.last)) {
      return errc::invalid_argument;
    }
    const bool had_all = next_position(id.slot) == e->goal;
    e->reached = detail::larger(e->reached, detail::larger(e->scheduled, e->kept));
    if (lost.first < e->scheduled) {
      token_count valid = e->scheduled;  // all before it is there
      if (e->kept > e->scheduled) {
        valid = gaps_.start_of_block(next_position(id.slot));
        counts_.get().lost += detail::larger<token_count>(0, e->scheduled - detail::larger(valid, lost.last));
      } else {
        e->kept = e->scheduled;
      }
      counts_.get().lost += detail::smaller(e->scheduled, lost.last) - lost.first;
      gaps_.set(id.slot, {0, valid}, false);
      if (lost.last > e->scheduled) counts_.get().lost += kept_behind_gaps(id.slot, {e->scheduled, lost.last});
      e->scheduled = lost.first;
      e->computed = detail::smaller(e->computed, lost.first);
    } else {
      counts_.get().lost += kept_behind_gaps(id.slot, lost);
    }
    gaps_.set(id.slot, lost, true);
    if (had_all) take_up_next(*e);
    return counts_.get().lost - before;
  }

  /// @brief Stops a sequence until its gap and its next tokens fit.
  /// @param goal tokens that have to be in the cache before it yields its next token, where the engine knows more of
  ///   them than the tracker does. At least those that are known, at most what the longest sequence has
  /// @error `stale`
  result<void> park(sequence_id id, token_count goal) noexcept {
    entry* e = find(id);
    if (e == nullptr) return errc::stale;
    if (e->state == sequence_state::running) enter(*e, sequence_state::parked);
    e->goal = detail::larger(e->goal, detail::smaller(goal, longest_));
    return {};
  }

  /// @brief What a sequence that waits needs in order to come in. Changes nothing.
  /// @param budget tokens that the coming step has room for
  /// @param found tokens behind those that it has, whose content is still in blocks: they come back uncomputed
  /// @error `stale`
  /// @error `busy`: it runs
  /// @error `invalid_argument`: no budget; or found tokens that leave none to compute, or that follow some in flight
  [[nodiscard]] result<resume_need> needs(sequence_id id, token_count budget, token_count found = 0) const noexcept {
    const entry* e = find(id);
    if (e == nullptr) return errc::stale;
    if (e->state == sequence_state::running) return errc::busy;
    if (budget < 1 || found < 0) return errc::invalid_argument;
    const sequence_progress at = progress_of(id.slot);
    if (found > 0 && (found >= at.goal - at.scheduled || at.computed != at.scheduled || at.kept > at.scheduled)) {
      return errc::invalid_argument;
    }
    const token_count start = at.scheduled + found;
    const token_count in_gaps = missing_behind(id.slot, start);
    const token_count remaining = at.goal - detail::larger(start, e->kept) + in_gaps;
    const token_count gap = start < e->kept ? end_of_gap(id.slot, start) - start : remaining;
    const token_count chunk = detail::smaller(gap, budget);
    // Whatever a gate says: the chunk gets its blocks, what gets blocks has to fit, and no sequence is longer than the
    // longest.
    const token_count room = longest_ - detail::larger(start, e->kept) + in_gaps;
    const token_count allocates = detail::smaller(detail::larger(chunk, gate_.allocates(remaining, chunk)), room);
    const token_count must_fit = detail::smaller(detail::larger(allocates, gate_.must_fit(remaining, chunk)), room);
    return resume_need{{start, start + chunk},
                       position_after(id.slot, start, must_fit),
                       position_after(id.slot, start, allocates),
                       e->state == sequence_state::parked};
  }

  /// @brief A sequence that waits comes in: its first chunk is scheduled.
  /// @param budget as it was given to `needs`
  /// @param found as it was given to `needs`: they count as computed from now on
  /// @return the positions that the coming step computes
  /// @error as of `needs`
  result<token_range> resume(sequence_id id, token_count budget, token_count found = 0) noexcept {
    const result<resume_need> need = needs(id, budget, found);
    if (!need) return need.error();
    entry& e = *find(id);
    enter(e, sequence_state::running);
    if (found > 0) {
      e.computed = e.scheduled = next_position(id.slot);
      take_found(e, found);
    }
    return advance(id.slot, need->tokens.size());
  }

  /// @brief Takes back the tokens from `length` on, in any state: rejected drafts, or a shortened prompt. They do not
  /// come back as a gap.
  ///
  /// Where the last of those that stay is yet to be computed, they are all that is known: `length` is the goal,
  /// whatever is cut after that, and the step that gets there yields the next token. Where the last one is computed,
  /// kept or scheduled, nothing yields the next one again: the sequence goes on with it, as the engine knows it (it was
  /// sampled in place of a rejected draft). An engine that does not takes back one more, and has that one computed.
  /// @error `stale`
  /// @error `invalid_argument`: a negative length, or more than it was to have
  result<void> truncate(sequence_id id, token_count length) noexcept {
    entry* e = find(id);
    if (e == nullptr) return errc::stale;
    if (length < 0 || length > progress_of(id.slot).goal) return errc::invalid_argument;
    e->computed = detail::smaller(e->computed, length);
    e->scheduled = detail::smaller(e->scheduled, length);
    e->reached = detail::smaller(e->reached, length);
    forget_behind(id.slot, length);
    e->goal = length;
    e->gave_last = false;
    const bool ends_there = detail::larger(e->scheduled, e->kept) == length;
    if (ends_there && next_position(id.slot) < length) take_up_next(*e);
    return {};
  }

  /// @return how many sequences are in `state`; 0 for `ended`
  [[nodiscard]] std::size_t count(sequence_state state) const noexcept {
    return population_.get()[static_cast<std::size_t>(state)];
  }
  /// @return tokens lost and restored, over all sequences
  [[nodiscard]] restore_counts counts() const noexcept { return counts_.get(); }

 private:
  static constexpr token_count most_tokens = (std::numeric_limits<std::int64_t>::max)();

  struct entry : sequence_progress {
    std::uint32_t generation = 0;
    bool gave_last = false;  // the token behind those of the longest sequence, which nothing computes
  };

  [[nodiscard]] const entry* find(sequence_id id) const noexcept {
    if (id.slot >= entries_.size()) return nullptr;
    const entry& e = entries_[id.slot];
    return e.state != sequence_state::ended && e.generation == id.generation ? &e : nullptr;
  }
  [[nodiscard]] entry* find(sequence_id id) noexcept { return const_cast<entry*>(std::as_const(*this).find(id)); }

  /// The token behind the goal is known, and is to be computed with those before it. Where that would be one too many,
  /// it is only not to be yielded again.
  void take_up_next(entry& e) noexcept {
    e.gave_last = e.goal == longest_;
    if (!e.gave_last) e.goal += 1;
  }

  /// Tokens of `range` that were in the cache before.
  static constexpr token_count overlap(token_range range, token_count reached) noexcept {
    return detail::larger<token_count>(0, detail::smaller(range.last, reached) - range.first);
  }

  void enter(entry& e, sequence_state state) noexcept {
    if (e.state != sequence_state::ended) population_.get()[static_cast<std::size_t>(e.state)] -= 1;
    if (state != sequence_state::ended) population_.get()[static_cast<std::size_t>(state)] += 1;
    e.state = state;
  }

  void take_found(entry& e, token_count found) noexcept {
    const token_range range{e.scheduled, e.scheduled + found};
    const token_count revived = overlap(range, e.reached);
    counts_.get().revived += revived;
    counts_.get().cached += found - revived;
    e.computed = e.scheduled = range.last;
    e.reached = detail::larger(e.reached, range.last);
  }

  token_range advance(std::uint32_t slot, token_count tokens) noexcept {
    entry& e = entries_[slot];
    const token_count start = next_position(slot);
    if (tokens == 0) return {start, start};
    if (e.computed == e.scheduled) e.computed = start;  // what was kept between is there
    if (start < e.kept) tokens = detail::smaller(tokens, end_of_gap(slot, start) - start);
    const token_range scheduled{start, start + tokens};
    counts_.get().restored += overlap(scheduled, e.reached);
    e.scheduled = scheduled.last;
    e.goal = detail::larger(e.goal, e.scheduled);
    return scheduled;
  }

  // Positions from `scheduled` to `kept` are in gaps where `gaps_` says so, and were kept where not. The bits of those
  // before, or behind, mean nothing.

  /// What is scheduled next: a gap, or the end.
  [[nodiscard]] token_count next_position(std::uint32_t slot) const noexcept {
    const entry& e = entries_[slot];
    return e.scheduled < e.kept ? gaps_.next(slot, e.scheduled, e.kept, true) : e.scheduled;
  }
  [[nodiscard]] token_count end_of_gap(std::uint32_t slot, token_count start) const noexcept {
    return gaps_.next(slot, start, entries_[slot].kept, false);
  }
  [[nodiscard]] token_count missing_behind(std::uint32_t slot, token_count start) const noexcept {
    const token_count kept = entries_[slot].kept;
    return start < kept ? gaps_.missing(slot, {start, kept}) : 0;
  }
  [[nodiscard]] token_count kept_behind_gaps(std::uint32_t slot, token_range range) const noexcept {
    return range.size() - gaps_.missing(slot, range);
  }
  /// Nothing is kept from `end` on, nor a gap before that.
  void forget_behind(std::uint32_t slot, token_count end) noexcept {
    entry& e = entries_[slot];
    e.kept = detail::smaller(e.kept, end);
    while (e.kept > e.scheduled && gaps_.is_missing(slot, e.kept - 1)) e.kept = gaps_.start_of_block(e.kept - 1);
  }
  /// Where a sequence stands once `tokens` tokens from `start` on are scheduled.
  [[nodiscard]] token_count position_after(std::uint32_t slot, token_count start, token_count tokens) const noexcept {
    while (start < entries_[slot].kept) {
      const token_count gap = end_of_gap(slot, start) - start;
      if (tokens < gap) break;
      tokens -= gap;
      start = gaps_.next(slot, start + gap, entries_[slot].kept, true);
    }
    return start + tokens;
  }
  [[nodiscard]] sequence_progress progress_of(std::uint32_t slot) const noexcept {
    sequence_progress at = entries_[slot];
    at.scheduled = next_position(slot);
    if (at.computed == entries_[slot].scheduled) at.computed = at.scheduled;  // and what was kept behind it
    if (at.kept <= at.scheduled) at.kept = at.scheduled;
    const bool has_all = at.scheduled == at.goal;
    at.known = (has_all || entries_[slot].gave_last) && at.goal < most_tokens ? at.goal + 1 : at.goal;
    if (has_all && at.state != sequence_state::running) at.goal = detail::smaller(at.known, longest_);
    return at;
  }

  detail::buffer<entry> entries_;
  detail::gap_map gaps_;
  detail::zero_on_move<std::array<std::size_t, 4>> population_;  // by sequence_state
  detail::zero_on_move<restore_counts> counts_;
  token_count longest_ = 0;
  resume_gate_type gate_;
};

}  // namespace v0
}  // namespace pave

#endif
