// SPDX-License-Identifier: Apache-2.0
// From whom? The planner's slot `victim_order`.
#ifndef PAVE_POLICY_VICTIM_ORDER_HPP
#define PAVE_POLICY_VICTIM_ORDER_HPP

#include <pave/candidates.hpp>
#include <pave/config.hpp>
#include <pave/detail/detect.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace pave {
inline namespace v0 {

namespace detail {
template <class Policy, class View>
using victim_order_before =
    decltype(std::declval<const Policy&>().before(std::declval<const View&>(), std::size_t{}, std::size_t{}));
template <class Policy>
using victim_order_cheapest_plan = std::bool_constant<Policy::cheapest_plan>;
template <class Policy>
inline constexpr bool wants_cheapest_plan_v = is_detected_as_v<std::true_type, victim_order_cheapest_plan, Policy>;
}  // namespace detail

/// @brief The contract of a victim order over a candidate view:
/// - `bool before(const View&, std::size_t a, std::size_t b) const`: candidate a is cut before candidate b; a strict
///   weak order
///
/// It orders the candidates that may be cut. Whether one may be cut is not its to say: only less important ones than
/// the requester are asked, and parked ones before running ones.
/// A `kv_cache` keeps the order, and asks it again when something changes of a sequence that it can see there: rank,
/// blocks, parked state, tokens, missing blocks, slack; an order that asks for what is reclaimable is refused. It must
/// not go by anything outside of the view that changes.
/// An order that goes by the price of each plan has no `before`, but `static constexpr bool cheapest_plan = true`: see
/// `cheapest_restore`.
template <class Policy, class View>
inline constexpr bool is_victim_order_v =
    detail::is_detected_as_v<bool, detail::victim_order_before, Policy, View> || detail::wants_cheapest_plan_v<Policy>;

#if PAVE_HAS_CONCEPTS
template <class Policy, class View>
concept victim_order_policy = is_victim_order_v<Policy, View>;
#endif

/// @brief The least important first.
struct least_important {
  template <class View>
  [[nodiscard]] static constexpr bool before(const View& view, std::size_t a, std::size_t b) noexcept {
    return view.rank(b) < view.rank(a);
  }
};

/// @brief Who holds the most blocks first: the fewest victims, where they are cut whole. It asks the candidate view for
/// `blocks(i)`; over several KV groups that is the engine's own measure.
struct largest {
  template <class View>
  [[nodiscard]] static constexpr bool before(const View& view, std::size_t a, std::size_t b) noexcept {
    constexpr bool has_blocks = detail::is_detected_as_v<block_count, detail::candidates_blocks, View>;
    static_assert(has_blocks, "pave: largest needs a candidate view with `block_count blocks(std::size_t i) const`");
    if constexpr (has_blocks) {
      return view.blocks(b) < view.blocks(a);
    } else {
      return a < b;
    }
  }
};

/// @brief Who has the most time first, by the engine's own measure: what is left of a budget per token (TPOT) before it
/// is missed. It asks the candidate view for `slack(i)`.
struct most_slack {
  template <class View>
  [[nodiscard]] static constexpr bool before(const View& view, std::size_t a, std::size_t b) noexcept {
    constexpr bool has_slack = detail::is_detected_as_v<bool, detail::candidates_slack_less, View>;
    static_assert(has_slack, "pave: most_slack needs a candidate view with `Slack slack(std::size_t i) const`");
    if constexpr (has_slack) {
      return view.slack(b) < view.slack(a);
    } else {
      return a < b;
    }
  }
};

/// @brief The plan that is cheapest to restore, by the planner's `restore_cost`: a few cuts that free just the demand.
/// The best plan mixes small cuts and large ones, so that no order of the candidates leads to it: see
/// `eviction_planner`.
struct cheapest_restore {
  static constexpr bool cheapest_plan = true;
};

namespace detail {
/// Whether an order of stock has no eye for how many tokens there are.
template <class Order>
inline constexpr bool orders_without_tokens_v =
    std::is_same_v<Order, least_important> || std::is_same_v<Order, largest> || std::is_same_v<Order, most_slack>;
}  // namespace detail

}  // namespace v0
}  // namespace pave

#endif
