// expect: pave: a fork shares blocks: name a sharing policy that counts, like `counted`
// SPDX-License-Identifier: Apache-2.0
// A fork in a cache whose sequences never share a block is refused, and told what to name.
#include <pave/pave.hpp>

struct exclusive_policies : pave::cache_policies {
  struct pool : pave::pool_policies {
    using sharing = pave::exclusive;
  };
};
pave::result<pave::sequence_id> refused(pave::kv_cache<exclusive_policies>& cache, pave::sequence_id parent) {
  return cache.fork(parent, 0);
}
