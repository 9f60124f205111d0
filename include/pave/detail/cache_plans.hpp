// SPDX-License-Identifier: Apache-2.0
// How a cache makes room for one of its sequences: the planner over its tables, and what to do with the answer.
#ifndef PAVE_DETAIL_CACHE_PLANS_HPP
#define PAVE_DETAIL_CACHE_PLANS_HPP

#include <pave/candidates.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/detail/cache_state.hpp>
#include <pave/detail/promises.hpp>
#include <pave/detail/shared_cuts.hpp>
#include <pave/planner.hpp>
#include <pave/result.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace pave {
inline namespace v0 {
namespace detail {

/// What a sequence asks for.
struct need_of_blocks {
  block_count takes;     // of what is available
  block_count must_fit;  // at least as many: could be had
  bool copies;           // takes one more, unless nobody else holds any more what it is to write into
  victims from;
  block_range found;  // logical blocks that it takes from others, or revives: they are no gain
};

/// Whether a planner asks in an order that is kept. One that has none asks by price, and only whoever waits is then
/// kept in order; so it is where the order breaks its contract, of which the planner says its one line.
template <class Planner, class View>
inline constexpr bool keeps_order_v = Planner::orders_victims&& is_victim_order_v<typename Planner::victim_order, View>;
template <class Planner, class View>
using victim_order_of =
    std::conditional_t<keeps_order_v<Planner, View>, typename Planner::victim_order, least_important>;

template <class Pool, class Planner, class Tracker, class Index>
class cache_plans {
  using candidates = candidates_to_order<cache_candidates<Pool, Tracker>>;
  using order_type = victim_order_of<Planner, candidates>;
  static constexpr bool keeps_order = keeps_order_v<Planner, candidates>;

 public:
  using state = cache_state<Pool, Tracker, order_type, Index>;
  using row = typename state::row;

  cache_plans() noexcept = default;
  explicit cache_plans(Planner planner) noexcept : planner_(std::move(planner)) {}

  [[nodiscard]] bool reserve(std::size_t sequences) noexcept { return scratch_.reserve(sequences); }
  /// The planner's order of victims, with its state.
  [[nodiscard]] order_type order() const noexcept {
    if constexpr (keeps_order) {
      return planner_.order();
    } else {
      return {};
    }
  }

  /// Cuts less important sequences for what a sequence is short of. Blocks that are then on their way are promised to
  /// it, and it has to wait for them.
  result<void> reclaim(state& cache, row& s, const need_of_blocks& need, cut_list& cuts) noexcept {
    const supply has = cache.promises.for_one(cache.pool, cache.sequences, cache.steps, s);
    const block_count beyond = (need.copies ? 1 : 0) - (has.now + has.coming);
    const block_count gate_shortage = need.must_fit + beyond;
    const block_count shortage = need.takes + beyond;
    if (gate_shortage > 0) {
      const result<plan> possible = plan_need(cache, s, gate_shortage, need, cuts);
      if (!possible) return refuse(cache, s, gate_shortage, need, possible.error(), cuts);
    }
    if (gate_shortage > shortage) {  // not all that must fit is taken
      cuts.clear();
      if (shortage > 0) static_cast<void>(plan_need(cache, s, shortage, need, cuts).value());
    }
    cache.apply(cuts.used());
    return {};
  }
  /// Whether what a sequence takes is there by now. What is on its way is promised to it, and it has to wait.
  /// @param on_their_way of the blocks that it found, those that came free for it and are not safe yet
  result<void> wait_for(state& cache,
                        row& s,
                        block_count takes,
                        [[maybe_unused]] block_count on_their_way,
                        [[maybe_unused]] const cut_list& cuts) noexcept {
    if constexpr (Pool::delays) {
      const block_count missing =
          larger(takes - cache.promises.for_one(cache.pool, cache.sequences, cache.steps, s).now, on_their_way);
      if (missing > 0) {
        cache.promise(s, takes);
        if (on_their_way > 0) {
          for (const cut& c : cuts.used()) s.promised_by = larger(s.promised_by, cache.last_use(c.sequence.slot));
        }
        return error{errc::shortage, missing, missing, s.promised_by};
      }
      cache.promises.end(s);
    }
    return {};
  }
  /// @param found logical blocks that the requester takes from others, or revives: they are no gain
  result<plan> plan_for(state& cache,
                        const row& requester,
                        block_count shortage,
                        victims from,
                        cut_list& cuts,
                        block_range found = {}) noexcept {
    if (!cache.sequences_share()) {
      if constexpr (keeps_order) {
        return planner_(cache.view(), cache.order, requester.order, shortage, from, cuts);
      } else {
        return planner_(cache.view(), requester.order, shortage, from, cuts, scratch_.all());
      }
    }
    const typename state::candidates_that_share all = cache.sharing_view(requester, found);
    const result<plan> planned = planner_(all, requester.order, shortage, from, cuts, scratch_.all());
    return planned ? cut_all_holders(all, *planned, cuts, !Planner::spares_requester, Planner::keeps_prefix) : planned;
  }
  /// Whether the planner would still cut just this. @pre the sequences are live, and distinct
  [[nodiscard]] bool still_hold(state& cache, const row& requester, span<const cut> cuts) noexcept {
    const typename state::candidates all = cache.view();
    for (const cut& c : cuts) {
      const std::size_t i = c.sequence.slot;
      if (all.parked(i) != c.was_parked || c.blocks.last > all.blocks(i)) return false;
      if (Planner::keeps_prefix && c.blocks.last != all.blocks(i)) return false;
      if (c.blocks.first < 0 || c.blocks.empty()) return false;
    }
    if (cache.sequences_share()) {
      return free_what_they_say(cache.sharing_view(requester), cuts, !Planner::spares_requester, Planner::keeps_prefix);
    }
    return std::all_of(cuts.begin(), cuts.end(), [&](const cut& c) {
      if (c.freed < 1) return false;
      const shaped_cut now = planner_.cut_one(all, c.sequence.slot, c.freed);
      return now.blocks == c.blocks && now.freed == c.freed;
    });
  }

 private:
  /// What cannot be had. With the baseline, all go that were to give something, and so does who asked while it ran.
  result<void> refuse(state& cache,
                      const row& s,
                      block_count shortage,
                      const need_of_blocks& need,
                      const error& why,
                      cut_list& cuts) noexcept {
    if constexpr (!Planner::spares_requester) {
      if (why.code == errc::shortage && need.from == victims::parked_then_running &&
          !give_up_with_victims(cache, cache.sequences.id(cache.sequences.slot_at(s.place)), shortage - why.missing,
                                cuts)) {
        return errc::buffer_too_small;
      }
    }
    return why;
  }
  /// A plan for `shortage` blocks, of which one is for a copy where the sequence needs one: unless all others who hold
  /// what it is to write into let go of that.
  result<plan> plan_need(
      state& cache, const row& s, block_count shortage, const need_of_blocks& need, cut_list& cuts) noexcept {
    result<plan> planned = plan_for(cache, s, shortage, need.from, cuts, need.found);
    if constexpr (Pool::can_share) {
      constexpr bool whole = !Planner::spares_requester;
      if (!need.copies || planned.code() == errc::buffer_too_small) return planned;
      if (whole && need.from == victims::parked_then_running) return planned;  // who asks gives up all, too
      const std::uint32_t slot = cache.sequences.slot_at(s.place);
      const block_count next = cache.next_written(slot);
      if (cache.rewrites_in_use(s, cache.sequences.blocks(slot, {next, next + 1})[0])) return planned;
      const holders_of_one<typename state::candidates> others(cache.view(), slot, next, need.from);
      if constexpr (Pool::delays) {  // what they let go of, their steps in flight still use
        const auto is_in_flight = [&](std::size_t i) noexcept {
          return cache.steps.last_complete() < cache.last_use_if_cut(static_cast<std::uint32_t>(i));
        };
        if (s.rewrites && others.has(is_in_flight)) return planned;
      }
      if (!others.may_all_be_cut(cache.pool) || (planned && !others.go_before_more(cuts))) return planned;
      cuts.clear();
      planned = plan{};
      if (shortage > 1) planned = plan_for(cache, s, shortage - 1, need.from, cuts, need.found);
      if (planned && !others.cut_all(cuts, whole, Planner::keeps_prefix)) {
        cuts.clear();
        return errc::buffer_too_small;
      }
      if (planned) count_freed(cache.sharing_view(s, need.found), cuts);
    }
    return planned;
  }
  /// The baseline's answer when all victims together are not enough: they give up what they can, and so does the
  /// requester.
  /// @return false where `cuts` is too small, and nothing moved
  bool give_up_with_victims(state& cache, sequence_id requester, block_count obtainable, cut_list& cuts) noexcept {
    const row& s = cache.sequences[requester.slot];
    if (!plan_for(cache, s, obtainable, victims::parked_then_running, cuts)) return false;
    if (s.held > 0) {
      if (cuts.full()) {
        cuts.clear();
        return false;
      }
      cuts.add({requester, {0, s.held}, cache.view().reclaimable(requester.slot, 0, s.held), false});
      if (cache.sequences_share()) count_freed(cache.sharing_view(s), cuts);
    }
    cache.apply(cuts.used());
    return true;
  }

  Planner planner_;
  buffer<std::uint32_t> scratch_;  // the planner's
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
