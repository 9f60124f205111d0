// expect: pave: a victim_order policy needs `bool before(const View& view, std::size_t a, std::size_t b) const`
// SPDX-License-Identifier: Apache-2.0
// A victim order that orders nothing is refused, and told what it lacks.
#include <pave/pave.hpp>

struct unordered {};
struct unordered_policies : pave::planner_policies {
  using victim_order = unordered;
};
using view = pave::block_table_candidates<>;

pave::result<pave::plan> plan_with(const pave::eviction_planner<unordered_policies>& planner,
                                   const view& candidates,
                                   pave::basic_cut_list<std::size_t>& cuts,
                                   pave::span<std::uint32_t> scratch) {
  return planner(candidates, pave::rank{}, 1, pave::victims::parked_then_running, cuts, scratch);
}
