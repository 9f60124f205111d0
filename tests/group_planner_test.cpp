// SPDX-License-Identifier: Apache-2.0
// The planner over groups: at which positions victims are cut, and what goes before anybody is.
#include "support/catch.hpp"
#include "support/plain_group_view.hpp"

#include <pave/group_planner.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using pave::block_range;
using pave::errc;
using pave::kv_group;
using pave::victims;
using pave_tests::plain_group_candidate;
using pave_tests::plain_group_view;
using pave_tests::plan_over_groups;

constexpr kv_group full{4};
constexpr kv_group window{4, 8};
constexpr kv_group state{4, 0, 4};

const std::string five = "11111";

/// The victims of a plan, and how much each keeps.
template <class Planned>
std::vector<std::int64_t> kept_by(const Planned& found) {
  std::vector<std::int64_t> all;
  for (const auto& cut : found.cuts) {
    all.push_back(static_cast<std::int64_t>(cut.sequence));
    all.push_back(cut.kept.value());
  }
  return all;
}
using kept = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("group_planner: a cut is at one position in all groups, and as late as each group's shortage allows",
          "[planner]") {
  const plain_group_view view({kv_group{4}, kv_group{8}}, {{1, 1, 32, {"11111111", "1111"}}});
  CHECK(kept_by(plan_over_groups(view, 0, {1, 0})) == kept{1, 28});
  CHECK(kept_by(plan_over_groups(view, 0, {0, 1})) == kept{1, 24});
  CHECK(kept_by(plan_over_groups(view, 0, {3, 1})) == kept{1, 20});
  CHECK(kept_by(plan_over_groups(view, 0, {1, 3})) == kept{1, 8});
  CHECK(kept_by(plan_over_groups(view, 0, {8, 4})) == kept{1, 0});

  const auto found = plan_over_groups(view, 0, {3, 1});
  CHECK(found.groups[0].demand.value() == 3);
  CHECK(found.groups[0].freed.value() == 3);
  CHECK(found.groups[1].demand.value() == 1);
  CHECK(found.groups[1].freed.value() == 1);
  const auto more = plan_over_groups(view, 0, {1, 3});
  CHECK(more.groups[0].freed.value() == 6);
  CHECK(more.groups[0].over_evicted().value() == 5);
}

TEST_CASE("group_planner: where a block is held only in part, it stays", "[planner]") {
  // 18 tokens: the last block of each group has two.
  const plain_group_view view({kv_group{4}, kv_group{16}}, {{1, 1, 18, {five, "11"}}});
  CHECK(kept_by(plan_over_groups(view, 0, {1, 0})) == kept{1, 16});
  const auto found = plan_over_groups(view, 0, {2, 0});
  CHECK(kept_by(found) == kept{1, 12});
  CHECK(found.groups[1].freed.value() == 1);  // the first one holds position 11
}

TEST_CASE("group_planner: blocks beyond what is computed go first, and cost no token", "[planner]") {
  const plain_group_view view({full, state}, {{1, 1, 10, {five, five}}});
  CHECK(kept_by(plan_over_groups(view, 0, {1, 0})) == kept{1, 16});
  CHECK(kept_by(plan_over_groups(view, 0, {2, 0})) == kept{1, 12});
  CHECK(kept_by(plan_over_groups(view, 0, {3, 0})) == kept{1, 8});
}

