// SPDX-License-Identifier: Apache-2.0
// Which blocks of a victim? The planner's slot `cut_shape`.
#ifndef PAVE_POLICY_CUT_SHAPE_HPP
#define PAVE_POLICY_CUT_SHAPE_HPP

#include <pave/candidates.hpp>
#include <pave/config.hpp>
#include <pave/detail/detect.hpp>
#include <pave/policy/restore_cost.hpp>
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
template <class Policy, class View, class Cost>
using cut_shape_priced_cut = decltype(std::declval<const Policy&>().cut(
    std::declval<const View&>(), std::declval<const Cost&>(), std::size_t{}, block_count{}));
template <class Policy>
using cut_shape_keeps_prefix = decltype(Policy::keeps_prefix);
}  // namespace detail

/// @brief The contract of a cut shape over a candidate view:
/// - `shaped_cut cut(const View&, std::size_t candidate, block_count wanted) const`: frees `wanted` blocks, or all that
///   can come free where those are fewer; a shorter range of the same shape would free less. `wanted` is at least 1. A
///   shape that looks at what a range costs has `cut(const View&, const Cost&, std::size_t candidate, block_count
///   wanted) const`, where `Cost` is the planner's `restore_cost`
/// - `static constexpr bool keeps_prefix`: every cut reaches to the candidate's end, so that what is left is a prefix
template <class Policy, class View>
inline constexpr bool is_cut_shape_v = detail::all({
    detail::is_detected_as_v<shaped_cut, detail::cut_shape_cut, Policy, View> ||
        detail::is_detected_as_v<shaped_cut, detail::cut_shape_priced_cut, Policy, View, recompute_cost>,
    detail::is_detected_as_v<bool, detail::cut_shape_keeps_prefix, Policy>,
});

#if PAVE_HAS_CONCEPTS
template <class Policy, class View>
concept cut_shape_policy = is_cut_shape_v<Policy, View>;
#endif

namespace detail {

/// The last blocks of a candidate, as many as free `wanted`, or all that can come free.
template <class View>
[[nodiscard]] constexpr shaped_cut cut_from_end(const View& view, std::size_t candidate, block_count wanted) noexcept {
  const block_count end = view.blocks(candidate);
  if (wanted <= end && come_free(view, candidate, {end - wanted, end})) return {{end - wanted, end}, wanted};
  if constexpr (is_detected_v<candidates_alone, View>) {
    return {{end - view.alone(candidate), end}, view.alone(candidate)};
  } else {
    shaped_cut shaped{{end, end}, 0};
    for (block_count at = end; at > 0 && shaped.freed < wanted;) {
      at -= 1;
      if (view.reclaimable(candidate, at, at + 1) == 0) continue;
      shaped.freed += 1;
      shaped.blocks.first = at;
    }
    return shaped;
  }
}

/// The first blocks that come free from `first` on, as many as are wanted, or all.
template <class View>
[[nodiscard]] constexpr shaped_cut cut_from(const View& view,
                                            std::size_t candidate,
                                            block_count first,
                                            block_count wanted) noexcept {
  const block_count end = view.blocks(candidate);
  first = next_free(view, candidate, first);
  if (wanted <= end - first && come_free(view, candidate, {first, first + wanted})) {
    return {{first, first + wanted}, wanted};
  }
  shaped_cut shaped{{first, first}, 0};
  for (block_count at = first; at < end && shaped.freed < wanted; at = next_free(view, candidate, at)) {
    at += 1;
    shaped.freed += 1;
    shaped.blocks.last = at;
  }
  return shaped;
}

/// The next range behind this one that frees as many, if there is one: without its first block, and with the next one
/// behind it that comes free.
template <class View>
[[nodiscard]] constexpr shaped_cut slide(const View& view, std::size_t candidate, shaped_cut window) noexcept {
  const block_count next = next_free(view, candidate, window.blocks.last);
  if (next == view.blocks(candidate)) return {window.blocks, 0};
  return {{next_free(view, candidate, window.blocks.first + 1), next + 1}, window.freed};
}

}  // namespace detail

/// @brief The end of a sequence: what it keeps is a prefix, which any engine can resume from. Shared blocks in the
/// range are given up without gain; a shared prefix before the first gain is kept.
/// @complexity linear in the blocks cut; where too few come free, in the blocks of the candidate
struct tail {
  static constexpr bool keeps_prefix = true;

  template <class View>
  [[nodiscard]] static constexpr shaped_cut cut(const View& view, std::size_t candidate, block_count wanted) noexcept {
    return detail::cut_from_end(view, candidate, wanted);
  }
};

/// @brief The first blocks that come free, behind what is shared: of all tokens these are the cheapest to compute
/// again, since they attend to the fewest. For engines that can prefill a gap below tokens that are kept. Blocks at the
/// end that have no content go before them, where those are enough.
/// @complexity linear in the blocks up to the last one cut
struct head_after_shared {
  static constexpr bool keeps_prefix = false;

  template <class View>
  [[nodiscard]] static constexpr shaped_cut cut(const View& view, std::size_t candidate, block_count wanted) noexcept {
    const block_count end = view.blocks(candidate);
    const bool is_without_content = wanted <= end - detail::filled_blocks(view, candidate);
    if (is_without_content && detail::come_free(view, candidate, {end - wanted, end})) {
      return {{end - wanted, end}, wanted};
    }
    return detail::cut_from(view, candidate, 0, wanted);
  }
};

/// @brief The range that is cheapest to bring back, by the planner's `restore_cost`; of equal ones the last. For
/// engines that can prefill a gap below tokens that are kept. It is at the first blocks that come free, where positions
/// cost the least, or at the end, where there may be blocks without content.
/// @complexity linear in the blocks of the candidate; constant where those that come free are known to be its last
struct cheapest_range {
  static constexpr bool keeps_prefix = false;

  template <class View, class Cost>
  [[nodiscard]] static constexpr shaped_cut cut(const View& view,
                                                const Cost& cost,
                                                std::size_t candidate,
                                                block_count wanted) noexcept {
    static_assert(detail::knows_tokens_v<View>,
                  "pave: cheapest_range prices what is lost: the candidate view needs `token_count tokens(std::size_t "
                  "i) const` and `token_count tokens_per_block() const`");
    shaped_cut best = detail::cut_from(view, candidate, 0, wanted);
    if constexpr (detail::knows_tokens_v<View>) {
      if (best.freed < wanted) return best;
      const auto price = [&](block_range blocks) { return cost.cost(detail::content_of(view, candidate, blocks)); };
      double least = price(best.blocks);
      const auto try_out = [&](const shaped_cut& one) {
        const double its = price(one.blocks);
        if (least < its) return;
        least = its;
        best = one;
      };
      const block_count end = view.blocks(candidate);
      if (detail::come_free(view, candidate, {best.blocks.first, end}) &&
          !detail::has_gaps(view, candidate, {best.blocks.first, end})) {
        // Between the two the cost rises with the position, and falls with the blocks that have no content.
        try_out({{end - wanted, end}, wanted});
      } else {
        for (shaped_cut one = best; one.freed > 0; one = detail::slide(view, candidate, one)) try_out(one);
      }
    }
    return best;
  }
};

}  // namespace v0
}  // namespace pave

#endif
