// SPDX-License-Identifier: Apache-2.0
// Who holds which blocks of a cache, and how they come and go.
#ifndef PAVE_DETAIL_CACHE_STATE_HPP
#define PAVE_DETAIL_CACHE_STATE_HPP

#include <pave/block_hash.hpp>
#include <pave/candidates.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/detail/cache_candidates.hpp>
#include <pave/detail/content_names.hpp>
#include <pave/detail/lost_content.hpp>
#include <pave/detail/promises.hpp>
#include <pave/detail/sequence_table.hpp>
#include <pave/detail/step_ledger.hpp>
#include <pave/layout.hpp>
#include <pave/pool.hpp>
#include <pave/prefix_index.hpp>
#include <pave/result.hpp>
#include <pave/span.hpp>
#include <pave/tracker.hpp>
#include <pave/units.hpp>
#include <pave/victim_index.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace pave {
inline namespace v0 {
namespace detail {

/// The parts of a cache that its calls share, and the moves that keep them in step with each other.
/// @tparam Order in which sequences are cut, for those that share no blocks
template <class Pool, class Tracker, class Order, class Index>
struct cache_state {
  using id_type = typename Pool::id_type;
  using kept_block_type = typename Pool::kept_block_type;
  using sequence_rows = sequence_table<id_type>;
  using row = typename sequence_rows::row;
  using candidates = cache_candidates<Pool, Tracker>;
  using candidates_that_share = sharing_candidates<Pool, Tracker>;
  /// Whether content of one sequence can be found by another.
  static constexpr bool names_content = Pool::can_share || Index::finds;

  Pool pool;
  Tracker tracker;
  sequence_rows sequences;
  lost_content<Pool> lost;
  content_names<std::conditional_t<Index::finds, block_hash, std::uint64_t>> names;
  Index index;
  buffer<kept_block_type> last_found;  // by logical block, over a pool that keeps content: by the last `find_prefix`
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
           steps.reserve(most_sequences, steps_in_flight) && (!names_content || names.reserve(most_sequences, width)) &&
           (!Pool::keeps_content || last_found.reserve(static_cast<std::size_t>(width.value()))) &&
           reserve_ids(pool.id_end());
  }
  /// @param ids how many the pool's ids can be
  [[nodiscard]] bool reserve_ids(block_count ids) noexcept {
    if constexpr (Index::finds) {
      if (!index.reserve(ids)) return false;
    }
    return !(Pool::can_share || Pool::keeps_content) || shares.reserve(ids, sequences.slots());
  }

  // --- what plans look at ---

  [[nodiscard]] candidates view() const noexcept { return {pool, tracker, sequences, tokens_per_block}; }
  /// Whether plans have to count blocks that several sequences hold.
  [[nodiscard]] bool sequences_share() const noexcept {
    return Pool::can_share && (Pool::keeps_content || asks_sequences_v<Index> || forks > 1);
  }
  /// @param found logical blocks that `requester` takes itself
  [[nodiscard]] candidates_that_share sharing_view(const row& requester, block_range found = {}) noexcept {
    return {view(), sequences.blocks(sequences.slot_at(requester.place), found), shares};
  }
  /// @pre one waits
  [[nodiscard]] sequence_id most_important_waiting() const noexcept {
    return sequences.id(*order.most_important_parked());
  }
  /// A sequence holds more or fewer blocks or tokens, has more or less time, or began or ceased to wait.
  void note_change(std::uint32_t slot) noexcept {
    const candidates all = view();
    order.refresh(candidates_to_order<candidates>(all), slot).value();
  }
  void begin_to_order(std::uint32_t slot) noexcept {
    const candidates all = view();
    order.insert(candidates_to_order<candidates>(all), slot).value();
  }
  void cease_to_order(std::uint32_t slot) noexcept { order.erase(slot).value(); }

  // --- content that is found again ---

  /// What a waiting sequence would hold next, and whose content is there; its row names these blocks. No block is found
  /// twice, nor one that the sequence holds: whoever says so is wrong about one of them.
  [[nodiscard]] found_prefix find_prefix(sequence_id id) noexcept {
    const std::uint32_t slot = id.slot;
    const block_count held = sequences[slot].held;
    const sequence_progress at = tracker.progress(id).value();
    found_prefix prefix{{held, held}, 0, false};
    const bool ends_in_full_blocks = at.scheduled == held.value() * tokens_per_block.value();
    if (sequences[slot].holes > 0 || at.computed != at.scheduled || !ends_in_full_blocks) return prefix;
    const block_count most = (at.goal.value() - 1) / tokens_per_block.value();  // a token is left to compute
    const block_count lost_end = at.reached.value() / tokens_per_block.value();
    std::uint32_t other = slot;
    for (block_count& next = prefix.blocks.last; next < most; next += 1) {
      const kept_block_type one = find_block(slot, next, next < lost_end, other, prefix.more_comes);
      if (one.block == id_type{}) break;
      if (prefix.blocks.empty()) mark_taken(slot, {0, held}, true);
      // One that would leave the pool could go with a cut for whoever finds it.
      const bool is_taken = shares.takes[one.block.index()] || pool.is_leaving(one.block);
      if (is_taken || (!Pool::can_share && pool.holders(one.block) != 0)) {
        if (prefix.blocks.empty()) mark_taken(slot, {0, held}, false);
        break;
      }
      shares.takes[one.block.index()] = true;
      sequences.blocks(slot, {next, next + 1})[0] = one.block;
      if constexpr (Pool::keeps_content) last_found[static_cast<std::size_t>(next.value())] = one;
      if (pool.holders(one.block) == 0) prefix.free += 1;
    }
    if (!prefix.blocks.empty()) mark_taken(slot, {0, prefix.blocks.last}, false);
    return prefix;
  }
  /// Of the blocks that a sequence has found: how many nobody holds, so that it takes them from what is available.
  [[nodiscard]] block_count nobodys(std::uint32_t slot, block_range found) const noexcept {
    const span<const id_type> blocks = sequences.blocks(slot, found);
    return std::count_if(blocks.begin(), blocks.end(), [&](id_type block) { return pool.holders(block) == 0; });
  }

  /// Of the blocks that were found last: how many are behind the first that came free since, and is not safe yet.
  [[nodiscard]] block_count not_there_yet([[maybe_unused]] block_range found) const noexcept {
    if constexpr (Pool::delays && Pool::keeps_content) {
      for (block_count at = found.first; at < found.last; at += 1) {
        if (!pool.is_kept(last_found[static_cast<std::size_t>(at.value())])) return found.last - at;
      }
    }
    return 0;
  }

  /// The block that has what a sequence is to have in this logical one; `id_type{}`: none has.
  /// @param lost_it whether the sequence had it before
  /// @param other [in, out] whose block that was last, to be asked first; it has names as this one has
  /// @param comes [out] whether one that runs is about to have it
  [[nodiscard]] kept_block_type find_block(
      std::uint32_t slot, block_count logical, bool lost_it, std::uint32_t& other, bool& comes) noexcept {
    if (const std::optional<kept_block_type> own = lost.find(pool, slot, logical); own) return *own;
    if constexpr (names_content) {
      if (logical >= names.end(slot)) return {};
      if constexpr (Index::finds) {
        if (const auto kept = index.find(pool, names(slot, logical)); kept) return *kept;
      }
      if (Pool::can_share && (lost_it || asks_sequences_v<Index>)) {
        bool is_about_to = false;
        if (find_other(slot, logical, other, is_about_to)) {
          return pool.content_of(sequences.blocks(other, {logical, logical + 1})[0]).value();
        }
        comes = lost_it && is_about_to;
      }
    }
    return {};
  }
  /// Another sequence that has computed the same content in this logical block: of several the most important one. Over
  /// a pool that forgets, one that runs: those that wait may be cut for whoever finds it.
  [[nodiscard]] bool find_other(std::uint32_t slot,
                                block_count logical,
                                std::uint32_t& other,
                                bool& comes) const noexcept {
    const auto has_it = [&](std::uint32_t one) noexcept {
      if (one == slot || logical >= names.end(one) || logical >= sequences[one].held) return false;
      if (names(one, logical) != names(slot, logical)) return false;
      if (sequences.blocks(one, {logical, logical + 1})[0] == id_type{}) return false;
      const sequence_progress at = tracker.progress(sequences.id(one)).value();
      const bool runs = at.state == sequence_state::running;
      if (at.computed >= (logical.value() + 1) * tokens_per_block.value()) return runs || Pool::keeps_content;
      comes = comes || runs;
      return false;
    };
    if (other != slot && has_it(other)) return true;
    other = slot;
    for (std::size_t place = 0; place < sequences.size(); ++place) {
      const std::uint32_t one = sequences.slot_at(place);
      if (has_it(one) && (other == slot || sequences[one].order < sequences[other].order)) other = one;
    }
    comes = comes && other == slot;
    return other != slot;
  }
  /// What is computed of a sequence is found from now on by its names.
  void list_computed([[maybe_unused]] std::uint32_t slot) noexcept {
    if constexpr (Index::finds) {
      const block_count end = smaller(names.end(slot), full_blocks(sequences.id(slot)));
      block_count listed = names.listed(slot);
      for (; listed < end; listed += 1) {
        index.add(pool, names(slot, listed), sequences.blocks(slot, {listed, listed + 1})[0]);
      }
      names.list(slot, listed);
    }
  }

  /// It does not have the blocks from `kept` on any more.
  void lose_names([[maybe_unused]] std::uint32_t slot, [[maybe_unused]] block_count kept) noexcept {
    if constexpr (names_content) names.lose(slot, kept);
  }

  // --- steps ---

  token_range schedule(sequence_id id, token_count tokens) noexcept {
    const token_range scheduled = tracker.schedule(id, tokens).value();
    if (!scheduled.empty()) enlist(id.slot, scheduled);
    if constexpr (!orders_without_tokens_v<Order>) note_change(id.slot);
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
  /// Takes the logical blocks `taken`: what was found, and from `fresh_from` on fresh ones. @pre so many are available
  void take_found(std::uint32_t slot, block_range taken, block_count fresh_from) noexcept {
    const span<id_type> fresh = sequences.blocks(slot, {fresh_from, taken.last});
    if constexpr (Pool::keeps_content) {
      const span<const kept_block_type> all = last_found.all();
      pool.acquire(all.subspan(static_cast<std::size_t>(taken.first.value()),
                               static_cast<std::size_t>((fresh_from - taken.first).value())),
                   fresh)
          .value();
    } else {
      pool.share(sequences.blocks(slot, {taken.first, fresh_from})).value();
      pool.allocate(fresh).value();
    }
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
    lose_names(slot, kept);
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
    lose_names(slot, range.first);
    release_from_end(slot, {worthless, range.last}, content::worthless);
    release_from_end(slot, {range.first, worthless}, content::worth_keeping);
    const span<id_type> hole = sequences.blocks(slot, range);
    std::fill(hole.begin(), hole.end(), id_type{});
    sequences[slot].holes += range.size();
    note_change(slot);
  }
  void mark_taken(std::uint32_t slot, block_range range, bool are_taken) noexcept {
    for (const id_type block : sequences.blocks(slot, range)) shares.takes[block.index()] = are_taken;
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
    if (s.held == 0 && !may_share_again(id.slot)) end_sharing(s);
  }
  /// Whether it may find what another one has of what both had.
  [[nodiscard]] bool may_share_again([[maybe_unused]] std::uint32_t slot) const noexcept {
    if constexpr (names_content) {
      return names.end(slot) > 0;
    } else {
      return false;
    }
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
