// expect: pave: a candidate view over groups needs `std::size_t groups() const`
// SPDX-License-Identifier: Apache-2.0
// A candidate view that does not say how many groups it has is refused, and told what it lacks.
#include <pave/pave.hpp>

class uncounted_view : public pave::group_table_candidates<> {
 public:
  using group_table_candidates::group_table_candidates;
  std::size_t groups() const = delete;
};

pave::result<pave::basic_group_plan<std::size_t>> plan_over(const pave::group_planner<>& planner,
                                                            const uncounted_view& candidates,
                                                            pave::span<const pave::block_count> shortage,
                                                            const pave::basic_group_plan_room<std::size_t>& room) {
  return planner(candidates, pave::rank{}, shortage, pave::victims::parked_then_running, room);
}
