// SPDX-License-Identifier: Apache-2.0
// A set of numbers as bits, with words above them that say where the ones are.
#ifndef PAVE_DETAIL_BITMAP_HPP
#define PAVE_DETAIL_BITMAP_HPP

#include <pave/config.hpp>
#include <pave/detail/bits.hpp>
#include <pave/detail/buffer.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace pave {
inline namespace v0 {
namespace detail {

/// The bit of a number in its word.
[[nodiscard]] constexpr std::uint64_t bit_of(std::size_t number) noexcept {
  return std::uint64_t{1} << (number % word_bits);
}

/// Calls `body(at, bits)` for each word that has some of the numbers first … last − 1, with their bits in it.
template <class Body>
void for_each_word(std::size_t first, std::size_t last, Body&& body) noexcept {
  while (first < last) {
    const std::size_t at = first / word_bits;
    const std::size_t next = (std::min)(last, (at + 1) * word_bits);
    body(at, (all_ones >> (word_bits - (next - first))) << (first % word_bits));
    first = next;
  }
}

/// Level 0 has a bit for each number, and each level above one for each word below it: whether that has ones.
class bitmap {
 public:
  /// Takes memory for the numbers below `numbers`, and keeps what is there.
  [[nodiscard]] bool reserve(std::size_t numbers) noexcept {
    std::array<std::size_t, most_levels> words{};
    std::size_t levels = 0;
    do {
      const std::size_t below = levels == 0 ? numbers : words[levels - 1];
      words[levels++] = (std::max)((below + word_bits - 1) / word_bits, std::size_t{1});
    } while (words[levels - 1] > 1);
    // From the top down, so that no level has more words than the one above it can name.
    for (std::size_t level = levels; level > 0; --level) {
      if (!words_[level - 1].reserve(words[level - 1])) return false;
    }
    levels_ = (std::max)(levels, levels_.get());
    for (std::size_t level = 1; level < levels_; ++level) {  // a new one has not heard of what is below
      for (std::size_t at = 0; at < words_[level - 1].size(); ++at) {
        if (words_[level - 1][at] != 0) words_[level][at / word_bits] |= bit_of(at);
      }
    }
    return true;
  }

  [[nodiscard]] std::size_t words() const noexcept { return words_[0].size(); }
  [[nodiscard]] std::uint64_t word(std::size_t at) const noexcept { return words_[0][at]; }
  void set_word(std::size_t at, std::uint64_t word) noexcept {
    const bool had_ones = std::exchange(words_[0][at], word) != 0;
    const bool has_ones = word != 0;
    if (had_ones == has_ones) return;
    for (std::size_t level = 1; level < levels_; ++level) {
      std::uint64_t& above = words_[level][at / word_bits];
      const std::uint64_t before = above;
      above = has_ones ? before | bit_of(at) : before & ~bit_of(at);
      if ((before != 0) == (above != 0)) return;
      at /= word_bits;
    }
  }
  /// The lowest word with ones. @pre there is one
  [[nodiscard]] std::size_t first_word() const noexcept {
    std::size_t at = 0;
    for (std::size_t level = levels_; level > 1; --level) at = at * word_bits + lowest_one(words_[level - 1][at]);
    return at;
  }

 private:
  static constexpr std::size_t most_levels = 6;  // 2^36 numbers: more than ids of 32 bits name

  std::array<buffer<std::uint64_t>, most_levels> words_;
  zero_on_move<std::size_t> levels_;  // in use; the highest is one word
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
