// SPDX-License-Identifier: Apache-2.0
// How much to evict of several KV groups, and from whom: a pure function from one shortage a group to token positions.
#ifndef PAVE_GROUP_PLANNER_HPP
#define PAVE_GROUP_PLANNER_HPP

#include <pave/candidates.hpp>
#include <pave/detail/bundles.hpp>
#include <pave/detail/detect.hpp>
#include <pave/detail/group_cuts.hpp>
#include <pave/detail/shared_group_cuts.hpp>
#include <pave/group_candidates.hpp>
#include <pave/groups.hpp>
#include <pave/planner.hpp>
#include <pave/policy/victim_order.hpp>
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

/// @brief The default policies of a planner over groups. Derive from it and name what is to change.
struct group_planner_policies {
  using demand = exact;  ///< or `whole_sequence`, the baseline
  using victim_order = least_important;
};

namespace detail {
template <class Policies>
constexpr bool is_group_planner_bundle() noexcept {
  constexpr bool has_slots = is_detected_v<slot_victim_order, Policies> && is_detected_v<slot_demand, Policies>;
  static_assert(has_slots,
                "pave: a group_planner takes a bundle of its policies: derive from group_planner_policies, and name in "
                "it what is to change");
  constexpr bool has_other_slots =
      is_detected_v<slot_cut_shape, Policies> || is_detected_v<slot_restore_cost, Policies>;
  static_assert(!has_other_slots,
                "pave: a group_planner has no cut_shape or restore_cost: derive its bundle from "
                "group_planner_policies");
  if constexpr (has_slots) {
    constexpr bool has_cheapest_plan = wants_cheapest_plan_v<typename Policies::victim_order>;
    static_assert(!has_cheapest_plan,
                  "pave: a group_planner cuts victim after victim, and cheapest_restore has no order of them");
    constexpr bool asks_for_shortages =
        std::is_same_v<typename Policies::demand, exact> || std::is_same_v<typename Policies::demand, whole_sequence>;
    static_assert(asks_for_shortages,
                  "pave: a group_planner meets the shortage of each group: its demand is exact or whole_sequence");
    return !has_other_slots && !has_cheapest_plan && asks_for_shortages;
  } else {
    return false;
  }
}
template <class Policies>
using group_planner_bundle_or_default =
    std::conditional_t<is_group_planner_bundle<Policies>(), Policies, group_planner_policies>;
}  // namespace detail

/// @brief A sequence that is cut, in all groups at one position: it keeps [0, kept), and of each group gives up the
/// blocks that lie wholly beyond it (`kv_group::beyond`). Every group lets it go on there.
/// @tparam Key the candidate view's
template <class Key>
struct basic_group_cut {
  Key sequence{};
  token_count kept;         ///< 0: it gives up all it has
  bool was_parked = false;  ///< it waited already when it was cut; otherwise it has to be stopped
};
using group_cut = basic_group_cut<sequence_id>;

/// @brief Blocks of one group that a sequence does not need to go on, cut or not. Giving them up stops nobody; but the
/// sequence cannot go back any more to positions that need them. Steps in flight may still read them: they are released
/// with the last step that used the sequence, as all others.
/// @tparam Key the candidate view's
template <class Key>
struct basic_blocks_left_behind {
  Key sequence{};
  std::size_t group = 0;
  block_range blocks;  ///< logical ones; those that are not held are passed over
  block_count freed;   ///< distinct blocks that come free; the others are shared, and given up without gain
};
using blocks_left_behind = basic_blocks_left_behind<sequence_id>;

/// @brief A candidate that may be asked, while a plan is made.
struct group_victim {
  std::uint32_t candidate = 0;
  token_count kept;
};

/// @brief Memory of the caller's for plans over groups.
template <class Key>
struct basic_group_plan_room {
  span<basic_group_cut<Key>> cuts;                  ///< as many as there are candidates are always enough
  span<basic_blocks_left_behind<Key>> left_behind;  ///< as many as candidates × groups are always enough
  span<plan> groups;                                ///< one a group
  span<group_victim> scratch;                       ///< one a candidate
};
using group_plan_room = basic_group_plan_room<sequence_id>;

