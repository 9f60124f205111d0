// SPDX-License-Identifier: Apache-2.0
// Pool, planner and tracker wired together over block tables: the whole cache, for an engine that has none.
#ifndef PAVE_CACHE_HPP
#define PAVE_CACHE_HPP

#include <pave/block_hash.hpp>
#include <pave/candidates.hpp>
#include <pave/detail/bundles.hpp>
#include <pave/detail/cache_plans.hpp>
#include <pave/detail/cache_state.hpp>
#include <pave/detail/cache_tables.hpp>
#include <pave/detail/step_ledger.hpp>
#include <pave/layout.hpp>
#include <pave/planner.hpp>
#include <pave/pool.hpp>
#include <pave/prefix_index.hpp>
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
  using prefix_index = no_prefix_index;
};

namespace detail {
template <class Policies>
constexpr bool is_whole_cache_bundle() noexcept {
  static_assert(has_parts_v<Policies>,
                "pave: a kv_cache takes a bundle of its parts' bundles: derive from cache_policies, and name in it the "
                "pool, the planner, the tracker or the prefix_index that is to change");
  return has_parts_v<Policies>;
}

template <class Policies>
using cache_bundle_or_default = std::conditional_t<is_whole_cache_bundle<Policies>(), Policies, cache_policies>;
}  // namespace detail

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

/// @brief A copy for the engine to make: a sequence is about to write into a block that another one holds, too, or to
/// rewrite what a step in flight of one that let go of it still uses. All copies of a step are made before its own
/// work, in the order in which they were given, even where the sequence was cut or has ended since.
struct block_copy {
  block_id from, to;
  token_count tokens;  ///< at the front of the block; what follows is not read
};

/// @brief What a sequence got.
struct growth {
  token_range tokens;              ///< positions that the open step computes
  block_range blocks;              ///< from the first logical block that is new in its table to the last
  std::optional<block_copy> copy;  ///< of a fork: the block before these has become one of its own
  /// The step gives the sequence's next token: `tokens` ends with the last one that is known. What was given before is
  /// not given again: not by one that is as long as can be, and computes what it lost.
  bool yields = false;
};

/// @brief A sequence that came in. To the engine it is an ordinary prefill chunk over a kept prefix.
struct restore {
  sequence_id sequence;
  token_range found;     ///< positions whose content is in blocks, its own or others': they are computed already
  token_range tokens;    ///< positions that the open step computes; `remaining` says how many follow
  block_range blocks;    ///< from the first logical block that is new in its table to the last, the found ones first
  block_count taken;     ///< of what was available, or was cut for it: all of them but the found ones that others hold
  bool resumed = false;  ///< it had run before; false for a sequence that is new
  std::optional<block_copy> copy;  ///< of a fork: the block before `blocks` has become one of its own
  bool yields = false;  ///< as of `growth`; false where more of its prompt, or of its gap, follows in later steps
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
  token_count tokens_revived;   ///< of these: found again, in blocks not reused, or computed by others
  token_count tokens_cached;    ///< found by sequences that never had them, since `create`
};

/// @brief Block tables over a pool, with exact reclamation and restores.
///
/// A sequence is admitted (it waits), comes in by `next_restore`, grows by `grow_or_reclaim` and ends by `finish` or
/// `abort`. When blocks run short, less important sequences lose exactly the missing ones, and park;
/// parked ones come back by `next_restore` and recompute only what they lost. An engine that wants a sequence to stop
/// says so by `park`, and has others give up blocks ahead of a shortage by `plan_cuts` and `commit`.
///
/// Scheduling happens between `begin_step` and the run of that step. A sequence that is cut in between loses what it
/// had scheduled in the open step, and is not to be run in it.
///
/// With a cut shape that takes blocks from the inside (`head_after_shared`, `cheapest_range`) what is behind a cut
/// stays. The table has `id_type{}` where a block is gone. Gaps come back from the front to the back, one contiguous
/// range a step, and only then the sequence goes on at its end: no attention reads a missing token. Over a pool that
/// keeps content, what a cut from the inside took is computed again; only ends are found.
///
/// What forks had in common and lost together comes back once: the first one that comes in computes it, and the others
/// share it again, from one that runs, or over a pool that keeps content from any. Where cuts leave gaps inside, each
/// computes its own. With a `prefix_index` sequences find each other's full blocks by their tokens: see `set_hashes`;
/// over a pool that forgets with `running_prefixes`, those of sequences that run.
/// @complexity Members are linear in the blocks that they name, and logarithmic in the admitted sequences, or say
///   otherwise. `plan_cuts`, `next_restore`, and `grow_or_reclaim` where blocks are short, are linear in the sequences
///   besides where these share blocks, or where plans go by their price (`cheapest_restore`).
/// @threadsafety one thread at a time
template <class Policies = cache_policies>
class kv_cache {
  using bundle = detail::cache_bundle_or_default<Policies>;

