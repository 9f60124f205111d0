// SPDX-License-Identifier: Apache-2.0
// How much to evict, from whom, and which blocks: a pure function from a shortage to cuts.
#ifndef PAVE_PLANNER_HPP
#define PAVE_PLANNER_HPP

#include <pave/candidates.hpp>
#include <pave/detail/detect.hpp>
#include <pave/policy/cut_shape.hpp>
#include <pave/policy/demand.hpp>
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

/// @brief The default policies of a planner. Derive from it and name what is to change.
struct planner_policies {
  using demand = exact;
  using victim_order = least_important;
  using cut_shape = tail;
};

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
/// @threadsafety const members from any thread
template <class Policies = planner_policies>
class eviction_planner {
  using demand_type = typename Policies::demand;
  using victim_order_type = typename Policies::victim_order;
  using cut_shape_type = typename Policies::cut_shape;

  static_assert(detail::is_detected_as_v<block_count, detail::demand_blocks, demand_type>,
                "pave: a demand policy needs `block_count blocks(block_count shortage) const`");
  static_assert(detail::is_detected_as_v<bool, detail::demand_whole_victims, demand_type>,
                "pave: a demand policy needs `static constexpr bool whole_victims`");
  static_assert(detail::is_detected_as_v<bool, detail::demand_spares_requester, demand_type>,
                "pave: a demand policy needs `static constexpr bool spares_requester`");
  static_assert(detail::is_detected_as_v<bool, detail::cut_shape_keeps_prefix, cut_shape_type>,
                "pave: a cut_shape policy needs `static constexpr bool keeps_prefix`");

 public:
  static constexpr bool spares_requester = demand_type::spares_requester;
  static constexpr bool keeps_prefix = demand_type::whole_victims || cut_shape_type::keeps_prefix;

  eviction_planner() = default;
  /// @brief A planner with policies that hold state: cost coefficients, a comparator.
  explicit constexpr eviction_planner(demand_type demand,
                                      victim_order_type order = {},
                                      cut_shape_type shape = {}) noexcept
      : demand_(std::move(demand)), order_(std::move(order)), shape_(std::move(shape)) {}

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
  /// @complexity O(candidates + cuts · log candidates) and what the cut shape takes for each victim; no memory is taken
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
    if constexpr (has_key && has_rank && is_candidate_view_v<View> && is_victim_order_v<victim_order_type, View> &&
                  is_cut_shape_v<cut_shape_type, View>) {
      return make_plan(view, requester, shortage, from, cuts, scratch);
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
    } else {
      return shape_.cut(view, victim, wanted);
    }
  }

 private:
  template <class View, class Rank, class Key>
  [[nodiscard]] result<plan> make_plan(const View& view,
                                       const Rank& requester,
                                       block_count shortage,
                                       victims from,
                                       basic_cut_list<Key>& cuts,
                                       span<std::uint32_t> scratch) const noexcept {
    cuts.clear();
    if (shortage < 0) return errc::invalid_argument;
    if (shortage == 0) return plan{};
    const bool may_ask_for_more = from == victims::parked_then_running;
    const block_count demand = may_ask_for_more ? detail::larger(shortage, demand_.blocks(shortage)) : shortage;
    plan found{demand, 0, 0};
    if (scratch.size() < view.size()) return errc::buffer_too_small;

    span<std::uint32_t> heap = scratch.first(gather(view, requester, from, scratch));
    const auto later = [&](std::uint32_t a, std::uint32_t b) { return is_before(view, b, a); };
    std::make_heap(heap.begin(), heap.end(), later);
    while (found.freed < demand && !heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), later);
      const std::size_t victim = heap[heap.size() - 1];
      heap = heap.first(heap.size() - 1);
      const shaped_cut shaped = cut_one(view, victim, demand - found.freed);
      if (shaped.freed > 0 && cuts.full()) {
        if (found.freed >= shortage) break;
        cuts.clear();
        return errc::buffer_too_small;
      }
      if constexpr (detail::is_detected_v<detail::candidates_passed, View>) {
        const bool is_last = found.freed + shaped.freed >= demand;
        view.passed(victim, is_last ? shaped.blocks : block_range{0, view.blocks(victim)});
      }
      if (shaped.freed == 0) continue;
      cuts.add({static_cast<Key>(view.key(victim)), shaped.blocks, shaped.freed, view.parked(victim)});
      found.freed += shaped.freed;
      found.given_up += shaped.blocks.size() - shaped.freed;
    }
    if (found.freed < shortage) {
      cuts.clear();
      return error{errc::shortage, shortage - found.freed};
    }
    found.demand = detail::smaller(demand, found.freed);
    return found;
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
    static_assert(
        is_victim_order_v<victim_order_type, View>,
        "pave: a victim_order policy needs `bool before(const View& view, std::size_t a, std::size_t b) const`");
    static_assert(is_cut_shape_v<cut_shape_type, View>,
                  "pave: a cut_shape policy needs `shaped_cut cut(const View& view, std::size_t candidate, block_count "
                  "wanted) const`");
  }

  /// Writes the indices of all who may be cut to the front of `scratch`.
  template <class View, class Rank>
  static std::size_t gather(const View& view,
                            const Rank& requester,
                            victims from,
                            span<std::uint32_t> scratch) noexcept {
    std::size_t count = 0;
    for (std::size_t i = 0; i < view.size(); ++i) {
      if (view.blocks(i) == 0 || !(requester < view.rank(i))) continue;
      if (from == victims::parked_only && !view.parked(i)) continue;
      scratch[count++] = static_cast<std::uint32_t>(i);
    }
    return count;
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
  victim_order_type order_;
  cut_shape_type shape_;
};

}  // namespace v0
}  // namespace pave

#endif
