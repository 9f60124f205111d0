// expect: or give yours `bool remove(block_id)` and `void undo_remove(block_id)`
// SPDX-License-Identifier: Apache-2.0
// A pool that keeps content over a free list that cannot take a removal back is refused, and told what it lacks.
#include <pave/pave.hpp>

struct one_way : pave::least_recently_released {
  void undo_remove(pave::block_id) = delete;
};
struct one_way_policies : pave::pool_policies {
  using free_list = one_way;
  using retention = pave::keep;
};
template class pave::block_pool<one_way_policies>;