TEST_CASE("group_planner: a victim is cut where a window's blocks are held, or goes whole", "[planner]") {
  SECTION("none is gone") {
    const plain_group_view view({full, window}, {{1, 1, 20, {five, five}}});
    CHECK(kept_by(plan_over_groups(view, 0, {1, 0})) == kept{1, 16});
    CHECK(kept_by(plan_over_groups(view, 0, {4, 0})) == kept{1, 4});
  }
  SECTION("those left behind are gone") {
    const plain_group_view view({full, window}, {{1, 1, 20, {five, "...11"}}});
    CHECK(kept_by(plan_over_groups(view, 0, {1, 0})) == kept{1, 0});
  }
  SECTION("some of them are gone") {
    const plain_group_view view({full, window}, {{1, 1, 20, {five, "..111"}}});
    CHECK(kept_by(plan_over_groups(view, 0, {1, 0})) == kept{1, 16});
    CHECK(kept_by(plan_over_groups(view, 0, {2, 0})) == kept{1, 0});
  }
  SECTION("there is a hole between them") {
    const plain_group_view view({full, window}, {{1, 1, 24, {"111111", "111.11"}}});
    CHECK(kept_by(plan_over_groups(view, 0, {1, 0})) == kept{1, 12});
  }
}

TEST_CASE("group_planner: a victim is cut at a checkpoint whose state is held, or goes whole", "[planner]") {
  SECTION("all are held") {
    const plain_group_view view({full, kv_group{4, 0, 8}}, {{1, 1, 20, {five, ".1.11"}}});
    CHECK(kept_by(plan_over_groups(view, 0, {1, 0})) == kept{1, 16});
    CHECK(kept_by(plan_over_groups(view, 0, {2, 0})) == kept{1, 8});
    CHECK(kept_by(plan_over_groups(view, 0, {4, 0})) == kept{1, 0});
  }
  SECTION("only the first and the present one are") {
    const plain_group_view view({full, state}, {{1, 1, 20, {five, "1...1"}}});
    CHECK(kept_by(plan_over_groups(view, 0, {1, 0})) == kept{1, 4});
  }
  SECTION("only the present one is") {
    const plain_group_view view({full, state}, {{1, 1, 20, {five, "....1"}}});
    CHECK(kept_by(plan_over_groups(view, 0, {1, 0})) == kept{1, 0});
  }
  SECTION("blocks hold more than one") {
    const plain_group_view view({full, kv_group{8, 0, 4}}, {{1, 1, 20, {five, "111"}}});
    CHECK(kept_by(plan_over_groups(view, 0, {3, 0})) == kept{1, 8});
    CHECK(kept_by(plan_over_groups(view, 0, {4, 0})) == kept{1, 4});
  }
}

TEST_CASE("group_planner: a cut is where every kind of group can go on", "[planner]") {
  // The states at 8 and 24 are held, and the window blocks from 12 on.
  const plain_group_view view({full, window, kv_group{8, 0, 8}}, {{1, 1, 32, {"11111111", "...11111", "1.11"}}});
  CHECK(kept_by(plan_over_groups(view, 0, {1, 0, 0})) == kept{1, 24});
  CHECK(kept_by(plan_over_groups(view, 0, {2, 0, 0})) == kept{1, 24});
  CHECK(kept_by(plan_over_groups(view, 0, {3, 0, 0})) == kept{1, 0});
}

TEST_CASE(
    "group_planner: blocks that are left behind go before anybody is cut, the oldest, and no more than are missing",
    "[planner]") {
  const plain_group_view view(
      {full, window}, {{1, 1, 24, {"111111", "111111"}}, {2, 2, 24, {"111111", ".s1111"}}, {3, 3, 8, {"11", "11"}}});
  const auto one = plan_over_groups(view, 0, {0, 1});
  CHECK(one.cuts.empty());
  REQUIRE(one.left_behind.size() == 1);
  CHECK(one.left_behind[0].sequence == 1);
  CHECK(one.left_behind[0].group == 1);
  CHECK(one.left_behind[0].blocks == block_range{0, 1});
  const auto found = plan_over_groups(view, 0, {0, 5});
  CHECK(found.cuts.empty());
  REQUIRE(found.left_behind.size() == 2);
  CHECK(found.left_behind[0].blocks == block_range{0, 4});
  CHECK(found.left_behind[1].sequence == 2);
  CHECK(found.left_behind[1].blocks == block_range{2, 3});
  CHECK(found.left_behind[1].freed.value() == 1);
  CHECK(found.groups[1].freed.value() == 5);
  CHECK(found.groups[0].freed.value() == 0);
}

