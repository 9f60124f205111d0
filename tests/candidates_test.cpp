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

namespace {

using gapped_table = pave::gapped_table_candidates<>;
using gapped_list = pave::gapped_list_candidates<engine_block, references_of>;
static_assert(pave::is_candidate_view_v<gapped_list>);

template <class Shape, class Order>
struct cutting : pave::planner_policies {
  using cut_shape = Shape;
  using victim_order = Order;
};

}  // namespace

TEMPLATE_TEST_CASE("candidates: what a cut from the inside took is not taken again, and costs nothing",
                   "[planner]",
                   (cutting<pave::tail, pave::least_important>),
                   (cutting<pave::head_after_shared, pave::least_important>),
                   (cutting<pave::head_after_shared, pave::largest>),
                   (cutting<pave::cheapest_range, pave::least_important>),
                   (cutting<pave::cheapest_range, pave::cheapest_restore>)) {
  constexpr std::size_t stride = 8;
  const std::int64_t each_time = GENERATE(1, 2, 3, 5);
  std::vector<engine_block> blocks(3 * stride, engine_block{1});
  blocks[3].references = 2;  // of the first row, the fourth is shared
  std::vector<std::uint32_t> holders(3 * stride, 1);
  holders[3] = 2;
  std::vector<std::int32_t> table;
  std::vector<engine_block*> pointers;
  for (std::size_t i = 0; i < 3 * stride; ++i) {
    table.push_back(static_cast<std::int32_t>(i));
    pointers.push_back(&blocks[i]);
  }
  std::vector<gapped_table::row> rows{{{1, 1}, 8}, {{2, 2}, 7, true, 7 * 16 - 3}, {{3, 3}, 8}};
  const auto plan = [&](std::int64_t wanted, auto& cuts) {
    std::vector<gapped_list::row> lists;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto held = static_cast<std::size_t>(rows[i].blocks);
      lists.push_back({rows[i].rank, {pointers.data() + i * stride, held}, rows[i].parked, rows[i].tokens});
    }
    const gapped_table by_table(rows, table.data(), stride, holders);
    const gapped_list by_list(lists, references_of{});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::int64_t first = 0; first <= rows[i].blocks; ++first) {
        std::int64_t gone = 0;
        for (std::int64_t last = first; last <= rows[i].blocks; ++last) {
          REQUIRE(by_table.missing(i, first, last) == gone);
          REQUIRE(by_list.missing(i, first, last) == gone);
          REQUIRE(by_list.reclaimable(i, first, last) == by_table.reclaimable(i, first, last));
          if (last < rows[i].blocks && table[i * stride + static_cast<std::size_t>(last)] < 0) ++gone;
        }
      }
    }
    std::vector<pave::basic_cut<std::size_t>> room(3);
    std::vector<std::uint32_t> scratch(3);
    pave::basic_cut_list<std::size_t> of_list(room);
    const pave::eviction_planner<TestType> planner;
    const auto other = planner(by_list, pave::rank{}, wanted, pave::victims::parked_then_running, of_list, scratch);
    const auto made = planner(by_table, pave::rank{}, wanted, pave::victims::parked_then_running, cuts, scratch);
    REQUIRE(made.code() == other.code());
    return made;
  };
  std::int64_t freed = 0;
  for (;;) {
    std::vector<pave::basic_cut<std::size_t>> room(3);
    pave::basic_cut_list<std::size_t> cuts(room);
    auto made = plan(each_time, cuts);
    if (!made && made.error().missing < each_time) made = plan(each_time - made.error().missing.value(), cuts);
    if (!made) break;
    std::int64_t goes = 0;
    for (const auto& c : cuts.used()) {
      for (std::int64_t at = c.blocks.first.value(); at < c.blocks.last.value(); ++at) {
        const std::size_t place = c.sequence * stride + static_cast<std::size_t>(at);
        if (table[place] >= 0 && place != 3) ++goes;
        table[place] = -1;
        pointers[place] = nullptr;
      }
      std::int32_t& held = rows[c.sequence].blocks;
      while (held > 0 && table[c.sequence * stride + static_cast<std::size_t>(held - 1)] < 0) --held;
    }
    REQUIRE(made->freed == goes);
    freed += goes;
  }
  REQUIRE(freed == 22);  // all but the shared one
}

TEST_CASE("candidates: a gap costs nothing, also where the last block is partly filled", "[planner]") {
  const std::vector<std::int32_t> table{-1, -1, 0, -1, 1};
  const std::vector<std::uint32_t> holders{1, 1};
  const std::vector<gapped_table::row> rows{{{1, 1}, 5, false, 4 * 16 + 5}};
  const gapped_table view(rows, table.data(), 5, holders);
  CHECK(view.missing(0, 0, 5) == 3);
  CHECK(view.missing(0, 2, 4) == 1);
  const pave::eviction_planner<> planner;
  const auto cost = [](std::int64_t first, std::int64_t last) {
    return pave::recompute_cost{}.cost(pave::token_range{first, last});
  };
  CHECK(planner.price(view, 0, {0, 3}) == cost(32, 48));
  CHECK(planner.price(view, 0, {2, 5}) == cost(48, 69));
}

TEST_CASE("candidates: rows say how much time each has, for most_slack", "[planner]") {
  const std::vector<std::int32_t> table{0, 1, 2};
  const std::vector<std::uint32_t> holders{1, 1, 1};
  const std::vector<table_view::row> rows{{{1, 1}, 1, false, 16, 5}, {{2, 2}, 1, false, 16, 9}, {{3, 3}, 1}};
  const table_view view(rows, table.data(), 1, holders);
  std::vector<pave::basic_cut<std::size_t>> room(3);
  std::vector<std::uint32_t> scratch(3);
  pave::basic_cut_list<std::size_t> cuts(room);
  const pave::eviction_planner<cutting<pave::tail, pave::most_slack>> planner;
  REQUIRE(planner(view, pave::rank{}, 2, pave::victims::parked_then_running, cuts, scratch).has_value());
  CHECK(cuts.used()[0].sequence == 1);
  CHECK(cuts.used()[1].sequence == 0);
}
