// expect: pave: a bundle names a slot of another part, and nothing reads it there
// SPDX-License-Identifier: Apache-2.0
// A cache would not look for its resume gate among the planner's policies.
#include <pave/pave.hpp>

struct policies : pave::cache_policies {
  struct planner : pave::planner_policies {
    using resume_gate = pave::first_chunk;
  };
};

pave::kv_cache<policies> cache;