TEST_CASE("group_planner: a cut victim keeps of what it had left behind what it needs at the earlier position",
          "[planner]") {
  // Its oldest five blocks are left behind at 32; cut at 16 it needs two of them again, and can give two.
  const plain_group_view view({full, window}, {{1, 1, 32, {"11111111", "11111111"}}});
  const auto found = plan_over_groups(view, 0, {4, 6});
  CHECK(kept_by(found) == kept{1, 16});
  REQUIRE(found.left_behind.size() == 1);
  CHECK(found.left_behind[0].blocks == block_range{0, 2});
  CHECK(found.groups[1].freed.value() == 6);
  // What a cut takes counts first.
  const auto fewer = plan_over_groups(view, 0, {4, 4});
  CHECK(kept_by(fewer) == kept{1, 16});
  CHECK(fewer.left_behind.empty());
  // A window's blocks can be had only from one that gives up nearly all.
  CHECK(kept_by(plan_over_groups(view, 0, {0, 7})) == kept{1, 4});
  CHECK(kept_by(plan_over_groups(view, 0, {0, 8})) == kept{1, 0});
}

TEST_CASE("group_planner: states before the present one are left behind, too", "[planner]") {
  const plain_group_view view({full, state}, {{1, 1, 16, {"1111", "1.11"}}});
  const auto found = plan_over_groups(view, 0, {0, 2});
  CHECK(found.cuts.empty());
  REQUIRE(found.left_behind.size() == 1);
  CHECK(found.left_behind[0].blocks == block_range{0, 3});
  CHECK(found.left_behind[0].freed.value() == 2);
  CHECK(found.groups[1].given_up.value() == 0);  // a hole is no reference
  CHECK(kept_by(plan_over_groups(view, 0, {0, 3})) == kept{1, 0});
}

TEST_CASE("group_planner: a victim that later ones make up for is cut later, or not at all", "[planner]") {
  const std::vector<kv_group> groups{full, full};
  SECTION("not at all") {
    const plain_group_view view(groups, {{1, 1, 20, {five, five}}, {2, 2, 20, {"111", ""}}});
    CHECK(kept_by(plan_over_groups(view, 0, {4, 5})) == kept{1, 0});
    CHECK(kept_by(plan_over_groups(view, 0, {4, 0})) == kept{2, 0, 1, 16});
  }
  SECTION("later") {
    const plain_group_view view(groups, {{1, 1, 20, {five, five}}, {2, 2, 20, {five, "sss1s"}}});
    const auto found = plan_over_groups(view, 0, {7, 5});
    CHECK(kept_by(found) == kept{2, 8, 1, 4});
    CHECK(found.groups[0].freed.value() == 7);
    CHECK(found.groups[1].freed.value() == 5);
    CHECK(found.groups[1].given_up.value() == 2);
  }
  SECTION("whom nothing is missing of is left alone") {
    const plain_group_view view(groups, {{1, 1, 20, {"s", five}}, {2, 2, 20, {five, "ss"}}, {3, 3, 20, {"s", "sss"}}});
    CHECK(kept_by(plan_over_groups(view, 0, {0, 2})) == kept{1, 12});
    CHECK(kept_by(plan_over_groups(view, 0, {2, 2})) == kept{2, 12, 1, 12});
  }
}

