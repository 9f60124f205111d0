// expect: pave: a fork shares blocks: name a sharing policy that counts
// SPDX-License-Identifier: Apache-2.0
// A fork holds blocks that another sequence holds.
#include <pave/pave.hpp>

struct alone : pave::pool_policies {
  using sharing = pave::exclusive;
};
struct policies : pave::group_cache_policies {
  using pool = alone;
};
pave::result<pave::sequence_id> fork(pave::group_cache<policies>& cache) { return cache.fork({}, 0); }
