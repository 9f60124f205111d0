// SPDX-License-Identifier: Apache-2.0
// Pool, planner and tracker wired together over block tables: the whole cache, for an engine that has none.
#ifndef PAVE_CACHE_HPP
#define PAVE_CACHE_HPP

#include <pave/candidates.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/detail/cache_candidates.hpp>
#include <pave/detail/cache_tables.hpp>
#include <pave/detail/lost_content.hpp>
#include <pave/detail/misplaced_slot.hpp>
#include <pave/detail/promises.hpp>
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
#include <optional>
#include <type_traits>
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
  block_count first_block = 0;      ///< of the pool: as in `pool_options`
  std::size_t pinned_blocks = 256;  ///< of the pool: as in `pool_options`
};

/// @brief A copy for the engine to make: a sequence is about to write into a block that another one holds, too. All
/// copies of a step are made before its own work, in the order in which they were given, even where the sequence was
/// cut or has ended since.
struct block_copy {
  block_id from, to;
  token_count tokens;  ///< at the front of the block; what follows is not read
};

/// @brief What a sequence got.
struct growth {
  token_range tokens;              ///< positions that the open step computes
  block_range blocks;              ///< logical blocks that are new in its table
  std::optional<block_copy> copy;  ///< of a fork: the block before these has become one of its own
};

/// @brief A sequence that came in. To the engine it is an ordinary prefill chunk over a kept prefix.
struct restore {
  sequence_id sequence;
  token_range found;     ///< positions whose content was still in blocks: they are computed already
  token_range tokens;    ///< positions that the open step computes; `remaining` says how many follow
  block_range blocks;    ///< logical blocks that are new in its table, the found ones first
  block_count taken;     ///< of what was available, or was cut for it: all of them but the found ones that others hold
  bool resumed = false;  ///< it had run before; false for a sequence that is new
  std::optional<block_copy> copy;  ///< of a fork: the block before `blocks` has become one of its own
};

/// @brief Blocks that were promised to a sequence: no less important one gets them.
struct promised_blocks {
  block_count blocks;  ///< 0: none
  step_id by;          ///< they are available once this step and all before it are complete
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
  using id_type = typename pool_type::id_type;
  using kept_block_type = typename pool_type::kept_block_type;

  static_assert(!detail::names_a_slot_v<Policies> || detail::is_its_own_part_v<Policies>,
                "pave: a slot belongs in the bundle of its part: derive from pool_policies, planner_policies or "
                "tracker_policies, and name the slot there");
  static_assert(is_deterministic_v<typename Policies::pool::lock>,
                "pave: a kv_cache takes no pool whose lock is per_thread: one thread at a time calls it");
  static_assert(planner_type::keeps_prefix,
                "pave: a kv_cache restores a sequence from its end, and takes no other cuts");