TEST_CASE("group_planner: parked ones are used up, least important first, before a running one is stopped",
          "[planner]") {
  const plain_group_view view({full, full}, {{1, 90, 12, {"111", "111"}},
                                             {2, 10, 12, {"111", "111"}, true},
                                             {3, 95, 12, {"111", "111"}},
                                             {4, 20, 12, {"111", "111"}, true}});
  CHECK(kept_by(plan_over_groups(view, 0, {1, 2})) == kept{4, 4});
  CHECK(kept_by(plan_over_groups(view, 0, {4, 1})) == kept{4, 0, 2, 8});
  CHECK(kept_by(plan_over_groups(view, 0, {6, 7})) == kept{4, 0, 2, 0, 3, 8});
  CHECK(kept_by(plan_over_groups(view, 0, {12, 10})) == kept{4, 0, 2, 0, 3, 0, 1, 0});
  const auto all = plan_over_groups(view, 0, {12, 12});
  for (const auto& cut : all.cuts) CHECK(cut.was_parked == (cut.sequence == 2 || cut.sequence == 4));
  // Nobody is asked who runs for a parked one that wants to come in.
  CHECK(kept_by(plan_over_groups(view, 0, {6, 6}, victims::parked_only)) == kept{4, 0, 2, 0});
  CHECK(plan_over_groups(view, 0, {6, 7}, victims::parked_only).error.missing.value() == 1);
}

TEST_CASE("group_planner: only what is less important than the requester is cut, and all give what they left behind",
          "[planner]") {
  const plain_group_view view({window}, {{1, 1, 16, {"1111"}}, {2, 2, 16, {"1111"}, true}, {3, 3, 16, {"1111"}}});
  const std::int64_t had[] = {12, 10, 8, 6};
  for (std::int64_t requester = 0; requester <= 3; ++requester) {
    CAPTURE(requester);
    const std::int64_t most = had[requester];
    const auto all = plan_over_groups(view, requester, {most});
    CHECK(all);
    CHECK(all.groups[0].freed.value() == most);
    CHECK(plan_over_groups(view, requester, {most + 2}).error.missing.value() == 2);
    CHECK(plan_over_groups(view, requester, {6}).cuts.empty());
  }
  // In the opposite order: those that may be cut last, and of them parked ones; of the others, too.
  const auto order = [&](std::int64_t requester, victims from) {
    std::vector<std::int32_t> names;
    for (const auto& one : plan_over_groups(view, requester, {6}, from).left_behind) names.push_back(one.sequence);
    return names;
  };
  CHECK(order(0, victims::parked_then_running) == std::vector<std::int32_t>{1, 3, 2});
  CHECK(order(2, victims::parked_then_running) == std::vector<std::int32_t>{1, 2, 3});
  CHECK(order(0, victims::parked_only) == std::vector<std::int32_t>{1, 3, 2});
  CHECK(kept_by(plan_over_groups(view, 0, {7}, victims::parked_only)) == kept{2, 4});
  CHECK(plan_over_groups(view, 0, {9}, victims::parked_only).error.missing.value() == 1);
}

TEST_CASE("group_planner: shared blocks come free for nobody, and those that go all the same are reported",
          "[planner]") {
  const plain_group_view view({full, window}, {{1, 1, 20, {"s11ss", "1s111"}}, {2, 2, 20, {"sssss", "sssss"}}});
  const auto found = plan_over_groups(view, 0, {2, 0});
  CHECK(kept_by(found) == kept{1, 4});
  CHECK(found.groups[0].freed.value() == 2);
  CHECK(found.groups[0].given_up.value() == 2);
  CHECK(found.groups[1].freed.value() == 3);
  CHECK(found.groups[1].given_up.value() == 1);
  CHECK(plan_over_groups(view, 0, {3, 0}).error.missing.value() == 1);
  const auto left = plan_over_groups(view, 0, {0, 2});
  CHECK(left.cuts.empty());
  CHECK(left.left_behind[0].blocks == block_range{0, 3});
  CHECK(left.groups[1].given_up.value() == 1);
}

