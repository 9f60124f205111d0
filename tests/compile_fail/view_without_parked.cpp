// expect: pave: a candidate view needs `bool parked(std::size_t i) const`
// SPDX-License-Identifier: Apache-2.0
// A candidate view that does not say who waits is refused, and told what it lacks.
#include <pave/pave.hpp>

class restless_view : public pave::block_table_candidates<> {
 public:
  using block_table_candidates::block_table_candidates;
  bool parked(std::size_t) const = delete;
};

pave::result<pave::plan> plan_over(const pave::eviction_planner<>& planner,
                                   const restless_view& candidates,
                                   pave::basic_cut_list<std::size_t>& cuts,
                                   pave::span<std::uint32_t> scratch) {
  return planner(candidates, pave::rank{}, 1, pave::victims::parked_then_running, cuts, scratch);
}
