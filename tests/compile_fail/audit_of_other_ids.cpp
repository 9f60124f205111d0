// expect: range of the pool's ids
// SPDX-License-Identifier: Apache-2.0
// An audit of tables of another pool's ids is refused, and told whose it needs.
#include <pave/pave.hpp>

bool audited(const pave::block_pool<>& pool, pave::span<std::uint32_t> scratch) {
  const pave::basic_no_tables<pave::basic_block_id<std::int64_t>> wide;
  return pool.audit(wide, scratch, [](const pave::finding&) {}).has_value();
}
