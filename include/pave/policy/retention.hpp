// SPDX-License-Identifier: Apache-2.0
// Is the content of a free block kept until the block is reused? The pool's slot `retention`.
#ifndef PAVE_POLICY_RETENTION_HPP
#define PAVE_POLICY_RETENTION_HPP

#include <pave/config.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/detail/detect.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace pave {
inline namespace v0 {

/// @brief The content of one block at one time: by it a free block is revived, if it was not reused since.
template <class Id>
struct basic_kept_block {
  Id block;
  std::uint32_t generation = 0;  ///< counts the block's contents from 1, and starts anew after 2^31 − 1 of them

  friend constexpr bool operator==(basic_kept_block a, basic_kept_block b) noexcept {
    return a.block == b.block && a.generation == b.generation;
  }
  friend constexpr bool operator!=(basic_kept_block a, basic_kept_block b) noexcept { return !(a == b); }
};
using kept_block = basic_kept_block<block_id>;

namespace detail {
template <class Policy>
using retention_keeps_content = decltype(Policy::keeps_content);
template <class Policy>
using retention_reserve = decltype(std::declval<Policy&>().reserve(block_count{}));
template <class Policy>
using retention_renew = decltype(std::declval<Policy&>().renew(block_id{}));
template <class Policy>
using retention_lose = decltype(std::declval<Policy&>().lose(block_id{}));
template <class Policy>
using retention_generation = decltype(std::declval<const Policy&>().generation(block_id{}));

/// Whether a retention says that it keeps content; one that does not say is refused elsewhere.
template <class Policy, class = void>
inline constexpr bool keeps_content_v = false;
template <class Policy>
inline constexpr bool keeps_content_v<Policy, std::void_t<retention_keeps_content<Policy>>> = Policy::keeps_content;
}  // namespace detail

/// @brief The contract of retention: who tells one content of a block from the next.
/// - `static constexpr bool keeps_content`: whether a free block's content can be asked for
/// - `bool reserve(block_count ids)`: takes memory for the ids 0 … ids − 1, and keeps what is there; false where memory
///   is refused
/// - `void renew(block_id)`: the block gets another content
/// - `void lose(block_id)`: the block has none, until it gets another one
/// - `std::uint32_t generation(block_id) const`: of the content that is there; 0, which no content has, where
///   there is none
template <class Policy>
inline constexpr bool is_retention_v = detail::all({
    detail::is_detected_as_v<bool, detail::retention_keeps_content, Policy>,
    detail::is_detected_as_v<bool, detail::retention_reserve, Policy>,
    detail::is_detected_v<detail::retention_renew, Policy>,
    detail::is_detected_v<detail::retention_lose, Policy>,
    detail::is_detected_as_v<std::uint32_t, detail::retention_generation, Policy>,
});

#if PAVE_HAS_CONCEPTS
template <class Policy>
concept retention_policy = is_retention_v<Policy>;
#endif

/// @brief A free block's content is gone.
struct forget {
  static constexpr bool keeps_content = false;

  [[nodiscard]] static bool reserve(block_count /*ids*/) noexcept { return true; }
  static void renew(block_id /*block*/) noexcept {}
  static void lose(block_id /*block*/) noexcept {}
  [[nodiscard]] static std::uint32_t generation(block_id /*block*/) noexcept { return 0; }
};
static_assert(is_retention_v<forget>);

/// @brief A free block's content stays until the block is reused, and can be revived by block and generation. Needs a
/// free list that can give a block out of its midst, as `least_recently_released` can.
/// @complexity constant a block; 4 bytes a block
class keep {
 public:
  static constexpr bool keeps_content = true;

  [[nodiscard]] bool reserve(block_count ids) noexcept {
    return generations_.reserve(static_cast<std::size_t>(ids.value()));
  }
  void renew(block_id block) noexcept {
    std::uint32_t& word = generations_[block.index()];
    word = (word & most) == most ? 1 : (word & most) + 1;
  }
  void lose(block_id block) noexcept { generations_[block.index()] |= lost; }
  [[nodiscard]] std::uint32_t generation(block_id block) const noexcept {
    const std::uint32_t word = generations_[block.index()];
    return (word & lost) == 0 ? word : 0;
  }

 private:
  static constexpr std::uint32_t lost = std::uint32_t{1} << 31U;
  static constexpr std::uint32_t most = lost - 1;

  detail::buffer<std::uint32_t> generations_;  // 0 until the first content; with `lost`, the last one that there was
};
static_assert(is_retention_v<keep>);

}  // namespace v0
}  // namespace pave

#endif