 public:
  using pool_type = block_pool<typename bundle::pool>;
  using planner_type = eviction_planner<typename bundle::planner>;
  using tracker_type = restore_tracker<typename bundle::tracker>;
  using prefix_index_type = detail::prefix_index_or_none<typename bundle::prefix_index, pool_type>;
  using id_type = typename pool_type::id_type;
  using kept_block_type = typename pool_type::kept_block_type;

  static_assert(!detail::names_a_slot_v<bundle> || detail::is_its_own_part_v<bundle>,
                "pave: a slot belongs in the bundle of its part: derive from pool_policies, planner_policies or "
                "tracker_policies, and name the slot there");
  static_assert(!detail::has_ignored_slots_v<bundle>,
                "pave: a bundle names a slot of another part, and nothing reads it there: name it in a bundle of its "
                "part, derived from pool_policies, planner_policies or tracker_policies");
  static_assert(is_deterministic_v<typename detail::pool_bundle_or_default<typename bundle::pool>::lock>,
                "pave: a kv_cache takes no pool whose lock is per_thread: one thread at a time calls it");
  static_assert(
      !shares_memory_v<typename detail::pool_bundle_or_default<typename bundle::pool>::free_list>,
      "pave: a kv_cache takes no pool that shares its memory with others, as from_slabs does: they could take "
      "what it promised");

  /// @brief Makes an empty cache. No other call takes memory, but for `resize`.
  /// @param planner where its policies have a state: `planner_type(demand, order, shape, cost)`, of which the last ones
  ///   may be left out
  /// @param gate where it has a state
  /// @param of_pool instances for `block_pool::create`: an observer, which is watched by reference, and others
  /// @error `invalid_argument`: an option out of its range
  /// @error `out_of_memory`
  /// @complexity linear in the blocks and in `sequences` · `blocks_per_sequence`
  template <class... PoolInstances>
  [[nodiscard]] static result<kv_cache> create(const kv_cache_options& options,
                                               planner_type planner,
                                               typename tracker_type::resume_gate_type gate,
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
    result<tracker_type> tracker = tracker_type::create(
        {options.sequences, longest, planner_type::keeps_prefix ? token_count(0) : options.tokens_per_block},
        std::move(gate));
    if (!tracker) return tracker.error();
    cache.state_.pool = std::move(*pool);
    cache.state_.tracker = std::move(*tracker);
    cache.state_.tokens_per_block = options.tokens_per_block;
    cache.plans_ = plans(std::move(planner));
    if (!cache.state_.reserve(options.sequences, cache.options_.blocks_per_sequence, options.steps_in_flight) ||
        !cache.plans_.reserve(options.sequences)) {
      return errc::out_of_memory;
    }
    auto order = decltype(state_.order)::create(options.sequences, cache.plans_.order());
    if (!order) return order.error();
    cache.state_.order = std::move(*order);
    return cache;
  }
  /// @brief The same, where only policies of the pool have a state: an observer, and others.
  template <class PoolInstance,
            class... PoolInstances,
            std::enable_if_t<!std::is_convertible_v<PoolInstance, planner_type>, int> = 0>
  [[nodiscard]] static result<kv_cache> create(const kv_cache_options& options,
                                               PoolInstance&& of_pool,
                                               PoolInstances&&... others) noexcept {
    constexpr bool is_of_planner = planner_type::template has_policy<std::decay_t<PoolInstance>>;
    constexpr bool is_gate = std::is_same_v<std::decay_t<PoolInstance>, typename tracker_type::resume_gate_type>;
    static_assert(!is_of_planner,
                  "pave: a kv_cache's create takes a planner, not its policies: give it "
                  "`kv_cache<Policies>::planner_type(demand, order, shape, cost)` before the instances for the pool");
    static_assert(!is_gate,
                  "pave: a kv_cache's create takes a resume_gate behind the planner: `create(options, planner, gate)`");
    if constexpr (is_of_planner || is_gate)
      return errc::invalid_argument;
    else
      return create(options, planner_type{}, typename tracker_type::resume_gate_type{},
                    std::forward<PoolInstance>(of_pool), std::forward<PoolInstances>(others)...);
  }
  [[nodiscard]] static result<kv_cache> create(const kv_cache_options& options,
                                               planner_type planner = {},
                                               typename tracker_type::resume_gate_type gate = {}) noexcept {
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
    if (state_.sequences.is_full()) return errc::table_full;
    const sequence_id id = state_.sequences.open(rank);
    state_.lost.clear(id.slot);
    if constexpr (state::names_content) state_.names.clear(id.slot);
    state_.tracker.track(id, tokens).value();
    state_.begin_to_order(id.slot);
    return id;
  }

