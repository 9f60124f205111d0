// expect: pave: a bundle names a slot of another part, and nothing reads it there
// SPDX-License-Identifier: Apache-2.0
// A planner would not look at a pool's fence.
#include <pave/pave.hpp>

struct policies : pave::planner_policies {
  using fence = pave::after_step;
};

pave::eviction_planner<policies> planner;
