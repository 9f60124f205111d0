// expect: pave: a planner with cheapest_restore has no order that an index could keep
// SPDX-License-Identifier: Apache-2.0
// A planner that goes by the price of whole plans has no use for an index.
#include <pave/pave.hpp>

struct policies : pave::planner_policies {
  using victim_order = pave::cheapest_restore;
};
using view = pave::block_table_candidates<>;

pave::result<pave::plan> plan_with(const pave::eviction_planner<policies>& planner,
                                   const view& candidates,
                                   pave::victim_index<>& index,
                                   pave::basic_cut_list<std::size_t>& cuts) {
  return planner(candidates, index, pave::rank{}, 1, pave::victims::parked_then_running, cuts);
}
