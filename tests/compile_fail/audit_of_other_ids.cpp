// expect: range of the pool's ids
// SPDX-License-Identifier: Apache-2.0
// An audit of tables of another pool's ids is refused, and told whose it needs.
#include <pave/pave.hpp>

struct wide_rows {
  std::size_t size() const { return 0; }
  pave::span<const pave::basic_block_id<std::int64_t>> blocks(std::size_t) const { return {}; }
};
bool audited(const pave::block_pool<>& pool, pave::span<std::uint32_t> scratch) {
  return pool.audit(wide_rows(), scratch, [](const pave::finding&) {}).has_value();
}
