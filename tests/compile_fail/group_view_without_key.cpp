// expect: pave: a candidate view needs `Key key(std::size_t i) const`, of the plan's Key
// SPDX-License-Identifier: Apache-2.0
// A candidate view over groups that does not name its candidates is refused, and told what it lacks.
#include <pave/pave.hpp>

class nameless_view : public pave::group_table_candidates<> {
 public:
  using group_table_candidates::group_table_candidates;
  std::size_t key(std::size_t) const = delete;
};

pave::result<pave::basic_group_plan<std::size_t>> plan_over(const pave::group_planner<>& planner,
                                                            const nameless_view& candidates,
                                                            pave::span<const pave::block_count> shortage,
                                                            const pave::basic_group_plan_room<std::size_t>& room) {
  return planner(candidates, pave::rank{}, shortage, pave::victims::parked_then_running, room);
}