/// @brief What to give up: parts of the room that it was made in.
template <class Key>
struct basic_group_plan {
  span<const basic_group_cut<Key>> cuts;                  ///< one a victim, in the order in which they are asked
  span<const basic_blocks_left_behind<Key>> left_behind;  ///< of victims and of others, in the opposite order
  span<const plan> groups;                                ///< what both amount to in each group
};
using group_plan = basic_group_plan<sequence_id>;

/// @brief Plans evictions over the KV groups of a model (`is_group_candidate_view_v`), one shortage a group. It holds
/// nothing but its policy, and moves nothing.
///
/// Blocks that sequences have left behind (before their windows, and states before their last one) cost nothing: they
/// may come from any candidate, nobody is cut where these are enough, and no more of them go than are missing.
/// Otherwise sequences are cut, each at a position at which every group lets it go on. Since a cut takes blocks of all
/// groups, one group may get more than it is short of. But the plan is minimal: were any one cut later, or left out,
/// some group would get too little, whatever else were taken that is left behind.
///
/// Victim after victim goes whole, until one can make up for all that is still missing. Then each is cut again, the
/// last one first: as late as the others allow, or not at all. Once is enough: whole, a victim gives the most that it
/// can in every group, so that from then on nobody gives more than before; a position that was too late for one stays
/// so. And since those that run come last, none of them is cut, or cut earlier, for what a parked one could give.
/// @threadsafety const members from any thread
template <class Policies = group_planner_policies>
class group_planner {
 public:
  using demand_type = typename detail::group_planner_bundle_or_default<Policies>::demand;
  using victim_order = typename detail::group_planner_bundle_or_default<Policies>::victim_order;
  /// Whether a requester that nobody can help keeps its blocks while it waits.
  static constexpr bool spares_requester = demand_type::spares_requester;

  group_planner() = default;
  /// @brief A planner with an order that holds state.
  explicit constexpr group_planner(victim_order order) noexcept : order_(std::move(order)) {}

  /// @brief Finds what meets the shortage of every group. Only sequences less important than the requester are cut, and
  /// parked ones first; after them the others are asked for what they have left behind, and the most important one
  /// last.
  /// @param view the candidates; the requester may be among them, and is not cut, by its rank
  /// @param requester the rank of who needs the blocks
  /// @param shortage `[groups]`: blocks needed minus blocks available; where all are 0 the plan is empty
  /// @param from whether running sequences may be cut, which stops them
  /// @param room for the plan; on an error its content means nothing, but for `shortage`
  /// @return the plan, in `room`
  /// @error `shortage`: `missing` is what the first group lacks that cannot have enough; `room.groups[g].freed` is how
  ///   many of its `demand` each group could have
  /// @error `buffer_too_small`: a part of `room`
  /// @error `invalid_argument`: a negative shortage, a number of them that is not the view's number of groups, or a
  ///   group that is none (`kv_group::is_valid`)
  /// @complexity O(candidates · groups + (candidates + victims) · log candidates), and for each victim twice its blocks
  ///   from the end to its cut, and those left behind. No memory is taken
  template <class View, class Rank, class Key>
  [[nodiscard]] result<basic_group_plan<Key>> operator()(const View& view,
                                                         const Rank& requester,
                                                         span<const block_count> shortage,
                                                         victims from,
                                                         const basic_group_plan_room<Key>& room) const noexcept {
    check_contracts<View>();
    constexpr bool has_key = detail::is_detected_as_v<Key, detail::candidates_key, View>;
    static_assert(has_key, "pave: a candidate view needs `Key key(std::size_t i) const`, of the plan's Key");
    constexpr bool has_rank = detail::is_detected_as_v<bool, detail::candidates_outranked, View, Rank>;
    static_assert(has_rank || !is_group_candidate_view_v<View>,
                  "pave: a requester's rank needs a `<` with the candidates' ranks");
    // A view or an order that breaks its contract has had its one line; its plan would only repeat it in other words.
    if constexpr (has_key && has_rank && is_group_candidate_view_v<View> && is_victim_order_v<victim_order, View>) {
      if (!is_possible(view, shortage)) return errc::invalid_argument;
      if (room.groups.size() < shortage.size()) return errc::buffer_too_small;
      const span<plan> groups = room.groups.first(shortage.size());
      bool is_short = false;
      for (std::size_t g = 0; g < groups.size(); ++g) {
        groups[g] = plan{shortage[g], 0, 0};
        is_short = is_short || shortage[g] > 0;
      }
      if (!is_short) return basic_group_plan<Key>{{}, {}, groups};
      if (room.scratch.size() < view.size()) return errc::buffer_too_small;
      const result<basic_group_plan<Key>> planned = make_plan(view, requester, from, room, groups);
      if constexpr (detail::names_shared_blocks_v<View>) {
        if (may_share(view, planned)) return make_shared_plan(view, requester, from, room, groups);
      }
      return planned;
    } else {
      return errc::invalid_argument;
    }
  }

