// SPDX-License-Identifier: Apache-2.0
// The planner: how much, from whom and which blocks, over plain candidates and over block tables.
#include "contract/victim_order_contract.hpp"
#include "model/random.hpp"
#include "support/catch.hpp"
#include "support/plain_view.hpp"

#include <pave/planner.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace {

using pave::errc;
using pave::victims;
using pave_tests::candidate;
using pave_tests::expect;
using pave_tests::parked_candidate;
using pave_tests::plain_cut;
using pave_tests::plain_view;
using pave_tests::random_source;

struct whole_policies : pave::planner_policies {
  using demand = pave::whole_sequence;
};

/// A plan with the buffers that it was written to.
template <class Key>
struct planned {
  pave::result<pave::plan> answer;
  std::vector<pave::basic_cut<Key>> cuts;
};

template <class Policies = pave::planner_policies, class View, class Rank>
auto plan_over(const View& view,
               const Rank& requester,
               pave::block_count shortage,
               victims from = victims::parked_then_running) {
  using key = std::decay_t<decltype(view.key(0))>;
  std::vector<pave::basic_cut<key>> room(view.size());
  std::vector<std::uint32_t> scratch(view.size());
  pave::basic_cut_list<key> cuts(room);
  const auto answer = pave::eviction_planner<Policies>()(view, requester, shortage, from, cuts, scratch);
  return planned<key>{answer, {cuts.used().begin(), cuts.used().end()}};
}

/// The same by trying everything: candidates sorted, and for each the shortest end that frees what is wanted.
planned<std::int32_t> plan_slowly(const plain_view& view, std::int64_t requester, std::int64_t shortage, victims from) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (view.rank(i) > requester && (from == victims::parked_then_running || view.parked(i))) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return view.parked(a) != view.parked(b) ? view.parked(a) : view.rank(a) > view.rank(b);
  });
  planned<std::int32_t> found{pave::plan{shortage, 0, 0}, {}};
  std::int64_t missing = shortage;
  std::int64_t given_up = 0;
  for (const std::size_t i : order) {
    const std::int64_t end = view.blocks(i).value();
    const std::int64_t wanted = (std::min)(missing, view.reclaimable(i, 0, end).value());
    if (wanted == 0) continue;
    std::int64_t first = end;
    while (view.reclaimable(i, first, end) < wanted) --first;
    found.cuts.push_back({view.key(i), {first, end}, wanted, view.parked(i)});
    missing -= wanted;
    given_up += end - first - wanted;
  }
  if (missing > 0) return {pave::error{errc::shortage, missing}, {}};
  found.answer = pave::plan{shortage, shortage, given_up};
  return found;
}

template <class Key>
bool same(const std::vector<pave::basic_cut<Key>>& a, const std::vector<pave::basic_cut<Key>>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.sequence == y.sequence && x.blocks == y.blocks && x.freed == y.freed && x.was_parked == y.was_parked;
  });
}

/// Rows of a block table with holders, from a plain view: the same blocks, under shuffled ids.
struct tables {
  tables(const plain_view& view, random_source& random) {
    for (std::size_t i = 0; i < view.size(); ++i) {
      stride = (std::max)(stride, static_cast<std::size_t>(view.blocks(i).value()) + 1);
    }
    std::vector<std::int32_t> ids(view.size() * stride + 3);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i);
    for (std::size_t i = ids.size(); i > 1; --i) std::swap(ids[i - 1], ids[random.index(i)]);
    holders.assign(ids.size(), 0);
    table.assign(view.size() * stride, -1);
    for (std::size_t i = 0; i < view.size(); ++i) {
      rows.push_back({{view.rank(i), i}, static_cast<std::int32_t>(view.blocks(i).value()), view.parked(i)});
      for (std::size_t at = 0; at < view.all()[i].comes_free.size(); ++at) {
        const std::int32_t id = ids[i * stride + at];
        table[i * stride + at] = id;
        holders[static_cast<std::size_t>(id)] =
            view.all()[i].comes_free[at] ? 1U : static_cast<std::uint32_t>(random.between(2, 4));
      }
    }
  }
  [[nodiscard]] pave::block_table_candidates<> view() const { return {rows, table.data(), stride, holders}; }

  std::size_t stride = 1;
  std::vector<pave::block_table_candidates<>::row> rows;
  std::vector<std::int32_t> table;
  std::vector<std::uint32_t> holders;
};

}  // namespace

