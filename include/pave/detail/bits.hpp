// SPDX-License-Identifier: Apache-2.0
// The ones of a 64-bit word, and how many of them stand in a row.
#ifndef PAVE_DETAIL_BITS_HPP
#define PAVE_DETAIL_BITS_HPP

#include <pave/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace pave {
inline namespace v0 {
namespace detail {

inline constexpr std::size_t word_bits = 64;
inline constexpr std::uint64_t all_ones = ~std::uint64_t{0};

/// Where the lowest one is, in plain C++. @pre there is one
[[nodiscard]] constexpr std::size_t plain_lowest_one(std::uint64_t word) noexcept {
  std::size_t at = 0;
  for (std::size_t half = word_bits / 2; half > 0; half /= 2) {
    if ((word & (all_ones >> (word_bits - half))) != 0) continue;
    word >>= half;
    at += half;
  }
  return at;
}
/// Where the highest one is, in plain C++. @pre there is one
[[nodiscard]] constexpr std::size_t plain_highest_one(std::uint64_t word) noexcept {
  std::size_t at = 0;
  for (std::size_t half = word_bits / 2; half > 0; half /= 2) {
    if ((word >> half) == 0) continue;
    word >>= half;
    at += half;
  }
  return at;
}

#if PAVE_HAS_BIT_BUILTINS
[[nodiscard]] constexpr std::size_t lowest_one(std::uint64_t word) noexcept {
  return static_cast<std::size_t>(__builtin_ctzll(word));
}
[[nodiscard]] constexpr std::size_t highest_one(std::uint64_t word) noexcept {
  return word_bits - 1 - static_cast<std::size_t>(__builtin_clzll(word));
}
#else
[[nodiscard]] constexpr std::size_t lowest_one(std::uint64_t word) noexcept { return plain_lowest_one(word); }
[[nodiscard]] constexpr std::size_t highest_one(std::uint64_t word) noexcept { return plain_highest_one(word); }
#endif

[[nodiscard]] constexpr std::size_t count_ones(std::uint64_t word) noexcept {
  std::size_t count = 0;
  for (; word != 0; word &= word - 1) ++count;
  return count;
}

/// How many ones in a row begin at the lowest bit.
[[nodiscard]] constexpr std::size_t ones_at_front(std::uint64_t word) noexcept {
  return word == all_ones ? word_bits : lowest_one(~word);
}
/// How many ones in a row end at the highest bit.
[[nodiscard]] constexpr std::size_t ones_at_back(std::uint64_t word) noexcept {
  return word == all_ones ? word_bits : word_bits - 1 - highest_one(~word);
}

/// Where `length` ones in a row begin, as a word. @pre 1 ≤ length ≤ 64
[[nodiscard]] constexpr std::uint64_t starts_of_ones(std::uint64_t word, std::size_t length) noexcept {
  for (std::size_t have = 1; have < length;) {
    const std::size_t more = (std::min)(have, length - have);
    word &= word >> more;
    have += more;
  }
  return word;
}

/// The most ones in a row. @complexity linear in them: most rows are short
[[nodiscard]] constexpr std::size_t longest_ones(std::uint64_t word) noexcept {
  if (word == all_ones) return word_bits;
  std::size_t length = 0;
  for (; word != 0; word &= word >> 1U) ++length;
  return length;
}

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
