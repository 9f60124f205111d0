// expect: pave: a group_planner meets the shortage of each group: its demand is exact or whole_sequence
// SPDX-License-Identifier: Apache-2.0
// Groups are short of so many blocks each; a demand that asks for more has no say in which.
#include <pave/pave.hpp>

struct policies : pave::group_planner_policies {
  using demand = pave::ahead;
};
template class pave::group_planner<policies>;
