// expect: pave: a bundle names a slot of another part, and nothing reads it there
// SPDX-License-Identifier: Apache-2.0
// A pool would not look at a planner's order.
#include <pave/pave.hpp>

struct policies : pave::pool_policies {
  using victim_order = pave::largest;
};

pave::block_pool<policies> pool;
