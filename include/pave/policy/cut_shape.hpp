// SPDX-License-Identifier: Apache-2.0
// Which blocks of a victim? The planner's slot `cut_shape`.
#ifndef PAVE_POLICY_CUT_SHAPE_HPP
#define PAVE_POLICY_CUT_SHAPE_HPP

#include <pave/config.hpp>
#include <pave/detail/detect.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <utility>

namespace pave {
inline namespace v0 {

/// @brief A range of one candidate's logical blocks, and how many of them come free if it is cut.
struct shaped_cut {
  block_range blocks;
  block_count freed;
};

namespace detail {
template <class Policy, class View>
using cut_shape_cut =
    decltype(std::declval<const Policy&>().cut(std::declval<const View&>(), std::size_t{}, block_count{}));
template <class Policy>
using cut_shape_keeps_prefix = decltype(Policy::keeps_prefix);
}  // namespace detail

/// @brief The contract of a cut shape over a candidate view:
/// - `shaped_cut cut(const View&, std::size_t candidate, block_count wanted) const`: frees `wanted` blocks, or all that
///   can come free where those are fewer; a shorter range of the same shape would free less. `wanted` is at least 1.
/// - `static constexpr bool keeps_prefix`: every cut reaches to the candidate's end, so that what is left is a prefix
template <class Policy, class View>
inline constexpr bool is_cut_shape_v = detail::all({
    detail::is_detected_as_v<shaped_cut, detail::cut_shape_cut, Policy, View>,
    detail::is_detected_as_v<bool, detail::cut_shape_keeps_prefix, Policy>,
});

#if PAVE_HAS_CONCEPTS
template <class Policy, class View>
concept cut_shape_policy = is_cut_shape_v<Policy, View>;
#endif

/// @brief The end of a sequence: what it keeps is a prefix, which any engine can resume from. Shared blocks in the
/// range are given up without gain; a shared prefix before the first gain is kept.
/// @complexity linear in the blocks cut; where too few come free, in the blocks of the candidate
struct tail {
  static constexpr bool keeps_prefix = true;

  template <class View>
  [[nodiscard]] static constexpr shaped_cut cut(const View& view, std::size_t candidate, block_count wanted) noexcept {
    const block_count end = view.blocks(candidate);
    if (wanted <= end && view.reclaimable(candidate, end - wanted, end) == wanted) {
      return {{end - wanted, end}, wanted};
    }
    shaped_cut shaped{{end, end}, 0};
    for (block_count at = end; at > 0 && shaped.freed < wanted;) {
      at -= 1;
      if (view.reclaimable(candidate, at, at + 1) == 0) continue;
      shaped.freed += 1;
      shaped.blocks.first = at;
    }
    return shaped;
  }
};

}  // namespace v0
}  // namespace pave

#endif
