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
#include <type_traits>
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
using sharing_drop_only = decltype(std::declval<Policy&>().drop_only(block_id{}));
template <class Policy>
using sharing_undo_drop = decltype(std::declval<Policy&>().undo_drop(block_id{}));
template <class Policy>
using sharing_settle = decltype(std::declval<Policy&>().settle(block_id{}));
template <class Policy>
using sharing_pin = decltype(std::declval<Policy&>().pin(block_id{}));
template <class Policy>
using sharing_unpin = decltype(std::declval<Policy&>().unpin(block_id{}));
}  // namespace detail

/// @brief Whether several sequences can hold a block; a policy that does not say `can_share` lets them.
template <class Policy, class = void>
inline constexpr bool can_share_v = true;
template <class Policy>
inline constexpr bool can_share_v<Policy, std::void_t<decltype(Policy::can_share)>> = Policy::can_share;

/// @brief The contract of sharing: who counts the holders of each block, sequences and pins. Ids are in range, the pool
/// sees to it.
/// - `bool reserve(block_count ids)`: takes memory for the ids 0 … ids − 1, and keeps what is there; false where memory
///   is refused
/// - `std::uint32_t holders(block_id) const`: sequences and pins together; 0 for a free block
/// - `void hold(block_id)`: the first holder of a free block, a sequence
/// - `bool share(block_id)`: one more sequence holds a held block; false where that cannot be
/// - `bool drop(block_id)`: one sequence less; false, and no change, where there is none
/// - `void undo_drop(block_id)`: takes the latest drop of this block back, before it is settled
/// - `bool pin(block_id)`: one more pin of a held block; false where that cannot be
/// - `void unpin(block_id)`: one pin less, of those there are
/// - `bool settle(block_id)`: true once after the last holder has gone, and the block is then free
///
/// A release is drops first and settling after, so that one bad id among many leaves everything as it was. A policy may
/// have one member more, for speed: `bool drop_only(block_id)` drops a block's only holder and settles it at once;
/// false, and no change, where it has another number of them. `hold` undoes it.
template <class Policy>
inline constexpr bool is_sharing_v = detail::all({
    detail::is_detected_as_v<bool, detail::sharing_reserve, Policy>,
    detail::is_detected_as_v<std::uint32_t, detail::sharing_holders, Policy>,
    detail::is_detected_v<detail::sharing_hold, Policy>,
    detail::is_detected_as_v<bool, detail::sharing_share, Policy>,
    detail::is_detected_as_v<bool, detail::sharing_drop, Policy>,
    detail::is_detected_v<detail::sharing_undo_drop, Policy>,
    detail::is_detected_as_v<bool, detail::sharing_pin, Policy>,
    detail::is_detected_v<detail::sharing_unpin, Policy>,
    detail::is_detected_as_v<bool, detail::sharing_settle, Policy>,
});

#if PAVE_HAS_CONCEPTS
template <class Policy>
concept sharing_policy = is_sharing_v<Policy>;
#endif

namespace detail {

/// Counts holders in one `Word` a block: sequences in the low `SequenceBits`, up to `MostSequences`, and pins above.
/// So a release too many can never end a pin.
template <class Word, unsigned SequenceBits, std::uint32_t MostSequences>
class holder_words {
 public:
  static constexpr bool can_share = MostSequences > 1;

  [[nodiscard]] bool reserve(block_count ids) noexcept { return words_.reserve(static_cast<std::size_t>(ids.value())); }
  [[nodiscard]] std::uint32_t holders(block_id block) const noexcept {
    const Word word = words_[block.index()];
    return word == unsettled ? 0 : (word & sequence_mask) + (std::uint32_t{word} >> SequenceBits);
  }
  void hold(block_id block) noexcept { words_[block.index()] = 1; }
  [[nodiscard]] bool share(block_id block) noexcept {
    Word& word = words_[block.index()];
    if ((word & sequence_mask) >= MostSequences) return false;
    word = static_cast<Word>(word + 1U);
    return true;
  }
  [[nodiscard]] bool drop(block_id block) noexcept {
    Word& word = words_[block.index()];
    if ((word & sequence_mask) == 0 || word == unsettled) return false;
    word = word == 1 ? unsettled : static_cast<Word>(word - 1U);
    return true;
  }
  [[nodiscard]] bool drop_only(block_id block) noexcept {
    Word& word = words_[block.index()];
    if (word != 1) return false;
    word = 0;
    return true;
  }
  void undo_drop(block_id block) noexcept {
    Word& word = words_[block.index()];
    word = word == unsettled ? Word{1} : static_cast<Word>(word + 1U);
  }
  [[nodiscard]] bool pin(block_id block) noexcept {
    Word& word = words_[block.index()];
    if ((word >> SequenceBits) >= most_pins) return false;
    word = static_cast<Word>(word + one_pin);
    return true;
  }
  void unpin(block_id block) noexcept {
    Word& word = words_[block.index()];
    word = word == one_pin ? unsettled : static_cast<Word>(word - one_pin);
  }
  [[nodiscard]] bool settle(block_id block) noexcept {
    Word& word = words_[block.index()];
    if (word != unsettled) return false;
    word = 0;
    return true;
  }

 private:
  /// The last holder has gone, and the block is not in the free list yet.
  static constexpr Word unsettled = (std::numeric_limits<Word>::max)();
  static constexpr std::uint32_t one_pin = std::uint32_t{1} << SequenceBits;
  static constexpr std::uint32_t sequence_mask = one_pin - 1;
  static constexpr std::uint32_t most_pins = (unsettled >> SequenceBits) - 1U;  // so that no count looks unsettled

  buffer<Word> words_;
};

}  // namespace detail

/// @brief Any number of sequences hold a block, up to 2^24 − 1, and up to 254 pins.
/// @complexity constant a block; 4 bytes a block
class counted : public detail::holder_words<std::uint32_t, 24, (std::uint32_t{1} << 24U) - 1> {};
static_assert(is_sharing_v<counted>);

/// @brief One sequence holds a block, and up to 126 pins: for engines whose sequences never share.
/// @complexity constant a block; 1 byte a block
class exclusive : public detail::holder_words<std::uint8_t, 1, 1> {};
static_assert(is_sharing_v<exclusive>);

}  // namespace v0
}  // namespace pave

#endif
