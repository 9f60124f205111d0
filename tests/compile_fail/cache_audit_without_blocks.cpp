// expect: pave: an audit needs tables with `std::size_t size() const` and `blocks(std::size_t i) const`
// SPDX-License-Identifier: Apache-2.0
// An audit of a cache beside what has no tables of blocks is refused, and told what it needs.
#include <pave/pave.hpp>

struct rows {
  std::size_t size() const { return 0; }
};
bool audited(const pave::kv_cache<>& cache, pave::span<std::uint32_t> scratch) {
  return cache.audit(rows(), scratch, [](const pave::finding&) {}).has_value();
}