  /// @brief Makes an empty cache. No other call takes memory, but for `resize`.
  /// @param planner, gate where their policies have a state
  /// @param of_pool instances for `block_pool::create`: an observer, which is watched by reference, and others
  /// @error `invalid_argument`: an option out of its range
  /// @error `out_of_memory`
  /// @complexity linear in the blocks and in `sequences` · `blocks_per_sequence`
  template <class... PoolInstances>
  [[nodiscard]] static result<kv_cache> create(const kv_cache_options& options,
                                               planner_type planner,
                                               typename Policies::tracker::resume_gate gate,
                                               PoolInstances&&... of_pool) noexcept {
    constexpr std::int64_t most = (std::numeric_limits<std::int32_t>::max)();
    if (options.tokens_per_block < 1 || options.tokens_per_block > most || options.sequences < 1 ||
        options.sequences > static_cast<std::size_t>(most) || options.blocks_per_sequence < 1 || options.reserve < 0 ||
        options.watermark < 0 || options.steps_in_flight < 1 ||
        options.steps_in_flight > detail::step_ledger::most_steps) {
      return errc::invalid_argument;
    }
    result<pool_type> pool = pool_type::create({options.blocks, options.first_block, options.pinned_blocks},
                                               std::forward<PoolInstances>(of_pool)...);
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
        ((pool_type::can_share || pool_type::keeps_content) &&
         !cache.shares_.reserve(pool->id_end(), options.sequences)) ||
        !cache.steps_.reserve(options.sequences, options.steps_in_flight)) {
      return errc::out_of_memory;
    }
    cache.pool_ = std::move(*pool);
    cache.tracker_ = std::move(*tracker);
    cache.planner_ = std::move(planner);
    return cache;
  }
  [[nodiscard]] static result<kv_cache> create(const kv_cache_options& options,
                                               planner_type planner = {},
                                               typename Policies::tracker::resume_gate gate = {}) noexcept {
    return create<>(options, std::move(planner), std::move(gate));
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

  /// @brief A sequence comes that begins as another one does, in any state: it shares the blocks of all tokens that the
  /// launched steps and those before them compute, and has the other one's state, goal and gap. Whichever of the two
  /// next writes into a block that both hold, partly filled, gets one of its own, and a copy to make: see `growth`.
  /// @param parent the other one; what the open step computes of it is not shared
  /// @param rank lower is more important; among equals, who came first
  /// @error `stale`
  /// @error `table_full`: as many sequences are admitted as the options allow, or a block has as many holders as it can
  /// @complexity linear in the blocks that are shared
  template <class Pool = pool_type>
  result<sequence_id> fork(sequence_id parent, std::int64_t rank) noexcept {
    static_assert(Pool::can_share, "pave: a fork shares blocks: name a sharing policy that counts, like `counted`");
    const result<sequence_progress> at = tracker_.progress(parent);
    if (!at) return at.error();
    if (sequences_.is_full()) return errc::table_full;
    const token_count end = steps_.open_start(parent.slot).value_or(at->scheduled);
    const block_count held = detail::smaller(sequences_[parent.slot].held, blocks_for(end, options_.tokens_per_block));
    const span<const id_type> blocks = sequences_.blocks(parent.slot, {0, held});
    if (const result<void> shared = pool_.share(blocks); !shared) return shared.error();
    const sequence_id id = sequences_.open(rank);
    row& child = sequences_[id.slot];
    std::copy(blocks.begin(), blocks.end(), sequences_.blocks(id.slot, {0, held}).begin());
    child.held = held;
    child.last_step = last_launched(sequences_[parent.slot]);
    child.last_copy = sequences_[parent.slot].last_copy;
    note_writer(child, sequences_[parent.slot], end);
    begin_to_share(child);
    begin_to_share(sequences_[parent.slot]);
    lost_.clear(id.slot);
    if (held == sequences_[parent.slot].held) lost_.copy(parent.slot, id.slot, held);
    tracker_.fork(parent, id, end).value();
    steps_.fork(parent.slot, id.slot);
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
  /// tokens go. Where the last block that stays is held by others too, what follows cannot be written into it: a fork
  /// gets a copy of it when it grows; any other sequence lets it go, and its tokens become a gap.
  /// @error `stale`
  /// @error `invalid_argument`: a negative length, or more than the sequence was to have
  result<void> truncate(sequence_id id, token_count length) noexcept {
    if (const result<void> done = tracker_.truncate(id, length); !done) return done;
    steps_.trim(id.slot, length);
    row& s = sequences_[id.slot];
    const block_count full = length.value() / options_.tokens_per_block.value();
    lost_.truncate(id.slot, full);
    drop_blocks(id.slot, detail::smaller(s.held, blocks_for(length, options_.tokens_per_block)), 0);
    if (s.held > full && !pool_.overwrite(sequences_.blocks(id.slot, {full, s.held})[0]) && !s.is_fork) {
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
  result<void> offer_prefix(sequence_id id, span<const kept_block_type> blocks) noexcept {
    const result<sequence_progress> at = tracker_.progress(id);
    if (!at) return at.error();
    if (at->state == sequence_state::running) return errc::busy;
    lost_.offer(id.slot, sequences_[id.slot].held, blocks);
    return {};
  }

  // --- one step ---

  /// @brief Opens a step for scheduling. The one before it counts as launched from now on.
  /// @error `busy`: as many steps as the options allow are in flight
  result<step_id> begin_step() noexcept {
    const result<step_id> step = steps_.begin();
    if (step) promises_.keep_to_what_is_there(pool_, sequences_, steps_);
    return step;
  }

  /// @brief Gives a running sequence the blocks for its next `tokens` tokens; takes them from less important sequences
  /// where too few are available: exactly the missing ones, from parked sequences first.
  /// @param tokens that the open step computes, from where the sequence stands; blocks that it holds already are used
  ///   first
  /// @param cuts [out] who lost what; each that was running is to be stopped, and not run in the open step
  /// @return the positions to compute, the new blocks, and for a fork the copy to make
  /// @error `shortage`, with the blocks that are missing now: the sequence is parked and keeps its blocks, and nothing
  ///   else moved, but in two cases where `cuts` says what did. With a fence that delays, blocks that are missing now
  ///   can be on their way: the error says by which step they are there, and until then no less important sequence gets
  ///   them; `next_restore` lets the sequence in. With `whole_sequence` it gives up all of its blocks, as do the
  ///   victims that were too few
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
    if (tokens <= held_tokens - at->scheduled && (!s.is_fork || !copies(id.slot, tokens))) {
      return growth{schedule(id, tokens), fresh_none, std::nullopt};
    }

    const token_count goal = sum(at->scheduled, tokens);
    if (const result<void> fits = can_ever_hold(goal); !fits) return fits.error();
    const block_range fresh{s.held, detail::larger(s.held, blocks_for(goal, options_.tokens_per_block))};
    const need_of_blocks need{fresh.size(), fresh.size(), copies(id.slot, tokens), victims::parked_then_running, {}};
    result<void> got = reclaim(s, need, cuts);
    if (got) got = wait_for(s, need.takes + (copies(id.slot, tokens) ? 1 : 0), 0, cuts);
    if (!got) {
      if (got.code() == errc::shortage) tracker_.park(id, goal).value();
      return got.error();
    }
    const std::optional<block_copy> copy = take_copy(id, tokens);
    take_blocks(id.slot, fresh);
    return growth{schedule(id, tokens), fresh, copy};
  }

  /// @brief Lets the most important sequence that waits come in, new or parked, if it passes the resume gate: its whole
  /// gap and its next tokens fit, with what less important *parked* sequences can give, and the reserve stays
  /// available. Call it until it fails.
  /// @param budget tokens that the open step still has room for: less at each call
  /// @param cuts [out] who lost what; all were parked already
  /// @error `nothing_waits`
  /// @error `shortage`, with the missing blocks: the first that does not fit ends the pass. Nothing moved, unless the
  ///   error says that blocks are on their way: then they are promised to it as in `grow_or_reclaim`, and `cuts` says
  ///   who lost some for it
  /// @error `never_fits`: the pool has shrunk, and the most important sequence that waits can never come in: it should
  ///   be ended, or shortened, or put behind others
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
    if (blocks_beyond(s.held, need.must_fit) > 0) {
      if (const result<void> fits = can_ever_hold(need.must_fit); !fits) return fits.error();
    }
    const block_count must_fit = found.free + blocks_beyond(found.blocks.last, need.must_fit);
    const block_count takes = found.free + fresh;
    const need_of_blocks blocks{takes, must_fit + headroom(need.resumes), copies(id.slot, need.tokens.size()),
                                victims::parked_only, found.blocks};
    if (const result<void> got = reclaim(s, blocks, cuts); !got) return got.error();
    const detail::found_prefix still_found = cuts.used().empty() ? found : find_prefix(id);
    const block_count on_their_way = found.blocks.last - still_found.blocks.last;
    const block_count needs = fresh + (copies(id.slot, need.tokens.size()) ? 1 : 0) + nobodys(found.blocks, id.slot);
    if (const result<void> there = wait_for(s, needs, on_their_way, cuts); !there) return there.error();
    const std::optional<block_copy> copy = take_copy(id, need.tokens.size());
    const block_range taken{s.held, found.blocks.last + fresh};
    take_blocks(id.slot, found.blocks, taken);
    const token_range tokens = tracker_.resume(id, budget, found_tokens).value();
    enlist(id.slot, tokens);
    return restore{id, {tokens.first - found_tokens, tokens.first}, tokens, taken, needs, need.resumes, copy};
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
    if (done) pool_.complete_through(steps_.last_complete());
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
  /// @return distinct blocks that came free: what the plan said. With a fence that delays some of them can be on their
  ///   way; all are then promised to the requester, and `promised` says by when they are there
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
    const block_count freed = apply(cuts);
    if (pool_type::delays && freed > 0) promise(sequences_[requester.slot], asks.promised + freed);
    promises_.keep_to_what_is_there(pool_, sequences_, steps_);
    return freed;
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
  [[nodiscard]] result<span<const id_type>> block_table(sequence_id id) const noexcept {
    if (!is_live(id)) return errc::stale;
    return sequences_.blocks(id.slot, {0, sequences_[id.slot].held});
  }
  /// @return the rows of all slots, `[sequences, blocks_per_sequence]`: that of a sequence is `id.slot`, and only its
  ///   first entries, as many as `block_table` has, mean something. To copy all of them at once: `as_integers` gives
  ///   them as plain integers
  [[nodiscard]] span<const id_type> block_tables() const noexcept { return sequences_.all_blocks(); }
  /// @return what is on its way for a sequence, or there and kept for it
  /// @error `stale`
  [[nodiscard]] result<promised_blocks> promised(sequence_id id) const noexcept {
    if (!is_live(id)) return errc::stale;
    const row& s = sequences_[id.slot];
    return promised_blocks{s.promised, s.promised == 0 ? step_id{} : s.promised_by};
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

  /// @brief Changes how many blocks the pool has: see `block_pool::resize`. No sequence can hold more than at `create`.
  /// @error as of `block_pool::resize`
  result<void> resize(block_count blocks) noexcept {
    constexpr std::int64_t most = (std::numeric_limits<std::int32_t>::max)();
    const bool counts = pool_type::can_share || pool_type::keeps_content;
    if (counts && blocks >= 1 && blocks <= most &&
        !shares_.reserve(options_.first_block + blocks, sequences_.slots())) {
      return errc::out_of_memory;
    }
    return pool_.resize(blocks);
  }

  /// @brief Looks whether the pool's holders are just the tables of the sequences, the pins, and others of the
  /// engine's.
  /// @param others tables of who holds blocks besides: each id in one is a holder (`no_tables`: nobody)
  /// @param scratch room for `pool().id_end()` counts
  /// @param say called with each `finding`: tables are counted from 0, the sequences in no special order, and after
  ///   them the others
  /// @return how many laws are broken; 0: all is well
  /// @error `buffer_too_small`: `scratch`
  template <class Others, class Say>
  result<std::size_t> audit(const Others& others, span<std::uint32_t> scratch, Say&& say) const noexcept {
    const detail::sequences_as_tables<id_type> own{sequences_};
    const joined_tables<detail::sequences_as_tables<id_type>, Others> both{own, others};
    return pool_.audit(both, scratch, std::forward<Say>(say));
  }

  /// @brief The pool, for holders besides the sequences: `pin` what a transfer uses, `share` what a prefix cache of the
  /// engine holds, and `release` just that. Such a block is not reclaimable. The number of blocks is changed by the
  /// cache's own `resize`.
  [[nodiscard]] pool_type& pool() noexcept { return pool_; }
  [[nodiscard]] const pool_type& pool() const noexcept { return pool_; }

 private:
  using sequence_table = detail::sequence_table<id_type>;
  using row = typename sequence_table::row;
  using promises = detail::promises<pool_type>;

  /// What a sequence asks for.
  struct need_of_blocks {
    block_count takes;     // of what is available
    block_count must_fit;  // at least as many: could be had
    bool copies;           // takes one more, unless nobody else holds any more what it is to write into
    victims from;
    block_range found;  // logical blocks that it takes from others, or revives: they are no gain
  };

  /// Whether plans have to count blocks that several sequences hold.
  [[nodiscard]] bool sequences_share() const noexcept {
    return pool_type::can_share && (pool_type::keeps_content || forks_ > 1);
  }

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
    const block_count most = detail::smaller(options_.blocks_per_sequence, pool_.capacity() - pool_.leaving());
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

  /// Of the blocks that a sequence has found: how many nobody holds, so that it takes them from what is available.
  [[nodiscard]] block_count nobodys(block_range found, std::uint32_t slot) const noexcept {
    block_count count = 0;
    for (const kept_block_type& kept : lost_.noted(slot, found)) count += pool_.holders(kept.block) == 0 ? 1 : 0;
    return count;
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
    row& s = sequences_[slot];
    if (s.last_step != steps_.last_begun()) s.step_before = s.last_step;
    s.last_step = steps_.last_begun();
    const block_count first = tokens.first.value() / options_.tokens_per_block.value();
    const bool is_partly_filled = tokens.first != first.value() * options_.tokens_per_block.value();
    if (s.is_fork && is_partly_filled) pool_.overwrite(sequences_.blocks(slot, {first, first + 1})[0]).value();
  }
  [[nodiscard]] step_id last_use(std::uint32_t slot) const noexcept {
    return detail::larger(sequences_[slot].last_step, sequences_[slot].last_copy);
  }
  /// The last step that runs a sequence where the open one does not.
  [[nodiscard]] step_id last_launched(const row& s) const noexcept {
    return steps_.is_open() && s.last_step == steps_.last_begun() ? s.step_before : s.last_step;
  }

  /// @pre fresh.size() blocks are available
  void take_blocks(std::uint32_t slot, block_range fresh) noexcept {
    pool_.allocate(sequences_.blocks(slot, fresh)).value();
    sequences_[slot].held = fresh.last;
    promises_.keep_to_what_is_there(pool_, sequences_, steps_);
  }
  /// Takes the found ones of the logical blocks `taken`, which come first, and fresh ones. @pre so many are available
  void take_blocks(std::uint32_t slot, block_range found, block_range taken) noexcept {
    const span<const kept_block_type> revived = lost_.noted(slot, found);
    pool_.acquire(revived, sequences_.blocks(slot, {found.last, taken.last})).value();
    const span<id_type> blocks = sequences_.blocks(slot, found);
    for (std::size_t i = 0; i < revived.size(); ++i) blocks[i] = revived[i].block;
    lost_.clear(slot);
    sequences_[slot].held = taken.last;
    promises_.keep_to_what_is_there(pool_, sequences_, steps_);
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
    const span<id_type> blocks = sequences_.blocks(slot, range);
    std::reverse(blocks.begin(), blocks.end());  // the row does not need them any more
    pool_.release(blocks, last_use(slot), left).value();
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
    row& s = sequences_[id.slot];
    lost_.note(pool_, id.slot, s.held, {kept, full}, sequences_.blocks(id.slot, {kept, full}));
    if (const auto start = steps_.withdraw(id.slot); start) {
      tracker_.unschedule(id, *start).value();
      s.last_step = last_launched(s);
    }
    steps_.trim(id.slot, kept_tokens);
    static_cast<void>(tracker_.lose(id, kept_tokens).value());
    tracker_.park(id, 0).value();
    drop_blocks(id.slot, kept, full);
    promises_.end(s);
    if (kept == 0) end_sharing(s);
  }

  /// @return blocks that came free
  block_count apply(span<const cut> cuts) noexcept {
    const block_count before = pool_.available() + pool_.fenced();
    for (const cut& c : cuts) cut_back(c.sequence, c.blocks.first);
    return pool_.available() + pool_.fenced() - before;
  }

  void begin_to_share(row& s) noexcept {
    forks_.get() += s.is_fork ? 0 : 1;
    s.is_fork = true;
  }
  void end_sharing(row& s) noexcept {
    forks_.get() -= s.is_fork ? 1 : 0;
    s.is_fork = false;
  }

  /// The open step of a sequence may write behind what its fork has of their last block, even after it has ended.
  void note_writer(row& child, const row& parent, token_count end) const noexcept {
    const block_count last = end.value() / options_.tokens_per_block.value();
    const bool is_partly_filled = end != last.value() * options_.tokens_per_block.value();
    if (is_partly_filled && steps_.is_open() && parent.last_step == steps_.last_begun()) {
      child.written = sequences_.blocks(sequences_.slot_at(child.place), {last, last + 1})[0];
      child.written_by = steps_.last_begun();
    } else {
      child.written = parent.written;
      child.written_by = parent.written_by;
    }
  }
  /// Whether another sequence's step in flight may write into this block, too. One stream has no such steps.
  [[nodiscard]] bool has_other_writer(const row& s, id_type block) const noexcept {
    return pool_type::delays && block == s.written && steps_.last_complete() < s.written_by;
  }

  /// The logical block that a sequence writes next.
  [[nodiscard]] block_count next_written(std::uint32_t slot) const noexcept {
    return tracker_.progress(sequences_.id(slot))->scheduled.value() / options_.tokens_per_block.value();
  }
  /// Whether a sequence that computes its next `tokens` tokens needs a copy of its last block, since others hold it, or
  /// still write it.
  [[nodiscard]] bool copies(std::uint32_t slot, token_count tokens) const noexcept {
    const row& s = sequences_[slot];
    if (!s.is_fork || tokens == 0) return false;
    const block_count next = next_written(slot);
    if (s.held <= next) return false;
    const id_type block = sequences_.blocks(slot, {next, next + 1})[0];
    return pool_.holders(block) > 1 || has_other_writer(s, block);
  }
  /// @pre a block is available, if it `copies`
  std::optional<block_copy> take_copy(sequence_id id, token_count tokens) noexcept {
    if (!copies(id.slot, tokens)) return std::nullopt;
    const block_count next = next_written(id.slot);
    id_type& entry = sequences_.blocks(id.slot, {next, next + 1})[0];
    const id_type shared = entry;
    pool_.allocate({&entry, 1}).value();
    row& s = sequences_[id.slot];
    s.last_copy = steps_.last_begun();
    pool_.release({&shared, 1}, s.last_copy).value();
    const token_count before = next.value() * options_.tokens_per_block.value();
    return block_copy{detail::id_cast<block_id>(shared), detail::id_cast<block_id>(entry),
                      tracker_.progress(id)->scheduled - before};
  }

  void promise(row& s, block_count blocks) noexcept {
    promises_.promise(s, blocks, promises_.when(pool_, sequences_, steps_, s, blocks));
  }

  /// Cuts less important sequences for what a sequence is short of. Blocks that are then on their way are promised to
  /// it, and it has to wait for them.
  result<void> reclaim(row& s, const need_of_blocks& need, cut_list& cuts) noexcept {
    const detail::supply has = promises_.for_one(pool_, sequences_, steps_, s);
    const block_count beyond = (need.copies ? 1 : 0) - (has.now + has.coming);
    const block_count gate_shortage = need.must_fit + beyond;
    const block_count shortage = need.takes + beyond;
    if (gate_shortage > 0) {
      const result<plan> possible = plan_need(s, gate_shortage, need, cuts);
      if (!possible) return refuse(s, gate_shortage, need, possible.error(), cuts);
    }
    if (gate_shortage > shortage) {  // not all that must fit is taken
      cuts.clear();
      if (shortage > 0) static_cast<void>(plan_need(s, shortage, need, cuts).value());
    }
    apply(cuts.used());
    return {};
  }
  /// Whether what a sequence takes is there by now. What is on its way is promised to it, and it has to wait.
  /// @param on_their_way of the blocks that it found, those that came free for it and are not safe yet
  result<void> wait_for(row& s,
                        block_count takes,
                        [[maybe_unused]] block_count on_their_way,
                        [[maybe_unused]] const cut_list& cuts) noexcept {
    if constexpr (pool_type::delays) {
      const block_count missing =
          detail::larger(takes - promises_.for_one(pool_, sequences_, steps_, s).now, on_their_way);
      if (missing > 0) {
        promise(s, takes);
        if (on_their_way > 0) {
          for (const cut& c : cuts.used()) s.promised_by = detail::larger(s.promised_by, last_use(c.sequence.slot));
        }
        return error{errc::shortage, missing, missing, s.promised_by};
      }
      promises_.end(s);
    }
    return {};
  }
  /// What cannot be had. With the baseline, all go that were to give something, and so does who asked while it ran.
  result<void> refuse(
      const row& s, block_count shortage, const need_of_blocks& need, const error& why, cut_list& cuts) noexcept {
    if constexpr (!planner_type::spares_requester) {
      if (why.code == errc::shortage && need.from == victims::parked_then_running &&
          !give_up_with_victims(sequences_.id(sequences_.slot_at(s.place)), shortage - why.missing, cuts)) {
        return errc::buffer_too_small;
      }
    }
    return why;
  }

  /// A plan for `shortage` blocks, of which one is for a copy where the sequence needs one: unless all others who hold
  /// what it is to write into let go of that.
  result<plan> plan_need(const row& s, block_count shortage, const need_of_blocks& need, cut_list& cuts) noexcept {
    result<plan> planned = plan_for(s, shortage, need.from, cuts, need.found);
    if constexpr (pool_type::can_share && planner_type::spares_requester) {
      if (!need.copies || planned.code() == errc::buffer_too_small) return planned;
      const std::uint32_t slot = sequences_.slot_at(s.place);
      const block_count next = next_written(slot);
      if (has_other_writer(s, sequences_.blocks(slot, {next, next + 1})[0])) return planned;
      const detail::holders_of_one<candidates> others(view(), s.place, next, need.from);
      if (!others.may_all_be_cut(pool_) || (planned && !others.go_before_more(cuts))) return planned;
      cuts.clear();
      planned = plan{};
      if (shortage > 1) planned = plan_for(s, shortage - 1, need.from, cuts, need.found);
      if (planned && !others.cut_all(cuts)) {
        cuts.clear();
        return errc::buffer_too_small;
      }
      if (planned) detail::count_freed(sharing_view(s, need.found), cuts);
    }
    return planned;
  }
  /// @param found logical blocks that the requester takes from others, or revives: they are no gain
  result<plan> plan_for(
      const row& requester, block_count shortage, victims from, cut_list& cuts, block_range found = {}) noexcept {
    if (!sequences_share()) return planner_(view(), requester.order, shortage, from, cuts, scratch_.all());
    const sharing_candidates all = sharing_view(requester, found);
    const result<plan> planned = planner_(all, requester.order, shortage, from, cuts, scratch_.all());
    return planned ? detail::cut_all_holders(all, *planned, cuts, !planner_type::spares_requester) : planned;
  }

  /// Whether the planner would still cut just this. @pre the sequences are live, and distinct
  [[nodiscard]] bool still_hold(const row& requester, span<const cut> cuts) noexcept {
    const candidates all = view();
    for (const cut& c : cuts) {
      const std::size_t place = all.place_of(c.sequence);
      if (all.parked(place) != c.was_parked || all.blocks(place) != c.blocks.last) return false;
      if (c.blocks.first < 0 || c.blocks.empty()) return false;
    }
    if (sequences_share()) {
      return detail::free_what_they_say(sharing_view(requester), cuts, !planner_type::spares_requester);
    }
    return std::all_of(cuts.begin(), cuts.end(), [&](const cut& c) {
      if (c.freed < 1) return false;
      const shaped_cut now = planner_.cut_one(all, all.place_of(c.sequence), c.freed);
      return now.blocks == c.blocks && now.freed == c.freed;
    });
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
      if (sequences_share()) detail::count_freed(sharing_view(s), cuts);
    }
    apply(cuts.used());
    return true;
  }

  result<void> end(sequence_id id) noexcept {
    if (!is_live(id)) return errc::stale;
    drop_blocks(id.slot, 0, full_blocks(id));
    promises_.end(sequences_[id.slot]);
    end_sharing(sequences_[id.slot]);
    tracker_.forget(id).value();
    steps_.leave(id.slot);
    sequences_.close(id.slot);
    return {};
  }

  kv_cache_options options_;
  pool_type pool_;
  planner_type planner_;
  tracker_type tracker_;
  sequence_table sequences_;
  detail::lost_content<pool_type> lost_;
  detail::step_ledger steps_;
  detail::buffer<std::uint32_t> scratch_;  // the planner's
  detail::release_counts shares_;          // while a plan is made
  promises promises_;
  detail::zero_on_move<std::size_t> forks_;  // sequences that may hold a block with another
  std::uint64_t commits_ = 0;
};

}  // namespace v0
}  // namespace pave

#endif
