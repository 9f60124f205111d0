// expect: pave: a cut_shape policy needs `shaped_cut cut(const View& view, std::size_t candidate, block_count wanted) const`
// SPDX-License-Identifier: Apache-2.0
// A cut shape that cuts nothing is refused, and told what it lacks.
#include <pave/pave.hpp>

struct shapeless {
  static constexpr bool keeps_prefix = true;
};
struct shapeless_policies : pave::planner_policies {
  using cut_shape = shapeless;
};
using view = pave::block_table_candidates<>;

pave::result<pave::plan> plan_with(const pave::eviction_planner<shapeless_policies>& planner,
                                   const view& candidates,
                                   pave::basic_cut_list<std::size_t>& cuts,
                                   pave::span<std::uint32_t> scratch) {
  return planner(candidates, pave::rank{}, 1, pave::victims::parked_then_running, cuts, scratch);
}
