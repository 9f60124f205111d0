// SPDX-License-Identifier: Apache-2.0
// Who holds blocks of a cache, for an audit: its sequences, and others behind them.
#ifndef PAVE_DETAIL_CACHE_TABLES_HPP
#define PAVE_DETAIL_CACHE_TABLES_HPP

#include <pave/detail/sequence_table.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>

namespace pave {
inline namespace v0 {
namespace detail {

template <class Id>
struct sequences_as_tables {
  const sequence_table<Id>& sequences;

  [[nodiscard]] std::size_t size() const noexcept { return sequences.size(); }
  [[nodiscard]] span<const Id> blocks(std::size_t i) const noexcept {
    const std::uint32_t slot = sequences.slot_at(i);
    return sequences.blocks(slot, {0, sequences[slot].held});
  }
};
/// No block is where a cut left a gap.
template <class Id, class Visit>
void each_named(const sequences_as_tables<Id>& tables, std::size_t i, Visit&& visit) noexcept {
  for (const Id block : tables.blocks(i)) {
    if (block != Id{}) visit(block);
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
