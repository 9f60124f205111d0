// expect: pave: a requester's rank needs a `<` with the candidates' ranks
// SPDX-License-Identifier: Apache-2.0
// A requester whose rank cannot be compared with those of the candidates is refused, and told what it lacks.
#include <pave/pave.hpp>

struct title {};

pave::result<pave::plan> plan_for(const pave::block_table_candidates<>& candidates,
                                  pave::basic_cut_list<std::size_t>& cuts,
                                  pave::span<std::uint32_t> scratch) {
  return pave::eviction_planner<>()(candidates, title{}, 1, pave::victims::parked_then_running, cuts, scratch);
}
