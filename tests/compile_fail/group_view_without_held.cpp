// expect: pave: a candidate view over groups needs `block_count held(std::size_t i, std::size_t g, block_count first, block_count last) const`
// SPDX-License-Identifier: Apache-2.0
// A candidate view that does not say which blocks are there is refused, and told what it lacks.
#include <pave/pave.hpp>

class holeless_view : public pave::group_table_candidates<> {
 public:
  using group_table_candidates::group_table_candidates;
  pave::block_count held(std::size_t, std::size_t, pave::block_count, pave::block_count) const = delete;
};

pave::result<pave::basic_group_plan<std::size_t>> plan_over(const pave::group_planner<>& planner,
                                                            const holeless_view& candidates,
                                                            pave::span<const pave::block_count> shortage,
                                                            const pave::basic_group_plan_room<std::size_t>& room) {
  return planner(candidates, pave::rank{}, shortage, pave::victims::parked_then_running, room);
}
