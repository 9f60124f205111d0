// expect: pave: a demand policy needs `block_count blocks(block_count shortage) const`
// SPDX-License-Identifier: Apache-2.0
// A demand that answers in tokens is refused, and told what it lacks.
#include <pave/pave.hpp>

struct in_tokens : pave::exact {
  static constexpr pave::token_count blocks(pave::block_count shortage) noexcept { return shortage.value(); }
};
struct in_tokens_policies : pave::planner_policies {
  using demand = in_tokens;
};
using view = pave::block_table_candidates<>;

pave::result<pave::plan> plan_with(const pave::eviction_planner<in_tokens_policies>& planner,
                                   const view& candidates,
                                   pave::basic_cut_list<std::size_t>& cuts,
                                   pave::span<std::uint32_t> scratch) {
  return planner(candidates, pave::rank{}, 1, pave::victims::parked_then_running, cuts, scratch);
}
