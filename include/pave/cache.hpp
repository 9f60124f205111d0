// SPDX-License-Identifier: Apache-2.0
// Pool, planner and tracker wired together over block tables: the whole cache, for an engine that has none.
#ifndef PAVE_CACHE_HPP
#define PAVE_CACHE_HPP

#include <pave/candidates.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/detail/cache_candidates.hpp>
#include <pave/detail/lost_content.hpp>
#include <pave/detail/misplaced_slot.hpp>
#include <pave/detail/sequence_table.hpp>
#include <pave/detail/shared_cuts.hpp>
#include <pave/detail/step_ledger.hpp>
#include <pave/layout.hpp>
#include <pave/planner.hpp>
#include <pave/pool.hpp>
#include <pave/result.hpp>
#include <pave/span.hpp>
#include <pave/tracker.hpp>
#include <pave/units.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace pave {
inline namespace v0 {

/// @brief The default policies of a cache: a bundle for each of its parts. Derive from it and name what is to change.
struct cache_policies {
  using pool = pool_policies;
  using planner = planner_policies;
  using tracker = tracker_policies;
};

struct kv_cache_options {
  block_count blocks;                      ///< capacity of the pool
  token_count tokens_per_block = 16;       ///< 1 … 2^31 − 1
  std::size_t sequences = 256;             ///< that are admitted at the same time: running, parked and waiting
  block_count blocks_per_sequence = 2048;  ///< width of the block table
  std::size_t steps_in_flight = 2;         ///< begun and not complete, 1 … 64
  block_count reserve = 0;    ///< what has to be available, or parked sequences could give, beyond a resumed one's need
  block_count watermark = 0;  ///< the same, beyond the need of any that comes in, resumed or new; the larger one counts
};

/// @brief What a sequence got.
struct growth {
  token_range tokens;  ///< positions that the open step computes
  block_range blocks;  ///< logical blocks that are new in its table
};

/// @brief A sequence that came in. To the engine it is an ordinary prefill chunk over a kept prefix.
struct restore {
  sequence_id sequence;
  token_range found;     ///< positions whose content was still in blocks: they are computed already
  token_range tokens;    ///< positions that the open step computes; `remaining` says how many follow
  block_range blocks;    ///< logical blocks that are new in its table, the found ones first
  block_count taken;     ///< of what was available, or was cut for it: all of them but the found ones that others hold
  bool resumed = false;  ///< it had run before; false for a sequence that is new
};

/// @brief The state of a cache at one moment, for logs.
struct cache_snapshot {
  block_count capacity, available, fenced, held;
  std::size_t running = 0, parked = 0, waiting = 0;
  token_count tokens_lost;      ///< cut and to be computed again, since `create`
  token_count tokens_restored;  ///< of these: scheduled to be computed again; they are no cache hits
  token_count tokens_revived;   ///< of these: found again, in blocks that had not been reused
  token_count tokens_cached;    ///< found by sequences that never had them, since `create`: see `offer_prefix`
};

/// @brief Block tables over a pool, with exact reclamation and restores.
///
/// A sequence is admitted (it waits), comes in by `next_restore`, grows by `grow_or_reclaim` and ends by `finish` or
/// `abort`. When blocks run short, less important sequences lose exactly the missing ones, from their ends, and park;
/// parked ones come back by `next_restore` and recompute only what they lost.
///
/// Scheduling happens between `begin_step` and the run of that step. A sequence that is cut in between loses what it
/// had scheduled in the open step, and is not to be run in it.
/// @complexity Members are linear in the blocks that they name, or say otherwise. `plan_cuts`, `next_restore`, and
///   `grow_or_reclaim` where blocks are short, are linear in the admitted sequences besides.
/// @threadsafety one thread at a time
template <class Policies = cache_policies>
class kv_cache {
 public:
  using pool_type = block_pool<typename Policies::pool>;
  using planner_type = eviction_planner<typename Policies::planner>;
  using tracker_type = restore_tracker<typename Policies::tracker>;

  static_assert(!detail::names_a_slot_v<Policies> || detail::is_its_own_part_v<Policies>,
                "pave: a slot belongs in the bundle of its part: derive from pool_policies, planner_policies or "
                "tracker_policies, and name the slot there");
  static_assert(!detail::fence_delays_v<typename Policies::pool::fence>,
                "pave: a kv_cache gives cut blocks on at once, and takes no fence that delays them");
  static_assert(planner_type::keeps_prefix,
                "pave: a kv_cache restores a sequence from its end, and takes no other cuts");

  /// @brief Makes an empty cache. The only call that takes memory.
  /// @error `invalid_argument`: an option out of its range
  /// @error `out_of_memory`
  /// @complexity linear in the blocks and in `sequences` · `blocks_per_sequence`
  [[nodiscard]] static result<kv_cache> create(const kv_cache_options& options,
                                               planner_type planner = {},
                                               typename Policies::tracker::resume_gate gate = {}) noexcept {
    constexpr std::int64_t most = (std::numeric_limits<std::int32_t>::max)();
    if (options.tokens_per_block < 1 || options.tokens_per_block > most || options.sequences < 1 ||
        options.sequences > static_cast<std::size_t>(most) || options.blocks_per_sequence < 1 || options.reserve < 0 ||
        options.watermark < 0 || options.steps_in_flight < 1 || options.steps_in_flight > 64) {
      return errc::invalid_argument;
    }
    result<pool_type> pool = pool_type::create({options.blocks});
    if (!pool) return pool.error();
    kv_cache cache;
    cache.options_ = options;
    cache.options_.blocks_per_sequence = detail::smaller(options.blocks_per_sequence, options.blocks);
    cache.options_.reserve = detail::smaller(options.reserve, options.blocks);
    cache.options_.watermark = detail::smaller(options.watermark, options.blocks);
    const token_count longest = cache.options_.blocks_per_sequence.value() * options.tokens_per_block.value();
    result<tracker_type> tracker = tracker_type::create({options.sequences, longest}, std::move(gate));
    if (!tracker) return tracker.error();
    if (!cache.sequences_.reserve(options.sequences, cache.options_.blocks_per_sequence) ||
        !cache.lost_.reserve(options.sequences, cache.options_.blocks_per_sequence) ||
        !cache.scratch_.reserve(options.sequences) ||
        (sequences_share && !cache.shares_.reserve(options.blocks, options.sequences)) ||
        !cache.steps_.reserve(options.sequences, options.steps_in_flight)) {
      return errc::out_of_memory;
    }
    cache.pool_ = std::move(*pool);
    cache.tracker_ = std::move(*tracker);
    cache.planner_ = std::move(planner);
    return cache;
  }

  /// @brief An empty cache, of capacity 0, as a moved-from one is.
  kv_cache() noexcept = default;

  // --- sequences ---

  /// @brief A sequence comes, and waits until `next_restore` lets it in.
  /// @param rank lower is more important; among equals, who was admitted first
  /// @param tokens its prompt: what has to be computed before its first new token
  /// @param at_most tokens that it may come to have, so that one that cannot end is refused before it begins; 0: not
  ///   known
  /// @error `never_fits`, with the blocks beyond what the pool, or a row of the block table, holds
  /// @error `table_full`: as many sequences are admitted as the options allow
  /// @error `invalid_argument`: no tokens
  result<sequence_id> admit(std::int64_t rank, token_count tokens, token_count at_most = 0) noexcept {
    if (tokens < 1 || at_most < 0) return errc::invalid_argument;
    const result<void> fits = can_ever_hold(detail::larger(tokens, at_most));
    if (!fits) return fits.error();
    if (sequences_.is_full()) return errc::table_full;
    const sequence_id id = sequences_.open(rank);
    lost_.clear(id.slot);
    tracker_.track(id, tokens).value();
    return id;
  }

  /// @brief A sequence is done, in any state: its blocks go, and its id is stale from now on.
  /// @error `stale`
  result<void> finish(sequence_id id) noexcept { return end(id); }
  /// @brief A sequence is cancelled, in any state: its blocks go, and its id is stale from now on.
  /// @error `stale`
  result<void> abort(sequence_id id) noexcept { return end(id); }

  /// @brief Changes who matters more, in any state. Nothing moves until the next shortage.
  /// @error `stale`
  result<void> set_rank(sequence_id id, std::int64_t rank) noexcept {
    if (!is_live(id)) return errc::stale;
    sequences_[id.slot].order.value = rank;
    return {};
  }

  /// @brief Takes back the tokens from `length` on, in any state: rejected drafts, a shortened prompt. Blocks without
  /// tokens go. Where the last block that stays is held by others too, it is let go, since what follows would be
  /// written into it, and its tokens become a gap.
  /// @error `stale`
  /// @error `invalid_argument`: a negative length, or more than the sequence was to have
  result<void> truncate(sequence_id id, token_count length) noexcept {
    if (const result<void> done = tracker_.truncate(id, length); !done) return done;
    steps_.trim(id.slot, length);
    row& s = sequences_[id.slot];
    const block_count full = length.value() / options_.tokens_per_block.value();
    lost_.truncate(id.slot, full);
    drop_blocks(id.slot, detail::smaller(s.held, blocks_for(length, options_.tokens_per_block)), 0);
    if (s.held > full && !pool_.overwrite(sequences_.blocks(id.slot, {full, s.held})[0])) {
      const token_count kept = full.value() * options_.tokens_per_block.value();
      if (const auto start = steps_.open_start(id.slot); start) {  // what is not launched is not lost
        tracker_.unschedule(id, detail::larger(*start, kept)).value();
      }
      steps_.trim(id.slot, kept);
      if (tracker_.progress(id)->scheduled > kept) static_cast<void>(tracker_.lose(id, kept).value());
      drop_blocks(id.slot, full, 0);
    }
    return {};
  }

  /// @brief Says which blocks have the content of this sequence's beginning, for one that waits: what a prefix cache of
  /// the engine found. Those that still have it when the sequence comes in are taken, not computed; where all of a
  /// prompt is found, its last block is computed again. Replaces what was offered or remembered before.
  /// @param blocks what `pool().content_of` said, while somebody held them, of the blocks that have this sequence's
  ///   logical blocks 0, 1, …: each full, and computed in completed steps behind the same tokens. Those that the
  ///   sequence holds are passed over. Without use where the pool keeps no content
  /// @error `stale`
  /// @error `busy`: it runs
  /// @complexity linear in the blocks offered
  result<void> offer_prefix(sequence_id id, span<const kept_block> blocks) noexcept {
    const result<sequence_progress> at = tracker_.progress(id);
    if (!at) return at.error();
    if (at->state == sequence_state::running) return errc::busy;
    lost_.offer(id.slot, sequences_[id.slot].held, blocks);
    return {};
  }

  // --- one step ---

  /// @brief Opens a step for scheduling. The one before it counts as launched from now on.
  /// @error `busy`: as many steps as the options allow are in flight
  result<step_id> begin_step() noexcept { return steps_.begin(); }

  /// @brief Gives a running sequence the blocks for its next `tokens` tokens; takes them from less important sequences
  /// where too few are available: exactly the missing ones, from parked sequences first.
  /// @param tokens that the open step computes, from where the sequence stands; blocks that it holds already are used
  ///   first
  /// @param cuts [out] who lost what; each that was running is to be stopped, and not run in the open step
  /// @return the positions to compute, and the new blocks
  /// @error `shortage`, with the blocks that stay missing: nothing moved, the sequence is parked and keeps its blocks.
  ///   With `whole_sequence` it gives up all of them, as do the victims that were too few, and `cuts` says so
  /// @error `never_fits`: it can never have so many blocks; it still runs, and should be ended
  /// @error `waits`: it is parked or waiting
  /// @error `no_step`
  /// @error `stale`
  /// @error `invalid_argument`: a negative number
  /// @error `buffer_too_small`: `cuts`; nothing moved
  result<growth> grow_or_reclaim(sequence_id id, token_count tokens, cut_list& cuts) noexcept {
    cuts.clear();
    const result<sequence_progress> at = tracker_.progress(id);
    if (!at) return at.error();
    if (at->state != sequence_state::running) return errc::waits;
    if (!steps_.is_open()) return errc::no_step;
    if (tokens < 0) return errc::invalid_argument;

    row& s = sequences_[id.slot];
    const token_count held_tokens = s.held.value() * options_.tokens_per_block.value();
    const block_range fresh_none{s.held, s.held};
    if (tokens <= held_tokens - at->scheduled) return growth{schedule(id, tokens), fresh_none};

    const token_count goal = sum(at->scheduled, tokens);
    if (const result<void> fits = can_ever_hold(goal); !fits) return fits.error();
    const block_range fresh{s.held, blocks_for(goal, options_.tokens_per_block)};
    const block_count shortage = fresh.size() - pool_.available();
    if (shortage > 0) {
      const result<plan> planned = plan_for(s, shortage, victims::parked_then_running, cuts);
      if (!planned) {
        if (planned.code() != errc::shortage) return planned.error();
        if constexpr (!planner_type::spares_requester) {
          if (!give_up_with_victims(id, shortage - planned.error().missing, cuts)) return errc::buffer_too_small;
        }
        tracker_.park(id, goal).value();
        return planned.error();
      }
      apply(cuts.used());
    }
    take_blocks(id.slot, fresh);
    return growth{schedule(id, tokens), fresh};
  }

  /// @brief Lets the most important sequence that waits come in, new or parked, if it passes the resume gate: its whole
  /// gap and its next tokens fit, with what less important *parked* sequences can give, and the reserve stays
  /// available. Call it until it fails.
  /// @param budget tokens that the open step still has room for: less at each call
  /// @param cuts [out] who lost what; all were parked already
  /// @error `nothing_waits`
  /// @error `shortage`, with the missing blocks: the first that does not fit ends the pass, nothing moved
  /// @error `no_step`
  /// @error `invalid_argument`: no budget
  /// @error `buffer_too_small`: `cuts`
  result<restore> next_restore(token_count budget, cut_list& cuts) noexcept {
    cuts.clear();
    if (!steps_.is_open()) return errc::no_step;
    if (budget < 1) return errc::invalid_argument;
    if (waiting_or_parked() == 0) return errc::nothing_waits;
    const sequence_id id = most_important_waiting();
    row& s = sequences_[id.slot];
    const detail::found_prefix found = find_prefix(id);
    const token_count found_tokens = found.blocks.size().value() * options_.tokens_per_block.value();
    const resume_need need = tracker_.needs(id, budget, found_tokens).value();
    const block_count fresh = blocks_beyond(found.blocks.last, need.allocates);
    const block_count must_fit = found.free + blocks_beyond(found.blocks.last, need.must_fit);
    const block_count takes = found.free + fresh;

    const block_count gate_shortage = must_fit + headroom(need.resumes) - pool_.available();
    const block_count shortage = takes - pool_.available();
    if (gate_shortage > 0) {
      const result<plan> possible = plan_for(s, gate_shortage, victims::parked_only, cuts, found.blocks);
      if (!possible) return possible.error();
    }
    if (gate_shortage > shortage) {  // not all that must fit is taken
      cuts.clear();
      if (shortage > 0) static_cast<void>(plan_for(s, shortage, victims::parked_only, cuts, found.blocks).value());
    }
    apply(cuts.used());
    const block_range taken{s.held, found.blocks.last + fresh};
    take_blocks(id.slot, found.blocks, taken);
    const token_range tokens = tracker_.resume(id, budget, found_tokens).value();
    enlist(id.slot, tokens);
    return restore{id, {tokens.first - found_tokens, tokens.first}, tokens, taken, takes, need.resumes};
  }

  /// @brief A step is done: its tokens count as computed, and its fences end. One that is done before an earlier one
  /// takes effect when that one is done.
  /// @error `no_step`: it was never begun
  /// @error `stale`: it is complete already
  /// @complexity linear in the sequences that the step ran
  result<void> complete(step_id step) noexcept {
    const result<void> done = steps_.complete(step, [this](std::uint32_t slot, token_count end) noexcept {
      tracker_.complete(sequences_.id(slot), end).value();
    });
    if (done) pool_.complete(steps_.last_complete());
    return done;
  }

  // --- plans, apart from their commitment ---

  /// @brief Plans to free `shortage` blocks for `requester`, and moves nothing.
  /// @param cuts [out] what to give to `commit`
  /// @error `shortage`, with the blocks that nobody less important can give
  /// @error `stale`
  /// @error `invalid_argument`: a negative number
  /// @error `buffer_too_small`: `cuts`
  [[nodiscard]] result<plan> plan_cuts(sequence_id requester, block_count shortage, cut_list& cuts) noexcept {
    cuts.clear();
    if (!is_live(requester)) return errc::stale;
    return plan_for(sequences_[requester.slot], shortage, victims::parked_then_running, cuts);
  }

  /// @brief Carries out a plan, or refuses all of it: its victims lose the cut blocks, and park.
  /// @param requester whom it was made for
  /// @return distinct blocks that came free: what the plan said
  /// @error `stale`: since the plan the requester ended, or is no more important than a victim; a victim ended,
  ///   stopped, resumed, holds more or fewer blocks, or the sharing of its blocks changed what a cut of it should be;
  ///   or a sequence is named twice
  /// @complexity linear in the blocks cut
  result<block_count> commit(sequence_id requester, span<const cut> cuts) noexcept {
    if (!is_live(requester)) return errc::stale;
    const std::uint64_t now = ++commits_;
    const row& asks = sequences_[requester.slot];
    for (const cut& c : cuts) {
      if (!is_live(c.sequence)) return errc::stale;
      row& victim = sequences_[c.sequence.slot];
      if (!(asks.order < victim.order) || victim.named_by == now) return errc::stale;
      victim.named_by = now;
    }
    if (!still_hold(asks, cuts)) return errc::stale;
    return apply(cuts);
  }

  /// @brief All sequences give up all blocks, and wait to be restored; no content is found again.
  /// @complexity linear in the slots and in the capacity
  void reset() noexcept {
    for (std::size_t i = 0; i < sequences_.size(); ++i) {
      cut_back(sequences_.id(sequences_.slot_at(i)), 0);
      lost_.clear(sequences_.slot_at(i));
    }
    pool_.forget_content();
  }

  // --- views ---

  /// @return the physical blocks in logical order, `[blocks held]`; valid until the sequence changes
  /// @error `stale`
  [[nodiscard]] result<span<const block_id>> block_table(sequence_id id) const noexcept {
    if (!is_live(id)) return errc::stale;
    return sequences_.blocks(id.slot, {0, sequences_[id.slot].held});
  }
  /// @return tokens whose keys and values are in the cache, by completed steps
  /// @error `stale`
  [[nodiscard]] result<token_count> computed(sequence_id id) const noexcept {
    const result<sequence_progress> at = tracker_.progress(id);
    if (!at) return at.error();
    return at->computed;
  }
  /// @return tokens that it has to compute before it yields its next one: the rest of its prompt or of its gap, and 1
  ///   for one that decodes. What to ask `grow_or_reclaim` for, within the step's budget
  /// @error `stale`
  [[nodiscard]] result<token_count> remaining(sequence_id id) const noexcept {
    const result<sequence_progress> at = tracker_.progress(id);
    if (!at) return at.error();
    return detail::larger<token_count>(1, at->goal - at->scheduled);
  }
  /// @return where the sequence stands
  /// @error `stale`
  [[nodiscard]] result<sequence_progress> progress(sequence_id id) const noexcept { return tracker_.progress(id); }
  /// @return what was cut and is not scheduled yet
  /// @error `stale`
  [[nodiscard]] result<token_range> gap(sequence_id id) const noexcept { return tracker_.gap(id); }

  /// @return counts of blocks, sequences and tokens, all of the same moment
  /// @complexity constant
  [[nodiscard]] cache_snapshot snapshot() const noexcept {
    const restore_counts tokens = tracker_.counts();
    return {pool_.capacity(),
            pool_.available(),
            pool_.fenced(),
            pool_.held(),
            tracker_.count(sequence_state::running),
            tracker_.count(sequence_state::parked),
            tracker_.count(sequence_state::waiting),
            tokens.lost,
            tokens.restored,
            tokens.revived,
            tokens.cached};
  }

  /// @brief The pool, for holders besides the sequences: `share` what a transfer or a prefix cache of the engine holds,
  /// and `release` just that. A shared block is not reclaimable.
  [[nodiscard]] pool_type& pool() noexcept { return pool_; }
  [[nodiscard]] const pool_type& pool() const noexcept { return pool_; }

 private:
  using row = detail::sequence_table::row;

  /// Whether a block can be in the tables of several sequences.
  static constexpr bool sequences_share = pool_type::keeps_content;

  using candidates = detail::cache_candidates<pool_type, tracker_type>;
  using sharing_candidates = detail::sharing_candidates<pool_type, tracker_type>;

  [[nodiscard]] candidates view() const noexcept { return {pool_, tracker_, sequences_}; }
  /// @param found logical blocks that `requester` takes itself
  [[nodiscard]] sharing_candidates sharing_view(const row& requester, block_range found = {}) noexcept {
    return {view(), lost_.noted(sequences_.slot_at(requester.place), found), shares_};
  }

  [[nodiscard]] bool is_live(sequence_id id) const noexcept { return tracker_.progress(id).has_value(); }
  [[nodiscard]] std::size_t waiting_or_parked() const noexcept {
    return tracker_.count(sequence_state::waiting) + tracker_.count(sequence_state::parked);
  }

  /// The sum of two token counts that are not negative; the largest count where it would overflow.
  [[nodiscard]] static token_count sum(token_count a, token_count b) noexcept {
    const token_count most = (std::numeric_limits<std::int64_t>::max)();
    return b > most - a ? most : a + b;
  }
  [[nodiscard]] result<void> can_ever_hold(token_count tokens) const noexcept {
    const block_count needed = blocks_for(tokens, options_.tokens_per_block);
    const block_count most = detail::smaller(options_.blocks_per_sequence, pool_.capacity());
    if (needed > most) return error{errc::never_fits, needed - most};
    return {};
  }
  [[nodiscard]] block_count blocks_beyond(block_count blocks, token_count tokens) const noexcept {
    return detail::larger<block_count>(0, blocks_for(tokens, options_.tokens_per_block) - blocks);
  }
  /// What has to be available beyond the need of a sequence that comes in.
  [[nodiscard]] block_count headroom(bool resumes) const noexcept {
    if (tracker_.count(sequence_state::running) == 0) return 0;
    return resumes ? detail::larger(options_.reserve, options_.watermark) : options_.watermark;
  }
  /// What a waiting sequence would hold next, and whose content is still there.
  [[nodiscard]] detail::found_prefix find_prefix(sequence_id id) noexcept {
    const block_count held = sequences_[id.slot].held;
    const sequence_progress at = tracker_.progress(id).value();
    const bool ends_in_full_blocks = at.scheduled == held.value() * options_.tokens_per_block.value();
    if (at.computed != at.scheduled || !ends_in_full_blocks) return {{held, held}, 0};
    const block_count most = (at.goal.value() - 1) / options_.tokens_per_block.value();  // a token is left to compute
    return lost_.find(pool_, id.slot, sequences_.blocks(id.slot, {0, held}), most, shares_);
  }

  [[nodiscard]] sequence_id most_important_waiting() const noexcept {
    const candidates all = view();
    std::size_t best = all.size();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all.parked(i) && (best == all.size() || all.rank(i) < all.rank(best))) best = i;
    }
    return all.key(best);
  }

  token_range schedule(sequence_id id, token_count tokens) noexcept {
    const token_range scheduled = tracker_.schedule(id, tokens).value();
    if (!scheduled.empty()) enlist(id.slot, scheduled);
    return scheduled;
  }
  void enlist(std::uint32_t slot, token_range tokens) noexcept {
    steps_.enlist(slot, tokens);
    sequences_[slot].last_step = steps_.last_begun();
  }

  /// @pre fresh.size() blocks are available
  void take_blocks(std::uint32_t slot, block_range fresh) noexcept {
    pool_.allocate(sequences_.blocks(slot, fresh)).value();
    sequences_[slot].held = fresh.last;
  }
  /// Takes the found ones of the logical blocks `taken`, which come first, and fresh ones. @pre so many are available
  void take_blocks(std::uint32_t slot, block_range found, block_range taken) noexcept {
    const span<const kept_block> revived = lost_.noted(slot, found);
    pool_.acquire(revived, sequences_.blocks(slot, {found.last, taken.last})).value();
    const span<block_id> blocks = sequences_.blocks(slot, found);
    for (std::size_t i = 0; i < revived.size(); ++i) blocks[i] = revived[i].block;
    lost_.clear(slot);
    sequences_[slot].held = taken.last;
  }
  /// Releases all blocks beyond the first `kept`, from the end.
  /// @param worth_keeping the first so many logical blocks have content that is worth it
  void drop_blocks(std::uint32_t slot, block_count kept, block_count worth_keeping) noexcept {
    row& s = sequences_[slot];
    const block_count worthless = detail::larger(kept, detail::smaller(s.held, worth_keeping));
    release_from_end(slot, {worthless, s.held}, content::worthless);
    release_from_end(slot, {kept, worthless}, content::worth_keeping);
    s.held = kept;
  }
  void release_from_end(std::uint32_t slot, block_range range, content left) noexcept {
    const span<block_id> blocks = sequences_.blocks(slot, range);
    std::reverse(blocks.begin(), blocks.end());  // the row does not need them any more
    pool_.release(blocks, sequences_[slot].last_step, left).value();
  }
  /// Blocks of a sequence that are full of computed tokens.
  [[nodiscard]] block_count full_blocks(sequence_id id) const noexcept {
    const token_count computed = tracker_.progress(id).value().computed;
    return detail::smaller<block_count>(sequences_[id.slot].held, computed.value() / options_.tokens_per_block.value());
  }
  /// A sequence keeps its first `kept` blocks, and parks. What it had in the open step is not run.
  void cut_back(sequence_id id, block_count kept) noexcept {
    const token_count kept_tokens = kept.value() * options_.tokens_per_block.value();
    const block_count full = detail::larger(kept, full_blocks(id));
    lost_.note(pool_, id.slot, sequences_[id.slot].held, {kept, full}, sequences_.blocks(id.slot, {kept, full}));
    if (const auto start = steps_.withdraw(id.slot); start) tracker_.unschedule(id, *start).value();
    steps_.trim(id.slot, kept_tokens);
    static_cast<void>(tracker_.lose(id, kept_tokens).value());
    tracker_.park(id, 0).value();
    drop_blocks(id.slot, kept, full);
  }

  /// @return blocks that came free
  block_count apply(span<const cut> cuts) noexcept {
    const block_count before = pool_.available() + pool_.fenced();
    for (const cut& c : cuts) cut_back(c.sequence, c.blocks.first);
    return pool_.available() + pool_.fenced() - before;
  }

  /// @param found logical blocks that the requester takes from others, or revives: they are no gain
  result<plan> plan_for(
      const row& requester, block_count shortage, victims from, cut_list& cuts, block_range found = {}) noexcept {
    if constexpr (sequences_share) {
      const sharing_candidates all = sharing_view(requester, found);
      const result<plan> planned = planner_(all, requester.order, shortage, from, cuts, scratch_.all());
      return planned ? detail::cut_all_holders(all, *planned, cuts, !planner_type::spares_requester) : planned;
    } else {
      return planner_(view(), requester.order, shortage, from, cuts, scratch_.all());
    }
  }

  /// Whether the planner would still cut just this. @pre the sequences are live, and distinct
  [[nodiscard]] bool still_hold(const row& requester, span<const cut> cuts) noexcept {
    const candidates all = view();
    for (const cut& c : cuts) {
      const std::size_t place = all.place_of(c.sequence);
      if (all.parked(place) != c.was_parked || all.blocks(place) != c.blocks.last) return false;
      if (c.blocks.first < 0 || c.blocks.empty()) return false;
    }
    if constexpr (sequences_share) {
      return detail::free_what_they_say(sharing_view(requester), cuts, !planner_type::spares_requester);
    } else {
      return std::all_of(cuts.begin(), cuts.end(), [&](const cut& c) {
        if (c.freed < 1) return false;
        const shaped_cut now = planner_.cut_one(all, all.place_of(c.sequence), c.freed);
        return now.blocks == c.blocks && now.freed == c.freed;
      });
    }
  }

  /// The baseline's answer when all victims together are not enough: they give up what they can, and so does the
  /// requester.
  /// @return false where `cuts` is too small, and nothing moved
  bool give_up_with_victims(sequence_id requester, block_count obtainable, cut_list& cuts) noexcept {
    const row& s = sequences_[requester.slot];
    if (!plan_for(s, obtainable, victims::parked_then_running, cuts)) return false;
    if (s.held > 0) {
      if (cuts.full()) {
        cuts.clear();
        return false;
      }
      cuts.add({requester, {0, s.held}, view().reclaimable(s.place, 0, s.held), false});
      if constexpr (sequences_share) detail::count_freed(sharing_view(s), cuts);
    }
    apply(cuts.used());
    return true;
  }

  result<void> end(sequence_id id) noexcept {
    if (!is_live(id)) return errc::stale;
    drop_blocks(id.slot, 0, full_blocks(id));
    tracker_.forget(id).value();
    steps_.leave(id.slot);
    sequences_.close(id.slot);
    return {};
  }

  kv_cache_options options_;
  pool_type pool_;
  planner_type planner_;
  tracker_type tracker_;
  detail::sequence_table sequences_;
  detail::lost_content<pool_type> lost_;
  detail::step_ledger steps_;
  detail::buffer<std::uint32_t> scratch_;  // the planner's
  detail::release_counts shares_;          // while a plan is made
  std::uint64_t commits_ = 0;
};

}  // namespace v0
}  // namespace pave

#endif
