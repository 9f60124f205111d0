// expect: pave: a free_list policy needs `void put(block_id block, content left)`
// SPDX-License-Identifier: Apache-2.0
// A free list that does not hear what is left in a block is refused, and told what it lacks.
#include <pave/pave.hpp>

struct deaf : pave::last_released {
  void put(pave::block_id) noexcept {}
};
struct deaf_policies : pave::pool_policies {
  using free_list = deaf;
};
template class pave::block_pool<deaf_policies>;
