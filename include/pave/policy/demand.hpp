// SPDX-License-Identifier: Apache-2.0
// How much is to be reclaimed? The planner's slot `demand`.
#ifndef PAVE_POLICY_DEMAND_HPP
#define PAVE_POLICY_DEMAND_HPP

#include <pave/config.hpp>
#include <pave/detail/detect.hpp>
#include <pave/units.hpp>

#include <utility>

namespace pave {
inline namespace v0 {

namespace detail {
template <class Policy>
using demand_blocks = decltype(std::declval<const Policy&>().blocks(block_count{}));
template <class Policy>
using demand_whole_victims = decltype(Policy::whole_victims);
template <class Policy>
using demand_spares_requester = decltype(Policy::spares_requester);
}  // namespace detail

/// @brief The contract of a demand:
/// - `block_count blocks(block_count shortage) const`: what to reclaim where a running sequence is short of so much; at
///   least as much. A plan goes as far beyond the shortage as it can, and fails only where the shortage itself cannot
///   be met
/// - `static constexpr bool whole_victims`: a victim gives up all it has, however little is missing
/// - `static constexpr bool spares_requester`: a requester that nobody can help keeps its blocks while it waits
template <class Policy>
inline constexpr bool is_demand_v = detail::all({
    detail::is_detected_as_v<block_count, detail::demand_blocks, Policy>,
    detail::is_detected_as_v<bool, detail::demand_whole_victims, Policy>,
    detail::is_detected_as_v<bool, detail::demand_spares_requester, Policy>,
});

#if PAVE_HAS_CONCEPTS
template <class Policy>
concept demand_policy = is_demand_v<Policy>;
#endif

/// @brief The shortage, not a block more.
struct exact {
  static constexpr bool whole_victims = false;
  static constexpr bool spares_requester = true;
  [[nodiscard]] static constexpr block_count blocks(block_count shortage) noexcept { return shortage; }
};
static_assert(is_demand_v<exact>);

/// @brief Whole victims until the shortage is met, and the requester itself where there are too few: what engines do
/// today, and the baseline to measure against. A plan reports its excess.
struct whole_sequence {
  static constexpr bool whole_victims = true;
  static constexpr bool spares_requester = false;
  [[nodiscard]] static constexpr block_count blocks(block_count shortage) noexcept { return shortage; }
};
static_assert(is_demand_v<whole_sequence>);

}  // namespace v0
}  // namespace pave

#endif
