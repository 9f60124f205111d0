// expect: pave: a group_cache takes no pools that share their memory
// SPDX-License-Identifier: Apache-2.0
// Pools that take blocks from each other cannot keep what the cache counts on.
#include <pave/pave.hpp>

struct sharing_memory : pave::pool_policies {
  using free_list = pave::from_slabs;
};
struct policies : pave::group_cache_policies {
  using pool = sharing_memory;
};
template class pave::group_cache<policies>;
