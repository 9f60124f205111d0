// expect: pave: ahead looks at how full last blocks are: the candidate view needs `token_count tokens(std::size_t i) const` and `token_count tokens_per_block() const`
// SPDX-License-Identifier: Apache-2.0
// A demand ahead of time is refused over candidates that do not say how long they are.
#include <pave/pave.hpp>

struct bare {
  std::size_t size() const;
  std::size_t key(std::size_t i) const;
  int rank(std::size_t i) const;
  bool parked(std::size_t i) const;
  pave::block_count blocks(std::size_t i) const;
  pave::block_count reclaimable(std::size_t i, pave::block_count first, pave::block_count last) const;
};
struct policies : pave::planner_policies {
  using demand = pave::ahead;
};

pave::result<pave::plan> plan_with(const pave::eviction_planner<policies>& planner,
                                   const bare& candidates,
                                   pave::basic_cut_list<std::size_t>& cuts,
                                   pave::span<std::uint32_t> scratch) {
  return planner(candidates, 0, 1, pave::victims::parked_then_running, cuts, scratch);
}
