// expect: pave: a free_list policy needs `void add(block_id first, block_id last)`
// SPDX-License-Identifier: Apache-2.0
// A free list that cannot be told of new blocks is refused, and told what it lacks.
#include <pave/pave.hpp>

struct closed : pave::last_released {
  void add(pave::block_id, pave::block_id) = delete;
};
struct wrong_policies : pave::pool_policies {
  using free_list = closed;
};
template class pave::block_pool<wrong_policies>;