  /// @brief A sequence comes that begins as another one does, in any state: it shares the blocks of all tokens that the
  /// launched steps and those before them compute, and has the other one's state, goal and gap. Whichever of the two
  /// next writes into a block that both hold, partly filled, gets one of its own, and a copy to make: see `growth`.
  /// @param parent the other one; what the open step computes of it is not shared, nor what it kept behind a gap
  /// @param rank lower is more important; among equals, who came first
  /// @error `stale`
  /// @error `table_full`: as many sequences are admitted as the options allow, or a block has as many holders as it can
  /// @complexity linear in the blocks that are shared
  template <class Pool = pool_type>
  result<sequence_id> fork(sequence_id parent, std::int64_t rank) noexcept {
    static_assert(Pool::can_share, "pave: a fork shares blocks: name a sharing policy that counts, like `counted`");
    if constexpr (Pool::can_share) {
      return open_fork(parent, rank);
    } else {
      return errc::table_full;
    }
  }

  /// @brief A sequence is done, in any state: its blocks go, and its id is stale from now on.
  /// @error `stale`
  result<void> finish(sequence_id id) noexcept { return end(id); }
  /// @brief A sequence is cancelled, in any state: its blocks go, and its id is stale from now on.
  /// @error `stale`
  result<void> abort(sequence_id id) noexcept { return end(id); }

  /// @brief Stops a running sequence of the engine's choice. It keeps all of its blocks, and waits as one that was cut:
  /// what the open step was to compute of it is taken back, so that it is not to be run in that step, and what was
  /// promised to it is not any more. `next_restore` lets it in again when it is its turn, in the same step too, unless
  /// `set_rank` put it behind others. To have it give up blocks as well: see `plan_cuts`.
  /// @error `stale`
  /// @error `waits`: it does not run
  /// @complexity linear in the steps in flight
  result<void> park(sequence_id id) noexcept {
    const result<sequence_progress> at = state_.tracker.progress(id);
    if (!at) return at.error();
    if (at->state != sequence_state::running) return errc::waits;
    const block_count held = state_.sequences[id.slot].held;
    state_.cut_back(id, {held, held});
    return {};
  }

  /// @brief Changes who matters more, in any state. Nothing moves until the next shortage.
  /// @error `stale`
  result<void> set_rank(sequence_id id, std::int64_t rank) noexcept {
    if (!state_.is_live(id)) return errc::stale;
    state_.cease_to_order(id.slot);
    state_.sequences[id.slot].order.value = rank;
    state_.begin_to_order(id.slot);
    return {};
  }

  /// @brief How much time a sequence has, in any unit of the engine's: what the order `most_slack` goes by. 0 at first.
  /// (Within a cache an order of the engine's own goes by rank, blocks, parked state, tokens and this: it is asked
  /// again whenever one of them changes.)
  /// @error `stale`
  result<void> set_slack(sequence_id id, std::int64_t slack) noexcept {
    if (!state_.is_live(id)) return errc::stale;
    state_.sequences[id.slot].slack = slack;
    state_.note_change(id.slot);
    return {};
  }

