// expect: pave: a group_planner has no cut_shape or restore_cost
// SPDX-License-Identifier: Apache-2.0
// A kv_cache's bundle has another planner's.
#include <pave/pave.hpp>

template class pave::group_cache<pave::cache_policies>;
