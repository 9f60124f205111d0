// expect: pave: a restore_cost policy needs `double cost(token_range positions) const`
// SPDX-License-Identifier: Apache-2.0
// A restore cost that costs nothing is refused, and told what it lacks.
#include <pave/pave.hpp>

struct priceless {};
struct policies : pave::planner_policies {
  using restore_cost = priceless;
};
template class pave::eviction_planner<policies>;
