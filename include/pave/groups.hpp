// SPDX-License-Identifier: Apache-2.0
// What a KV group is: which blocks a sequence needs of it to go on at a position, and at which positions it can.
#ifndef PAVE_GROUPS_HPP
#define PAVE_GROUPS_HPP

#include <pave/layout.hpp>
#include <pave/units.hpp>

namespace pave {
inline namespace v0 {

/// @brief Layers of a model that keep the same of a sequence: their blocks come from one pool, and a sequence has one
/// block table for them. Logical block b holds the token positions [b · tokens_per_block, (b + 1) · tokens_per_block).
/// A group is one of three kinds:
/// - **full attention** (neither `window` nor `checkpoint`): to go on at position p, all of [0, p) is read
/// - **sliding window**: only [p − window, p) is read
/// - **recurrent state**: only the state after position p − 1 is read, and it lies in the block of that position. A
///   sequence's present state can be at any position; older ones are there only at checkpoints, the multiples of
///   `checkpoint`. (A block whose state is updated in place keeps the last one: `checkpoint` is `tokens_per_block`.)
/// Position 0 needs nothing: a sequence can always begin anew.
struct kv_group {
  token_count tokens_per_block = 16;
  token_count window = 0;      ///< positions before p; where a model's window counts the token itself, one less. 0: all
  token_count checkpoint = 0;  ///< tokens from one kept state to the next; 0: no state

  /// @return whether it is a group: it has a block size, and at most one of window and checkpoints
  [[nodiscard]] constexpr bool is_valid() const noexcept {
    return tokens_per_block >= 1 && window >= 0 && checkpoint >= 0 && (window == 0 || checkpoint == 0);
  }
  /// @return whether a sequence that goes on leaves blocks behind that it does not read again
  [[nodiscard]] constexpr bool leaves_blocks_behind() const noexcept { return window > 0 || checkpoint > 0; }

  /// @return the logical blocks that are read to go on at a position
  /// @pre is_valid(), position ≥ 0
  /// @complexity constant, as all here
  [[nodiscard]] constexpr block_range needed(token_count position) const noexcept {
    const block_count last = blocks_for(position, tokens_per_block);
    if (checkpoint > 0) return {detail::larger<block_count>(0, last - 1), last};
    if (window > 0 && position > window) return {(position - window).value() / tokens_per_block.value(), last};
    return {0, last};
  }
  /// @return the logical blocks before those: to go on, nobody reads them
  /// @pre is_valid(), position ≥ 0
  [[nodiscard]] constexpr block_range left_behind(token_count position) const noexcept {
    return {0, needed(position).first};
  }
  /// @return of a sequence's `blocks`, those that lie wholly beyond `kept` tokens: what a cut there takes
  /// @pre is_valid(), kept ≥ 0
  [[nodiscard]] constexpr block_range beyond(token_count kept, block_range blocks) const noexcept {
    const block_count first = blocks_for(kept, tokens_per_block);
    return {detail::smaller(detail::larger(first, blocks.first), blocks.last), blocks.last};
  }

  /// @return the last position up to `position` at which a sequence could go on, if it holds what it needs there
  /// @pre is_valid(), position ≥ 0
  [[nodiscard]] constexpr token_count last_resumable(token_count position) const noexcept {
    if (checkpoint == 0) return position;
    return position - position.value() % checkpoint.value();
  }
  /// @return whether a sequence could go on at a position, if it holds what it needs there
  /// @pre is_valid(), position ≥ 0
  [[nodiscard]] constexpr bool is_resumable(token_count position) const noexcept {
    return last_resumable(position) == position;
  }

  friend constexpr bool operator==(const kv_group& a, const kv_group& b) noexcept {
    return a.tokens_per_block == b.tokens_per_block && a.window == b.window && a.checkpoint == b.checkpoint;
  }
  friend constexpr bool operator!=(const kv_group& a, const kv_group& b) noexcept { return !(a == b); }
};

}  // namespace v0
}  // namespace pave

#endif
