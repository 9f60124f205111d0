// expect: pave: a group_planner takes a bundle of its policies: derive from group_planner_policies, and name in it what is to change
// SPDX-License-Identifier: Apache-2.0
// A policy in the place of a bundle is refused, and told what to derive from.
#include <pave/pave.hpp>

template class pave::group_planner<pave::largest>;
