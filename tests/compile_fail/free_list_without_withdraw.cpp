// expect: pave: a free_list policy needs `void withdraw(block_id first)`
// SPDX-License-Identifier: Apache-2.0
// A free list that lets no block leave is refused, and told what it lacks.
#include <pave/pave.hpp>

struct clinging : pave::last_released {
  void withdraw(pave::block_id) = delete;
};
struct wrong_policies : pave::pool_policies {
  using free_list = clinging;
};
template class pave::block_pool<wrong_policies>;