TEST_CASE("eviction_planner: for every shortage from one to all it frees exactly that", "[planner]") {
  const plain_view view({candidate(1, 10, "11111"), candidate(2, 20, "s1s1"), parked_candidate(3, 15, "1s11"),
                         candidate(4, 30, "ss"), parked_candidate(5, 40, "111")});
  constexpr std::int64_t total = 5 + 2 + 3 + 3;
  for (std::int64_t shortage = 1; shortage <= total; ++shortage) {
    CAPTURE(shortage);
    const auto [answer, cuts] = plan_over(view, std::int64_t{0}, shortage);
    REQUIRE(answer);
    CHECK(answer->demand.value() == shortage);
    CHECK(answer->freed.value() == shortage);
    CHECK(answer->over_evicted().value() == 0);
    std::int64_t freed = 0;
    for (const auto& cut : cuts) freed += cut.freed.value();
    CHECK(freed == shortage);
  }
  for (std::int64_t beyond = 1; beyond <= 4; ++beyond) {
    const auto [answer, cuts] = plan_over(view, std::int64_t{0}, total + beyond);
    CHECK(answer.code() == errc::shortage);
    CHECK(answer.error().missing.value() == beyond);
    CHECK(cuts.empty());
  }
}

TEST_CASE("eviction_planner: parked ones are used up, least important first, before a running one is stopped",
          "[planner]") {
  const plain_view view({candidate(1, 90, "111"), parked_candidate(2, 10, "111"), candidate(3, 95, "111"),
                         parked_candidate(4, 20, "111")});
  const auto keys = [&](std::int64_t shortage) {
    std::vector<std::int32_t> order;
    for (const auto& cut : plan_over(view, std::int64_t{0}, shortage).cuts) order.push_back(cut.sequence);
    return order;
  };
  CHECK(keys(1) == std::vector<std::int32_t>{4});
  CHECK(keys(3) == std::vector<std::int32_t>{4});
  CHECK(keys(4) == std::vector<std::int32_t>{4, 2});
  CHECK(keys(6) == std::vector<std::int32_t>{4, 2});
  CHECK(keys(7) == std::vector<std::int32_t>{4, 2, 3});
  CHECK(keys(10) == std::vector<std::int32_t>{4, 2, 3, 1});
  for (const auto& cut : plan_over(view, std::int64_t{0}, 10).cuts) {
    CHECK(cut.was_parked == (cut.sequence == 2 || cut.sequence == 4));
  }
}

TEST_CASE("eviction_planner: nobody is stopped for a parked one that wants to come in", "[planner]") {
  const plain_view view({candidate(1, 90, "111"), parked_candidate(2, 10, "11"), parked_candidate(3, 5, "1")});
  CHECK(plan_over(view, std::int64_t{0}, 3, victims::parked_only).answer);
  const auto [answer, cuts] = plan_over(view, std::int64_t{0}, 4, victims::parked_only);
  CHECK(answer.code() == errc::shortage);
  CHECK(answer.error().missing.value() == 1);
  CHECK(cuts.empty());
  CHECK(plan_over(view, std::int64_t{7}, 3, victims::parked_only).answer.error().missing.value() == 1);
}

TEST_CASE("eviction_planner: only what is less important than the requester is asked, never its equal", "[planner]") {
  const plain_view view(
      {candidate(1, 1, "1"), candidate(2, 2, "11"), parked_candidate(3, 3, "111"), candidate(4, 4, "1111")});
  const std::int64_t available[] = {10, 9, 7, 4, 0, 0};
  for (std::int64_t requester = 0; requester <= 5; ++requester) {
    CAPTURE(requester);
    const std::int64_t most = available[requester];
    if (most > 0) CHECK(plan_over(view, requester, most).answer);
    const auto [answer, cuts] = plan_over(view, requester, most + 2);
    CHECK(answer.code() == errc::shortage);
    CHECK(answer.error().missing.value() == 2);
    CHECK(cuts.empty());
  }
}

