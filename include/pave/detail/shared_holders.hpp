// SPDX-License-Identifier: Apache-2.0
// How many hold each block of a per_thread pool, counted by several threads at the same time.
#ifndef PAVE_DETAIL_SHARED_HOLDERS_HPP
#define PAVE_DETAIL_SHARED_HOLDERS_HPP

#include <pave/config.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/result.hpp>
#include <pave/units.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pave {
inline namespace v0 {
namespace detail {

/// A word a block: its holders, and how many of them are leaving. A release marks all that it names as leaving before
/// it takes the first holder away, so that one that is refused half-way takes its marks back and has freed nothing,
/// and nobody was misled: a block that others let go meanwhile is still held by the holder that stays.
template <class Atomics>
class shared_holders {
 public:
  static constexpr std::uint32_t most = 0xffff;

  /// Takes its memory, no block is held; false where memory is refused.
  [[nodiscard]] bool reserve(block_count blocks) noexcept {
    return words_.reserve(static_cast<std::size_t>(blocks.value()));
  }

  [[nodiscard]] std::uint32_t holders(block_id block) const noexcept {
    return words_[block.index()].load(std::memory_order_relaxed) / one_holder;
  }
  /// Whether a holder is there that is not leaving.
  [[nodiscard]] bool is_held(block_id block) const noexcept {
    return stays(words_[block.index()].load(std::memory_order_relaxed));
  }

  /// The first holder. @pre the block is free, and nobody else can get it
  void hold(block_id block) noexcept { words_[block.index()].store(one_holder, std::memory_order_relaxed); }

  /// One holder more: `not_held` where none stays, `table_full` where there are `most`.
  [[nodiscard]] errc share(block_id block) noexcept {
    auto& word = words_[block.index()];
    std::uint32_t seen = word.load(std::memory_order_relaxed);
    do {
      if (!stays(seen)) return errc::not_held;
      if (seen / one_holder == most) return errc::table_full;
      // Relaxed: whoever names a block knows of it already.
    } while (!word.compare_exchange_strong(seen, seen + one_holder, std::memory_order_relaxed));
    return errc::ok;
  }

  /// Marks one holder as leaving; false, and no change, where none stays.
  [[nodiscard]] bool mark(block_id block) noexcept {
    auto& word = words_[block.index()];
    std::uint32_t seen = word.load(std::memory_order_relaxed);
    do {
      if (!stays(seen)) return false;
    } while (!word.compare_exchange_strong(seen, seen + one_leaving, std::memory_order_relaxed));
    return true;
  }
  void unmark(block_id block) noexcept { words_[block.index()].fetch_sub(one_leaving, std::memory_order_relaxed); }

  /// Takes the marked holder away.
  /// @return true where it was the last: the block is free, and the caller's to put where free blocks are
  [[nodiscard]] bool drop_marked(block_id block) noexcept {
    auto& word = words_[block.index()];
    // Acquire and release: what the other holders did with the block comes before its next use.
    if (word.load(std::memory_order_acquire) == one_holder + one_leaving) {
      word.store(0, std::memory_order_relaxed);  // of one holder that leaves nobody else changes anything
      return true;
    }
    return word.fetch_sub(one_holder + one_leaving, std::memory_order_acq_rel) == one_holder + one_leaving;
  }

 private:
  static constexpr std::uint32_t one_leaving = 1;
  static constexpr std::uint32_t one_holder = most + 1;

  static constexpr bool stays(std::uint32_t word) noexcept { return word / one_holder > word % one_holder; }

  buffer<typename Atomics::template atomic<std::uint32_t>> words_;  // holders in the upper half, leaving in the lower
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
