// expect: pave: what running_prefixes finds is shared
// SPDX-License-Identifier: Apache-2.0
// Blocks that one sequence alone can hold are found by nobody else.
#include <pave/pave.hpp>

struct alone : pave::pool_policies {
  using sharing = pave::exclusive;
};
struct policies : pave::cache_policies {
  using pool = alone;
  using prefix_index = pave::running_prefixes;
};
template class pave::kv_cache<policies>;
