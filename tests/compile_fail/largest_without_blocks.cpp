// expect: pave: largest needs a candidate view with `block_count blocks(std::size_t i) const`
// SPDX-License-Identifier: Apache-2.0
// An order by size is refused over groups where the engine has no measure of it, and told what is lacking.
#include <pave/pave.hpp>

class weightless_view : public pave::group_table_candidates<> {
 public:
  using group_table_candidates::group_table_candidates;
  pave::block_range blocks(std::size_t i, std::size_t g) const;
};
struct policies : pave::group_planner_policies {
  using victim_order = pave::largest;
};

pave::result<pave::basic_group_plan<std::size_t>> plan_with(const pave::group_planner<policies>& planner,
                                                            const weightless_view& candidates,
                                                            pave::span<const pave::block_count> shortage,
                                                            const pave::basic_group_plan_room<std::size_t>& room) {
  return planner(candidates, pave::rank{}, shortage, pave::victims::parked_then_running, room);
}
