// SPDX-License-Identifier: Apache-2.0
// What does it cost to bring tokens back? The planner's slot `restore_cost`.
#ifndef PAVE_POLICY_RESTORE_COST_HPP
#define PAVE_POLICY_RESTORE_COST_HPP

#include <pave/config.hpp>
#include <pave/detail/detect.hpp>
#include <pave/units.hpp>

#include <utility>

namespace pave {
inline namespace v0 {

namespace detail {
template <class Policy>
using restore_cost_cost = decltype(std::declval<const Policy&>().cost(token_range{}));
}  // namespace detail

/// @brief The contract of a restore cost:
/// - `double cost(token_range positions) const`: of bringing back these positions of one sequence, in any unit. Not
///   negative, 0 for none, and no lower for as many positions further behind. The planner compares costs and adds them
template <class Policy>
inline constexpr bool is_restore_cost_v = detail::is_detected_as_v<double, detail::restore_cost_cost, Policy>;

#if PAVE_HAS_CONCEPTS
template <class Policy>
concept restore_cost_policy = is_restore_cost_v<Policy>;
#endif

/// @brief A prefill of the gap over what was kept before it: base + per_token · n + per_context · n · context, where
/// context is the mean position of the n tokens. Only the ratios matter. Fit them to the step times of the engine.
///
/// The defaults count in tokens, and are those of Llama-2-13B on an A100 (8.6 ms, 0.113 ms and 6.0 ns: fitted to the
/// profiles of microsoft/vidur). Other models have much the same ratios there, and twice the base on an H100.
struct recompute_cost {
  double base = 76;  ///< of each cut: an additional prefill
  double per_token = 1;
  double per_context = 5.3e-5;  ///< per token, and token before it

  [[nodiscard]] constexpr double cost(token_range positions) const noexcept {
    if (positions.empty()) return 0;
    const auto first = static_cast<double>(positions.first.value());
    const auto last = static_cast<double>(positions.last.value());
    return base + (last - first) * (per_token + per_context * (first + last) / 2);
  }
};
static_assert(is_restore_cost_v<recompute_cost>);

}  // namespace v0
}  // namespace pave

#endif
