// SPDX-License-Identifier: Apache-2.0
// How much is to be reclaimed? The planner's slot `demand`.
#ifndef PAVE_POLICY_DEMAND_HPP
#define PAVE_POLICY_DEMAND_HPP

#include <pave/candidates.hpp>
#include <pave/config.hpp>
#include <pave/detail/detect.hpp>
#include <pave/layout.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace pave {
inline namespace v0 {

namespace detail {
template <class Policy>
using demand_blocks = decltype(std::declval<const Policy&>().blocks(block_count{}));
template <class Policy, class View>
using demand_blocks_of_view =
    decltype(std::declval<const Policy&>().blocks(std::declval<const View&>(), block_count{}));
template <class Policy>
using demand_whole_victims = decltype(Policy::whole_victims);
template <class Policy>
using demand_spares_requester = decltype(Policy::spares_requester);
}  // namespace detail

/// @brief The contract of a demand:
/// - `block_count blocks(block_count shortage) const`: what to reclaim where a running sequence is short of so much; at
///   least as much. A plan goes as far beyond the shortage as it can, and fails only where the shortage itself cannot
///   be met. A demand that looks at the candidates has `block_count blocks(const View&, block_count shortage) const`
/// - `static constexpr bool whole_victims`: a victim gives up all it has, however little is missing
/// - `static constexpr bool spares_requester`: a requester that nobody can help keeps its blocks while it waits
template <class Policy, class View = block_table_candidates<>>
inline constexpr bool is_demand_v = detail::all({
    detail::is_detected_as_v<block_count, detail::demand_blocks, Policy> ||
        detail::is_detected_as_v<block_count, detail::demand_blocks_of_view, Policy, View>,
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

/// @brief The shortage, and what those that run will need in their next steps, one token each: where their last blocks
/// are nearly full, one plan serves them all. It asks the candidate view for `tokens(i)`, and counts all that run: who
/// asks, and whoever is then cut, too. Candidates that the engine is about to end should not be in the view.
/// @complexity linear in the candidates
struct ahead {
  token_count steps = 1;  ///< how many, after the one that is being scheduled; fewer than 0 count as 0
  static constexpr bool whole_victims = false;
  static constexpr bool spares_requester = true;

  template <class View>
  [[nodiscard]] constexpr block_count blocks(const View& view, block_count shortage) const noexcept {
    constexpr bool knows_tokens = detail::knows_tokens_v<View>;
    static_assert(knows_tokens,
                  "pave: ahead looks at how full last blocks are: the candidate view needs `token_count "
                  "tokens(std::size_t i) const` and `token_count tokens_per_block() const`");
    if constexpr (knows_tokens) {
      constexpr std::int64_t most = (std::numeric_limits<std::int64_t>::max)();
      for (std::size_t i = 0; steps > 0 && i < view.size(); ++i) {
        if (view.parked(i)) continue;
        const token_count tokens = detail::larger<token_count>(0, view.tokens(i));
        const token_count then = tokens + detail::smaller<token_count>(steps, most - tokens.value());
        const block_count more = blocks_for(then, view.tokens_per_block()) - view.blocks(i);
        shortage += detail::smaller(detail::larger<block_count>(0, more), block_count(most) - shortage);
      }
    }
    return shortage;
  }
};
static_assert(is_demand_v<ahead>);

/// @brief The shortage, and so many blocks more that are then available to whoever comes next.
struct to_watermark {
  block_count watermark = 0;  ///< fewer than 0 count as 0
  static constexpr bool whole_victims = false;
  static constexpr bool spares_requester = true;
  [[nodiscard]] constexpr block_count blocks(block_count shortage) const noexcept {
    constexpr block_count most = (std::numeric_limits<std::int64_t>::max)();
    return watermark > most - shortage ? most : shortage + watermark;
  }
};
static_assert(is_demand_v<to_watermark>);

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
