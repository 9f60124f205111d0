// SPDX-License-Identifier: Apache-2.0
// May sequences share a block? The pool's slot `sharing`.
#ifndef PAVE_POLICY_SHARING_HPP
#define PAVE_POLICY_SHARING_HPP

#include <pave/config.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/detail/detect.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace pave {
inline namespace v0 {

namespace detail {
template <class Policy>
using sharing_reserve = decltype(std::declval<Policy&>().reserve(block_count{}));
template <class Policy>
using sharing_holders = decltype(std::declval<const Policy&>().holders(block_id{}));
template <class Policy>
using sharing_hold = decltype(std::declval<Policy&>().hold(block_id{}));
template <class Policy>
using sharing_share = decltype(std::declval<Policy&>().share(block_id{}));
template <class Policy>
using sharing_drop = decltype(std::declval<Policy&>().drop(block_id{}));
template <class Policy>
using sharing_undo_drop = decltype(std::declval<Policy&>().undo_drop(block_id{}));
template <class Policy>
using sharing_settle = decltype(std::declval<Policy&>().settle(block_id{}));
}  // namespace detail

/// @brief The contract of sharing: who counts the holders of each block. Ids are in range, the pool sees to it.
/// - `bool reserve(block_count capacity)`: takes its memory, no block is held; false where memory is refused
/// - `std::uint32_t holders(block_id) const`: 0 for a free block
/// - `void hold(block_id)`: the first holder of a free block
/// - `bool share(block_id)`: one more holder of a held block; false where that cannot be
/// - `bool drop(block_id)`: one holder less; false, and no change, where there is none
/// - `void undo_drop(block_id)`: takes the latest drop of this block back, before it is settled
/// - `bool settle(block_id)`: true once after the drop of the last holder, and the block is then free
///
/// A release is drops first and settling after, so that one bad id among many leaves everything as it was.
template <class Policy>
inline constexpr bool is_sharing_v = detail::all({
    detail::is_detected_as_v<bool, detail::sharing_reserve, Policy>,
    detail::is_detected_as_v<std::uint32_t, detail::sharing_holders, Policy>,
    detail::is_detected_v<detail::sharing_hold, Policy>,
    detail::is_detected_as_v<bool, detail::sharing_share, Policy>,
    detail::is_detected_as_v<bool, detail::sharing_drop, Policy>,
    detail::is_detected_v<detail::sharing_undo_drop, Policy>,
    detail::is_detected_as_v<bool, detail::sharing_settle, Policy>,
});

#if PAVE_HAS_CONCEPTS
template <class Policy>
concept sharing_policy = is_sharing_v<Policy>;
#endif

/// @brief Any number of holders, counted.
/// @complexity constant a block; 4 bytes a block
class counted {
 public:
  [[nodiscard]] bool reserve(block_count capacity) noexcept {
    return holders_.reserve(static_cast<std::size_t>(capacity.value()));
  }
  [[nodiscard]] std::uint32_t holders(block_id block) const noexcept {
    const std::uint32_t count = holders_[block.index()];
    return count == unsettled ? 0 : count;
  }
  void hold(block_id block) noexcept { holders_[block.index()] = 1; }
  [[nodiscard]] bool share(block_id block) noexcept {
    std::uint32_t& count = holders_[block.index()];
    if (count >= unsettled - 1) return false;
    ++count;
    return true;
  }
  [[nodiscard]] bool drop(block_id block) noexcept {
    std::uint32_t& count = holders_[block.index()];
    if (count == 0 || count == unsettled) return false;
    count = count == 1 ? unsettled : count - 1;
    return true;
  }
  void undo_drop(block_id block) noexcept {
    std::uint32_t& count = holders_[block.index()];
    count = count == unsettled ? 1 : count + 1;
  }
  [[nodiscard]] bool settle(block_id block) noexcept {
    std::uint32_t& count = holders_[block.index()];
    if (count != unsettled) return false;
    count = 0;
    return true;
  }

 private:
  /// The last holder has gone, and the block is not in the free list yet.
  static constexpr std::uint32_t unsettled = (std::numeric_limits<std::uint32_t>::max)();

  detail::buffer<std::uint32_t> holders_;
};
static_assert(is_sharing_v<counted>);

}  // namespace v0
}  // namespace pave

#endif
