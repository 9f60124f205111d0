// expect: pave: a block_pool takes a bundle of its policies: derive from pool_policies
// SPDX-License-Identifier: Apache-2.0
// A cache whose pool is a policy in place of a bundle is refused, and told what to derive from.
#include <pave/pave.hpp>

struct wrong : pave::cache_policies {
  using pool = pave::lowest_first;
};
template class pave::kv_cache<wrong>;
