// SPDX-License-Identifier: Apache-2.0
// victim_index: the same plans as without it, whatever comes, changes and goes.
#include "model/random.hpp"
#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/planner.hpp>
#include <pave/victim_index.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using pave::errc;
using pave::victims;
using pave_tests::expect;
using pave_tests::random_source;

/// Slots of an engine: a few have no candidate.
struct slots {
  struct row {
    bool is_there = false;
    pave::rank rank;
    bool parked = false;
    std::int64_t blocks = 0;
    std::int64_t alone = 0;
    std::int64_t slack = 0;
  };
  std::vector<row> rows;

  std::size_t size() const { return rows.size(); }
  std::size_t key(std::size_t i) const { return i; }
  pave::rank rank(std::size_t i) const { return rows[i].rank; }
  bool parked(std::size_t i) const { return rows[i].parked; }
  pave::block_count blocks(std::size_t i) const { return rows[i].is_there ? rows[i].blocks : 0; }
  pave::block_count alone(std::size_t i) const { return rows[i].alone; }
  std::int64_t slack(std::size_t i) const { return rows[i].slack; }
  pave::block_count reclaimable(std::size_t i, pave::block_count first, pave::block_count last) const {
    const std::int64_t own = (std::max)(first.value(), rows[i].blocks - rows[i].alone);
    return (std::max)(std::int64_t{0}, last.value() - own);
  }
};
static_assert(pave::is_candidate_view_v<slots>);

/// An engine's own order: by a digit of the rank, so that there are many ties.
struct by_digit {
  static bool before(const slots& view, std::size_t a, std::size_t b) {
    return view.rank(a).value % 3 < view.rank(b).value % 3;
  }
};

template <class Order>
struct order_policies : pave::planner_policies {
  using victim_order = Order;
};

template <class Order>
class walk {
 public:
  explicit walk(std::uint64_t seed, std::size_t size) : random_(seed), index_(index_type::create(size).value()) {
    view_.rows.resize(size);
  }

  void step() {
    const std::size_t i = random_.index(view_.size());
    slots::row& row = view_.rows[i];
    if (!row.is_there) {
      expect(index_.erase(i).code() == errc::invalid_argument, "who is not there cannot leave");
      expect(index_.refresh(view_, i).code() == errc::invalid_argument, "nor change");
      row = {true, {random_.between(-20, 20), ++arrivals_}, random_.one_in(2), 0, 0, 0};
      change_blocks(row);
      expect(index_.insert(view_, i).has_value(), "comes");
      expect(index_.insert(view_, i).code() == errc::busy, "once");
    } else if (random_.one_in(6)) {
      expect(index_.erase(i).has_value(), "goes");
      row.is_there = false;
    } else if (random_.one_in(5)) {
      expect(index_.erase(i).has_value(), "goes");
      row.rank.value = random_.between(-20, 20);
      expect(index_.insert(view_, i).has_value(), "and comes with another rank");
    } else {
      if (random_.one_in(2)) row.parked = !row.parked;
      if (random_.one_in(2)) change_blocks(row);
      row.slack = random_.between(-3, 3);
      expect(index_.refresh(view_, i).has_value(), "changes");
    }
    check_who_comes_in();
  }

  void compare_plans() {
    const pave::rank requester{random_.between(-22, 20), random_.one_in(2) ? 0 : arrivals_};
    const victims from = random_.one_in(3) ? victims::parked_only : victims::parked_then_running;
    const std::int64_t shortage = random_.one_in(8) ? random_.between(-1, 400) : random_.between(1, 30);
    const std::size_t room = random_.one_in(10) ? random_.index(3) : view_.size();
    std::vector<pave::basic_cut<std::size_t>> a(room);
    std::vector<pave::basic_cut<std::size_t>> b(room);
    std::vector<std::uint32_t> scratch(view_.size());
    pave::basic_cut_list<std::size_t> by_scan(a);
    pave::basic_cut_list<std::size_t> by_index(b);
    const pave::eviction_planner<order_policies<Order>> planner;
    const auto slow = planner(view_, requester, shortage, from, by_scan, scratch);
    const auto fast = planner(view_, index_, requester, shortage, from, by_index);
    expect(slow.code() == fast.code(), "the same answer");
    if (slow) {
      expect(slow->demand == fast->demand && slow->freed == fast->freed && slow->given_up == fast->given_up,
             "of the same amounts");
    } else {
      expect(slow.error().missing == fast.error().missing, "and the same is missing");
    }
    expect(std::equal(by_scan.used().begin(), by_scan.used().end(), by_index.used().begin(), by_index.used().end(),
                      [](const auto& x, const auto& y) {
                        return x.sequence == y.sequence && x.blocks == y.blocks && x.freed == y.freed &&
                               x.was_parked == y.was_parked;
                      }),
           "the same cuts, in the same order");
  }

 private:
  using index_type = pave::victim_index<pave::rank, Order>;

  void change_blocks(slots::row& row) {
    row.blocks = random_.one_in(4) ? 0 : random_.between(1, 12);
    row.alone = random_.one_in(3) ? random_.between(0, row.blocks) : row.blocks;
  }

  void check_who_comes_in() const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < view_.size(); ++i) {
      if (!view_.rows[i].is_there || !view_.parked(i)) continue;
      if (!best || view_.rank(i) < view_.rank(*best)) best = i;
    }
    expect(index_.most_important_parked() == best, "who comes in next");
  }

  random_source random_;
  slots view_;
  index_type index_;
  std::uint64_t arrivals_ = 0;
};

}  // namespace

TEMPLATE_TEST_CASE("victim_index: a planner makes the same plans with it as without, over a million random steps",
                   "[planner][random]",
                   pave::least_important,
                   pave::largest,
                   pave::most_slack,
                   by_digit) {
  pave_tests::for_each_seed(100, [](std::uint64_t seed) {
    walk<TestType> one(seed, 1 + seed % 40);
    for (int i = 0; i < 2500; ++i) {
      one.step();
      one.compare_plans();
    }
  });
}

TEST_CASE("victim_index: numbers that it has no room for are refused, as is everything by an empty or moved-from one",
          "[planner]") {
  slots view;
  view.rows.resize(3);
  for (std::size_t i = 0; i < 3; ++i) view.rows[i] = {true, {1, i}, true, 2, 2, 0};
  auto index = pave::victim_index<>::create(2).value();
  CHECK(index.insert(view, 2).code() == errc::invalid_argument);
  CHECK(index.insert(view, static_cast<std::size_t>(-1)).code() == errc::invalid_argument);
  REQUIRE(index.insert(view, 1));
  auto taken = std::move(index);
  CHECK(taken.most_important_parked() == std::size_t{1});
  for (auto* empty : {&index}) {  // NOLINT(bugprone-use-after-move): a moved-from index is empty
    CHECK(empty->insert(view, 0).code() == errc::invalid_argument);
    CHECK(empty->refresh(view, 1).code() == errc::invalid_argument);
    CHECK_FALSE(empty->most_important_parked().has_value());
    CHECK_FALSE(empty->first(pave::rank{}).has_value());
  }
  CHECK(pave::victim_index<>::create(std::size_t{1} << 32U).code() == errc::invalid_argument);
}
