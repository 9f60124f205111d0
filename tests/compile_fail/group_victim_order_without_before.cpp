// expect: pave: a victim_order policy needs `bool before(const View& view, std::size_t a, std::size_t b) const`
// SPDX-License-Identifier: Apache-2.0
// A victim order that orders nothing is refused over groups, too, and told what it lacks.
#include <pave/pave.hpp>

struct unordered {};
struct policies : pave::group_planner_policies {
  using victim_order = unordered;
};

pave::result<pave::basic_group_plan<std::size_t>> plan_with(const pave::group_planner<policies>& planner,
                                                            const pave::group_table_candidates<>& candidates,
                                                            pave::span<const pave::block_count> shortage,
                                                            const pave::basic_group_plan_room<std::size_t>& room) {
  return planner(candidates, pave::rank{}, shortage, pave::victims::parked_then_running, room);
}
