// expect: pave: an eviction_planner takes a bundle of its policies: derive from planner_policies, and name in it what is to change
// SPDX-License-Identifier: Apache-2.0
// A policy in the place of a bundle is refused, and told what to derive from.
#include <pave/pave.hpp>

template class pave::eviction_planner<pave::largest>;
