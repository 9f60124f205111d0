// expect: pave: a kv_cache's create takes a planner, not its policies
// SPDX-License-Identifier: Apache-2.0
// A demand with a state goes into a planner first.
#include <pave/pave.hpp>

struct policies : pave::cache_policies {
  struct planner : pave::planner_policies {
    using demand = pave::to_watermark;
  };
};

auto cache = pave::kv_cache<policies>::create({8, 16}, pave::to_watermark{4});
