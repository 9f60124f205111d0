// SPDX-License-Identifier: Apache-2.0
// Compares the holders that a pool counts with those that tables and pins name.
#ifndef PAVE_DETAIL_AUDIT_HOLDERS_HPP
#define PAVE_DETAIL_AUDIT_HOLDERS_HPP

#include <pave/audit.hpp>
#include <pave/detail/pin_table.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>

namespace pave {
inline namespace v0 {
namespace detail {

/// @param named [out] counts, one for each id
/// @param broken counts the broken laws
/// @param holders what the pool counts for an id
/// @return distinct blocks with a holder
template <class Tables, class Say, class Holders>
block_count audit_holders(const pin_table& pins,
                          const Tables& tables,
                          span<std::uint32_t> named,
                          block_count first,
                          std::size_t& broken,
                          Say& say,
                          const Holders& holders) noexcept {
  for (std::uint32_t& count : named) count = 0;
  pins.each_block([&](block_id block) noexcept { named[block.index()] += 1; });
  for (std::size_t table = 0; table < tables.size(); ++table) {
    each_named(tables, table, [&](auto block) noexcept {
      if (block.index() < named.size() && block_count(block.index()) >= first) {
        named[block.index()] += 1;
      } else {
        broken += 1;
        say(finding{finding_kind::out_of_range, static_cast<std::int64_t>(block.value()), 0, 1, table});
      }
    });
  }
  block_count distinct = 0;
  for (std::size_t id = 0; id < named.size(); ++id) {
    const std::uint32_t counted = holders(id);
    if (counted != 0) distinct += 1;
    if (counted == named[id]) continue;
    const auto block = static_cast<std::int64_t>(id);
    const finding_kind kind = counted == 0          ? finding_kind::not_held
                              : counted > named[id] ? finding_kind::leaked
                                                    : finding_kind::over_named;
    broken += 1;
    say(finding{kind, block, counted, named[id]});
    for (std::size_t table = 0; table < tables.size(); ++table) {
      each_named(tables, table, [&](auto other) noexcept {
        if (other.index() == id) say(finding{finding_kind::table_names, block, counted, named[id], table});
      });
    }
    pins.each_block([&](block_id pinned) noexcept {
      if (pinned.index() == id) say(finding{finding_kind::pin_names, block, counted, named[id]});
    });
  }
  return distinct;
}

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
