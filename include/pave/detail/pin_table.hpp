// SPDX-License-Identifier: Apache-2.0
// Which blocks each pin holds, so that a pin ends by its token alone.
#ifndef PAVE_DETAIL_PIN_TABLE_HPP
#define PAVE_DETAIL_PIN_TABLE_HPP

#include <pave/detail/buffer.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>

namespace pave {
inline namespace v0 {

/// @brief Names one pin: where it is, and how often that place was given out.
struct pin_token {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;  ///< pins that hold count from 1

  friend constexpr bool operator==(pin_token a, pin_token b) noexcept {
    return a.slot == b.slot && a.generation == b.generation;
  }
  friend constexpr bool operator!=(pin_token a, pin_token b) noexcept { return !(a == b); }
};

namespace detail {

/// One entry for each block of each pin; those of a pin are a chain, and its first one is its slot.
class pin_table {
 public:
  static constexpr std::uint32_t most = 0xFFFFFFFFU;  // entries; the last number names none

  /// @pre entries ≤ most
  [[nodiscard]] bool reserve(std::size_t entries) noexcept {
    if (!entries_.reserve(entries)) return false;
    for (std::size_t i = entries; i > 0; --i) give_back(static_cast<std::uint32_t>(i - 1));
    return true;
  }
  /// @return how many blocks more can be pinned
  [[nodiscard]] std::size_t room() const noexcept { return free_entries_.get(); }

  /// @pre not empty, and no more than there is room for
  template <class Id>
  pin_token add(span<const Id> blocks) noexcept {
    std::uint32_t next = end;
    for (std::size_t i = blocks.size(); i > 0; --i) {
      const std::uint32_t at = first_free_;
      entry& e = entries_[at];
      first_free_ = e.next;
      free_entries_.get() -= 1;
      e.block = id_cast<block_id>(blocks[i - 1]);
      e.next = next;
      next = at;
    }
    entry& first = entries_[next];
    first.is_first = true;
    if (++first.generation == 0) first.generation = 1;
    return {next, first.generation};
  }

  [[nodiscard]] bool holds(pin_token token) const noexcept {
    if (token.slot >= entries_.size()) return false;
    const entry& e = entries_[token.slot];
    return e.is_first && e.generation == token.generation;
  }

  /// Ends a pin. @pre holds(token)
  /// @param each called with each of its blocks, in the order in which they were named
  template <class Each>
  void remove(pin_token token, Each&& each) noexcept {
    entries_[token.slot].is_first = false;
    for (std::uint32_t at = token.slot; at != end;) {
      const std::uint32_t next = entries_[at].next;
      each(entries_[at].block);
      give_back(at);
      at = next;
    }
  }

  /// @param each called with each block of each pin
  template <class Each>
  void each_block(Each&& each) const noexcept {
    for (std::size_t slot = 0; slot < entries_.size(); ++slot) {
      if (!entries_[slot].is_first) continue;
      for (std::uint32_t at = static_cast<std::uint32_t>(slot); at != end; at = entries_[at].next) {
        each(entries_[at].block);
      }
    }
  }

 private:
  struct entry {
    block_id block;
    std::uint32_t next = end;
    std::uint32_t generation = 0;  // of the pins whose first block was here
    bool is_first = false;         // of a pin that holds
  };
  static constexpr std::uint32_t end = most;

  void give_back(std::uint32_t at) noexcept {
    entries_[at].next = first_free_;
    first_free_ = at;
    free_entries_.get() += 1;
  }

  buffer<entry> entries_;
  zero_on_move<std::size_t> free_entries_;
  std::uint32_t first_free_ = end;
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
