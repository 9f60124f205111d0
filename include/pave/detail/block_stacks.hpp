// SPDX-License-Identifier: Apache-2.0
// Where the free blocks of a per_thread pool lie: one lock-free stack for each handle, over one array of links.
#ifndef PAVE_DETAIL_BLOCK_STACKS_HPP
#define PAVE_DETAIL_BLOCK_STACKS_HPP

#include <pave/config.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/detail/cache_line.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pave {
inline namespace v0 {
namespace detail {

/// Stacks of blocks that any thread pushes to and pops from. A head is the first block and a tag that every change
/// counts up: without it, a pop could succeed on a head that came back with other links behind it.
/// A new one gives each stack a run of neighbouring blocks, so that threads do not write into each other's cache lines.
/// @cite R. K. Treiber, Systems Programming: Coping with Parallelism, IBM RJ 5118, 1986
template <class Atomics>
class block_stacks {
 public:
  /// Blocks that only the calling thread knows, linked one to the next.
  struct chain {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::size_t size = 0;
  };

  /// Takes its memory; false where memory is refused.
  [[nodiscard]] bool reserve(std::size_t stacks, block_count blocks) noexcept {
    const auto size = static_cast<std::size_t>(blocks.value());
    if (!heads_.reserve(stacks) || !links_.reserve(size)) return false;
    const std::size_t run = (size + stacks - 1) / stacks;
    for (std::size_t stack = 0; stack < stacks; ++stack) {
      const std::size_t first = (std::min)(size, stack * run);
      const std::size_t last = (std::min)(size, first + run);
      for (std::size_t i = first; i < last; ++i) links_[i].store(i + 1 < last ? name(i + 1) : 0, relaxed);
      heads_[stack].word.store(first < last ? name(first) : 0, relaxed);
    }
    while (farthest_ + 1 < stacks) farthest_ = 2 * farthest_ + 1;
    return true;
  }

  /// Puts a block before the others of the chain.
  void add(chain& blocks, block_id block) noexcept {
    links_[block.index()].store(blocks.first, relaxed);
    blocks.first = name(block.index());
    if (blocks.size++ == 0) blocks.last = blocks.first;
  }

  /// @pre the chain is not empty
  void push(std::size_t stack, const chain& blocks) noexcept {
    auto& head = heads_[stack].word;
    std::uint64_t seen = head.load(relaxed);
    do {
      links_[blocks.last - 1].store(first_of(seen), relaxed);
      // Release: who pops a block sees its link, and all that was done with the block.
    } while (!head.compare_exchange_strong(seen, changed(seen, blocks.first), std::memory_order_release, relaxed));
  }

  /// Fills `out`: from this stack, then from the others, those that handles of their own use last.
  /// @pre as many blocks as all calls that are in here want are on the stacks, or on their way out
  void pop(std::size_t stack, span<block_id> out) noexcept {
    std::size_t given = pop_some(stack, out);
    // One round may miss blocks that were pushed behind it; then other calls have popped as many before it.
    for (std::size_t distance = farthest_; given < out.size(); distance = distance == 0 ? farthest_ : distance - 1) {
      const std::size_t other = stack ^ distance;
      if (other < heads_.size()) given += pop_some(other, out.subspan(given, out.size() - given));
    }
  }

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;
  static constexpr unsigned name_bits = 31;

  /// What a link and a head call a block; 0 is none.
  static constexpr std::uint32_t name(std::size_t block) noexcept { return static_cast<std::uint32_t>(block + 1); }
  static constexpr std::uint32_t first_of(std::uint64_t head) noexcept {
    return static_cast<std::uint32_t>(head & ((std::uint64_t{1} << name_bits) - 1));
  }
  static constexpr std::uint64_t changed(std::uint64_t head, std::uint32_t first) noexcept {
    return ((head >> name_bits) + 1) << name_bits | first;
  }

  /// @return how many it popped: fewer than `out` has room for where the stack has fewer
  [[nodiscard]] std::size_t pop_some(std::size_t stack, span<block_id> out) noexcept {
    auto& head = heads_[stack].word;
    for (;;) {
      std::uint64_t seen = head.load(std::memory_order_acquire);
      std::uint32_t next = first_of(seen);
      std::size_t size = 0;
      for (; size < out.size() && next != 0; ++size) {
        out[size] = next - 1;
        // Where others pop and push meanwhile this is any block's link: in range, and the exchange fails.
        next = links_[next - 1].load(relaxed);
      }
      if (size == 0) return 0;
      if (head.compare_exchange_strong(seen, changed(seen, next), std::memory_order_acquire, relaxed)) return size;
    }
  }

  buffer<on_own_line<typename Atomics::template atomic<std::uint64_t>>> heads_;
  buffer<typename Atomics::template atomic<std::uint32_t>> links_;
  std::size_t farthest_ = 0;  // all bits that the number of a stack may have
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