TEST_CASE("eviction_planner: references to shared blocks that go without gain are reported", "[planner]") {
  SECTION("at the end") {
    const plain_view view({candidate(1, 1, "111ss")});
    const auto [answer, cuts] = plan_over(view, std::int64_t{0}, 2);
    REQUIRE(answer);
    CHECK(cuts[0].blocks == pave::block_range{1, 5});
    CHECK(cuts[0].freed.value() == 2);
    CHECK(answer->given_up.value() == 2);
  }
  SECTION("in the middle") {
    const plain_view view({candidate(1, 1, "11s11")});
    CHECK(plan_over(view, std::int64_t{0}, 2).answer->given_up.value() == 0);
    CHECK(plan_over(view, std::int64_t{0}, 3).answer->given_up.value() == 1);
    CHECK(plan_over(view, std::int64_t{0}, 3).cuts[0].blocks == pave::block_range{1, 5});
  }
  SECTION("at the front it is kept") {
    const plain_view view({candidate(1, 1, "sss11")});
    const auto [answer, cuts] = plan_over(view, std::int64_t{0}, 2);
    REQUIRE(answer);
    CHECK(answer->given_up.value() == 0);
    CHECK(cuts[0].blocks == pave::block_range{3, 5});
  }
  SECTION("one that holds only shared blocks is left alone") {
    const plain_view view({candidate(1, 9, "sss"), candidate(2, 1, "1")});
    const auto [answer, cuts] = plan_over(view, std::int64_t{0}, 1);
    REQUIRE(answer);
    REQUIRE(cuts.size() == 1);
    CHECK(cuts[0].sequence == 2);
    CHECK(plan_over(view, std::int64_t{0}, 2).answer.error().missing.value() == 1);
  }
}

TEST_CASE("whole_sequence: victims go whole, and the plan says how much was too much", "[planner]") {
  const plain_view view({candidate(1, 1, "1111"), candidate(2, 2, "s11s11"), parked_candidate(3, 3, "111")});
  struct row {
    std::int64_t shortage;
    std::size_t victims;
    std::int64_t freed;
    std::int64_t given_up;
  };
  const row each =
      GENERATE(row{1, 1, 3, 0}, row{3, 1, 3, 0}, row{4, 2, 7, 2}, row{7, 2, 7, 2}, row{8, 3, 11, 2}, row{11, 3, 11, 2});
  CAPTURE(each.shortage);
  const auto [answer, cuts] = plan_over<whole_policies>(view, std::int64_t{0}, each.shortage);
  REQUIRE(answer);
  CHECK(cuts.size() == each.victims);
  CHECK(answer->freed.value() == each.freed);
  CHECK(answer->demand.value() == each.shortage);
  CHECK(answer->over_evicted().value() == each.freed - each.shortage);
  CHECK(answer->given_up.value() == each.given_up);
  for (const auto& cut : cuts) {
    CHECK(cut.blocks == pave::block_range{0, view.blocks(static_cast<std::size_t>(cut.sequence - 1))});
  }
  CHECK(plan_over<whole_policies>(view, std::int64_t{0}, 12).answer.error().missing.value() == 1);
}

TEST_CASE("eviction_planner: no shortage gives an empty plan, a negative one is refused", "[planner]") {
  const plain_view view({candidate(1, 1, "11")});
  const auto none = plan_over(view, std::int64_t{0}, 0);
  REQUIRE(none.answer);
  CHECK(none.answer->freed.value() == 0);
  CHECK(none.answer->demand.value() == 0);
  CHECK(none.cuts.empty());
  const std::int64_t negative =
      GENERATE(std::int64_t{-1}, std::int64_t{-7}, (std::numeric_limits<std::int64_t>::min)());
  const auto refused = plan_over(view, std::int64_t{0}, negative);
  CHECK(refused.answer.code() == errc::invalid_argument);
  CHECK(refused.cuts.empty());
}

