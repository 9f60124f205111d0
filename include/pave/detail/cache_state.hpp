// SPDX-License-Identifier: Apache-2.0
// Who holds which blocks of a cache, and how they come and go.
#ifndef PAVE_DETAIL_CACHE_STATE_HPP
#define PAVE_DETAIL_CACHE_STATE_HPP

#include <pave/candidates.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/detail/cache_candidates.hpp>
#include <pave/detail/lost_content.hpp>
#include <pave/detail/promises.hpp>
#include <pave/detail/sequence_table.hpp>
#include <pave/detail/step_ledger.hpp>
#include <pave/layout.hpp>
#include <pave/pool.hpp>
#include <pave/result.hpp>
#include <pave/span.hpp>
#include <pave/tracker.hpp>
#include <pave/units.hpp>
#include <pave/victim_index.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace pave {
inline namespace v0 {
namespace detail {

/// The parts of a cache that its calls share, and the moves that keep them in step with each other.
/// @tparam Order in which sequences are cut, for those that share no blocks
template <class Pool, class Tracker, class Order>
struct cache_state {
  using id_type = typename Pool::id_type;
  using kept_block_type = typename Pool::kept_block_type;
  using sequence_rows = sequence_table<id_type>;
  using row = typename sequence_rows::row;
  using candidates = cache_candidates<Pool, Tracker>;
  using candidates_that_share = sharing_candidates<Pool, Tracker>;

  Pool pool;
  Tracker tracker;
  sequence_rows sequences;
  lost_content<Pool> lost;
  step_ledger steps;
  victim_index<rank, Order> order;
  release_counts shares;  // while a plan is made
  detail::promises<Pool> promises;
  zero_on_move<std::size_t> forks;  // sequences that may hold a block with another
  token_count tokens_per_block = 1;

  [[nodiscard]] bool is_live(sequence_id id) const noexcept { return tracker.progress(id).has_value(); }
  [[nodiscard]] std::size_t waiting_or_parked() const noexcept {
    return tracker.count(sequence_state::waiting) + tracker.count(sequence_state::parked);
  }

  /// @param width blocks of the longest sequence
  [[nodiscard]] bool reserve(std::size_t most_sequences, block_count width, std::size_t steps_in_flight) noexcept {
    return sequences.reserve(most_sequences, width) && lost.reserve(most_sequences, width) &&
           steps.reserve(most_sequences, steps_in_flight) && reserve_counts(pool.id_end());
  }
  /// @param ids how many the pool's ids can be
  [[nodiscard]] bool reserve_counts(block_count ids) noexcept {
    return !(Pool::can_share || Pool::keeps_content) || shares.reserve(ids, sequences.slots());
  }

  // --- what plans look at ---

  [[nodiscard]] candidates view() const noexcept { return {pool, tracker, sequences, tokens_per_block}; }
  /// Whether plans have to count blocks that several sequences hold.
  [[nodiscard]] bool sequences_share() const noexcept { return Pool::can_share && (Pool::keeps_content || forks > 1); }
  /// @param found logical blocks that `requester` takes itself
  [[nodiscard]] candidates_that_share sharing_view(const row& requester, block_range found = {}) noexcept {
    return {view(), lost.noted(sequences.slot_at(requester.place), found), shares};
  }
  /// @pre one waits
  [[nodiscard]] sequence_id most_important_waiting() const noexcept {
    return sequences.id(*order.most_important_parked());
  }
  /// A sequence holds more or fewer blocks, or began or ceased to wait.
  void note_change(std::uint32_t slot) noexcept { order.refresh(view(), slot).value(); }

  // --- content that is found again ---

  /// What a waiting sequence would hold next, and whose content is still there.
  [[nodiscard]] found_prefix find_prefix(sequence_id id) noexcept {
    const block_count held = sequences[id.slot].held;
    const sequence_progress at = tracker.progress(id).value();
    if (sequences[id.slot].holes > 0) return {{held, held}, 0};
    const bool ends_in_full_blocks = at.scheduled == held.value() * tokens_per_block.value();
    if (at.computed != at.scheduled || !ends_in_full_blocks) return {{held, held}, 0};
    const block_count most = (at.goal.value() - 1) / tokens_per_block.value();  // a token is left to compute
    return lost.find(pool, id.slot, sequences.blocks(id.slot, {0, held}), most, shares);
  }
  /// Of the blocks that a sequence has found: how many nobody holds, so that it takes them from what is available.
  [[nodiscard]] block_count nobodys(block_range found, std::uint32_t slot) const noexcept {
    block_count count = 0;
    for (const kept_block_type& kept : lost.noted(slot, found)) count += pool.holders(kept.block) == 0 ? 1 : 0;
    return count;
  }

  // --- steps ---

  token_range schedule(sequence_id id, token_count tokens) noexcept {
    const token_range scheduled = tracker.schedule(id, tokens).value();
    if (!scheduled.empty()) enlist(id.slot, scheduled);
    return scheduled;
  }
  void enlist(std::uint32_t slot, token_range tokens) noexcept {
    if (tracker.knows_gaps()) steps.pass_over(slot, tokens.first);
    steps.enlist(slot, tokens);
    row& s = sequences[slot];
    if (s.last_step != steps.last_begun()) {
      s.step_before = s.last_step;
      s.rewrote = s.rewrites;
    }
    s.last_step = steps.last_begun();
    const bool is_gap = tracker.knows_gaps() && tokens.last < tracker.progress(sequences.id(slot))->kept;
    if (is_gap) return;  // what is to be rewritten stands at the end
    const block_count first = tokens.first.value() / tokens_per_block.value();
    const bool is_partly_filled = tokens.first != first.value() * tokens_per_block.value();
    if (s.is_fork && s.rewrites && is_partly_filled) {
      pool.overwrite(sequences.blocks(slot, {first, first + 1})[0]).value();
    }
    s.rewrites = false;
  }
  [[nodiscard]] step_id last_use(std::uint32_t slot) const noexcept {
    return larger(sequences[slot].last_step, sequences[slot].last_copy);
  }
  /// The last step that runs a sequence where the open one does not.
  [[nodiscard]] step_id last_launched(const row& s) const noexcept {
    return steps.is_open() && s.last_step == steps.last_begun() ? s.step_before : s.last_step;
  }

  // --- blocks ---

  /// Of a sequence's logical blocks before `end`: how many it does not hold.
  [[nodiscard]] block_count not_held(std::uint32_t slot, block_count end) const noexcept {
    const row& s = sequences[slot];
    const block_count beyond = larger<block_count>(0, end - s.held);
    if (s.holes == 0 || beyond > 0) return beyond + s.holes;
    const span<const id_type> blocks = sequences.blocks(slot, {0, end});
    return std::count(blocks.begin(), blocks.end(), id_type{});
  }
  /// @return the logical blocks from the first one that was not held to the last
  /// @pre as many are available as are not held before `end`
  block_range take_blocks(std::uint32_t slot, block_count end) noexcept {
    row& s = sequences[slot];
    block_range taken{s.held, larger(s.held, end)};
    for (block_count at = 0; s.holes > 0 && at < smaller(s.held, end); at += 1) {
      const span<id_type> hole = sequences.blocks(slot, {at, at + 1});
      if (hole[0] != id_type{}) continue;
      pool.allocate(hole).value();
      s.holes -= 1;
      if (at < taken.first) taken = {at, end > s.held ? taken.last : at};
      taken.last = larger(taken.last, at + 1);
    }
    if (end > s.held) pool.allocate(sequences.blocks(slot, {s.held, end})).value();
    s.held = larger(s.held, end);
    note_change(slot);
    promises.keep_to_what_is_there(pool, sequences, steps);
    return taken;
  }
  /// Takes the found ones of the logical blocks `taken`, which come first, and fresh ones. @pre so many are available
  void take_blocks(std::uint32_t slot, block_range found, block_range taken) noexcept {
    const span<const kept_block_type> revived = lost.noted(slot, found);
    pool.acquire(revived, sequences.blocks(slot, {found.last, taken.last})).value();
    const span<id_type> blocks = sequences.blocks(slot, found);
    for (std::size_t i = 0; i < revived.size(); ++i) blocks[i] = revived[i].block;
    lost.clear(slot);
    sequences[slot].held = taken.last;
    note_change(slot);
    promises.keep_to_what_is_there(pool, sequences, steps);
  }
  /// Releases all blocks beyond the first `kept`, from the end. What is left ends in a block that is held.
  /// @param worth_keeping the first so many logical blocks have content that is worth it
  void drop_blocks(std::uint32_t slot, block_count kept, block_count worth_keeping) noexcept {
    row& s = sequences[slot];
    const block_count worthless = larger(kept, smaller(s.held, worth_keeping));
    release_from_end(slot, {worthless, s.held}, content::worthless);
    release_from_end(slot, {kept, worthless}, content::worth_keeping);
    s.held = kept;
    for (; s.holes > 0 && sequences.blocks(slot, {s.held - 1, s.held})[0] == id_type{}; s.held -= 1) s.holes -= 1;
    note_change(slot);
  }
  /// The row does not need them any more, and those of them that are holes are holes no more.
  void release_from_end(std::uint32_t slot, block_range range, content left) noexcept {
    const span<id_type> blocks = sequences.blocks(slot, range);
    id_type* end = blocks.end();
    if (sequences[slot].holes > 0) {
      end = std::remove(blocks.begin(), end, id_type{});
      sequences[slot].holes -= blocks.end() - end;
    }
    std::reverse(blocks.begin(), end);
    pool.release({blocks.begin(), static_cast<std::size_t>(end - blocks.begin())}, last_use(slot), left).value();
  }
  /// Releases blocks before others that stay.
  void cut_hole(std::uint32_t slot, block_range range, block_count worth_keeping) noexcept {
    const block_count worthless = larger(range.first, smaller(range.last, worth_keeping));
    release_from_end(slot, {worthless, range.last}, content::worthless);
    release_from_end(slot, {range.first, worthless}, content::worth_keeping);
    const span<id_type> hole = sequences.blocks(slot, range);
    std::fill(hole.begin(), hole.end(), id_type{});
    sequences[slot].holes += range.size();
    note_change(slot);
  }
  /// Blocks of a sequence that are full of computed tokens.
  [[nodiscard]] block_count full_blocks(sequence_id id) const noexcept {
    const token_count computed = tracker.progress(id).value().computed;
    return smaller<block_count>(sequences[id.slot].held, computed.value() / tokens_per_block.value());
  }
  /// Blocks of a sequence that may be full of tokens: with those that were kept behind a gap. Somebody else may have
  /// found what is in them.
  [[nodiscard]] block_count filled_blocks(sequence_id id) const noexcept {
    const sequence_progress at = tracker.progress(id).value();
    const token_count filled = at.kept > at.scheduled ? at.kept : at.computed;
    return smaller<block_count>(sequences[id.slot].held, filled.value() / tokens_per_block.value());
  }
  /// A sequence loses a range of its blocks, and parks. What it had in the open step is not run.
  void cut_back(sequence_id id, block_range lost_blocks) noexcept {
    row& s = sequences[id.slot];
    const block_count kept = lost_blocks.first;
    const bool is_end = lost_blocks.last == s.held;
    const block_count full = larger(kept, full_blocks(id));
    const block_count filled = larger(kept, filled_blocks(id));
    if (is_end && s.holes == 0) {
      lost.note(pool, id.slot, s.held, {kept, full}, sequences.blocks(id.slot, {kept, full}));
    } else {
      lost.clear(id.slot);
    }
    if (const auto start = steps.withdraw(id.slot); start) {
      tracker.unschedule(id, *start).value();
      s.last_step = last_launched(s);
      s.rewrites = s.rewrites || s.rewrote;
    }
    const std::int64_t each = tokens_per_block.value();
    steps.trim(id.slot, kept.value() * each);
    if (is_end) {
      static_cast<void>(tracker.lose(id, kept.value() * each).value());
    } else {
      static_cast<void>(tracker.lose(id, {kept.value() * each, lost_blocks.last.value() * each}).value());
    }
    tracker.park(id, 0).value();
    if (is_end) {
      // Others may have filled what it was to rewrite, and whoever it is cut for may have found that.
      drop_blocks(id.slot, kept, filled + (s.is_fork && s.rewrites ? 1 : 0));
    } else {
      cut_hole(id.slot, lost_blocks, filled);
    }
    promises.end(s);
    if (s.held == 0) end_sharing(s);
  }

  void apply(span<const cut> cuts) noexcept {
    for (const cut& c : cuts) cut_back(c.sequence, c.blocks);
  }

  // --- forks ---

  void begin_to_share(row& s) noexcept {
    forks.get() += s.is_fork ? 0 : 1;
    s.is_fork = true;
  }
  void end_sharing(row& s) noexcept {
    forks.get() -= s.is_fork ? 1 : 0;
    s.is_fork = false;
  }
  /// Whether a sequence that is to write into this block next would do so where steps in flight still use it, of
  /// sequences and others that have let go of it. On one stream no step is late.
  [[nodiscard]] bool rewrites_in_use(const row& s, id_type block) const noexcept {
    return s.rewrites && pool.is_in_use(block);
  }
  /// The last step that uses the blocks of a sequence once it is cut: the open one does not run it then.
  [[nodiscard]] step_id last_use_if_cut(std::uint32_t slot) noexcept {
    const row& s = sequences[slot];
    return larger(steps.open_start(slot) ? last_launched(s) : s.last_step, s.last_copy);
  }
  /// The logical block that a sequence writes next.
  [[nodiscard]] block_count next_written(std::uint32_t slot) const noexcept {
    return tracker.progress(sequences.id(slot))->scheduled.value() / tokens_per_block.value();
  }
  /// Whether a sequence that computes its next `tokens` tokens needs a copy of its last block, since others hold it, or
  /// their steps in flight still use what it is to rewrite.
  [[nodiscard]] bool copies(std::uint32_t slot, token_count tokens) const noexcept {
    const row& s = sequences[slot];
    if (!s.is_fork || tokens == 0) return false;
    const block_count next = next_written(slot);
    if (s.held <= next) return false;
    const id_type block = sequences.blocks(slot, {next, next + 1})[0];
    if (block == id_type{}) return false;
    return pool.holders(block) > 1 || rewrites_in_use(s, block);
  }

  void promise(row& s, block_count blocks) noexcept {
    promises.promise(s, blocks, promises.when(pool, sequences, steps, s, blocks));
  }
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
