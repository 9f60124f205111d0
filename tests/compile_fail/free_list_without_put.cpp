// expect: pave: a free_list policy needs `void put(block_id block, content left)`
// SPDX-License-Identifier: Apache-2.0
// A free list that takes no block back is refused, and told what it lacks.
#include <pave/pave.hpp>

struct one_way : pave::last_released {
  void put(pave::block_id, pave::content) = delete;
};
struct one_way_policies : pave::pool_policies {
  using free_list = one_way;
};
template class pave::block_pool<one_way_policies>;
