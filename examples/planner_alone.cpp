// SPDX-License-Identifier: Apache-2.0
// The planner over an engine's own block tables: it is told what is short, and says who should give up what.
#include <pave/candidates.hpp>
#include <pave/planner.hpp>

#include <cstdint>
#include <cstdio>

int main() {
  // What the engine has: rows of block ids, as its kernels read them, and how many hold each block.
  const std::int32_t tables[] = {0, 1, 2, 3,  //
                                 0, 4, 5, 6,  // its first block is the first row's, too
                                 7, 8, 9, -1};
  const std::uint32_t holders[] = {2, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  // {rank, blocks, parked}; the arrival decides between equal ranks.
  const pave::block_table_candidates<>::row rows[] = {{{1, 1}, 4, false}, {{2, 2}, 4, false}, {{3, 3}, 3, true}};
  const pave::block_table_candidates<> candidates(rows, tables, /*stride*/ 4, holders);

  pave::basic_cut<std::size_t> room[3];  // a cut names its victim by its row
  pave::basic_cut_list<std::size_t> cuts(room);
  std::uint32_t scratch[3];
  const pave::eviction_planner<> planner;
  // The first row is five blocks short: the parked row is used up before the running one is stopped.
  const auto plan = planner(candidates, rows[0].rank, 5, pave::victims::parked_then_running, cuts, scratch);
  if (!plan) {
    std::printf("%s: %d missing\n", pave::to_string(plan.code()), static_cast<int>(plan.error().missing.value()));
    return 1;
  }
  for (const auto& cut : cuts.used()) {
    std::printf("row %d gives up its blocks [%d, %d)\n", static_cast<int>(cut.sequence),
                static_cast<int>(cut.blocks.first.value()), static_cast<int>(cut.blocks.last.value()));
  }
  return plan->freed == 5 ? 0 : 1;
}
