// SPDX-License-Identifier: Apache-2.0
// How much to evict, from whom, and which blocks: a pure function from a shortage to cuts.
#ifndef PAVE_PLANNER_HPP
#define PAVE_PLANNER_HPP

#include <pave/candidates.hpp>
#include <pave/detail/bundles.hpp>
#include <pave/detail/cheapest_cuts.hpp>
#include <pave/detail/detect.hpp>
#include <pave/detail/victim_scan.hpp>
#include <pave/policy/cut_shape.hpp>
#include <pave/policy/demand.hpp>
#include <pave/policy/restore_cost.hpp>
#include <pave/policy/victim_order.hpp>
#include <pave/result.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>
#include <pave/victim_index.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace pave {
inline namespace v0 {

/// @brief The default policies of a planner. Derive from it and name what is to change.
struct planner_policies {
  using demand = exact;
  using victim_order = least_important;
  using cut_shape = tail;
  using restore_cost = recompute_cost;
};

namespace detail {
template <class Policies>
constexpr bool is_whole_planner_bundle() noexcept {
  static_assert(has_planner_slots_v<Policies>,
                "pave: an eviction_planner takes a bundle of its policies: derive from planner_policies, and name in "
                "it what is to change");
  static_assert(names_whole_parts_v<Policies> || !has_planner_slots_v<Policies>,
                "pave: a bundle names a slot of another part, and nothing reads it there: name it in a bundle of its "
                "part, derived from pool_policies, planner_policies or tracker_policies");
  return has_planner_slots_v<Policies>;
}
template <class Requester, class Rank>
using index_outranked = decltype(std::declval<const Requester&>() < std::declval<const Rank&>());
template <class Policies>
using planner_bundle_or_default = std::conditional_t<is_whole_planner_bundle<Policies>(), Policies, planner_policies>;
}  // namespace detail

/// @brief Who may be asked to give up blocks.
enum class victims : std::uint8_t {
  parked_then_running,  ///< a running sequence asks: parked ones are used up before one is stopped
  parked_only,          ///< a parked sequence wants to come in: nobody is stopped for it
};

/// @brief What the cuts of one plan amount to.
struct plan {
  block_count demand;    ///< what was asked for: the shortage, or as much of the policy's demand as could be had
  block_count freed;     ///< distinct blocks that come free; equal to `demand`, unless victims are taken whole
  block_count given_up;  ///< references to shared blocks that go without freeing anything

  [[nodiscard]] constexpr block_count over_evicted() const noexcept { return freed - demand; }
};

/// @brief Plans evictions over a candidate view (`is_candidate_view_v`). It holds nothing but its policies, and moves
/// nothing.
///
/// With an order of the candidates, victim after victim gives all it has, and the last one only the rest. With
/// `cheapest_restore` the victims are chosen together, so that the sum of what their restores cost is the least:
/// exactly for demands of up to 64 blocks among up to 32 candidates, nearly beyond. Where candidates share blocks with
/// each other (a view with `passed`), or go whole, it takes whoever is cheapest for each block, one by one.
/// @threadsafety const members from any thread
template <class Policies = planner_policies>
class eviction_planner {
  using bundle = detail::planner_bundle_or_default<Policies>;
  using demand_type = typename bundle::demand;
  using cut_shape_type = typename bundle::cut_shape;
  using restore_cost_type = typename bundle::restore_cost;

  static_assert(detail::is_detected_as_v<bool, detail::demand_whole_victims, demand_type>,
                "pave: a demand policy needs `static constexpr bool whole_victims`");
  static_assert(detail::is_detected_as_v<bool, detail::demand_spares_requester, demand_type>,
                "pave: a demand policy needs `static constexpr bool spares_requester`");
  static_assert(detail::is_detected_as_v<bool, detail::cut_shape_keeps_prefix, cut_shape_type>,
                "pave: a cut_shape policy needs `static constexpr bool keeps_prefix`");
  static_assert(is_restore_cost_v<restore_cost_type>,
                "pave: a restore_cost policy needs `double cost(token_range positions) const`");

 public:
  using victim_order = typename bundle::victim_order;
  /// Whether it asks victim after victim, in an order that a `victim_index` can keep.
  static constexpr bool orders_victims = !detail::wants_cheapest_plan_v<victim_order>;
  /// Whether it has a policy of this type, so that its constructor takes an instance.
  template <class Policy>
  static constexpr bool has_policy =
      std::is_same_v<Policy, demand_type> || std::is_same_v<Policy, victim_order> ||
      std::is_same_v<Policy, cut_shape_type> || std::is_same_v<Policy, restore_cost_type>;
  static constexpr bool spares_requester = demand_type::spares_requester;
  static constexpr bool keeps_prefix = demand_type::whole_victims || cut_shape_type::keeps_prefix;

  eviction_planner() = default;
  /// @brief A planner with policies that hold state: cost coefficients, a comparator.
  explicit constexpr eviction_planner(demand_type demand,
                                      victim_order order = {},
                                      cut_shape_type shape = {},
                                      restore_cost_type cost = {}) noexcept
      : demand_(std::move(demand)), order_(std::move(order)), shape_(std::move(shape)), cost_(std::move(cost)) {}

  /// @return the policy, with its state
  [[nodiscard]] constexpr const victim_order& order() const noexcept { return order_; }

  /// @brief Finds the cuts that meet a shortage, from sequences less important than the requester only, parked ones
  /// first.
  /// @param view the candidates; the requester may be among them, and is left out by its rank
  /// @param requester the rank of who needs the blocks
  /// @param shortage blocks needed minus blocks available; 0 gives an empty plan
  /// @param from whether running sequences may be stopped
  /// @param cuts [out] one cut a victim, in the order of the plan; cleared first, and left empty on an error
  /// @param scratch room for `view.size()` indices
  /// @error `shortage`, with the blocks still missing when all is given up that may be
  /// @error `buffer_too_small`: `cuts` or `scratch`
  /// @error `invalid_argument`: a negative shortage
  /// @complexity O(candidates · log cuts) and what the cut shape takes for each victim; with `cheapest_restore`
  ///   O(candidates · log demand) cuts are tried out, and up to 64 for each of 32 candidates. No memory is taken, but
  ///   some kilobytes of the stack
  template <class View, class Rank, class Key>
  [[nodiscard]] result<plan> operator()(const View& view,
                                        const Rank& requester,
                                        block_count shortage,
                                        victims from,
                                        basic_cut_list<Key>& cuts,
                                        span<std::uint32_t> scratch) const noexcept {
    check_contracts<View>();
    constexpr bool has_key = detail::is_detected_as_v<Key, detail::candidates_key, View>;
    static_assert(has_key, "pave: a candidate view needs `Key key(std::size_t i) const`, of the cut list's Key");
    constexpr bool has_rank = detail::is_detected_as_v<bool, detail::candidates_outranked, View, Rank>;
    static_assert(has_rank || !is_candidate_view_v<View>,
                  "pave: a requester's rank needs a `<` with the candidates' ranks");
    // A view or a policy that breaks its contract has had its one line; its plan would only repeat it in other words.
    if constexpr (has_key && has_rank && keeps_contracts<View>()) {
      if (shortage > 0 && scratch.size() < view.size()) {
        cuts.clear();
        return errc::buffer_too_small;
      }
      const auto may_be_cut = [&](std::size_t i) noexcept {
        return requester < view.rank(i) && view.blocks(i) != 0 &&
               (from == victims::parked_then_running || view.parked(i));
      };
      return make_plan(view, shortage, from, cuts, [&](auto& drawn) noexcept {
        if constexpr (detail::wants_cheapest_plan_v<victim_order>) {
          draw_cheapest(drawn, may_be_cut, scratch);
        } else {
          draw_in_order(drawn, may_be_cut, scratch);
        }
      });
    } else {
      return errc::invalid_argument;
    }
  }

  /// @brief The same plan, with candidates that an index keeps in order: it looks only at those that it cuts.
  /// @param index of the candidates of `view`, with this planner's victim order
  /// @complexity O(cuts + log candidates) where the order goes by rank, O(cuts · log candidates) at most, and what the
  ///   cut shape takes for each victim; with the demand `ahead` linear in the candidates, since it counts what all that
  ///   run will need. No memory is taken
  template <class View, class Rank, class Order, class Requester, class Key>
  [[nodiscard]] result<plan> operator()(const View& view,
                                        const victim_index<Rank, Order>& index,
                                        const Requester& requester,
                                        block_count shortage,
                                        victims from,
                                        basic_cut_list<Key>& cuts) const noexcept {
    check_contracts<View>();
    static_assert(
        orders_victims,
        "pave: a planner with cheapest_restore has no order that an index could keep: plan without the index");
    constexpr bool has_order = std::is_same_v<Order, victim_order>;
    static_assert(has_order || !orders_victims,
                  "pave: a planner takes an index of its own victim_order: name the planner's as the Order of "
                  "victim_index");
    constexpr bool has_rank = detail::is_detected_as_v<bool, detail::index_outranked, Requester, Rank>;
    static_assert(has_rank, "pave: a requester's rank needs a `<` with the ranks of the victim_index");
    if constexpr (keeps_contracts<View>() && has_order && has_rank) {
      return make_plan(view, shortage, from, cuts, [&](auto& drawn) noexcept {
        for (auto victim = index.first(requester); victim; victim = index.next(*victim, requester)) {
          if (from == victims::parked_only && !view.parked(*victim)) return;
          if (!drawn.add(*victim, cut_one(view, *victim, drawn.missing()))) return;
        }
      });
    } else {
      return errc::invalid_argument;
    }
  }

  /// @brief What one victim gives up for `wanted` blocks: its part of a plan.
  /// @pre wanted ≥ 1, victim < view.size()
  template <class View>
  [[nodiscard]] shaped_cut cut_one(const View& view, std::size_t victim, block_count wanted) const noexcept {
    if constexpr (demand_type::whole_victims) {
      const block_range all{0, view.blocks(victim)};
      return {all, view.reclaimable(victim, all.first, all.last)};
    } else if constexpr (detail::is_detected_v<detail::cut_shape_cut, cut_shape_type, View>) {
      return shape_.cut(view, victim, wanted);
    } else {
      return shape_.cut(view, cost_, victim, wanted);
    }
  }

  /// @brief What it costs to bring back what a cut takes, by the policy `restore_cost`.
  /// @pre victim < view.size()
  template <class View>
  [[nodiscard]] double price(const View& view, std::size_t victim, block_range blocks) const noexcept {
    constexpr bool knows_tokens = detail::knows_tokens_v<View>;
    static_assert(
        knows_tokens,
        "pave: a price needs a candidate view with `token_count tokens(std::size_t i) const` and `token_count "
        "tokens_per_block() const`");
    if constexpr (knows_tokens) {
      return cost_.cost(detail::content_of(view, victim, blocks));
    } else {
      return 0;
    }
  }

 private:
  /// @param draw adds cuts to a draft until nothing is missing, or there are no more
  template <class View, class Key, class Draw>
  [[nodiscard]] result<plan> make_plan(
      const View& view, block_count shortage, victims from, basic_cut_list<Key>& cuts, Draw&& draw) const noexcept {
    cuts.clear();
    if (shortage < 0) return errc::invalid_argument;
    if (shortage == 0) return plan{};
    const bool may_ask_for_more = from == victims::parked_then_running;
    const block_count demand = may_ask_for_more ? detail::larger(shortage, demand_for(view, shortage)) : shortage;
    draft<View, Key> drawn{view, cuts, plan{demand, 0, 0}, false};
    draw(drawn);
    plan& found = drawn.so_far;
    if (found.freed < shortage) {
      cuts.clear();
      if (drawn.is_full) return errc::buffer_too_small;
      return error{errc::shortage, shortage - found.freed};
    }
    found.demand = detail::smaller(demand, found.freed);
    return found;
  }

  /// A plan that is being made.
  template <class View, class Key>
  struct draft {
    const View& view;
    basic_cut_list<Key>& cuts;
    plan so_far;
    bool is_full;  // it needs more cuts than there is room for

    [[nodiscard]] block_count missing() const noexcept { return so_far.demand - so_far.freed; }
    /// @return whether it goes on
    bool add(std::size_t victim, const shaped_cut& shaped) noexcept {
      is_full = shaped.freed > 0 && cuts.full();
      if (is_full) return false;
      if constexpr (detail::is_detected_v<detail::candidates_passed, View>) {
        view.passed(victim, shaped.freed >= missing() ? shaped.blocks : block_range{0, view.blocks(victim)});
      }
      if (shaped.freed == 0) return true;
      cuts.add({static_cast<Key>(view.key(victim)), shaped.blocks, shaped.freed, view.parked(victim)});
      so_far.freed += shaped.freed;
      so_far.given_up += shaped.blocks.size() - shaped.freed;
      return so_far.freed < so_far.demand;
    }
  };

  /// Victim after victim.
  template <class View, class Key, class MayBeCut>
  void draw_in_order(draft<View, Key>& drawn, const MayBeCut& may_be_cut, span<std::uint32_t> scratch) const noexcept {
    const View& view = drawn.view;
    const auto before = [&](std::uint32_t a, std::uint32_t b) noexcept { return is_before(view, a, b); };
    detail::victim_scan<View, decltype(before), MayBeCut> scan(view, before, may_be_cut, scratch);
    for (auto batch = scan.next(drawn.missing()); !batch.empty(); batch = scan.next(drawn.missing())) {
      for (const std::uint32_t victim : batch) {
        if (!drawn.add(victim, cut_one(view, victim, drawn.missing()))) return;
      }
    }
  }

  /// All victims at once, parked ones first.
  template <class View, class Key, class MayBeCut>
  void draw_cheapest(draft<View, Key>& drawn, const MayBeCut& may_be_cut, span<std::uint32_t> scratch) const noexcept {
    const View& view = drawn.view;
    for (const bool is_parked : {true, false}) {
      std::size_t size = 0;
      block_count obtainable = 0;
      for (std::uint32_t i = 0; i < view.size(); ++i) {
        if (view.parked(i) != is_parked || !may_be_cut(i)) continue;
        scratch[size++] = i;
        if (obtainable < drawn.missing()) obtainable += cut_one(view, i, drawn.missing()).freed;
      }
      const span<std::uint32_t> group = scratch.first(size);
      if constexpr (demand_type::whole_victims || detail::is_detected_v<detail::candidates_passed, View>) {
        draw_one_by_one(drawn, group);
      } else {
        draw_together(drawn, group, detail::smaller(obtainable, drawn.missing()));
      }
      if (drawn.missing() <= 0 || drawn.is_full) return;
    }
  }

  /// What a cut frees does not depend on the other ones: the division that costs the least.
  /// @pre the group can give as many as are wanted
  template <class View, class Key>
  void draw_together(draft<View, Key>& drawn, span<std::uint32_t> group, block_count wanted) const noexcept {
    const View& view = drawn.view;
    const auto first = [&](std::size_t a, std::size_t b) noexcept { return view.rank(b) < view.rank(a); };
    const auto most = [&](std::size_t i) noexcept { return cut_one(view, i, wanted).freed; };
    const auto cost_of = [&](std::size_t i, block_count blocks) noexcept {
      return price(view, i, cut_one(view, i, blocks).blocks);
    };
    detail::cheapest_cuts<decltype(first), decltype(most), decltype(cost_of)> cheapest(first, most, cost_of);
    cheapest(group, wanted, [&](std::size_t victim, block_count blocks) noexcept {
      drawn.add(victim, cut_one(view, victim, blocks));
      return !drawn.is_full;
    });
  }

  /// Whoever is cheapest for each block that comes free goes next.
  template <class View, class Key>
  void draw_one_by_one(draft<View, Key>& drawn, span<std::uint32_t> group) const noexcept {
    const View& view = drawn.view;
    while (!group.empty()) {
      std::uint32_t* best = nullptr;
      shaped_cut best_cut{};
      double least = 0;
      for (std::uint32_t& i : group) {
        const shaped_cut shaped = cut_one(view, i, drawn.missing());
        if (shaped.freed == 0) continue;
        const double each = price(view, i, shaped.blocks) / static_cast<double>(shaped.freed.value());
        if (best != nullptr && !(each < least) && (least < each || !(view.rank(*best) < view.rank(i)))) continue;
        best = &i;
        best_cut = shaped;
        least = each;
      }
      if (best == nullptr) best = group.data();
      if (!drawn.add(*best, best_cut)) return;
      std::swap(*best, group[group.size() - 1]);
      group = group.first(group.size() - 1);
    }
  }

  template <class View>
  [[nodiscard]] block_count demand_for(const View& view, block_count shortage) const noexcept {
    if constexpr (detail::is_detected_v<detail::demand_blocks_of_view, demand_type, View>) {
      return demand_.blocks(view, shortage);
    } else {
      return demand_.blocks(shortage);
    }
  }

  template <class View>
  [[nodiscard]] static constexpr bool keeps_contracts() noexcept {
    return is_candidate_view_v<View> && is_demand_v<demand_type, View> && is_victim_order_v<victim_order, View> &&
           is_cut_shape_v<cut_shape_type, View> && is_restore_cost_v<restore_cost_type>;
  }
  template <class View>
  static constexpr void check_contracts() noexcept {
    static_assert(detail::is_detected_as_v<std::size_t, detail::candidates_size, View>,
                  "pave: a candidate view needs `std::size_t size() const`");
    static_assert(detail::is_detected_as_v<bool, detail::candidates_rank_less, View>,
                  "pave: a candidate view needs `Rank rank(std::size_t i) const`, and its Rank a `<`");
    static_assert(detail::is_detected_as_v<bool, detail::candidates_parked, View>,
                  "pave: a candidate view needs `bool parked(std::size_t i) const`");
    static_assert(detail::is_detected_as_v<block_count, detail::candidates_blocks, View>,
                  "pave: a candidate view needs `block_count blocks(std::size_t i) const`");
    static_assert(detail::is_detected_as_v<block_count, detail::candidates_reclaimable, View>,
                  "pave: a candidate view needs `block_count reclaimable(std::size_t i, block_count first, block_count "
                  "last) const`");
    static_assert(detail::is_detected_as_v<block_count, detail::demand_blocks, demand_type> ||
                      detail::is_detected_as_v<block_count, detail::demand_blocks_of_view, demand_type, View>,
                  "pave: a demand policy needs `block_count blocks(block_count shortage) const`");
    static_assert(
        is_victim_order_v<victim_order, View>,
        "pave: a victim_order policy needs `bool before(const View& view, std::size_t a, std::size_t b) const`");
    static_assert(is_cut_shape_v<cut_shape_type, View>,
                  "pave: a cut_shape policy needs `shaped_cut cut(const View& view, std::size_t candidate, block_count "
                  "wanted) const`");
  }

  /// Parked ones first, then the policy's order; what it leaves open is decided by rank, so that every heap pops the
  /// same.
  template <class View>
  [[nodiscard]] bool is_before(const View& view, std::size_t a, std::size_t b) const noexcept {
    const bool a_is_parked = view.parked(a);
    if (a_is_parked != view.parked(b)) return a_is_parked;
    if (order_.before(view, a, b)) return true;
    return !order_.before(view, b, a) && view.rank(b) < view.rank(a);
  }

  demand_type demand_;
  victim_order order_;
  cut_shape_type shape_;
  restore_cost_type cost_;
};

}  // namespace v0
}  // namespace pave

#endif
