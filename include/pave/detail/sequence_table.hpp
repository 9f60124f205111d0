// SPDX-License-Identifier: Apache-2.0
// The slots of a cache: each sequence's rank and its row of the block table.
#ifndef PAVE_DETAIL_SEQUENCE_TABLE_HPP
#define PAVE_DETAIL_SEQUENCE_TABLE_HPP

#include <pave/config.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>

namespace pave {
inline namespace v0 {
namespace detail {

/// @tparam Id of a block
template <class Id>
class sequence_table {
 public:
  struct row {
    rank order;
    block_count held;       // logical blocks [0, held) are in the row,
    block_count holes;      // but for so many, which are gone: id_type{} is in their place
    step_id last_step;      // that used them
    step_id step_before;    // the last one that did so before that
    step_id last_copy;      // that copies into one of them
    block_count promised;   // blocks that less important ones do not get
    step_id promised_by;    // they are there once this step is done
    bool is_fork = false;   // another sequence may hold the block that it writes next
    bool rewrites = false;  // that block may have had tokens where it writes next
    bool rewrote = false;   // so it was before the last step
    std::uint32_t generation = 0;
    std::uint32_t place = 0;     // among the slots
    std::uint64_t named_by = 0;  // the last commit that named it
    std::int64_t slack = 0;      // the engine's, for an order
  };

  /// @param width blocks that a row has room for
  [[nodiscard]] bool reserve(std::size_t sequences, block_count width) noexcept {
    width_ = static_cast<std::size_t>(width.value());
    if (!rows_.reserve(sequences) || !slots_.reserve(sequences) || !blocks_.reserve(sequences, width_)) return false;
    for (std::size_t slot = 0; slot < sequences; ++slot) move_to(static_cast<std::uint32_t>(slot), slot);
    return true;
  }

  /// @return how many rows there are, open or not
  [[nodiscard]] std::size_t slots() const noexcept { return slots_.size(); }
  [[nodiscard]] bool is_full() const noexcept { return size_.get() == slots_.size(); }
  /// @return how many rows are open
  [[nodiscard]] std::size_t size() const noexcept { return size_.get(); }
  /// @return the slot of an open row; a row keeps its slot, and changes its place in [0, size()) when another one
  ///   closes
  [[nodiscard]] std::uint32_t slot_at(std::size_t place) const noexcept { return slots_[place]; }

  /// Opens an empty row under a new id. @pre not is_full()
  sequence_id open(std::int64_t rank_value) noexcept {
    const std::uint32_t slot = slots_[size_.get()++];
    row& r = rows_[slot];
    const std::uint32_t generation = r.generation;
    const std::uint32_t place = r.place;
    r = row{};
    r.place = place;
    r.order = {rank_value, ++arrivals_};
    r.generation = generation + 1 == 0 ? 1 : generation + 1;  // 0 is never live
    return {slot, r.generation};
  }
  /// @pre the row is open, and holds no blocks
  void close(std::uint32_t slot) noexcept {
    const std::size_t place = rows_[slot].place;
    const std::size_t last = --size_.get();
    move_to(slots_[last], place);
    move_to(slot, last);
  }

  row& operator[](std::size_t slot) noexcept { return rows_[slot]; }
  const row& operator[](std::size_t slot) const noexcept { return rows_[slot]; }
  [[nodiscard]] sequence_id id(std::size_t slot) const noexcept {
    return {static_cast<std::uint32_t>(slot), rows_[slot].generation};
  }

  /// @return the physical blocks of a range of logical ones. @pre range.last ≤ width
  [[nodiscard]] span<Id> blocks(std::size_t slot, block_range range) noexcept {
    PAVE_ASSERT(range.last.value() <= static_cast<std::int64_t>(width_));
    return {blocks_.data() + slot * width_ + range.first.value(), static_cast<std::size_t>(range.size().value())};
  }
  [[nodiscard]] span<const Id> all_blocks() const noexcept { return {blocks_.data(), blocks_.size()}; }
  [[nodiscard]] span<const Id> blocks(std::size_t slot, block_range range) const noexcept {
    return {blocks_.data() + slot * width_ + range.first.value(), static_cast<std::size_t>(range.size().value())};
  }

 private:
  void move_to(std::uint32_t slot, std::size_t place) noexcept {
    slots_[place] = slot;
    rows_[slot].place = static_cast<std::uint32_t>(place);
  }

  buffer<row> rows_;
  buffer<Id> blocks_;            // [sequences, width]
  buffer<std::uint32_t> slots_;  // those of open rows first
  zero_on_move<std::size_t> size_;
  std::size_t width_ = 0;
  std::uint64_t arrivals_ = 0;
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