TEST_CASE("group_planner: a shortage says what is missing, and what each group could have", "[planner]") {
  const plain_group_view view({full, full, window},
                              {{1, 1, 20, {"111", five, "...11"}}, {2, 2, 20, {"1", "s", "....1"}}});
  const auto second = plan_over_groups(view, 0, {4, 7, 2});
  CHECK(second.error.code == errc::shortage);
  CHECK(second.error.missing.value() == 2);
  CHECK(second.groups[0].freed.value() == 4);
  CHECK(second.groups[1].demand.value() == 7);
  CHECK(second.groups[1].freed.value() == 5);
  CHECK(second.groups[2].freed.value() == 2);
  constexpr std::int64_t most = (std::numeric_limits<std::int64_t>::max)();
  const auto all = plan_over_groups(view, 0, {0, most, most});
  CHECK(all.error.missing.value() == most - 5);
  CHECK(all.groups[0].freed.value() == 0);
  CHECK(all.groups[1].freed.value() == 5);
  CHECK(all.groups[2].freed.value() == 3);
  CHECK(plan_over_groups(view, 1, {0, 0, 1}));
  CHECK(plan_over_groups(view, 2, {0, 0, 1}).error.missing.value() == 1);
}

TEST_CASE("group_planner: no shortage gives an empty plan", "[planner]") {
  const plain_group_view view({full, window}, {{1, 1, 20, {five, five}}});
  const auto found = plan_over_groups(view, 0, {0, 0});
  CHECK(found);
  CHECK(found.cuts.empty());
  CHECK(found.left_behind.empty());
  CHECK(found.groups[1].freed.value() == 0);
  CHECK(plan_over_groups(plain_group_view({}, {{1, 1, 20, {}}}), 0, {}));
  CHECK(plan_over_groups(plain_group_view({full}, {}), 0, {3}).error.missing.value() == 3);
}

TEST_CASE("group_planner: negative shortages, one too few or too many, and groups that are none are refused",
          "[planner]") {
  const plain_group_view view({full, window}, {{1, 1, 20, {five, five}}});
  CHECK(plan_over_groups(view, 0, {1, -1}).error.code == errc::invalid_argument);
  CHECK(plan_over_groups(view, 0, {(std::numeric_limits<std::int64_t>::min)(), 1}).error.code ==
        errc::invalid_argument);
  CHECK(plan_over_groups(view, 0, {1}).error.code == errc::invalid_argument);
  CHECK(plan_over_groups(view, 0, {1, 1, 1}).error.code == errc::invalid_argument);
  const plain_group_view of_none({full, kv_group{4, 4, 4}}, {{1, 1, 20, {five, five}}});
  CHECK(plan_over_groups(of_none, 0, {1, 0}).error.code == errc::invalid_argument);
}

TEST_CASE("group_planner: buffers that are too small are refused", "[planner]") {
  const plain_group_view view({full, window}, {{1, 1, 20, {five, five}}, {2, 2, 20, {five, five}}});
  std::vector<pave::basic_group_cut<std::int32_t>> cuts(2);
  std::vector<pave::basic_blocks_left_behind<std::int32_t>> left_behind(4);
  std::vector<pave::plan> groups(2);
  std::vector<pave::group_victim> scratch(2);
  const auto plan_in = [&](std::size_t c, std::size_t l, std::size_t g, std::size_t s) {
    const pave::basic_group_plan_room<std::int32_t> room{
        {cuts.data(), c}, {left_behind.data(), l}, {groups.data(), g}, {scratch.data(), s}};
    const pave::block_count shortage[] = {6, 10};
    return pave::group_planner<>()(view, 0, shortage, victims::parked_then_running, room).code();
  };
  CHECK(plan_in(2, 0, 2, 2) == errc::ok);
  CHECK(plan_in(1, 0, 2, 2) == errc::buffer_too_small);
  CHECK(plan_in(2, 0, 1, 2) == errc::buffer_too_small);
  CHECK(plan_in(2, 0, 2, 1) == errc::buffer_too_small);
  const auto take_left_behind = [&](std::size_t l) {
    const pave::basic_group_plan_room<std::int32_t> room{{}, {left_behind.data(), l}, groups, scratch};
    const pave::block_count shortage[] = {0, 4};
    return pave::group_planner<>()(view, 0, shortage, victims::parked_then_running, room).code();
  };
  CHECK(take_left_behind(2) == errc::ok);
  CHECK(take_left_behind(1) == errc::buffer_too_small);
  const pave::block_count none[] = {0, 0};
  const pave::basic_group_plan_room<std::int32_t> only_groups{{}, {}, groups, {}};
  CHECK(pave::group_planner<>()(view, 0, none, victims::parked_then_running, only_groups));
}

