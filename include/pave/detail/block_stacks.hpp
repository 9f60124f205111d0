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
///
/// So that threads do not write into each other's cache lines, blocks whose words share one have the same home: the
/// stack that they go to, whoever releases them. It is the one that last found one of them on another stack. So blocks
/// that were mixed over several threads come together again as they are released. A home is a hint, as a block may lie
/// on any stack. At first each stack has a run of neighbouring blocks.
/// @cite R. K. Treiber, Systems Programming: Coping with Parallelism, IBM RJ 5118, 1986
template <class Atomics>
class block_stacks {
 public:
  static constexpr std::size_t nowhere = ~std::size_t{0};
  /// Blocks of one home that only the calling thread knows, linked one to the next.
  struct chain {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::size_t home = nowhere;
  };

  /// Takes its memory; false where memory is refused.
  [[nodiscard]] bool reserve(std::size_t stacks, block_count blocks) noexcept {
    const auto size = static_cast<std::size_t>(blocks.value());
    if (!stacks_.reserve(stacks) || !links_.reserve(size) || !homes_.reserve((size + neighbours - 1) / neighbours)) {
      return false;
    }
    while (farthest_ + 1 < stacks) farthest_ = 2 * farthest_ + 1;
    const std::size_t run = (size + stacks - 1) / stacks;
    for (std::size_t stack = 0; stack < stacks; ++stack) {
      const std::size_t first = (std::min)(size, stack * run);
      const std::size_t last = (std::min)(size, first + run);
      for (std::size_t i = first; i < last; ++i) {
        links_[i].store(i + 1 < last ? name(i + 1) : 0, relaxed);
        homes_[i / neighbours].store(static_cast<std::uint8_t>(stack), relaxed);
      }
      stacks_[stack].head.store(first < last ? name(first) : 0, relaxed);
      stacks_[stack].distance.store(static_cast<std::uint32_t>(farthest_), relaxed);
    }
    return true;
  }

  /// Puts a block before the others of the chain, which is pushed first where its home is another.
  void add(chain& blocks, block_id block) noexcept {
    const std::size_t home = homes_[block.index() / neighbours].load(relaxed);
    if (blocks.home != home) {
      if (blocks.first != 0) push(blocks);
      blocks = {0, name(block.index()), home};
    }
    links_[block.index()].store(blocks.first, relaxed);
    blocks.first = name(block.index());
  }

  /// @pre the chain is not empty
  void push(const chain& blocks) noexcept {
    auto& head = stacks_[blocks.home].head;
    std::uint64_t seen = head.load(relaxed);
    do {
      links_[blocks.last - 1].store(first_of(seen), relaxed);
      // Release: who pops a block sees its link, and all that was done with the block.
    } while (!head.compare_exchange_strong(seen, changed(seen, blocks.first), std::memory_order_release, relaxed));
  }

  /// Fills `out`: from this stack, then from the others, of whose blocks it becomes the home. It stays with one of them
  /// until that is empty: two stacks without blocks would else take the same few from each other again and again.
  /// @pre as many blocks as all calls that are in here want are on the stacks, or on their way out
  void pop(std::size_t stack, span<block_id> out) noexcept {
    std::size_t given = pop_some(stack, out);
    if (given == out.size()) return;
    std::size_t distance = stacks_[stack].distance.load(relaxed);
    // One round may miss blocks that were pushed behind it; then other calls have popped as many before it.
    while (given < out.size()) {
      const std::size_t other = stack ^ distance;
      if (other < stacks_.size()) {
        const span<block_id> rest = out.subspan(given, out.size() - given);
        const std::size_t found = pop_some(other, rest);
        settle(stack, rest.first(found));
        given += found;
        if (first_of(stacks_[other].head.load(relaxed)) != 0) continue;
      }
      distance = distance == 0 ? farthest_ : distance - 1;
    }
    stacks_[stack].distance.store(static_cast<std::uint32_t>(distance), relaxed);
  }

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;
  static constexpr unsigned name_bits = 31;
  static constexpr std::size_t neighbours = cache_line / sizeof(std::uint32_t);  // blocks whose words share a line

  /// What a link and a head call a block; 0 is none.
  static constexpr std::uint32_t name(std::size_t block) noexcept { return static_cast<std::uint32_t>(block + 1); }
  static constexpr std::uint32_t first_of(std::uint64_t head) noexcept {
    return static_cast<std::uint32_t>(head & ((std::uint64_t{1} << name_bits) - 1));
  }
  static constexpr std::uint64_t changed(std::uint64_t head, std::uint32_t first) noexcept {
    return ((head >> name_bits) + 1) << name_bits | first;
  }

  /// Makes the stack the home of these blocks and their neighbours.
  void settle(std::size_t stack, span<const block_id> blocks) noexcept {
    for (const block_id block : blocks) {
      auto& home = homes_[block.index() / neighbours];
      if (home.load(relaxed) != stack) home.store(static_cast<std::uint8_t>(stack), relaxed);
    }
  }

  /// @return how many it popped: fewer than `out` has room for where the stack has fewer
  [[nodiscard]] std::size_t pop_some(std::size_t stack, span<block_id> out) noexcept {
    auto& head = stacks_[stack].head;
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

  struct alignas(cache_line) stack_of_blocks {
    typename Atomics::template atomic<std::uint64_t> head{};
    typename Atomics::template atomic<std::uint32_t> distance{};  // to where `pop` looks next; a hint, too
  };

  buffer<stack_of_blocks> stacks_;
  buffer<typename Atomics::template atomic<std::uint32_t>> links_;
  buffer<typename Atomics::template atomic<std::uint8_t>> homes_;  // of each `neighbours` blocks, the number of a stack
  std::size_t farthest_ = 0;                                       // all bits that the number of a stack may have
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