TEST_CASE("eviction_planner: the largest shortage says exactly what is missing", "[planner]") {
  constexpr std::int64_t most = (std::numeric_limits<std::int64_t>::max)();
  const plain_view view({candidate(1, 1, "11"), candidate(2, 2, "s1")});
  CHECK(plan_over(view, std::int64_t{0}, most).answer.error().missing.value() == most - 3);
  CHECK(plan_over<whole_policies>(view, std::int64_t{0}, most).answer.error().missing.value() == most - 3);
}

TEST_CASE("eviction_planner: without candidates everything is missing", "[planner]") {
  const plain_view view({});
  CHECK(plan_over(view, std::int64_t{0}, 3).answer.error().missing.value() == 3);
  CHECK(plan_over(view, std::int64_t{0}, 0).answer);
  const plain_view without_blocks({candidate(1, 5, ""), parked_candidate(2, 6, "")});
  CHECK(plan_over(without_blocks, std::int64_t{0}, 3).answer.error().missing.value() == 3);
}

TEST_CASE("eviction_planner: buffers that are too small are refused, and the list is left empty", "[planner]") {
  const plain_view view({candidate(1, 1, "11"), candidate(2, 2, "11"), candidate(3, 3, "11")});
  std::vector<plain_cut> room(3);
  std::vector<std::uint32_t> scratch(3);
  const pave::eviction_planner<> planner;
  for (std::size_t cuts_room = 0; cuts_room <= 3; ++cuts_room) {
    for (std::size_t scratch_room = 0; scratch_room <= 3; ++scratch_room) {
      for (std::int64_t shortage = 1; shortage <= 6; ++shortage) {
        CAPTURE(cuts_room, scratch_room, shortage);
        pave_tests::plain_cut_list cuts({room.data(), cuts_room});
        if (cuts_room > 0) cuts.add({77, {0, 1}, 1, false});  // what an earlier plan left
        const auto answer =
            planner(view, 0, shortage, victims::parked_then_running, cuts, {scratch.data(), scratch_room});
        const std::size_t needed = static_cast<std::size_t>(shortage + 1) / 2;
        if (scratch_room == 3 && needed <= cuts_room) {
          CHECK(answer);
          CHECK(cuts.used().size() == needed);
        } else {
          CHECK(answer.code() == errc::buffer_too_small);
          CHECK(cuts.used().empty());
        }
      }
    }
  }
}

TEST_CASE("eviction_planner: a plan that needs no cut needs no buffer", "[planner]") {
  const plain_view view({candidate(1, 1, "11")});
  pave_tests::plain_cut_list none;
  CHECK(pave::eviction_planner<>()(view, 0, 0, victims::parked_then_running, none, {}));
  CHECK(pave::eviction_planner<>()(view, 5, 1, victims::parked_then_running, none, {}).code() != errc::ok);
}

TEST_CASE("eviction_planner: it agrees with a slow planner on random candidates", "[planner][random]") {
  pave_tests::for_each_seed(4000, [](std::uint64_t seed) {
    random_source random(seed);
    const plain_view view = pave_tests::random_view(random, 7, 6);
    const tables table(view, random);
    const tables untouched = table;
    const std::int64_t requester = random.between(-6, 8);
    const victims from = random.one_in(3) ? victims::parked_only : victims::parked_then_running;
    for (std::int64_t shortage = 1; shortage < 20; ++shortage) {
      const auto slow = plan_slowly(view, requester, shortage, from);
      const auto fast = plan_over(view, requester, shortage, from);
      expect(slow.answer.code() == fast.answer.code(), "the same answer");
      expect(slow.answer.error().missing == fast.answer.error().missing, "the same is missing");
      expect(same(slow.cuts, fast.cuts), "the same cuts in the same order");
      expect(same(fast.cuts, plan_over(view, requester, shortage, from).cuts), "twice the same");
      if (fast.answer) {
        expect(fast.answer->freed == shortage, "exact");
        expect(fast.answer->given_up == slow.answer->given_up, "the same is given up");
      }

      // A row's own number is its arrival; the requester's comes after them all, so that its equals are not asked.
      const auto rows = plan_over(table.view(), pave::rank{requester, view.size()}, shortage, from);
      expect(rows.answer.code() == fast.answer.code(), "block tables: the same answer");
      expect(rows.cuts.size() == fast.cuts.size(), "block tables: as many cuts");
      for (std::size_t i = 0; i < rows.cuts.size(); ++i) {
        expect(view.key(rows.cuts[i].sequence) == fast.cuts[i].sequence, "block tables: the same victim");
        expect(rows.cuts[i].blocks == fast.cuts[i].blocks, "block tables: the same blocks");
        const auto& cut = rows.cuts[i];
        expect(table.view().reclaimable(cut.sequence, cut.blocks.first + 1, cut.blocks.last) < cut.freed,
               "no cut could be shortened");
      }
      expect(table.table == untouched.table && table.holders == untouched.holders, "nothing is written to");
    }
  });
}

