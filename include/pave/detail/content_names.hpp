// SPDX-License-Identifier: Apache-2.0
// What each sequence's full blocks contain, by name: two of one name have the same content.
#ifndef PAVE_DETAIL_CONTENT_NAMES_HPP
#define PAVE_DETAIL_CONTENT_NAMES_HPP

#include <pave/block_hash.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace pave {
inline namespace v0 {
namespace detail {

/// A name that no other content has. @param count a different one each time
template <class Name>
constexpr Name unique_name(std::uint64_t count) noexcept;
template <>
constexpr std::uint64_t unique_name<std::uint64_t>(std::uint64_t count) noexcept {
  return count;
}
template <>
constexpr block_hash unique_name<block_hash>(std::uint64_t count) noexcept {
  return {count, ~std::uint64_t{0}};
}

/// Names of the first logical blocks of each sequence. Some are the engine's hashes; what a fork shares, and has none,
/// gets one that nothing else has.
/// @tparam Name `block_hash`, or `std::uint64_t` where the engine gives none
template <class Name>
class content_names {
 public:
  /// @param width blocks of the longest sequence
  [[nodiscard]] bool reserve(std::size_t sequences, block_count width) noexcept {
    width_ = static_cast<std::size_t>(width.value());
    return rows_.reserve(sequences) && names_.reserve_raw(sequences, width_);
  }
  [[nodiscard]] block_count width() const noexcept { return width_; }

  /// Logical blocks [0, end) of the sequence in `slot` have names.
  [[nodiscard]] block_count end(std::uint32_t slot) const noexcept { return rows_[slot].end; }
  /// @pre block < end(slot)
  [[nodiscard]] Name operator()(std::uint32_t slot, block_count block) const noexcept {
    return names_[index(slot, block)];
  }

  void clear(std::uint32_t slot) noexcept { rows_[slot] = {}; }
  /// What follows the first `end` blocks is not its content any more.
  void truncate(std::uint32_t slot, block_count end) noexcept {
    rows_[slot].end = smaller(rows_[slot].end, end);
    lose(slot, end);
  }
  /// In place of all names from `first` on. @pre first ≤ end(slot), and they fit
  void set(std::uint32_t slot, block_count first, span<const Name> names) noexcept {
    std::copy(names.begin(), names.end(), names_.data() + index(slot, first));
    rows_[slot].end = first + names.size();
    lose(slot, first);
  }
  /// The first `shared` blocks of two sequences are the same, and have names from now on.
  void fork(std::uint32_t from, std::uint32_t to, block_count shared) noexcept {
    for (block_count& end = rows_[from].end; end < shared; end += 1) {
      names_[index(from, end)] = unique_name<Name>(++unique_names_);
    }
    std::copy_n(names_.data() + index(from, 0), static_cast<std::size_t>(shared.value()), names_.data() + index(to, 0));
    rows_[to] = {shared, smaller(rows_[from].listed, shared)};
  }

  /// Of the first `shared` blocks of one sequence, those that have names are another's, too.
  void share(std::uint32_t from, std::uint32_t to, block_count shared) noexcept {
    const block_count end = smaller(rows_[from].end, shared);
    std::copy_n(names_.data() + index(from, 0), static_cast<std::size_t>(end.value()), names_.data() + index(to, 0));
    rows_[to] = {end, smaller(rows_[from].listed, end)};
  }

  /// Blocks [0, listed) are in the index, or were offered to it, since the sequence has them.
  [[nodiscard]] block_count listed(std::uint32_t slot) const noexcept { return rows_[slot].listed; }
  void list(std::uint32_t slot, block_count end) noexcept { rows_[slot].listed = end; }
  /// It does not have those from `kept` on any more.
  void lose(std::uint32_t slot, block_count kept) noexcept { rows_[slot].listed = smaller(rows_[slot].listed, kept); }

 private:
  struct row {
    block_count end;
    block_count listed;
  };
  [[nodiscard]] std::size_t index(std::uint32_t slot, block_count block) const noexcept {
    return slot * width_ + static_cast<std::size_t>(block.value());
  }

  buffer<Name> names_;  // [sequences, width]; its pages are not touched before there are names
  buffer<row> rows_;
  std::size_t width_ = 0;
  std::uint64_t unique_names_ = 0;
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
