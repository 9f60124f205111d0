// SPDX-License-Identifier: Apache-2.0
// The whole cache for a model with several KV groups: full attention, sliding windows, recurrent states.
#ifndef PAVE_GROUP_CACHE_HPP
#define PAVE_GROUP_CACHE_HPP

#include <pave/block_hash.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/detail/group_cache_state.hpp>
#include <pave/detail/group_cuts.hpp>
#include <pave/detail/group_part.hpp>
#include <pave/group_planner.hpp>
#include <pave/groups.hpp>
#include <pave/layout.hpp>
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
#include <type_traits>
#include <utility>

namespace pave {
inline namespace v0 {

/// @brief The default policies of a cache over groups. Derive from it and name what is to change.
struct group_cache_policies {
  using pool = pool_policies;  ///< of every group's
  using planner = group_planner_policies;
  using tracker = tracker_policies;
  using prefix_index = no_prefix_index;
};

/// @brief One group of a cache, and its pool.
struct group_pool_options {
  kv_group group;
  block_count blocks;           ///< capacity of its pool
  block_count reserve = 0;      ///< has to be available beyond the need of a resumed sequence that comes in
  block_count watermark = 0;    ///< the same, for any that comes in; the larger one counts
  block_count first_block = 0;  ///< of the pool: as in `pool_options`
};

struct group_cache_options {
  token_count longest = 32768;      ///< tokens that one sequence can have, 1 … 2^60
  std::size_t sequences = 256;      ///< that are admitted at the same time: running, parked and waiting
  std::size_t steps_in_flight = 2;  ///< begun and not complete, 1 … 64
  std::size_t pinned_blocks = 256;  ///< of each pool: as in `pool_options`
};

/// @brief A copy for the engine to make in one group, before the open step's own work: see `block_copy`. Of a state the
/// block is copied as it is.
struct group_block_copy {
  std::size_t group = 0;
  block_id from, to;
  token_count tokens;  ///< at the front of the block; what follows is not read
};

/// @brief What a sequence got. The spans are valid until the next call that is not const.
struct group_growth {
  token_range tokens;          ///< positions that the open step computes
  span<const group_cut> cuts;  ///< who was cut for it; who was running is not to be run in the open step
  span<const plan> reclaimed;  ///< `[groups]`: what was short, and came free for it, left-behind blocks included
  span<const group_block_copy> copies;  ///< of a fork, or a sequence that was set back
  bool yields = false;                  ///< the step gives the sequence's next token: see `growth`
};

/// @brief A sequence that came in. The spans are valid until the next call that is not const.
struct group_restore {
  sequence_id sequence;
  token_range found;                    ///< positions whose content was found: they are computed already
  token_range tokens;                   ///< positions that the open step computes; `remaining` says how many follow
  span<const group_cut> cuts;           ///< who was cut for it; all were parked
  span<const plan> reclaimed;           ///< as of `group_growth`
  span<const group_block_copy> copies;  ///< as of `group_growth`
  bool resumed = false;                 ///< it had run before; false for a sequence that is new
  bool yields = false;                  ///< as of `group_growth`
};

/// @brief The sequences of a cache over groups at one moment, for logs. Its blocks: see `pool`.
struct group_cache_snapshot {
  std::size_t running = 0, parked = 0, waiting = 0;
  token_count tokens_lost;      ///< cut and to be computed again, since `create`
  token_count tokens_restored;  ///< of these: scheduled to be computed again; they are no cache hits
  token_count tokens_revived;   ///< of these: found again
  token_count tokens_cached;    ///< found by sequences that never had them, since `create`
};

namespace detail {
template <class Policies>
constexpr bool is_whole_group_cache_bundle() noexcept {
  static_assert(has_parts_v<Policies>,
                "pave: a group_cache takes a bundle of its parts' bundles: derive from group_cache_policies, and name "
                "in it the pool, the planner, the tracker or the prefix_index that is to change");
  return has_parts_v<Policies>;
}
template <class Policies>
using group_cache_bundle_or_default =
    std::conditional_t<is_whole_group_cache_bundle<Policies>(), Policies, group_cache_policies>;
}  // namespace detail

/// @brief What `kv_cache` is for one KV group, for several: block tables over a pool a group, with exact reclamation
/// and restores. A sequence stands at one token position in all groups, and is cut at one.
///
/// A sequence is admitted (it waits), comes in by `next_restore`, grows by `grow_or_reclaim` and ends by `finish` or
/// `abort`. When a group runs short, blocks go that sequences have left behind their windows, or behind their last
/// state; nobody notices. Only then less important sequences are cut, at a position at which every group lets them go
/// on (`kv_group`), and park; they come back by `next_restore` and compute only what they lost. So left-behind blocks
/// are kept as long as nobody is short: as long as they are there, a cut can be a short one.
///
/// With a `prefix_index` sequences find each other's full blocks by their tokens, in each group by hashes of its own
/// blocks (`set_hashes`). A sequence that comes in takes up at the last position at which every group has what is
/// needed there: all blocks before it, those of a window, or a kept state.
///
/// Of a state group a step writes the state that it ends with into the block of its last position, and that of each
/// checkpoint that it passes into the block of that position. Other blocks it does not touch, and they are not there.
///
/// Steps run in the order in which they were begun, on one stream: a block that is given up may be written by the next
/// step (the pools' fence is `at_once`, or another that does not delay).
/// @complexity Members are linear in the groups and in the blocks that they name; `next_restore`, and `grow_or_reclaim`
///   where blocks are short, as `group_planner` says. No call but `create` and `resize` takes memory
/// @threadsafety one thread at a time
template <class Policies = group_cache_policies>
class group_cache {
  using bundle = detail::group_cache_bundle_or_default<Policies>;

 public:
  using pool_type = block_pool<typename bundle::pool>;
  using planner_type = group_planner<typename bundle::planner>;
  using tracker_type = restore_tracker<typename bundle::tracker>;
  using prefix_index_type = detail::prefix_index_or_none<typename bundle::prefix_index, pool_type>;
  using id_type = typename pool_type::id_type;

  static_assert(is_deterministic_v<typename detail::pool_bundle_or_default<typename bundle::pool>::lock>,
                "pave: a group_cache takes no pool whose lock is per_thread: one thread at a time calls it");
  static_assert(!shares_memory_v<typename detail::pool_bundle_or_default<typename bundle::pool>::free_list>,
                "pave: a group_cache takes no pools that share their memory, as those with from_slabs do: what one "
                "takes, another would be short of");
  static_assert(!pool_type::delays,
                "pave: a group_cache takes no fence that delays: its steps run in order, on one stream");
  static_assert(!detail::asks_sequences_v<typename bundle::prefix_index>,
                "pave: a group_cache finds blocks by an index that knows them: name prefix_index, and the retention "
                "`keep` in the pool's bundle");
  static_assert(!prefix_index_type::finds || pool_type::can_share,
                "pave: what a group_cache's prefix_index finds is shared: name a sharing policy that counts, like "
                "`counted`");

  /// @brief Makes an empty cache. No other call takes memory, but for `resize`.
  /// @param groups at least one
  /// @param planner, gate where they have a state
  /// @error `invalid_argument`: an option out of its range, or a group that is none (`kv_group::is_valid`)
  /// @error `out_of_memory`
  /// @complexity linear in the blocks, and in `sequences` · `longest`
  [[nodiscard]] static result<group_cache> create(const group_cache_options& options,
                                                  span<const group_pool_options> groups,
                                                  planner_type planner = {},
                                                  typename tracker_type::resume_gate_type gate = {}) noexcept {
    constexpr std::int64_t most = (std::numeric_limits<std::int32_t>::max)();
    constexpr std::int64_t most_tokens = std::int64_t{1} << 60U;
    if (options.longest < 1 || options.longest > most_tokens || options.sequences < 1 ||
        options.sequences > static_cast<std::size_t>(most) || options.steps_in_flight < 1 ||
        options.steps_in_flight > detail::step_ledger::most_steps || groups.empty()) {
      return errc::invalid_argument;
    }
    for (const group_pool_options& one : groups) {
      const kv_group& kind = one.group;
      if (!kind.is_valid() || kind.tokens_per_block > most || one.reserve < 0 || one.watermark < 0) {
        return errc::invalid_argument;
      }
    }
    group_cache cache;
    cache.planner_ = std::move(planner);
    result<tracker_type> tracker = tracker_type::create({options.sequences, options.longest, 0}, std::move(gate));
    if (!tracker) return tracker.error();
    cache.state_.tracker = std::move(*tracker);
    cache.longest_ = options.longest;
    if (!cache.reserve(options, groups.size())) return errc::out_of_memory;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      result<pool_type> pool = pool_type::create({groups[g].blocks, groups[g].first_block, options.pinned_blocks});
      if (!pool) return pool.error();
      part& p = cache.state_.parts[g];
      p.kind = groups[g].group;  // in which a window or checkpoints beyond the longest sequence are never reached
      p.kind.window = detail::smaller(p.kind.window, options.longest);
      p.kind.checkpoint = detail::smaller<token_count>(p.kind.checkpoint, options.longest + 1);
      p.pool = std::move(*pool);
      p.first_block = groups[g].first_block;
      if (!p.reserve(options.sequences, options.longest)) return errc::out_of_memory;
      cache.needs_[g].reserve = groups[g].reserve;
      cache.needs_[g].watermark = groups[g].watermark;
    }
    return cache;
  }

  /// @brief An empty cache, without groups, as a moved-from one is.
  group_cache() noexcept = default;

  // --- sequences ---

  /// @brief A sequence comes, and waits until `next_restore` lets it in.
  /// @param rank lower is more important; among equals, who was admitted first
  /// @param tokens its prompt: what has to be computed before its first new token
  /// @param at_most tokens that it may come to have, so that one that cannot end is refused before it begins; 0: not
  ///   known
  /// @error `never_fits`, with the blocks of the first group whose pool is too small, or of group 0 beyond the longest
  ///   sequence
  /// @error `table_full`: as many sequences are admitted as the options allow
  /// @error `invalid_argument`: no tokens, or the cache is an empty one
  result<sequence_id> admit(std::int64_t rank, token_count tokens, token_count at_most = 0) noexcept {
    if (tokens < 1 || at_most < 0 || groups() == 0) return errc::invalid_argument;
    if (const result<void> fits = can_ever_hold(detail::larger(tokens, at_most)); !fits) return fits.error();
    if (state_.sequences.is_full()) return errc::table_full;
    const sequence_id id = state_.sequences.open(rank);
    if constexpr (prefix_index_type::finds) {
      for (part& p : state_.parts.all()) p.names.clear(id.slot);
    }
    state_.tracker.track(id, tokens).value();
    return id;
  }

  /// @brief A sequence comes that begins as another one does, in any state: it shares its blocks, in every group, up to
  /// where the launched steps and those before them compute. Whichever of the two next writes into a block that both
  /// hold gets one of its own, and a copy to make.
  /// @error `stale`
  /// @error `busy`: the open step rewrites a state that the other one would share: fork before, or in the next step
  /// @error `table_full`: as many sequences are admitted as the options allow, or a block has as many holders as it can
  template <class Pool = pool_type>
  result<sequence_id> fork(sequence_id parent, std::int64_t rank) noexcept {
    static_assert(Pool::can_share, "pave: a fork shares blocks: name a sharing policy that counts, like `counted`");
    if (!state_.is_live(parent)) return errc::stale;
    if (state_.sequences.is_full()) return errc::table_full;
    const token_count end = state_.base(parent);
    if (state_.steps.open_start(parent.slot)) {
      for (const part& p : state_.parts.all()) {
        if (p.kind.checkpoint > 0 && p.written_on(parent.slot, end)) return errc::busy;
      }
    }
    const sequence_id id = state_.sequences.open(rank);
    for (std::size_t g = 0; g < groups(); ++g) {
      part& p = state_.parts[g];
      if (const result<void> shared = p.share(parent.slot, id.slot, end); !shared) {
        for (part& begun : state_.parts.all().first(g)) begun.drop(id.slot, 0, begun.held(id.slot).last, {});
        state_.sequences.close(id.slot);
        return shared.error();
      }
    }
    state_.sequences[id.slot].last_step = state_.sequences[parent.slot].last_step;
    state_.tracker.fork(parent, id, end).value();
    state_.steps.fork(parent.slot, id.slot);
    if constexpr (prefix_index_type::finds) {
      for (part& p : state_.parts.all())
        p.names.share(parent.slot, id.slot, end.value() / p.kind.tokens_per_block.value());
    }
    return id;
  }

  /// @brief A sequence is done, in any state: its blocks go, and its id is stale from now on.
  /// @error `stale`
  result<void> finish(sequence_id id) noexcept { return end(id); }
  /// @brief A sequence is cancelled, in any state: its blocks go, and its id is stale from now on.
  /// @error `stale`
  result<void> abort(sequence_id id) noexcept { return end(id); }

  /// @brief Stops a running sequence of the engine's choice. It keeps all of its blocks, and waits as one that was cut:
  /// what the open step was to compute of it is taken back, so that it is not to be run in that step.
  /// @error `stale`
  /// @error `waits`: it does not run
  result<void> park(sequence_id id) noexcept {
    const result<sequence_progress> at = state_.tracker.progress(id);
    if (!at) return at.error();
    if (at->state != sequence_state::running) return errc::waits;
    state_.withdraw(id);
    state_.tracker.park(id, 0).value();
    return {};
  }

  /// @brief Changes who matters more, in any state. Nothing moves until the next shortage.
  /// @error `stale`
  result<void> set_rank(sequence_id id, std::int64_t rank) noexcept {
    if (!state_.is_live(id)) return errc::stale;
    state_.sequences[id.slot].order.value = rank;
    return {};
  }
  /// @brief How much time a sequence has, in any unit of the engine's: what the order `most_slack` goes by. 0 at first.
  /// @error `stale`
  result<void> set_slack(sequence_id id, std::int64_t slack) noexcept {
    if (!state_.is_live(id)) return errc::stale;
    state_.sequences[id.slot].slack = slack;
    return {};
  }

  /// @brief Takes back the tokens from `length` on, in any state: rejected drafts, a shortened prompt. Where a group
  /// does not let the sequence go on there (a state that has moved on, a window whose blocks went), it is set back to
  /// the last position at which all do, and what is between is its gap.
  ///
  /// What is known of the next token then: see `kv_cache::truncate`.
  /// @error `stale`
  /// @error `invalid_argument`: a negative length, or more than the sequence was to have
  result<void> truncate(sequence_id id, token_count length) noexcept {
    const result<sequence_progress> before = state_.tracker.progress(id);
    if (!before) return before.error();
    if (length < 0 || length > before->goal) return errc::invalid_argument;
    const token_count kept = last_resumable(id, length);
    state_.tracker.truncate(id, length).value();
    state_.steps.trim(id.slot, length);
    if (kept < detail::smaller(length, before->scheduled)) {
      state_.withdraw(id);
      state_.lose(id, kept);
    }
    if constexpr (prefix_index_type::finds) {
      for (part& p : state_.parts.all()) p.names.truncate(id.slot, length.value() / p.kind.tokens_per_block.value());
    }
    state_.drop(id.slot, kept, detail::smaller(length, before->computed));
    return {};
  }

  /// @brief Says by which hashes the full blocks of a sequence are found in a group, in any state: see
  /// `kv_cache::set_hashes`. Of a state group a block is found whose end is a checkpoint.
  /// @param group it is a number below `groups()`
  /// @param first the logical block of the group that has the first of them; what was said from there on is replaced
  /// @error `stale`
  /// @error `invalid_argument`: no such group; or `first` is negative, or behind a block that has no hash
  /// @error `never_fits`, with the hashes beyond the longest sequence
  /// @complexity linear in the hashes
  template <class Index = prefix_index_type>
  result<void> set_hashes(sequence_id id,
                          std::size_t group,
                          block_count first,
                          span<const block_hash> hashes) noexcept {
    static_assert(Index::finds, "pave: hashes are of use to a prefix_index: name one in the cache's bundle");
    if constexpr (Index::finds) {
      if (!state_.is_live(id)) return errc::stale;
      if (group >= groups()) return errc::invalid_argument;
      part& p = state_.parts[group];
      if (first < 0 || first > p.names.end(id.slot)) return errc::invalid_argument;
      const block_count room = p.names.width() - first;
      if (room < hashes.size()) return error{errc::never_fits, hashes.size() - room};
      p.names.set(id.slot, first, hashes);
      p.list_computed(id.slot, state_.tracker.progress(id)->computed);
    }
    return {};
  }

  // --- one step ---

  /// @brief Opens a step for scheduling. The one before it counts as launched from now on.
  /// @error `busy`: as many steps as the options allow are in flight
  /// @error `no_step`: the cache is an empty one, which has none
  result<step_id> begin_step() noexcept { return state_.steps.begin(); }

  /// @brief Gives a running sequence the blocks for its next `tokens` tokens, in every group; where too few are
  /// available, exactly the missing ones are given up.
  /// @return the positions to compute: fewer than `tokens` where a window or a state group could never hold the blocks
  ///   of so many at once
  /// @error `shortage`, with the blocks that the first group lacks which cannot have enough: the sequence is parked and
  ///   keeps its blocks, and nothing else moved. With `whole_sequence` it gives up all of them, as do all that are less
  ///   important, and were too few: `progress` says that they are parked
  /// @error `never_fits`: a group can never hold so many tokens; it still runs, and should be ended
  /// @error `waits`: it is parked or waiting
  /// @error `no_step`
  /// @error `stale`
  /// @error `invalid_argument`: a negative number
  result<group_growth> grow_or_reclaim(sequence_id id, token_count tokens) noexcept {
    const result<sequence_progress> at = state_.tracker.progress(id);
    if (!at) return at.error();
    if (at->state != sequence_state::running) return errc::waits;
    if (!state_.steps.is_open()) return errc::no_step;
    if (tokens < 0) return errc::invalid_argument;
    if (tokens > 0) {
      tokens = detail::smaller(tokens, room(at->scheduled));
      if (tokens == 0) return error{errc::never_fits, 1};
      if (tokens > longest_ - at->scheduled) return error{errc::never_fits, 1};
    }
    const token_range chunk{at->scheduled, at->scheduled + tokens};
    if (const result<void> fits = can_ever_hold(chunk.last); !fits) return fits.error();
    for (std::size_t g = 0; g < groups(); ++g) {
      part& p = state_.parts[g];
      needs_[g].takes = p.not_held(id.slot, chunk, chunk.last) + (p.plan_copy(id.slot, chunk) ? 1 : 0);
      needs_[g].must_fit = needs_[g].takes;
    }
    const auto given_up = make_room(id, state_.base(id), victims::parked_then_running);
    if (!given_up) {
      if (given_up.code() == errc::shortage) {
        if constexpr (!planner_type::spares_requester) give_up_in_vain(id);
        state_.tracker.park(id, chunk.last).value();
      }
      return given_up.error();
    }
    const span<const group_block_copy> copies = take(id, chunk, chunk.last);
    const token_range computes = state_.schedule(id, tokens);
    return group_growth{computes, given_up->cuts, given_up->groups, copies, yields(id, at->known)};
  }

  /// @brief Lets the most important sequence that waits come in, new or parked, if it passes the resume gate with what
  /// less important *parked* sequences can give, and what others have left behind. Call it until it fails.
  /// @param budget tokens that the open step still has room for: less at each call, until there are none
  /// @error `nothing_waits`
  /// @error `no_budget`: it is 0, and the pass is over
  /// @error `shortage`, with the blocks that the first group lacks: the first that does not fit ends the pass. Nothing
  ///   moved
  /// @error `never_fits`: it can never come in: it should be ended, or shortened, or put behind others
  /// @error `no_step`
  /// @error `invalid_argument`: a negative budget
  result<group_restore> next_restore(token_count budget) noexcept {
    if (!state_.steps.is_open()) return errc::no_step;
    if (budget < 0) return errc::invalid_argument;
    const std::size_t waiting = most_important_waiting();
    if (waiting == state_.sequences.size()) return errc::nothing_waits;
    if (budget == 0) return errc::no_budget;
    const sequence_id id = state_.sequences.id(state_.sequences.slot_at(waiting));
    const sequence_progress at = *state_.tracker.progress(id);
    const token_count start = find_prefix(id, at);
    const auto refuse = [&](error why) noexcept {
      for (part& p : state_.parts.all()) p.forget_found();
      return why;
    };
    const token_count chunk_room = room(start);
    if (chunk_room == 0) return refuse({errc::never_fits, 1});
    const token_count found = start - at.scheduled;
    const token_count chunk_budget = detail::smaller(budget, chunk_room);
    const resume_need need = state_.tracker.needs(id, chunk_budget, found).value();
    if (const result<void> fits = can_ever_hold(need.must_fit); !fits) return refuse(fits.error());
    const bool runs_alone = state_.tracker.count(sequence_state::running) == 0;
    for (std::size_t g = 0; g < groups(); ++g) {
      part& p = state_.parts[g];
      const block_count besides = p.found_needs() + (p.plan_copy(id.slot, need.tokens) ? 1 : 0);
      group_need& n = needs_[g];
      n.takes = besides + p.not_held(id.slot, need.tokens, need.allocates);
      n.must_fit = besides + p.must_fit(id.slot, need.tokens, need.must_fit);
      if (!runs_alone) n.must_fit += need.resumes ? detail::larger(n.reserve, n.watermark) : n.watermark;
    }
    const auto given_up = make_room(id, start, victims::parked_only);
    if (!given_up) return refuse(given_up.error());
    for (part& p : state_.parts.all()) p.take_found(id.slot, at.scheduled, state_.sequences[id.slot].last_step);
    const span<const group_block_copy> copies = take(id, need.tokens, need.allocates);
    const token_range tokens = state_.tracker.resume(id, chunk_budget, found).value();
    state_.enlist(id.slot, tokens);
    return group_restore{id,           {at.scheduled, start}, tokens, given_up->cuts, given_up->groups, copies,
                         need.resumes, yields(id, at.known)};
  }

  /// @brief A step is done: its tokens count as computed. One that is done before an earlier one takes effect when that
  /// one is done.
  /// @error `no_step`: it was never begun
  /// @error `stale`: it is complete already
  /// @complexity linear in the sequences that the step ran
  result<void> complete(step_id step) noexcept {
    return state_.steps.complete(step, [this](std::uint32_t slot, token_count end) noexcept {
      const sequence_id id = state_.sequences.id(slot);
      state_.tracker.complete(id, end).value();
      if constexpr (prefix_index_type::finds) {
        const token_count computed = state_.tracker.progress(id)->computed;
        for (part& p : state_.parts.all()) p.list_computed(slot, computed);
      }
    });
  }

  /// @brief All sequences give up all blocks, and wait to be restored; no content is found again.
  /// @complexity linear in the slots and in the capacities
  void reset() noexcept {
    for (std::size_t i = 0; i < state_.sequences.size(); ++i) {
      state_.cut_back(state_.sequences.id(state_.sequences.slot_at(i)), 0);
    }
    for (part& p : state_.parts.all()) p.pool.forget_content();
  }

  // --- views ---

  /// @return how many groups there are
  [[nodiscard]] std::size_t groups() const noexcept { return state_.parts.size(); }
  /// @return the physical blocks of a group in logical order, from logical block 0 to the last one, and `id_type{}`
  ///   where none is held: behind a window, or where no state was kept. Valid until the sequence changes
  /// @error `stale`
  /// @error `invalid_argument`: no such group
  [[nodiscard]] result<span<const id_type>> block_table(sequence_id id, std::size_t group) const noexcept {
    if (!state_.is_live(id)) return errc::stale;
    if (group >= groups()) return errc::invalid_argument;
    const part& p = state_.parts[group];
    return p.table(id.slot, {0, p.held(id.slot).last});
  }
  /// @return where the sequence stands, in all groups
  /// @error `stale`
  [[nodiscard]] result<sequence_progress> progress(sequence_id id) const noexcept {
    return state_.tracker.progress(id);
  }
  /// @return tokens whose keys and values are in the cache, by completed steps
  /// @error `stale`
  [[nodiscard]] result<token_count> computed(sequence_id id) const noexcept {
    const result<sequence_progress> at = state_.tracker.progress(id);
    if (!at) return at.error();
    return at->computed;
  }
  /// @return tokens that it has to compute next: the rest of its gap or of its prompt, and 1 for one that decodes
  /// @error `stale`
  [[nodiscard]] result<token_count> remaining(sequence_id id) const noexcept {
    const result<sequence_progress> at = state_.tracker.progress(id);
    if (!at) return at.error();
    return detail::larger<token_count>(1, at->goal - at->scheduled);
  }
  /// @return what was cut and is not scheduled yet
  /// @error `stale`
  [[nodiscard]] result<token_range> gap(sequence_id id) const noexcept { return state_.tracker.gap(id); }
  /// @return counts of sequences and tokens, all of the same moment
  [[nodiscard]] group_cache_snapshot snapshot() const noexcept {
    const restore_counts tokens = state_.tracker.counts();
    return {state_.tracker.count(sequence_state::running),
            state_.tracker.count(sequence_state::parked),
            state_.tracker.count(sequence_state::waiting),
            tokens.lost,
            tokens.restored,
            tokens.revived,
            tokens.cached};
  }

  /// @brief Changes how many blocks a group's pool has: see `block_pool::resize`.
  /// @error `invalid_argument`: no such group; and as of `block_pool::resize`
  result<void> resize(std::size_t group, block_count blocks) noexcept {
    if (group >= groups()) return errc::invalid_argument;
    part& p = state_.parts[group];
    const block_count first = p.first_block;
    if (blocks >= 1 && blocks <= pool_type::most_ids() - first &&
        !p.reserve_ids(static_cast<std::size_t>((first + blocks).value()))) {
      return errc::out_of_memory;
    }
    return p.pool.resize(blocks);
  }

  /// @brief Looks whether the holders of a group's pool are just the tables of the sequences, the pins, and others of
  /// the engine's: see `kv_cache::audit`.
  /// @param scratch room for `pool(group).id_end()` counts
  /// @return how many laws are broken; 0: all is well
  /// @error `buffer_too_small`: `scratch`
  /// @error `invalid_argument`: no such group
  template <class Others, class Say>
  result<std::size_t> audit(std::size_t group,
                            const Others& others,
                            span<std::uint32_t> scratch,
                            Say&& say) const noexcept {
    if (group >= groups()) return errc::invalid_argument;
    const detail::group_tables<state> own{state_, group};
    const joined_tables<detail::group_tables<state>, Others> both{own, others};
    return state_.parts[group].pool.audit(both, scratch, std::forward<Say>(say));
  }

  /// @brief The pool of a group, for its counts and for holders besides the sequences: see `kv_cache::pool`. The number
  /// of its blocks is changed by the cache's own `resize`.
  /// @pre group < groups()
  [[nodiscard]] pool_type& pool(std::size_t group) noexcept { return state_.parts[group].pool; }
  [[nodiscard]] const pool_type& pool(std::size_t group) const noexcept { return state_.parts[group].pool; }

 private:
  using state = detail::group_cache_state<pool_type, tracker_type, prefix_index_type>;
  using part = typename state::part;
  using view = detail::group_cache_candidates<state>;

  struct group_need {
    block_count reserve, watermark;
    block_count takes, must_fit;
  };

  [[nodiscard]] bool reserve(const group_cache_options& options, std::size_t groups) noexcept {
    return state_.parts.make(groups) && state_.sequences.reserve(options.sequences, 0) &&
           state_.steps.reserve(options.sequences, options.steps_in_flight) && needs_.reserve(groups) &&
           shortage_.reserve(groups) && copies_.reserve(groups) && cuts_.reserve(options.sequences) &&
           left_behind_.reserve(options.sequences, groups) && plans_.reserve(groups) &&
           scratch_.reserve(options.sequences);
  }

  /// Whether a sequence of so many tokens can run to its end, in the smallest steps.
  [[nodiscard]] result<void> can_ever_hold(token_count tokens) const noexcept {
    for (const part& p : state_.parts.all()) {
      const token_count each = p.kind.tokens_per_block;
      block_count needed = blocks_for(tokens, each);
      if (p.kind.window > 0) needed = detail::smaller(needed, blocks_for(p.kind.window, each) + 1);
      if (p.kind.checkpoint > 0) needed = detail::smaller<block_count>(needed, 2);
      const block_count most = p.pool.capacity() - p.pool.leaving();
      if (needed > most) return error{errc::never_fits, needed - most};
    }
    if (tokens > longest_) return error{errc::never_fits, blocks_for(tokens - longest_, tokens_per_block())};
    return {};
  }
  [[nodiscard]] token_count tokens_per_block() const noexcept { return state_.parts[0].kind.tokens_per_block; }
  /// The most tokens that one step can compute from a position on.
  [[nodiscard]] token_count room(token_count position) const noexcept {
    token_count least = longest_;
    for (const part& p : state_.parts.all()) least = detail::smaller(least, p.room(position));
    return least;
  }
  [[nodiscard]] std::size_t most_important_waiting() const noexcept {
    std::size_t best = state_.sequences.size();
    for (std::size_t i = 0; i < state_.sequences.size(); ++i) {
      const std::uint32_t slot = state_.sequences.slot_at(i);
      if (state_.tracker.progress(state_.sequences.id(slot))->state == sequence_state::running) continue;
      const bool is_first = best == state_.sequences.size();
      if (is_first || state_.sequences[slot].order < state_.sequences[state_.sequences.slot_at(best)].order) best = i;
    }
    return best;
  }

  /// @return where a sequence that waits takes up: behind what is found, which each group has named
  [[nodiscard]] token_count find_prefix([[maybe_unused]] sequence_id id, const sequence_progress& at) noexcept {
    if constexpr (prefix_index_type::finds) {
      if (at.computed != at.scheduled) return at.scheduled;
      token_count position = at.goal - 1;  // a token is left to compute
      std::size_t agreed = 0;
      for (std::size_t g = 0; agreed < groups(); g = g + 1 < groups() ? g + 1 : 0) {
        const token_count last = state_.parts[g].last_found(id.slot, at.scheduled, position);
        if (last <= at.scheduled) return at.scheduled;
        agreed = last == position ? agreed + 1 : 1;
        position = last;
      }
      for (part& p : state_.parts.all()) {
        if (p.find(id.slot, at.scheduled, position)) continue;
        for (part& named : state_.parts.all()) named.forget_found();
        return at.scheduled;
      }
      return position;
    } else {
      return at.scheduled;
    }
  }

  /// Has blocks given up for what a sequence needs. @param position from which it will go on
  result<group_plan> make_room(sequence_id id, token_count position, victims from) noexcept {
    const view all(state_, id.slot, position);
    const rank asks = state_.sequences[id.slot].order;
    const group_plan_room plan_room{cuts_.all(), left_behind_.all(), plans_.all(), scratch_.all()};
    const auto plan_for = [&](block_count group_need::*wanted) noexcept {
      for (std::size_t g = 0; g < groups(); ++g) {
        shortage_[g] = detail::larger<block_count>(0, needs_[g].*wanted - state_.parts[g].pool.available());
      }
      return planner_(all, asks, {shortage_.data(), groups()}, from, plan_room);
    };
    result<group_plan> planned = plan_for(&group_need::must_fit);
    if (!planned) return planned.error();
    const bool takes_all = std::all_of(needs_.data(), needs_.data() + groups(),
                                       [](const group_need& n) noexcept { return n.must_fit == n.takes; });
    if (!takes_all) planned = plan_for(&group_need::takes);
    const group_plan& plan = planned.value();
    for (const group_cut& c : plan.cuts) state_.cut_back(c.sequence, c.kept);
    for (const blocks_left_behind& one : plan.left_behind) {
      state_.parts[one.group].leave(one.sequence.slot, one.blocks, state_.sequences[one.sequence.slot].last_step);
    }
    return plan;
  }
  /// The baseline's answer where all victims together are not enough.
  void give_up_in_vain(sequence_id requester) noexcept {
    const rank asks = state_.sequences[requester.slot].order;
    for (std::size_t i = 0; i < state_.sequences.size(); ++i) {
      const std::uint32_t slot = state_.sequences.slot_at(i);
      if (!(state_.sequences[slot].order < asks)) state_.cut_back(state_.sequences.id(slot), 0);
    }
  }
  /// @pre blocks are available for it
  span<const group_block_copy> take(sequence_id id, token_range chunk, token_count also) noexcept {
    std::size_t copies = 0;
    for (std::size_t g = 0; g < groups(); ++g) {
      part& p = state_.parts[g];
      if (p.copies(id.slot, chunk)) {
        const auto [from, to] = p.take_copy(id.slot, chunk.first, state_.steps.last_begun());
        const token_count tokens = chunk.first.value() % p.kind.tokens_per_block.value();
        copies_[copies++] = {g, detail::id_cast<block_id>(from), detail::id_cast<block_id>(to), tokens};
      }
      p.take(id.slot, chunk, also);
    }
    return {copies_.data(), copies};
  }
  /// @param known tokens that were, before more were scheduled
  [[nodiscard]] bool yields(sequence_id id, token_count known) const noexcept {
    return state_.tracker.progress(id)->known > known;
  }
  /// @return the last position up to `limit` at which every group lets a sequence go on
  [[nodiscard]] token_count last_resumable(sequence_id id, token_count limit) const noexcept {
    const token_count base = state_.base(id);
    const token_count scheduled = state_.tracker.progress(id)->scheduled;
    if (limit >= scheduled) return limit;
    if (limit > base) {  // the open step ends there, unless it leaves a state elsewhere
      const span<const part> parts = state_.parts.all();
      const bool ends_there = std::all_of(parts.begin(), parts.end(), [&](const part& p) {
        return p.kind.checkpoint == 0 || p.holds(id.slot, blocks_for(limit, p.kind.tokens_per_block) - 1);
      });
      return ends_there ? limit : base;
    }
    const view all(state_, id.slot, base);
    const std::size_t place = state_.sequences[id.slot].place;
    std::size_t agreed = 0;
    for (std::size_t g = 0; agreed < groups(); g = g + 1 < groups() ? g + 1 : 0) {
      const token_count position = *detail::group_blocks<view>(all, place, g).last_cut(limit, 0);
      agreed = position == limit ? agreed + 1 : 1;
      limit = position;
    }
    return limit;
  }
  result<void> end(sequence_id id) noexcept {
    if (!state_.is_live(id)) return errc::stale;
    state_.drop(id.slot, 0, state_.tracker.progress(id)->computed);
    state_.tracker.forget(id).value();
    state_.steps.leave(id.slot);
    state_.sequences.close(id.slot);
    return {};
  }

  state state_;
  planner_type planner_;
  token_count longest_ = 0;
  detail::buffer<group_need> needs_;  // by group
  detail::buffer<block_count> shortage_;
  detail::buffer<group_block_copy> copies_;
  detail::buffer<group_cut> cuts_;  // the last plan's
  detail::buffer<blocks_left_behind> left_behind_;
  detail::buffer<plan> plans_;
  detail::buffer<group_victim> scratch_;
};

}  // namespace v0
}  // namespace pave

#endif
