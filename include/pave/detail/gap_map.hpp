// SPDX-License-Identifier: Apache-2.0
// Which blocks of each sequence's tokens are missing below others that are not.
#ifndef PAVE_DETAIL_GAP_MAP_HPP
#define PAVE_DETAIL_GAP_MAP_HPP

#include <pave/detail/bits.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>

namespace pave {
inline namespace v0 {
namespace detail {

/// A bit a block. What the bits of blocks say that a sequence does not have, or has all of, is of no meaning: whoever
/// asks knows where to look.
class gap_map {
 public:
  /// @param unit tokens of a block; 0: no sequence ever has such gaps, and nothing is stored
  [[nodiscard]] bool reserve(std::size_t sequences, token_count longest, token_count unit) noexcept {
    unit_ = unit.value();
    if (unit_ == 0) return true;
    const std::int64_t blocks = (longest.value() - 1) / unit_ + 1;
    words_ = static_cast<std::size_t>((blocks - 1) / static_cast<std::int64_t>(word_bits) + 1);
    return words_of_.reserve(sequences, words_);
  }

  [[nodiscard]] bool stores_gaps() const noexcept { return unit_ != 0; }
  [[nodiscard]] bool is_boundary(token_count at) const noexcept { return at.value() % unit_ == 0; }
  [[nodiscard]] token_count start_of_block(token_count at) const noexcept { return at.value() / unit_ * unit_; }

  [[nodiscard]] bool is_missing(std::size_t sequence, token_count at) const noexcept {
    const std::size_t block = block_of(at);
    return (word(sequence, block) >> (block % word_bits) & 1U) != 0;
  }
  /// Marks the blocks that begin in a range of tokens.
  void set(std::size_t sequence, token_range range, bool is_missing) noexcept {
    const std::size_t last = block_of(range.last.value() + unit_ - 1);
    for (std::size_t block = block_of(range.first.value() + unit_ - 1); block < last;) {
      const std::size_t in_word = block % word_bits;
      const std::size_t count = smaller(last - block, word_bits - in_word);
      const std::uint64_t mask = all_ones >> (word_bits - count) << in_word;
      std::uint64_t& w = words_of_[sequence * words_ + block / word_bits];
      w = is_missing ? w | mask : w & ~mask;
      block += count;
    }
  }
  /// The first token from `at` on whose block is missing, or is not; `end` where there is none before it.
  [[nodiscard]] token_count next(std::size_t sequence, token_count at, token_count end, bool missing) const noexcept {
    if (end <= at || is_missing(sequence, at) == missing) return smaller(at, end);
    for (std::size_t block = block_of(at) + 1;;) {
      const auto start = static_cast<std::int64_t>(block) * unit_;
      if (end <= start) return end;
      const std::uint64_t bits = word(sequence, block) >> (block % word_bits);
      const std::uint64_t wanted = missing ? bits : ~bits;
      const std::size_t left = word_bits - block % word_bits;
      const std::size_t first = wanted == 0 ? left : lowest_one(wanted);
      if (first < left) return smaller<token_count>(start + static_cast<std::int64_t>(first) * unit_, end);
      block += left;
    }
  }
  /// Tokens of a range whose blocks are missing.
  [[nodiscard]] token_count missing(std::size_t sequence, token_range range) const noexcept {
    token_count sum = 0;
    for (token_count at = next(sequence, range.first, range.last, true); at < range.last;) {
      const token_count behind = next(sequence, at, range.last, false);
      sum += behind - at;
      at = next(sequence, behind, range.last, true);
    }
    return sum;
  }

 private:
  [[nodiscard]] std::size_t block_of(token_count at) const noexcept {
    return static_cast<std::size_t>(at.value() / unit_);
  }
  [[nodiscard]] std::uint64_t word(std::size_t sequence, std::size_t block) const noexcept {
    return words_of_[sequence * words_ + block / word_bits];
  }

  buffer<std::uint64_t> words_of_;  // [sequences, words]
  std::size_t words_ = 0;
  std::int64_t unit_ = 0;
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
