// expect: pave: a group_planner cuts victim after victim, and cheapest_restore has no order of them
// SPDX-License-Identifier: Apache-2.0
// Plans over groups by their price are refused.
#include <pave/pave.hpp>

struct policies : pave::group_planner_policies {
  using victim_order = pave::cheapest_restore;
};
template class pave::group_planner<policies>;
