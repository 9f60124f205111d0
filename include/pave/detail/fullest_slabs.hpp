// SPDX-License-Identifier: Apache-2.0
// Which of a pool's partly filled slabs has the fewest free blocks.
#ifndef PAVE_DETAIL_FULLEST_SLABS_HPP
#define PAVE_DETAIL_FULLEST_SLABS_HPP

#include <pave/detail/bitmap.hpp>
#include <pave/detail/bits.hpp>
#include <pave/detail/buffer.hpp>

#include <cstddef>
#include <cstdint>

namespace pave {
inline namespace v0 {
namespace detail {

/// A list of slabs for each number of free blocks, and a bitmap of the numbers that have some. A slab is known by the
/// number under which it was added.
/// @complexity constant, and log₆₄ of the blocks of a slab where a list begins or ends
class fullest_slabs {
 public:
  /// @param blocks_per_slab numbers of free blocks are below it
  [[nodiscard]] bool reserve(std::size_t slabs, std::size_t blocks_per_slab) noexcept {
    return links_.reserve(slabs) && heads_.reserve(blocks_per_slab) && numbers_.reserve(blocks_per_slab);
  }
  /// @pre it is in no list
  void add(std::size_t slab, std::size_t free) noexcept {
    const std::uint32_t next = heads_[free];
    links_[slab] = {0, next};
    heads_[free] = name(slab);
    if (next == 0) {
      flip(free);
    } else {
      links_[next - 1].previous = name(slab);
    }
  }
  /// @pre it was added under this number
  void remove(std::size_t slab, std::size_t free) noexcept {
    const link removed = links_[slab];
    if (removed.next != 0) links_[removed.next - 1].previous = removed.previous;
    if (removed.previous != 0) {
      links_[removed.previous - 1].next = removed.next;
      return;
    }
    heads_[free] = removed.next;
    if (removed.next == 0) flip(free);
  }
  /// The slab with the fewest free blocks; of equals, the one that was added last. @pre there is one
  [[nodiscard]] std::size_t first() const noexcept {
    const std::size_t at = numbers_.first_word();
    return heads_[at * word_bits + lowest_one(numbers_.word(at))] - 1;
  }

 private:
  struct link {
    std::uint32_t previous = 0;  // names; 0: none
    std::uint32_t next = 0;
  };

  static constexpr std::uint32_t name(std::size_t slab) noexcept { return static_cast<std::uint32_t>(slab + 1); }
  void flip(std::size_t free) noexcept {
    numbers_.set_word(free / word_bits, numbers_.word(free / word_bits) ^ bit_of(free));
  }

  buffer<link> links_;           // of each slab
  buffer<std::uint32_t> heads_;  // of each number of free blocks
  bitmap numbers_;               // whose list is not empty
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
