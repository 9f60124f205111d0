// expect: pave: a bundle names a slot of another part, and nothing reads it there
// SPDX-License-Identifier: Apache-2.0
// Of a bundle of two parts that is named for one of them, nothing would look at the other.
#include <pave/pave.hpp>

struct both : pave::pool_policies, pave::planner_policies {
  using victim_order = pave::largest;
};
struct policies : pave::cache_policies {
  using pool = both;
};

pave::kv_cache<policies> cache;