 private:
  template <class View>
  using blocks_of = detail::group_blocks<View>;

  /// The candidates of a plan: all may give what they left behind, and some may be cut. Of these, those whose turn has
  /// come stand behind the others, the first one last.
  template <class View>
  struct draft {
    const View& view;
    const victim_order& order;
    span<group_victim> asked;   // who may be cut: before `turn` a heap, with the next one on top
    span<group_victim> others;  // who may not
    std::size_t turn;

    [[nodiscard]] bool has_next() const noexcept { return turn > 0; }
    group_victim& next() noexcept {
      const auto after = [this](const group_victim& a, const group_victim& b) noexcept {
        return is_before(b.candidate, a.candidate);
      };
      if (turn == asked.size()) std::make_heap(asked.begin(), asked.end(), after);
      std::pop_heap(asked.begin(), asked.begin() + turn, after);
      return asked[--turn];
    }
    /// @return who is the last of the order, but for so many that were given by this before. Those that may not be cut
    ///   are behind all others
    /// @pre those came first, in a row, and `next` does not follow
    [[nodiscard]] const group_victim& last(std::size_t before) noexcept {
      if (before < others.size()) return last_of(others, before);
      before -= others.size();
      return before < turn ? last_of(asked.first(turn), before) : asked[before];
    }
    /// Puts them into the order in which they are asked, the drawn ones too: `asked` backwards, and then `others`.
    void put_in_order() noexcept {
      while (turn > 0) static_cast<void>(next());
      std::sort(others.begin(), others.end(), [this](const group_victim& a, const group_victim& b) noexcept {
        return is_before(a.candidate, b.candidate);
      });
    }

   private:
    /// Parked ones first, then the policy's order; what it leaves open is decided by rank.
    [[nodiscard]] bool is_before(std::size_t a, std::size_t b) const noexcept {
      const bool a_is_parked = view.parked(a);
      if (a_is_parked != view.parked(b)) return a_is_parked;
      if (order.before(view, a, b)) return true;
      return !order.before(view, b, a) && view.rank(b) < view.rank(a);
    }
    [[nodiscard]] const group_victim& last_of(span<group_victim> all, std::size_t before) const noexcept {
      const auto is_earlier = [this](const group_victim& a, const group_victim& b) noexcept {
        return is_before(a.candidate, b.candidate);
      };
      const auto end = all.end() - before;
      if (before == 0) std::make_heap(all.begin(), end, is_earlier);
      std::pop_heap(all.begin(), end, is_earlier);
      return *(end - 1);
    }
  };
  /// @param visit called with each candidate
  template <class View, class Visit>
  static void each(const draft<View>& of, const Visit& visit) noexcept {
    for (const group_victim& one : of.asked) visit(one);
    for (const group_victim& one : of.others) visit(one);
  }

