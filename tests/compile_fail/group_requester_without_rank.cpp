// expect: pave: a requester's rank needs a `<` with the candidates' ranks
// SPDX-License-Identifier: Apache-2.0
// A requester over groups whose rank cannot be compared with those of the candidates is refused, and told what it
// lacks.
#include <pave/pave.hpp>

struct title {};

pave::result<pave::basic_group_plan<std::size_t>> plan_for(const pave::group_table_candidates<>& candidates,
                                                           pave::span<const pave::block_count> shortage,
                                                           const pave::basic_group_plan_room<std::size_t>& room) {
  return pave::group_planner<>()(candidates, title{}, shortage, pave::victims::parked_then_running, room);
}
