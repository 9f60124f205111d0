// SPDX-License-Identifier: Apache-2.0
// From whom? The planner's slot `victim_order`.
#ifndef PAVE_POLICY_VICTIM_ORDER_HPP
#define PAVE_POLICY_VICTIM_ORDER_HPP

#include <pave/config.hpp>
#include <pave/detail/detect.hpp>

#include <cstddef>
#include <utility>

namespace pave {
inline namespace v0 {

namespace detail {
template <class Policy, class View>
using victim_order_before =
    decltype(std::declval<const Policy&>().before(std::declval<const View&>(), std::size_t{}, std::size_t{}));
}  // namespace detail

/// @brief The contract of a victim order over a candidate view:
/// - `bool before(const View&, std::size_t a, std::size_t b) const`: candidate a is cut before candidate b; a strict
///   weak order
///
/// It orders the candidates that may be cut. Whether one may be cut is not its to say: only less important ones than
/// the requester are asked, and parked ones before running ones.
template <class Policy, class View>
inline constexpr bool is_victim_order_v = detail::is_detected_as_v<bool, detail::victim_order_before, Policy, View>;

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

}  // namespace v0
}  // namespace pave

#endif
