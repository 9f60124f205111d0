// expect: pave: a planner takes an index of its own victim_order
// SPDX-License-Identifier: Apache-2.0
// An index in an order that is not the planner's would make other plans.
#include <pave/pave.hpp>

struct policies : pave::planner_policies {
  using victim_order = pave::largest;
};
using view = pave::block_table_candidates<>;

pave::result<pave::plan> plan_with(const pave::eviction_planner<policies>& planner,
                                   const view& candidates,
                                   pave::victim_index<>& index,
                                   pave::basic_cut_list<std::size_t>& cuts) {
  return planner(candidates, index, pave::rank{}, 1, pave::victims::parked_then_running, cuts);
}