  template <class View, class Rank, class Key>
  [[nodiscard]] result<basic_group_plan<Key>> make_plan(const View& view,
                                                        const Rank& requester,
                                                        victims from,
                                                        const basic_group_plan_room<Key>& room,
                                                        span<plan> groups) const noexcept {
    draft<View> drawn = begin(view, requester, from, room);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (groups[g].demand == 0 || !view.group(g).leaves_blocks_behind()) continue;
      each(drawn, [&](const group_victim& one) noexcept { groups[g].freed += most(view, one, g); });
    }
    draw(drawn, groups);
    if (is_any_missing(groups)) return refusal(groups);
    if constexpr (!demand_type::whole_victims) tighten(drawn, groups);
    return write(drawn, room, groups);
  }
  template <class View, class Rank, class Key>
  [[nodiscard]] draft<View> begin(const View& view,
                                  const Rank& requester,
                                  victims from,
                                  const basic_group_plan_room<Key>& room) const noexcept {
    const span<group_victim> all = room.scratch.first(view.size());
    std::size_t cuttable = 0;
    std::size_t end = all.size();
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      const bool may_be_cut = requester < view.rank(i) && (from == victims::parked_then_running || view.parked(i));
      all[may_be_cut ? cuttable++ : --end] = {i, detail::uncut};
    }
    return {view, order_, all.first(cuttable), all.subspan(cuttable, all.size() - cuttable), cuttable};
  }

  /// Victim after victim, whole, until one can make up for all that is missing: it is cut only as early as it has to
  /// be.
  template <class View>
  static void draw(draft<View>& drawn, span<plan> groups) noexcept {
    while (is_any_missing(groups) && drawn.has_next()) cut(drawn.view, drawn.next(), groups);
  }

  /// As late as the others allow, the last victim first: it is cut so already, while those before it are whole.
  template <class View>
  static void tighten(const draft<View>& drawn, span<plan> groups) noexcept {
    for (std::size_t at = drawn.turn + 1; at < drawn.asked.size(); ++at) cut(drawn.view, drawn.asked[at], groups);
  }

  // While it is drawn, a plan counts for each group that is short all that may come free: what cuts take, and all that
  // is left behind.

  /// Cuts a candidate, as late as can be with what the others give, or else whole.
  template <class View>
  static void cut(const View& view, group_victim& victim, span<plan> groups) noexcept {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (groups[g].demand > 0) groups[g].freed -= most(view, victim, g);
    }
    if constexpr (demand_type::whole_victims) {
      victim.kept = kept_whole(view, victim.candidate);
    } else {
      const auto wanted = [&](std::size_t g) noexcept { return missing(groups[g]); };
      victim.kept = detail::last_cut(view, victim.candidate, wanted).value_or(0);
    }
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (groups[g].demand > 0) groups[g].freed += most(view, victim, g);
    }
  }
  /// What a candidate keeps that gives up all it has.
  template <class View>
  [[nodiscard]] static token_count kept_whole(const View& view, std::size_t i) noexcept {
    for (std::size_t g = 0; g < view.groups(); ++g) {
      if (!view.blocks(i, g).empty()) return 0;
    }
    return detail::uncut;
  }
  template <class View>
  [[nodiscard]] static block_count most(const View& view, const group_victim& by, std::size_t g) noexcept {
    return detail::group_blocks<View>(view, by.candidate, g).most(by.kept);
  }

  /// Puts down the cuts, and of what was left behind as much as is missing then.
  template <class View, class Key>
  [[nodiscard]] static result<basic_group_plan<Key>> write(draft<View>& drawn,
                                                           const basic_group_plan_room<Key>& room,
                                                           span<plan> groups) noexcept {
    const View& view = drawn.view;
    std::size_t cuts = 0;
    for (plan& of : groups) of.freed = 0;
    for (std::size_t at = drawn.asked.size(); at-- > drawn.turn;) {
      const group_victim& victim = drawn.asked[at];
      if (victim.kept == detail::uncut) continue;
      if (cuts == room.cuts.size()) return errc::buffer_too_small;
      room.cuts[cuts++] = {static_cast<Key>(view.key(victim.candidate)), victim.kept, view.parked(victim.candidate)};
      for (std::size_t g = 0; g < groups.size(); ++g) {
        const blocks_of<View> blocks(view, victim.candidate, g);
        add(groups[g], blocks, blocks.beyond(victim.kept));
      }
    }
    std::size_t left_behind = 0;
    for (std::size_t given = 0; is_any_missing(groups); ++given) {
      const group_victim& one = drawn.last(given);
      for (std::size_t g = 0; g < groups.size(); ++g) {
        const blocks_of<View> blocks(view, one.candidate, g);
        const block_range oldest = blocks.oldest_left_behind(one.kept, missing(groups[g]));
        if (oldest.empty()) continue;
        if (left_behind == room.left_behind.size()) return errc::buffer_too_small;
        const block_count freed = add(groups[g], blocks, oldest);
        room.left_behind[left_behind++] = {static_cast<Key>(view.key(one.candidate)), g, oldest, freed};
      }
    }
    return basic_group_plan<Key>{room.cuts.first(cuts), room.left_behind.first(left_behind), groups};
  }
  /// @return how many come free
  template <class View>
  static block_count add(plan& to, const blocks_of<View>& blocks, block_range range) noexcept {
    const block_count freed = blocks.reclaimable(range);
    to.freed += freed;
    to.given_up += blocks.held(range) - freed;
    return freed;
  }

  // --- where blocks are shared ---

  /// Whether a plan might be another one if blocks counted that several let go: it found too little, gives up some of
  /// them, or cuts somebody while some of them are left behind.
  template <class View, class Key>
  [[nodiscard]] static bool may_share(const View& view, const result<basic_group_plan<Key>>& planned) noexcept {
    for (std::size_t g = 0; g < view.groups(); ++g) {
      if (view.let_go(g).empty()) return false;
    }
    if (!planned) return planned.code() == errc::shortage;
    for (std::size_t g = 0; g < view.groups(); ++g) {
      if (planned->groups[g].given_up > 0) return true;
      if (planned->cuts.empty() || planned->groups[g].demand == 0 || !view.group(g).leaves_blocks_behind()) continue;
      for (std::size_t i = 0; i < view.size(); ++i) {
        const blocks_of<View> blocks(view, i, g);
        const block_range left_behind = blocks.left_behind(detail::uncut);
        if (blocks.held(left_behind) > blocks.reclaimable(left_behind)) return true;
      }
    }
    return false;
  }
  /// As `make_plan`, but block by block.
  template <class View, class Rank, class Key>
  [[nodiscard]] result<basic_group_plan<Key>> make_shared_plan(const View& view,
                                                               const Rank& requester,
                                                               victims from,
                                                               const basic_group_plan_room<Key>& room,
                                                               span<plan> groups) const noexcept {
    for (plan& of : groups) of.freed = of.given_up = 0;
    draft<View> drawn = begin(view, requester, from, room);
    const detail::shared_group_cuts<View> shared(view, groups);
    each(drawn, [&](const group_victim& one) noexcept { shared.leave(one.candidate); });
    while (is_any_missing(groups) && drawn.has_next()) {
      group_victim& victim = drawn.next();
      const token_count kept = kept_whole(view, victim.candidate);
      shared.move(victim.candidate, victim.kept, kept);
      victim.kept = kept;
    }
    result<basic_group_plan<Key>> made = errc::shortage;
    if (is_any_missing(groups)) {
      made = refusal(groups);
    } else {
      const std::size_t late = demand_type::whole_victims ? 0 : drawn.asked.size() - drawn.turn;
      for (group_victim& victim : drawn.asked.subspan(drawn.turn, late)) cut_late(shared, victim, groups);
      made = write_shared(drawn, shared, room, groups);
    }
    each(drawn, [&](const group_victim& one) noexcept { shared.forget(one.candidate); });
    return made;
  }
  /// As late as the others allow. @pre it is cut whole, and nothing is missing
  template <class View>
  static void cut_late(const detail::shared_group_cuts<View>& shared,
                       group_victim& victim,
                       span<plan> groups) noexcept {
    const auto move_to = [&](token_count kept) noexcept {
      shared.move(victim.candidate, victim.kept, kept);
      victim.kept = kept;
    };
    move_to(detail::uncut);
    while (is_any_missing(groups)) move_to(shared.before(victim.candidate, victim.kept));
  }
  /// All that is left behind is let go at first, and the last one of the order keeps of it what can be spared, and so
  /// on.
  template <class View, class Key>
  [[nodiscard]] static result<basic_group_plan<Key>> write_shared(draft<View>& drawn,
                                                                  const detail::shared_group_cuts<View>& shared,
                                                                  const basic_group_plan_room<Key>& room,
                                                                  span<plan> groups) noexcept {
    const View& view = drawn.view;
    drawn.put_in_order();
    std::size_t first = room.left_behind.size();  // of those that are written, from the end of the room
    const auto spare = [&](const group_victim& one) noexcept {
      for (std::size_t g = groups.size(); g-- > 0;) {
        const block_range oldest = shared.spare(one.candidate, g, one.kept);
        if (oldest.empty()) continue;
        if (first == 0) return false;
        // Which of them come free is said below; until then it names the candidate.
        room.left_behind[--first] = {static_cast<Key>(view.key(one.candidate)), g, oldest, one.candidate};
      }
      return true;
    };
    for (std::size_t at = drawn.asked.size(); at-- > 0;) {
      if (!spare(drawn.asked[at])) return errc::buffer_too_small;
    }
    for (const group_victim& one : drawn.others) {
      if (!spare(one)) return errc::buffer_too_small;
    }
    for (plan& of : groups) of.freed = 0;
    const auto count = [&](std::size_t i, std::size_t g, block_range range) noexcept {
      const block_count freed = shared.name_free(i, g, range);
      groups[g].freed += freed;
      groups[g].given_up += blocks_of<View>(view, i, g).held(range) - freed;
      return freed;
    };
    std::size_t cuts = 0;
    for (std::size_t at = drawn.asked.size(); at-- > 0;) {
      const group_victim& victim = drawn.asked[at];
      if (victim.kept == detail::uncut) continue;
      if (cuts == room.cuts.size()) return errc::buffer_too_small;
      room.cuts[cuts++] = {static_cast<Key>(view.key(victim.candidate)), victim.kept, view.parked(victim.candidate)};
      for (std::size_t g = 0; g < groups.size(); ++g) {
        static_cast<void>(count(victim.candidate, g, blocks_of<View>(view, victim.candidate, g).beyond(victim.kept)));
      }
    }
    const auto left_behind = room.left_behind.subspan(first, room.left_behind.size() - first);
    for (auto& one : left_behind) one.freed = count(static_cast<std::size_t>(one.freed.value()), one.group, one.blocks);
    return basic_group_plan<Key>{room.cuts.first(cuts), left_behind, groups};
  }

  [[nodiscard]] static error refusal(span<plan> groups) noexcept {
    error why{errc::shortage};
    for (plan& of : groups) {
      if (why.missing == 0) why.missing = detail::larger<block_count>(0, missing(of));
      of.freed = detail::smaller(of.freed, of.demand);
    }
    return why;
  }

  [[nodiscard]] static constexpr block_count missing(const plan& of) noexcept { return of.demand - of.freed; }
  [[nodiscard]] static constexpr bool is_any_missing(span<const plan> groups) noexcept {
    for (const plan& of : groups) {
      if (missing(of) > 0) return true;
    }
    return false;
  }

  template <class View>
  [[nodiscard]] static bool is_possible(const View& view, span<const block_count> shortage) noexcept {
    if (shortage.size() != view.groups()) return false;
    for (std::size_t g = 0; g < shortage.size(); ++g) {
      if (shortage[g] < 0 || !view.group(g).is_valid()) return false;
    }
    return true;
  }

  template <class View>
  static constexpr void check_contracts() noexcept {
    static_assert(detail::is_detected_as_v<std::size_t, detail::candidates_size, View>,
                  "pave: a candidate view needs `std::size_t size() const`");
    static_assert(detail::is_detected_as_v<bool, detail::candidates_rank_less, View>,
                  "pave: a candidate view needs `Rank rank(std::size_t i) const`, and its Rank a `<`");
    static_assert(detail::is_detected_as_v<bool, detail::candidates_parked, View>,
                  "pave: a candidate view needs `bool parked(std::size_t i) const`");
    static_assert(detail::is_detected_as_v<token_count, detail::candidates_tokens, View>,
                  "pave: a candidate view over groups needs `token_count tokens(std::size_t i) const`");
    static_assert(detail::is_detected_as_v<std::size_t, detail::group_candidates_groups, View>,
                  "pave: a candidate view over groups needs `std::size_t groups() const`");
    static_assert(detail::is_detected_as_v<kv_group, detail::group_candidates_group, View>,
                  "pave: a candidate view over groups needs `kv_group group(std::size_t g) const`");
    static_assert(detail::is_detected_as_v<block_range, detail::group_candidates_blocks, View>,
                  "pave: a candidate view over groups needs `block_range blocks(std::size_t i, std::size_t g) const`");
    static_assert(
        detail::is_detected_as_v<block_count, detail::group_candidates_held, View>,
        "pave: a candidate view over groups needs `block_count held(std::size_t i, std::size_t g, block_count "
        "first, block_count last) const`");
    static_assert(detail::is_detected_as_v<block_count, detail::group_candidates_reclaimable, View>,
                  "pave: a candidate view over groups needs `block_count reclaimable(std::size_t i, std::size_t g, "
                  "block_count first, block_count last) const`");
    static_assert(
        is_victim_order_v<victim_order, View>,
        "pave: a victim_order policy needs `bool before(const View& view, std::size_t a, std::size_t b) const`");
  }

  victim_order order_;
};

}  // namespace v0
}  // namespace pave

#endif
