// SPDX-License-Identifier: Apache-2.0
// The ready candidate views: one engine, told of by rows of ids and by lists of pointers, gets the same plans.
#include "support/catch.hpp"

#include <pave/candidates.hpp>
#include <pave/planner.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

/// As engines have them: a block object that counts its holders.
struct engine_block {
  int references = 0;
};
struct references_of {
  int operator()(const engine_block& block) const { return block.references; }
};

using table_view = pave::block_table_candidates<>;
using list_view = pave::block_list_candidates<engine_block, references_of>;
static_assert(pave::is_candidate_view_v<list_view>);

struct planned {
  pave::errc code;
  std::int64_t missing;
  std::vector<pave::basic_cut<std::size_t>> cuts;
};

template <class View>
planned plan_over(const View& view, std::int64_t shortage, pave::victims from) {
  std::vector<pave::basic_cut<std::size_t>> room(view.size());
  std::vector<std::uint32_t> scratch(view.size());
  pave::basic_cut_list<std::size_t> cuts(room);
  const auto plan = pave::eviction_planner<>()(view, pave::rank{1, 0}, shortage, from, cuts, scratch);
  return {plan.code(), plan.error().missing.value(), {cuts.used().begin(), cuts.used().end()}};
}

}  // namespace

TEST_CASE("candidates: rows of ids and lists of pointers say the same", "[planner]") {
  const std::vector<std::vector<std::int32_t>> ids{{0, 1, 2}, {0, 3, 4, 5}, {}, {6, 3, 7}};
  const pave::rank ranks[] = {{1, 1}, {2, 2}, {3, 3}, {4, 4}};
  const bool parked[] = {false, true, false, false};
  std::vector<engine_block> blocks(8);
  std::vector<std::uint32_t> holders(8);
  std::vector<std::int32_t> table(ids.size() * 4, -1);
  std::vector<std::vector<engine_block*>> lists(ids.size());
  std::vector<table_view::row> table_rows;
  std::vector<list_view::row> list_rows;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    for (std::size_t at = 0; at < ids[i].size(); ++at) {
      const auto block = static_cast<std::size_t>(ids[i][at]);
      table[i * 4 + at] = ids[i][at];
      lists[i].push_back(&blocks[block]);
      ++holders[block];
      ++blocks[block].references;
    }
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    table_rows.push_back({ranks[i], static_cast<std::int32_t>(ids[i].size()), parked[i]});
    list_rows.push_back({ranks[i], lists[i], parked[i]});
  }
  const table_view by_table(table_rows, table.data(), 4, holders);
  const list_view by_list(list_rows, references_of{});

  for (const pave::victims from : {pave::victims::parked_then_running, pave::victims::parked_only}) {
    for (std::int64_t shortage = 0; shortage <= 8; ++shortage) {
      CAPTURE(shortage);
      const planned one = plan_over(by_table, shortage, from);
      const planned other = plan_over(by_list, shortage, from);
      CHECK(one.code == other.code);
      CHECK(one.missing == other.missing);
      REQUIRE(one.cuts.size() == other.cuts.size());
      for (std::size_t i = 0; i < one.cuts.size(); ++i) {
        CHECK(one.cuts[i].sequence == other.cuts[i].sequence);
        CHECK(one.cuts[i].blocks == other.cuts[i].blocks);
        CHECK(one.cuts[i].freed == other.cuts[i].freed);
        CHECK(one.cuts[i].was_parked == other.cuts[i].was_parked);
      }
    }
  }
  // By hand: the parked row frees blocks 4 and 5, then the running one 7.
  const planned three = plan_over(by_list, 3, pave::victims::parked_then_running);
  REQUIRE(three.cuts.size() == 2);
  CHECK(three.cuts[0].sequence == 1);
  CHECK(three.cuts[0].blocks == pave::block_range{2, 4});
  CHECK(three.cuts[1].sequence == 3);
  CHECK(three.cuts[1].blocks == pave::block_range{2, 3});
}
