// expect: pave: a requester's rank needs a `<` with the ranks of the victim_index
// SPDX-License-Identifier: Apache-2.0
// Who asks has to be compared with those that the index keeps.
#include <pave/pave.hpp>

using view = pave::block_table_candidates<>;

pave::result<pave::plan> plan_with(const pave::eviction_planner<>& planner,
                                   const view& candidates,
                                   pave::victim_index<>& index,
                                   pave::basic_cut_list<std::size_t>& cuts) {
  return planner(candidates, index, 1, 1, pave::victims::parked_then_running, cuts);
}
