// expect: pave: a free_list policy needs `void take(span<Id> out)`, of the pool's ids
// SPDX-License-Identifier: Apache-2.0
// A free list that gives out 32-bit ids only is refused by a pool whose ids are wider.
#include <pave/pave.hpp>

struct narrow : pave::last_released {
  void take(pave::span<pave::block_id> out) noexcept { pave::last_released::take(out); }
};
struct wide_policies : pave::pool_policies {
  using id = pave::basic_block_id<std::int64_t>;
  using free_list = narrow;
};
template class pave::block_pool<wide_policies>;
