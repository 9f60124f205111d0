// SPDX-License-Identifier: Apache-2.0
// The candidates that may be cut, in the planner's order, found by looking at all of them.
#ifndef PAVE_DETAIL_VICTIM_SCAN_HPP
#define PAVE_DETAIL_VICTIM_SCAN_HPP

#include <pave/candidates.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace pave {
inline namespace v0 {
namespace detail {

/// Hands out candidates in batches. A scan keeps only the first ones in order that may free as many blocks as are
/// wanted: mostly one or two.
/// @tparam Before (a, b): a is cut before b; a strict order of all candidates
/// @tparam MayBeCut (i)
template <class View, class Before, class MayBeCut>
class victim_scan {
 public:
  /// @param room for `view.size()` indices
  victim_scan(const View& view, const Before& before, const MayBeCut& may_be_cut, span<std::uint32_t> room) noexcept
      : view_(view), before_(before), may_be_cut_(may_be_cut), room_(room) {}

  /// @return the next ones, in order, that may free `wanted` blocks, or all that are left; empty when none is
  span<const std::uint32_t> next(block_count wanted) noexcept {
    std::size_t size = 0;
    block_count held = 0;
    bool is_enough = false;
    std::uint32_t* const heap = room_.data();  // the last in order on top
    // From the end: engines list who came last behind the others, and it is mostly the first to go.
    for (auto i = static_cast<std::uint32_t>(view_.size()); i-- > 0;) {
      if (is_enough && !before_(i, heap[0])) continue;  // nearly all
      if (!may_be_cut_(i) || (last_ && !before_(*last_, i))) continue;
      heap[size++] = i;
      std::push_heap(heap, heap + size, before_);
      held += most_freed(view_, i);
      while (size > least_ && held - most_freed(view_, heap[0]) >= wanted) {
        held -= most_freed(view_, heap[0]);
        std::pop_heap(heap, heap + size--, before_);
      }
      is_enough = size >= least_ && held >= wanted;
    }
    std::sort(heap, heap + size, before_);
    if (size > 0) last_ = heap[size - 1];
    least_ *= 4;  // those that hold only shared blocks give nothing: so few scans are enough, however many they are
    return {heap, size};
  }

 private:
  const View& view_;
  const Before& before_;
  const MayBeCut& may_be_cut_;
  span<std::uint32_t> room_;
  std::optional<std::uint32_t> last_;  // that was handed out
  std::size_t least_ = 1;              // as many in a batch
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