  /// @brief Takes back the tokens from `length` on, in any state: rejected drafts, a shortened prompt. Blocks without
  /// tokens go. Where the last block that stays is held by others too, or still used by a step in flight of one that
  /// let go of it, what follows cannot be written into it: a fork gets a copy of it when it grows; any other sequence
  /// lets it go, and its tokens become a gap.
  ///
  /// Where the last token that stays is yet to be computed (of a gap, or a prompt), the step that computes it yields
  /// the next one, whatever is cut before that. Where it is computed, kept or scheduled, the sequence goes on with the
  /// next one as the engine knows it: what was sampled in place of a rejected draft. An engine that does not know it
  /// takes back one more token.
  /// @error `stale`
  /// @error `invalid_argument`: a negative length, or more than the sequence was to have
  result<void> truncate(sequence_id id, token_count length) noexcept {
    const result<sequence_progress> before = state_.tracker.progress(id);
    if (const result<void> done = state_.tracker.truncate(id, length); !done) return done;
    state_.steps.trim(id.slot, length);
    row& s = state_.sequences[id.slot];
    const bool takes_back = length < before->kept;
    s.rewrites = s.rewrites || takes_back;
    const block_count full = length.value() / state_.tokens_per_block.value();
    state_.lost.truncate(id.slot, full);
    if constexpr (state::names_content) state_.names.truncate(id.slot, full);
    state_.drop_blocks(id.slot, detail::smaller(s.held, blocks_for(length, state_.tokens_per_block)), 0);
    if (takes_back && s.held > full && !state_.pool.overwrite(state_.sequences.blocks(id.slot, {full, s.held})[0]) &&
        !s.is_fork) {
      const token_count kept = full.value() * state_.tokens_per_block.value();
      if (const auto start = state_.steps.open_start(id.slot); start) {  // what is not launched is not lost
        state_.tracker.unschedule(id, detail::larger(*start, kept)).value();
      }
      state_.steps.trim(id.slot, kept);
      if (state_.tracker.progress(id)->kept > kept) static_cast<void>(state_.tracker.lose(id, kept).value());
      state_.drop_blocks(id.slot, full, 0);
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
    const result<sequence_progress> at = state_.tracker.progress(id);
    if (!at) return at.error();
    if (at->state == sequence_state::running) return errc::busy;
    state_.lost.offer(id.slot, blocks);
    return {};
  }

  /// @brief Says by which hashes the full blocks of a sequence are found, in any state: of its prompt as soon as it is
  /// admitted, of what it generates as the blocks fill up. A block is found by others once a step is complete that
  /// computed its last token, and a sequence that waits finds what others have, or left, when it comes in.
  /// @param first the logical block that has the first of them; what was said from there on is replaced
  /// @param hashes of blocks `first`, `first` + 1, …: each over all tokens up to its end, as of `block_hasher`, or as
  ///   wide. Tokens that may be taken back, as drafts are, belong in none
  /// @error `stale`
  /// @error `invalid_argument`: `first` is negative, or behind a block that has no hash
  /// @error `never_fits`, with the hashes that a row of the block table has no room for
  /// @complexity linear in the hashes
  template <class Index = prefix_index_type>
  result<void> set_hashes(sequence_id id, block_count first, span<const block_hash> hashes) noexcept {
    static_assert(Index::finds, "pave: hashes are of use to a prefix_index: name one in the cache's bundle");
    if constexpr (Index::finds) {
      if (!state_.is_live(id)) return errc::stale;
      if (first < 0 || first > state_.names.end(id.slot)) return errc::invalid_argument;
      const block_count room = state_.names.width() - first;
      if (room < hashes.size()) return error{errc::never_fits, hashes.size() - room};
      state_.names.set(id.slot, first, hashes);
      state_.list_computed(id.slot);
    }
    return {};
  }

  // --- one step ---

  /// @brief Opens a step for scheduling. The one before it counts as launched from now on.
  /// @error `busy`: as many steps as the options allow are in flight
  /// @error `no_step`: the cache is an empty one, which has none
  result<step_id> begin_step() noexcept {
    const result<step_id> step = state_.steps.begin();
    if (step) state_.promises.keep_to_what_is_there(state_.pool, state_.sequences, state_.steps);
    return step;
  }

  /// @brief Gives a running sequence the blocks for its next `tokens` tokens; takes them from less important sequences
  /// where too few are available: exactly the missing ones, from parked sequences first.
  /// @param tokens that the open step computes, from where the sequence stands; blocks that it holds already are used
  ///   first
  /// @param cuts [out] who lost what; each that was running is to be stopped, and not run in the open step
  /// @return the positions to compute, no more than to the end of a gap before something that was kept; the new blocks,
  ///   for a fork the copy to make, and whether a token comes out: of several calls of one step for a sequence, the
  ///   last one says so
  /// @error `shortage`, with the blocks that are missing now: the sequence is parked and keeps its blocks, and nothing
  ///   else moved, but in two cases where `cuts` says what did. With a fence that delays, blocks that are missing now
  ///   can be on their way: the error says by which step they are there, and until then no less important sequence gets
  ///   them; `next_restore` lets the sequence in. With `whole_sequence` it gives up all of its blocks, as do the
  ///   victims that were too few
  /// @error `never_fits`: it can never have so many blocks; it still runs, and should be ended
  /// @error `busy`: what the open step computes of it ends at something that was kept; it goes on in the next step
  /// @error `waits`: it is parked or waiting
  /// @error `no_step`
  /// @error `stale`
  /// @error `invalid_argument`: a negative number
  /// @error `buffer_too_small`: `cuts`; nothing moved
  result<growth> grow_or_reclaim(sequence_id id, token_count tokens, cut_list& cuts) noexcept {
    cuts.clear();
    const result<sequence_progress> at = state_.tracker.progress(id);
    if (!at) return at.error();
    if (at->state != sequence_state::running) return errc::waits;
    if (!state_.steps.is_open()) return errc::no_step;
    if (tokens < 0) return errc::invalid_argument;

    row& s = state_.sequences[id.slot];
    if (at->kept > at->scheduled) {  // it comes back in parts: this one first
      tokens = detail::smaller(tokens, state_.tracker.gap(id)->size());
    }
    if (!planner_type::keeps_prefix && tokens > 0 &&
        state_.steps.open_end(id.slot).value_or(at->scheduled) != at->scheduled) {
      return errc::busy;
    }
    const token_count held_tokens = s.held.value() * state_.tokens_per_block.value();
    const block_range fresh_none{s.held, s.held};
    if (tokens <= held_tokens - at->scheduled && s.holes == 0 && (!s.is_fork || !state_.copies(id.slot, tokens))) {
      return scheduled(id, tokens, at->known, fresh_none, std::nullopt);
    }

    const token_count goal = sum(at->scheduled, tokens);
    if (const result<void> fits = can_ever_hold(detail::larger(goal, at->kept)); !fits) return fits.error();
    const block_count end = blocks_for(goal, state_.tokens_per_block);
    const block_count fresh = state_.not_held(id.slot, end);
    const detail::need_of_blocks need{fresh, fresh, state_.copies(id.slot, tokens), victims::parked_then_running, {}};
    result<void> got = plans_.reclaim(state_, s, need, cuts);
    if (got) got = plans_.wait_for(state_, s, need.takes + (state_.copies(id.slot, tokens) ? 1 : 0), 0, cuts);
    if (!got) {
      if (got.code() == errc::shortage) {
        state_.tracker.park(id, goal).value();
        state_.note_change(id.slot);
      }
      return got.error();
    }
    const std::optional<block_copy> copy = take_copy(id, tokens);
    const block_range taken = state_.take_blocks(id.slot, end);
    return scheduled(id, tokens, at->known, taken, copy);
  }

  /// @brief Lets the most important sequence that waits come in, new or parked, if it passes the resume gate: its whole
  /// gap and its next tokens fit, with what less important *parked* sequences can give, and the reserve stays
  /// available. Call it until it fails.
  /// @param budget tokens that the open step still has room for: less at each call, until there are none
  /// @param cuts [out] who lost what; all were parked already
  /// @error `nothing_waits`
  /// @error `no_budget`: it is 0, and the pass is over
  /// @error `shortage`, with the missing blocks: the first that does not fit ends the pass. Nothing moved, unless the
  ///   error says that blocks are on their way: then they are promised to it as in `grow_or_reclaim`, and `cuts` says
  ///   who lost some for it
  /// @error `busy`: it lost what a running sequence is about to compute again, and shares that once it is computed; the
  ///   pass is over
  /// @error `never_fits`: the pool has shrunk, and the most important sequence that waits can never come in: it should
  ///   be ended, or shortened, or put behind others
  /// @error `no_step`
  /// @error `invalid_argument`: a negative budget
  /// @error `buffer_too_small`: `cuts`
  result<restore> next_restore(token_count budget, cut_list& cuts) noexcept {
    cuts.clear();
    if (!state_.steps.is_open()) return errc::no_step;
    if (budget < 0) return errc::invalid_argument;
    if (state_.waiting_or_parked() == 0) return errc::nothing_waits;
    if (budget == 0) return errc::no_budget;
    const sequence_id id = state_.most_important_waiting();
    row& s = state_.sequences[id.slot];
    const detail::found_prefix found = state_.find_prefix(id);
    if (found.more_comes) return errc::busy;
    const token_count found_tokens = found.blocks.size().value() * state_.tokens_per_block.value();
    const resume_need need = state_.tracker.needs(id, budget, found_tokens).value();
    const block_count found_ones = found.blocks.size();
    const block_count fresh =
        state_.not_held(id.slot, blocks_for(need.allocates, state_.tokens_per_block)) - found_ones;
    const block_count not_there = state_.not_held(id.slot, blocks_for(need.must_fit, state_.tokens_per_block));
    if (not_there > 0) {
      const token_count kept = state_.tracker.progress(id)->kept;
      if (const result<void> fits = can_ever_hold(detail::larger(need.must_fit, kept)); !fits) return fits.error();
    }
    const block_count must_fit = found.free + not_there - found_ones;
    const block_count takes = found.free + fresh;
    const detail::need_of_blocks blocks{takes, must_fit + headroom(need.resumes),
                                        state_.copies(id.slot, need.tokens.size()), victims::parked_only, found.blocks};
    if (const result<void> got = plans_.reclaim(state_, s, blocks, cuts); !got) return got.error();
    const block_count on_their_way = state_.not_there_yet(found.blocks);
    const block_count needs =
        fresh + (state_.copies(id.slot, need.tokens.size()) ? 1 : 0) + state_.nobodys(id.slot, found.blocks);
    if (const result<void> there = plans_.wait_for(state_, s, needs, on_their_way, cuts); !there) return there.error();
    const std::optional<block_copy> copy = take_copy(id, need.tokens.size());
    block_range taken{s.held, found.blocks.last + fresh};
    if (found.blocks.empty()) {
      taken = state_.take_blocks(id.slot, blocks_for(need.allocates, state_.tokens_per_block));
      state_.lost.clear(id.slot);
    } else {
      state_.take_found(id.slot, taken, found.blocks.last);
    }
    const token_count known = state_.tracker.progress(id)->known;
    const token_range tokens = state_.tracker.resume(id, budget, found_tokens).value();
    state_.note_change(id.slot);
    if (!tokens.empty()) state_.enlist(id.slot, tokens);
    const token_range found_range{tokens.first - found_tokens, tokens.first};
    return restore{id, found_range, tokens, taken, needs, need.resumes, copy, yields(id, known)};
  }

  /// @brief A step is done: its tokens count as computed, and its fences end. One that is done before an earlier one
  /// takes effect when that one is done.
  /// @error `no_step`: it was never begun
  /// @error `stale`: it is complete already
  /// @complexity linear in the sequences that the step ran
  result<void> complete(step_id step) noexcept {
    const result<void> done = state_.steps.complete(step, [this](std::uint32_t slot, token_count end) noexcept {
      state_.tracker.complete(state_.sequences.id(slot), end).value();
      state_.list_computed(slot);
    });
    if (done) state_.pool.complete_through(state_.steps.last_complete());
    return done;
  }

  // --- plans, apart from their commitment ---

  /// @brief Plans to free `shortage` blocks for `requester`, and moves nothing. With `commit` it is how an
  /// engine has blocks given up on purpose, before any call is short of them.
  /// @param cuts [out] what to give to `commit`
  /// @error `shortage`, with the blocks that nobody less important can give
  /// @error `stale`
  /// @error `invalid_argument`: a negative number
  /// @error `buffer_too_small`: `cuts`
  [[nodiscard]] result<plan> plan_cuts(sequence_id requester, block_count shortage, cut_list& cuts) noexcept {
    cuts.clear();
    if (!state_.is_live(requester)) return errc::stale;
    return plans_.plan_for(state_, state_.sequences[requester.slot], shortage, victims::parked_then_running, cuts);
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
    if (!state_.is_live(requester)) return errc::stale;
    const std::uint64_t now = ++commits_;
    const row& asks = state_.sequences[requester.slot];
    for (const cut& c : cuts) {
      if (!state_.is_live(c.sequence)) return errc::stale;
      row& victim = state_.sequences[c.sequence.slot];
      if (!(asks.order < victim.order) || victim.named_by == now) return errc::stale;
      victim.named_by = now;
    }
    if (!plans_.still_hold(state_, asks, cuts)) return errc::stale;
    state_.apply(cuts);
    block_count freed = 0;
    for (const cut& c : cuts) freed += c.freed;
    if (pool_type::delays && freed > 0) state_.promise(state_.sequences[requester.slot], asks.promised + freed);
    state_.promises.keep_to_what_is_there(state_.pool, state_.sequences, state_.steps);
    return freed;
  }

  /// @brief All sequences give up all blocks, and wait to be restored; no content is found again.
  /// @complexity linear in the slots and in the capacity
  void reset() noexcept {
    for (std::size_t i = 0; i < state_.sequences.size(); ++i) {
      const sequence_id id = state_.sequences.id(state_.sequences.slot_at(i));
      state_.cut_back(id, {0, state_.sequences[id.slot].held});
      state_.lost.clear(state_.sequences.slot_at(i));
    }
    state_.pool.forget_content();
  }

  // --- views ---

  /// @return the physical blocks in logical order, `[blocks held]`, and `id_type{}` where a cut left a gap; valid until
  ///   the sequence changes
  /// @error `stale`
  [[nodiscard]] result<span<const id_type>> block_table(sequence_id id) const noexcept {
    if (!state_.is_live(id)) return errc::stale;
    return state_.sequences.blocks(id.slot, {0, state_.sequences[id.slot].held});
  }
  /// @return the rows of all slots, `[sequences, blocks_per_sequence]`: that of a sequence is `id.slot`, and only its
  ///   first entries, as many as `block_table` has, mean something. To copy all of them at once: `as_integers` gives
  ///   them as plain integers
  [[nodiscard]] span<const id_type> block_tables() const noexcept { return state_.sequences.all_blocks(); }
  /// @return what is on its way for a sequence, or there and kept for it
  /// @error `stale`
  [[nodiscard]] result<promised_blocks> promised(sequence_id id) const noexcept {
    if (!state_.is_live(id)) return errc::stale;
    const row& s = state_.sequences[id.slot];
    return promised_blocks{s.promised, s.promised == 0 ? step_id{} : s.promised_by};
  }
  /// @return tokens whose keys and values are in the cache, by completed steps
  /// @error `stale`
  [[nodiscard]] result<token_count> computed(sequence_id id) const noexcept {
    const result<sequence_progress> at = state_.tracker.progress(id);
    if (!at) return at.error();
    return at->computed;
  }
  /// @return tokens that it has to compute next: the rest of its first gap or of its prompt, and 1
  ///   for one that decodes. What to ask `grow_or_reclaim` for, within the step's budget
  /// @error `stale`
  [[nodiscard]] result<token_count> remaining(sequence_id id) const noexcept {
    const result<sequence_progress> at = state_.tracker.progress(id);
    if (!at) return at.error();
    if (at->kept > at->scheduled) return state_.tracker.gap(id)->size();
    return detail::larger<token_count>(1, at->goal - at->scheduled);
  }
  /// @return where the sequence stands
  /// @error `stale`
  [[nodiscard]] result<sequence_progress> progress(sequence_id id) const noexcept {
    return state_.tracker.progress(id);
  }
  /// @return what was cut and is not scheduled yet
  /// @error `stale`
  [[nodiscard]] result<token_range> gap(sequence_id id) const noexcept { return state_.tracker.gap(id); }

  /// @return counts of blocks, sequences and tokens, all of the same moment
  /// @complexity constant
  [[nodiscard]] cache_snapshot snapshot() const noexcept {
    const restore_counts tokens = state_.tracker.counts();
    return {state_.pool.capacity(),
            state_.pool.available(),
            state_.pool.fenced(),
            state_.pool.held(),
            state_.tracker.count(sequence_state::running),
            state_.tracker.count(sequence_state::parked),
            state_.tracker.count(sequence_state::waiting),
            tokens.lost,
            tokens.restored,
            tokens.revived,
            tokens.cached};
  }

  /// @brief Changes how many blocks the pool has: see `block_pool::resize`. No sequence can hold more than at `create`.
  /// @error as of `block_pool::resize`
  result<void> resize(block_count blocks) noexcept {
    if (blocks >= 1 && blocks <= pool_type::most_ids() - options_.first_block &&
        !state_.reserve_ids(options_.first_block + blocks)) {
      return errc::out_of_memory;
    }
    const result<void> resized = state_.pool.resize(blocks);
    if (resized) state_.promises.keep_to_what_is_there(state_.pool, state_.sequences, state_.steps);
    return resized;
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
    const detail::sequences_as_tables<id_type> own{state_.sequences};
    const joined_tables<detail::sequences_as_tables<id_type>, Others> both{own, others};
    return state_.pool.audit(both, scratch, std::forward<Say>(say));
  }

  /// @brief The pool, for holders besides the sequences: `pin` what a transfer uses, `share` what a prefix cache of the
  /// engine holds, and `release` just that. Such a block is not reclaimable. The number of blocks is changed by the
  /// cache's own `resize`.
  [[nodiscard]] pool_type& pool() noexcept { return state_.pool; }
  [[nodiscard]] const pool_type& pool() const noexcept { return state_.pool; }

 private:
  using plans = detail::cache_plans<pool_type, planner_type, tracker_type, prefix_index_type>;
  using state = typename plans::state;
  using row = typename state::row;

  /// The sum of two token counts that are not negative; the largest count where it would overflow.
  [[nodiscard]] static token_count sum(token_count a, token_count b) noexcept {
    const token_count most = (std::numeric_limits<std::int64_t>::max)();
    return b > most - a ? most : a + b;
  }
  [[nodiscard]] result<void> can_ever_hold(token_count tokens) const noexcept {
    const block_count needed = blocks_for(tokens, state_.tokens_per_block);
    const block_count most =
        detail::smaller(options_.blocks_per_sequence, state_.pool.capacity() - state_.pool.leaving());
    if (needed > most) return error{errc::never_fits, needed - most};
    return {};
  }
  /// What has to be available beyond the need of a sequence that comes in.
  [[nodiscard]] block_count headroom(bool resumes) const noexcept {
    if (state_.tracker.count(sequence_state::running) == 0) return 0;
    return resumes ? detail::larger(options_.reserve, options_.watermark) : options_.watermark;
  }
  /// @pre a block is available, if it `copies`
  std::optional<block_copy> take_copy(sequence_id id, token_count tokens) noexcept {
    if (!state_.copies(id.slot, tokens)) return std::nullopt;
    const block_count next = state_.next_written(id.slot);
    id_type& entry = state_.sequences.blocks(id.slot, {next, next + 1})[0];
    const id_type shared = entry;
    state_.pool.allocate({&entry, 1}).value();
    row& s = state_.sequences[id.slot];
    s.last_copy = state_.steps.last_begun();
    state_.pool.release({&shared, 1}, s.last_copy).value();
    const token_count before = next.value() * state_.tokens_per_block.value();
    return block_copy{detail::id_cast<block_id>(shared), detail::id_cast<block_id>(entry),
                      state_.tracker.progress(id)->scheduled - before};
  }
  /// @param known as of `yields`
  growth scheduled(sequence_id id,
                   token_count tokens,
                   token_count known,
                   block_range fresh,
                   const std::optional<block_copy>& copy) noexcept {
    const token_range computes = state_.schedule(id, tokens);
    return {computes, fresh, copy, yields(id, known)};
  }
  /// @param known tokens that were, before more were scheduled
  [[nodiscard]] bool yields(sequence_id id, token_count known) const noexcept {
    return state_.tracker.progress(id)->known > known;
  }
  result<sequence_id> open_fork(sequence_id parent, std::int64_t rank) noexcept {
    const result<sequence_progress> at = state_.tracker.progress(parent);
    if (!at) return at.error();
    if (state_.sequences.is_full()) return errc::table_full;
    const token_count end = state_.steps.open_start(parent.slot).value_or(at->scheduled);
    const block_count held =
        detail::smaller(state_.sequences[parent.slot].held, blocks_for(end, state_.tokens_per_block));
    const span<const id_type> blocks = state_.sequences.blocks(parent.slot, {0, held});
    if (const result<void> shared = state_.pool.share(blocks); !shared) return shared.error();
    const sequence_id id = state_.sequences.open(rank);
    row& child = state_.sequences[id.slot];
    std::copy(blocks.begin(), blocks.end(), state_.sequences.blocks(id.slot, {0, held}).begin());
    child.held = held;
    child.last_step = state_.last_launched(state_.sequences[parent.slot]);
    child.last_copy = state_.sequences[parent.slot].last_copy;
    child.rewrites = state_.sequences[parent.slot].rewrites || state_.steps.open_start(parent.slot).has_value();
    state_.begin_to_share(child);
    state_.begin_to_share(state_.sequences[parent.slot]);
    state_.names.fork(parent.slot, id.slot,
                      detail::smaller<block_count>(held, end.value() / state_.tokens_per_block.value()));
    state_.list_computed(parent.slot);
    state_.lost.clear(id.slot);
    if (held == state_.sequences[parent.slot].held) state_.lost.copy(parent.slot, id.slot, held);
    state_.tracker.fork(parent, id, end).value();
    state_.steps.fork(parent.slot, id.slot);
    if (state_.tracker.knows_gaps()) state_.steps.pass_over(id.slot, end);
    state_.begin_to_order(id.slot);
    return id;
  }
  result<void> end(sequence_id id) noexcept {
    if (!state_.is_live(id)) return errc::stale;
    state_.drop_blocks(id.slot, 0, state_.filled_blocks(id));
    state_.promises.end(state_.sequences[id.slot]);
    state_.end_sharing(state_.sequences[id.slot]);
    state_.cease_to_order(id.slot);
    state_.tracker.forget(id).value();
    state_.steps.leave(id.slot);
    state_.sequences.close(id.slot);
    return {};
  }

  kv_cache_options options_;
  state state_;
  plans plans_;
  std::uint64_t commits_ = 0;
};

}  // namespace v0
}  // namespace pave

#endif
