// expect: pave: what a group_cache's prefix_index finds is shared
// SPDX-License-Identifier: Apache-2.0
// Blocks that one sequence alone can hold are found by nobody else.
#include <pave/pave.hpp>

struct alone : pave::pool_policies {
  using free_list = pave::least_recently_released;
  using retention = pave::keep;
  using sharing = pave::exclusive;
};
struct policies : pave::group_cache_policies {
  using pool = alone;
  using prefix_index = pave::prefix_index;
};
template class pave::group_cache<policies>;
