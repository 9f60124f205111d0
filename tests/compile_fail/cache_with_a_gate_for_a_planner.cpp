// expect: pave: a kv_cache's create takes a resume_gate behind the planner
// SPDX-License-Identifier: Apache-2.0
// The gate's place is behind the planner.
#include <pave/pave.hpp>

auto cache = pave::kv_cache<>::create({8, 16}, pave::whole_gap{});