TEST_CASE("eviction_planner: whole victims agree with their sums on random candidates", "[planner][random]") {
  pave_tests::for_each_seed(1000, [](std::uint64_t seed) {
    random_source random(seed);
    const plain_view view = pave_tests::random_view(random, 7, 6);
    for (std::int64_t shortage = 1; shortage < 20; ++shortage) {
      const auto [answer, cuts] = plan_over<whole_policies>(view, std::int64_t{-2}, shortage);
      const auto exact = plan_over(view, std::int64_t{-2}, shortage);
      expect(answer.code() == exact.answer.code(), "both can or neither");
      expect(answer.error().missing == exact.answer.error().missing, "the same is missing");
      if (!answer) continue;
      expect(cuts.size() == exact.cuts.size(), "the same victims");
      std::int64_t freed = 0;
      for (std::size_t i = 0; i < cuts.size(); ++i) {
        expect(cuts[i].sequence == exact.cuts[i].sequence, "in the same order");
        freed += cuts[i].freed.value();
      }
      expect(answer->freed == freed && freed >= shortage, "the sum of what its victims free");
      expect(freed - cuts.back().freed.value() < shortage, "and no victim too many");
    }
  });
}

TEST_CASE("eviction_planner: a victim order that ties everybody is decided by rank, however they are listed",
          "[planner]") {
  struct no_opinion {
    bool before(const plain_view&, std::size_t, std::size_t) const { return false; }
  };
  struct policies : pave::planner_policies {
    using victim_order = no_opinion;
  };
  std::vector<pave_tests::plain_candidate> all{candidate(1, 1, "11"), candidate(2, 2, "11"),
                                               parked_candidate(3, 3, "11"), candidate(4, 4, "11"),
                                               parked_candidate(5, 5, "11")};
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  do {
    std::vector<std::int32_t> order;
    for (const auto& cut : plan_over<policies>(plain_view(all), std::int64_t{0}, 9).cuts) order.push_back(cut.sequence);
    if (order != std::vector<std::int32_t>{5, 3, 4, 2, 1}) REQUIRE(order == std::vector<std::int32_t>{5, 3, 4, 2, 1});
  } while (std::next_permutation(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; }));
}

TEST_CASE("eviction_planner: a policy's state is used", "[planner]") {
  struct favours {
    std::int32_t first = 0;
    bool before(const plain_view& view, std::size_t a, std::size_t b) const {
      return (view.key(a) == first) > (view.key(b) == first);
    }
  };
  struct policies : pave::planner_policies {
    using victim_order = favours;
  };
  const plain_view view({candidate(1, 1, "1"), candidate(2, 2, "1"), candidate(3, 3, "1")});
  std::vector<plain_cut> room(3);
  std::vector<std::uint32_t> scratch(3);
  for (const std::int32_t favourite : {1, 2, 3}) {
    pave_tests::plain_cut_list cuts(room);
    const pave::eviction_planner<policies> planner(pave::exact{}, favours{favourite});
    REQUIRE(planner(view, 0, 1, victims::parked_then_running, cuts, scratch));
    CHECK(cuts.used()[0].sequence == favourite);
  }
}

