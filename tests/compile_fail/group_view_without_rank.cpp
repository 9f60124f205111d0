// expect: pave: a candidate view needs `Rank rank(std::size_t i) const`, and its Rank a `<`
// SPDX-License-Identifier: Apache-2.0
// A candidate view over groups that does not say who matters more is refused, and told what it lacks.
#include <pave/pave.hpp>

class levelling_view : public pave::group_table_candidates<> {
 public:
  using group_table_candidates::group_table_candidates;
  pave::rank rank(std::size_t) const = delete;
};

pave::result<pave::basic_group_plan<std::size_t>> plan_over(const pave::group_planner<>& planner,
                                                            const levelling_view& candidates,
                                                            pave::span<const pave::block_count> shortage,
                                                            const pave::basic_group_plan_room<std::size_t>& room) {
  return planner(candidates, pave::rank{}, shortage, pave::victims::parked_then_running, room);
}
