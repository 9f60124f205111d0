// SPDX-License-Identifier: Apache-2.0
// What a full block contains, in 128 bits: a hash over its tokens and all before them.
#ifndef PAVE_BLOCK_HASH_HPP
#define PAVE_BLOCK_HASH_HPP

#include <pave/detail/sip_hash.hpp>
#include <pave/result.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

namespace pave {
inline namespace v0 {

/// @brief The name of a full block's content: of its tokens behind all tokens before them. Blocks of one name are taken
/// for equal, and nothing is compared: a hash of the engine's own has to be as wide as this one, and as hard to meet.
struct block_hash {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  friend constexpr bool operator==(block_hash a, block_hash b) noexcept { return a.low == b.low && a.high == b.high; }
  friend constexpr bool operator!=(block_hash a, block_hash b) noexcept { return !(a == b); }
};

/// @brief The key of a `block_hasher`. With one that is secret nobody who chooses tokens can look for two blocks of one
/// hash. All ranks of an engine, and all that exchange hashes, have the same one.
struct hash_key {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

/// @brief Hashes blocks, each over the hash of the one before it.
///
/// The hash is SipHash-2-4 with 128 bits (Aumasson and Bernstein, 2012, and their reference code) over 64-bit words in
/// little-endian order: the hash before (`low`, `high`), the number of tokens, the tokens in 32 bits each, filled up by
/// zeros to a whole word, and what else there is. Among n blocks two meet by accident with a probability of n² / 2^129:
/// for 2^40 blocks 10^-15.
/// @threadsafety const members from any thread
class block_hasher {
 public:
  block_hasher() noexcept = default;
  explicit constexpr block_hasher(hash_key key) noexcept : key_(key) {}

  /// @return what stands before a sequence's first block
  /// @param salt sequences with different ones never find each other's blocks: one for each tenant
  [[nodiscard]] static constexpr block_hash root(std::uint64_t salt = 0) noexcept { return {salt, 0}; }

  /// @param before the hash of the block before, or the root
  /// @param tokens all tokens of a block, by the low 32 bits of their ids: anything with `std::data` and `std::size`
  /// @param besides what else its keys and values depend on: an adapter, the pictures in it
  /// @complexity linear in the tokens
  template <class Tokens>
  [[nodiscard]] constexpr block_hash operator()(block_hash before,
                                                const Tokens& tokens,
                                                span<const std::uint64_t> besides = {}) const noexcept {
    return hash(before, as_span(tokens), besides);
  }

  /// @brief Hashes each full block of a prompt.
  /// @param before the hash of the block before the first, or the root
  /// @param tokens from the first token of a block on
  /// @param tokens_per_block at least 1
  /// @param hashes [out] one for each full block
  /// @return how many these are
  /// @error `invalid_argument`: no tokens a block
  /// @error `buffer_too_small`, with the hashes that there is no room for; nothing is written
  /// @complexity linear in the tokens
  template <class Tokens>
  constexpr result<std::size_t> hash_blocks(block_hash before,
                                            const Tokens& tokens,
                                            token_count tokens_per_block,
                                            span<block_hash> hashes) const noexcept {
    if (tokens_per_block < 1) return errc::invalid_argument;
    const auto all = as_span(tokens);
    const auto each = static_cast<std::uint64_t>(tokens_per_block.value());
    const auto full = static_cast<std::size_t>(all.size() / each);
    if (full > hashes.size()) return error{errc::buffer_too_small, block_count(full - hashes.size())};
    for (std::size_t i = 0; i < full; ++i) {
      const auto size = static_cast<std::size_t>(each);
      hashes[i] = before = hash(before, all.subspan(i * size, size), {});
    }
    return full;
  }

 private:
  template <class Tokens>
  [[nodiscard]] static constexpr auto as_span(const Tokens& tokens) noexcept {
    return span<const std::remove_reference_t<decltype(*std::data(tokens))>>(std::data(tokens), std::size(tokens));
  }
  template <class Token>
  [[nodiscard]] constexpr block_hash hash(block_hash before,
                                          span<Token> tokens,
                                          span<const std::uint64_t> besides) const noexcept {
    static_assert(std::is_integral_v<Token>, "pave: tokens are hashed by their integer ids");
    detail::sip_hash sum(key_.low, key_.high);
    sum.add(before.low);
    sum.add(before.high);
    sum.add(tokens.size());
    const auto id = [&](std::size_t i) noexcept { return std::uint64_t{static_cast<std::uint32_t>(tokens[i])}; };
    std::size_t i = 0;
    for (; i + 1 < tokens.size(); i += 2) sum.add(id(i) | id(i + 1) << 32U);
    if (i < tokens.size()) sum.add(id(i));
    for (const std::uint64_t word : besides) sum.add(word);
    sum.end();
    return {sum.low(), sum.high()};
  }

  hash_key key_;
};

}  // namespace v0
}  // namespace pave

#endif