TEST_CASE("block_table_candidates: equal rank values are told apart by arrival", "[planner]") {
  const pave::block_table_candidates<>::row rows[] = {{{5, 1}, 2, false}, {{5, 2}, 2, false}, {{5, 3}, 2, false}};
  const std::int32_t table[] = {0, 1, 2, 3, 4, 5};
  const std::vector<std::uint32_t> holders(6, 1);
  const pave::block_table_candidates<> view(rows, table, 2, holders);
  const auto from_middle = plan_over(view, pave::rank{5, 2}, 2);
  REQUIRE(from_middle.answer);
  REQUIRE(from_middle.cuts.size() == 1);
  CHECK(from_middle.cuts[0].sequence == 2);
  CHECK(plan_over(view, pave::rank{5, 2}, 3).answer.error().missing.value() == 1);
  CHECK(plan_over(view, pave::rank{5, 0}, 6).answer);
}

TEST_CASE("block_table_candidates: only what a row holds is looked at", "[planner]") {
  // Behind a row's blocks stand ids of nothing, which must not be read as blocks.
  const pave::block_table_candidates<>::row rows[] = {{{1, 1}, 1, false}, {{2, 2}, 0, true}, {{3, 3}, 2, false}};
  const std::int32_t table[] = {0, -1, -1, -1, -1, -1, 2, 1, -1};
  const std::uint32_t holders[] = {1, 1, 3};
  const pave::block_table_candidates<> view(rows, table, 3, holders);
  const auto [answer, cuts] = plan_over(view, pave::rank{0, 0}, 2);
  REQUIRE(answer);
  REQUIRE(cuts.size() == 2);
  CHECK(cuts[0].sequence == 2);
  CHECK(cuts[0].blocks == pave::block_range{1, 2});
  CHECK(cuts[1].sequence == 0);
}

TEST_CASE("block_table_candidates: an engine's own type of rank will do", "[planner]") {
  const pave::block_table_candidates<int>::row rows[] = {{7, 1, false}, {9, 1, false}};
  const std::int32_t table[] = {0, 1};
  const std::uint32_t holders[] = {1, 1};
  const pave::block_table_candidates<int> view(rows, table, 1, holders);
  const auto [answer, cuts] = plan_over(view, 8, 1);
  REQUIRE(answer);
  CHECK(cuts[0].sequence == 1);
}

TEST_CASE("eviction_planner: a block that victims share with each other is promised by neither of them", "[planner]") {
  // Both hold block 9, and nobody else does.
  const pave::block_table_candidates<>::row rows[] = {{{1, 1}, 3, false}, {{2, 2}, 2, false}};
  const std::int32_t table[] = {1, 9, 2, 3, 9, -1};
  std::vector<std::uint32_t> holders{0, 1, 1, 1, 0, 0, 0, 0, 0, 2};
  const pave::block_table_candidates<> view(rows, table, 3, holders);
  CHECK(plan_over(view, pave::rank{0, 0}, 4).answer.error().missing.value() == 1);
  const std::int64_t shortage = GENERATE(1, 2, 3);
  CAPTURE(shortage);
  const auto [answer, cuts] = plan_over(view, pave::rank{0, 0}, shortage);
  REQUIRE(answer);
  CHECK(answer->freed.value() == shortage);
  std::int64_t freed = 0;
  for (const auto& cut : cuts) {
    for (std::int64_t at = cut.blocks.first.value(); at < cut.blocks.last.value(); ++at) {
      const auto block = static_cast<std::size_t>(table[cut.sequence * 3 + static_cast<std::size_t>(at)]);
      if (--holders[block] == 0) ++freed;
    }
  }
  // What is promised comes; the rest was reported as given up without gain.
  CHECK(freed >= shortage);
  CHECK(freed - shortage <= answer->given_up.value());
}

TEST_CASE("basic_cut_list: a default one has no room", "[planner]") {
  pave::cut_list none;
  CHECK(none.full());
  CHECK(none.used().empty());
  none.clear();
  CHECK(none.used().empty());
}
