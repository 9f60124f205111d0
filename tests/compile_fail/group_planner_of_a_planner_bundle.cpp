// expect: pave: a group_planner has no cut_shape or restore_cost: derive its bundle from group_planner_policies
// SPDX-License-Identifier: Apache-2.0
// The bundle of another planner, with slots that nothing would read, is refused.
#include <pave/pave.hpp>

template class pave::group_planner<pave::planner_policies>;
