// SPDX-License-Identifier: Apache-2.0
// From a model's shape to the bytes of a block and the address of each, in 64 bits.
#ifndef PAVE_LAYOUT_HPP
#define PAVE_LAYOUT_HPP

#include <pave/config.hpp>
#include <pave/units.hpp>

#include <cstdint>

namespace pave {
inline namespace v0 {

/// @brief Blocks that hold `tokens` tokens: the quotient, rounded up.
/// @pre tokens ≥ 0, tokens_per_block ≥ 1
/// @complexity constant; no intermediate value overflows
[[nodiscard]] constexpr block_count blocks_for(token_count tokens, token_count tokens_per_block) noexcept {
  PAVE_ASSERT(tokens.value() >= 0 && tokens_per_block.value() >= 1);
  const auto count = static_cast<std::uint64_t>(tokens.value());
  const auto each = static_cast<std::uint64_t>(tokens_per_block.value());
  return count / each + (count % each != 0 ? 1U : 0U);
}

/// @brief The shape of one KV group, and what follows from it.
struct kv_layout {
  std::int64_t layers = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_size = 0;
  std::int64_t element_bytes = 2;
  token_count tokens_per_block = 16;

  /// @return bytes of one token's keys and values, over all layers: `[layers, 2, kv_heads, head_size]`
  [[nodiscard]] constexpr byte_count bytes_per_token() const noexcept {
    return 2 * layers * kv_heads * head_size * element_bytes;
  }
  /// @return bytes of one block: `[layers, 2, kv_heads, tokens_per_block, head_size]`
  [[nodiscard]] constexpr byte_count bytes_per_block() const noexcept {
    return bytes_per_token().value() * tokens_per_block.value();
  }
  /// @return blocks that fit `memory`
  /// @pre bytes_per_block() > 0
  [[nodiscard]] constexpr block_count blocks_in(byte_count memory) const noexcept {
    return memory.value() / bytes_per_block().value();
  }
};

/// @brief Where a block begins in memory that holds blocks of `stride` bytes one after another.
/// @return the offset from the base, exact in 64 bits for every id of a pool
template <class Integer>
[[nodiscard]] constexpr byte_count block_offset(basic_block_id<Integer> block, byte_count stride) noexcept {
  return static_cast<std::int64_t>(block.value()) * stride.value();
}
/// @brief The same, for an integer that names a block.
[[nodiscard]] constexpr byte_count block_offset(block_id block, byte_count stride) noexcept {
  return std::int64_t{block.value()} * stride.value();
}

/// @brief How blocks of one size lie in a memory that is cut into equal slabs: block b is number b mod n of slab b / n,
/// where a slab holds n of them. What a slab has left over behind its last block stays unused.
struct slab_layout {
  byte_count slab_bytes = 0;
  byte_count block_bytes = 0;

  /// @return whether a slab holds a block
  [[nodiscard]] constexpr bool is_valid() const noexcept { return block_bytes >= 1 && block_bytes <= slab_bytes; }
  /// @return blocks that a slab holds
  /// @pre is_valid()
  [[nodiscard]] constexpr block_count blocks_per_slab() const noexcept {
    return slab_bytes.value() / block_bytes.value();
  }
  /// @return slabs that hold so many blocks: the quotient, rounded up
  /// @pre is_valid(), blocks ≥ 0
  [[nodiscard]] constexpr slab_count slabs_for(block_count blocks) const noexcept {
    const std::int64_t each = blocks_per_slab().value();
    return blocks.value() / each + (blocks.value() % each != 0 ? 1 : 0);
  }
  /// @return where a block begins, from the base of the memory, exact in 64 bits
  /// @pre is_valid(), `block` is a block of the memory
  template <class Integer>
  [[nodiscard]] constexpr byte_count offset(basic_block_id<Integer> block) const noexcept {
    const auto number = static_cast<std::int64_t>(block.value());
    const std::int64_t each = blocks_per_slab().value();
    return number / each * slab_bytes.value() + number % each * block_bytes.value();
  }
  /// @brief The same, for an integer that names a block.
  [[nodiscard]] constexpr byte_count offset(block_id block) const noexcept { return offset<std::int32_t>(block); }
};

}  // namespace v0
}  // namespace pave

#endif