TEST_CASE("group_planner: the victims' order is the policy's", "[planner]") {
  const plain_group_view view({full}, {{3, 1, 4, {"1"}}, {7, 2, 4, {"1"}}, {5, 3, 4, {"1"}}});
  SECTION("by slack") {
    struct policies : pave::group_planner_policies {
      using victim_order = pave::most_slack;
    };
    CHECK(kept_by(plan_over_groups<policies>(view, 0, {2})) == kept{5, 0, 7, 0});
  }
  SECTION("with a state") {
    struct favours {
      std::int32_t first = 0;
      bool before(const plain_group_view& of, std::size_t a, std::size_t b) const {
        return (of.key(a) == first) > (of.key(b) == first);
      }
    };
    struct policies : pave::group_planner_policies {
      using victim_order = favours;
    };
    std::vector<pave::basic_group_cut<std::int32_t>> cuts(3);
    std::vector<pave::plan> groups(1);
    std::vector<pave::group_victim> scratch(3);
    const pave::basic_group_plan_room<std::int32_t> room{cuts, {}, groups, scratch};
    const pave::block_count shortage[] = {2};
    for (const std::int32_t favourite : {3, 5, 7}) {
      const pave::group_planner<policies> planner(favours{favourite});
      const auto plan = planner(view, 0, shortage, victims::parked_then_running, room);
      REQUIRE(plan);
      CHECK(plan->cuts[0].sequence == favourite);
      CHECK(plan->cuts[1].sequence == (favourite == 5 ? 7 : 5));  // the others tie: the least important first
    }
  }
}

TEST_CASE("group_table_candidates: rows of ids for each group, under an engine's own rank", "[planner]") {
  using candidates = pave::group_table_candidates<int>;
  const candidates::row rows[] = {{7, 16, false}, {9, 12, false}, {8, 0, true}};
  const std::int32_t full_ids[] = {0, 1, 2, 3, 0, 4, 5, -1, -1, -1, -1, -1};
  const std::int32_t window_ids[] = {-1, 9, 1, 0, -1, 2, 3, -1, -1, -1, -1, -1};
  const std::uint32_t full_holders[] = {2, 1, 1, 1, 1, 1};
  const std::uint32_t window_holders[] = {1, 1, 1, 1, 0, 0, 0, 0, 0, 1};
  const std::int32_t ends[] = {4, 3, 0};
  const std::int32_t begins[] = {1, 1, 0};
  const pave::group_table groups[] = {{full, full_ids, 4, ends, full_holders},
                                      {window, window_ids, 4, ends, window_holders, begins}};
  const candidates view(rows, groups);
  CHECK(view.blocks(0, 0) == block_range{0, 4});
  CHECK(view.blocks(0, 1) == block_range{1, 4});
  CHECK(view.blocks(0).value() == 7);
  CHECK(view.held(0, 1, 0, 4).value() == 3);
  CHECK(view.reclaimable(1, 0, 0, 3).value() == 2);

  const auto found = plan_over_groups(view, 0, {1, 1});
  CHECK(kept_by(found) == kept{1, 0});  // before its window nothing is held
  const auto left = plan_over_groups(view, 0, {0, 1});
  REQUIRE(left.left_behind.size() == 1);
  CHECK(left.left_behind[0].sequence == 0);
  CHECK(left.left_behind[0].blocks == block_range{1, 2});

  struct policies : pave::group_planner_policies {
    using victim_order = pave::largest;
  };
  CHECK(kept_by(plan_over_groups<policies>(view, 0, {1, 0})) == kept{0, 12});
  CHECK(plan_over_groups(view, 8, {3, 0}).error.missing.value() == 1);
}
