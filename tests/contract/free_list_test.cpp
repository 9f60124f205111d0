// SPDX-License-Identifier: Apache-2.0
// The stock free lists, and two of a user's, keep the contract.
#include "contract/free_list_contract.hpp"
#include "contract/reviving_free_list_contract.hpp"
#include "contract/runs_contract.hpp"
#include "model/random.hpp"
#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/policy/free_list.hpp>
#include <pave/pool.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <utility>
#include <vector>

namespace {

using pave::block_id;
using pave::content;
using pave_tests::counting;
using pave_tests::list_of;
using pave_tests::take_from;
using pave_tests::values;

/// A user's: the block that came free longest ago goes out first. A queue, which gives none out of its midst, and knows
/// ids of one width.
class longest_free {
 public:
  bool reserve(pave::block_count /*ids*/) { return true; }
  void add(block_id first, block_id last) {
    for (std::int32_t block = first.value(); block < last.value(); ++block) free_.emplace_back(block);
  }
  void take(pave::span<block_id> out) {
    for (block_id& block : out) {
      block = free_.front();
      free_.pop_front();
    }
  }
  void put(block_id block, content /*left*/) { free_.push_back(block); }
  void withdraw(block_id first) {
    const auto goes = [first](block_id block) { return !(block < first); };
    free_.erase(std::remove_if(free_.begin(), free_.end(), goes), free_.end());
  }
  pave::block_count size() const { return free_.size(); }

 private:
  std::deque<block_id> free_;
};

/// A user's: the lowest id goes out first, and any of them out of the midst.
class lowest_free {
 public:
  bool reserve(pave::block_count /*ids*/) { return true; }
  void add(block_id first, block_id last) {
    for (std::int32_t block = first.value(); block < last.value(); ++block) free_.emplace(block);
  }
  template <class Id>
  void take(pave::span<Id> out) {
    for (Id& block : out) {
      block = Id(free_.begin()->value());
      free_.erase(free_.begin());
    }
  }
  void put(block_id block, content /*left*/) { free_.insert(block); }
  void withdraw(block_id first) { free_.erase(free_.lower_bound(first), free_.end()); }
  pave::block_count size() const { return free_.size(); }
  bool remove(block_id block) { return free_.erase(block) == 1; }
  void undo_remove(block_id block) { free_.insert(block); }

 private:
  std::set<block_id> free_;
};

static_assert(!pave::can_revive_v<pave::last_released>, "a stack gives none out of its midst");
static_assert(!pave::can_revive_v<longest_free>);
static_assert(!pave::can_revive_v<int>);
static_assert(!pave::gives_runs_v<pave::last_released> && !pave::gives_runs_v<pave::least_recently_released>);
static_assert(!pave::gives_runs_v<int>);
static_assert(!pave::is_free_list_v<longest_free, pave::basic_block_id<std::int64_t>>, "it knows ids of one width");

/// A list of `blocks`, all of them taken, in the order in which it gave them.
pave::least_recently_released taken_list(std::size_t blocks) {
  auto list = list_of<pave::least_recently_released>(0, blocks);
  REQUIRE(pave_tests::order_of(list) == counting(0, blocks));
  return list;
}

}  // namespace

TEMPLATE_TEST_CASE("contract: a free list gives each free block once",
                   "[contract][pool]",
                   pave::last_released,
                   pave::least_recently_released,
                   pave::lowest_first,
                   longest_free,
                   lowest_free) {
  pave_tests::check_free_list<TestType>();
}

TEMPLATE_TEST_CASE("contract: a free list that can revive gives a block out of its midst, and takes it back there",
                   "[contract][pool]",
                   pave::least_recently_released,
                   pave::lowest_first,
                   lowest_free) {
  pave_tests::check_reviving_free_list<TestType>();
}

TEST_CASE("contract: a free list that knows its runs gives as few of them as it can", "[contract][pool]") {
  pave_tests::check_free_list_with_runs<pave::lowest_first>();
}

TEST_CASE("last_released: 0, 1, 2, … at first, then what came free last", "[pool]") {
  auto list = list_of<pave::last_released>(0, 8);
  CHECK(values(take_from(list, 5)) == counting(0, 5));
  list.put(1, content::worth_keeping);
  list.put(3, content::worthless);
  list.put(0, content::worth_keeping);
  CHECK(values(take_from(list, 5)) == std::vector<std::int32_t>{0, 3, 1, 5, 6});
}

TEST_CASE("last_released: new blocks go out before the old ones, 0, 1, 2, … among themselves", "[pool]") {
  auto list = list_of<pave::last_released>(0, 2);
  REQUIRE(list.reserve(5));
  list.add(2, 5);
  CHECK(pave_tests::order_of(list) == std::vector<std::int32_t>{2, 3, 4, 0, 1});
}

TEST_CASE("least_recently_released: 0, 1, 2, … at first, in any portions", "[pool]") {
  const std::size_t portion = GENERATE(1U, 2U, 3U, 7U, 12U);
  constexpr std::size_t blocks = 12;
  auto list = list_of<pave::least_recently_released>(0, blocks);
  std::vector<std::int32_t> given;
  while (given.size() < blocks) {
    for (const block_id block : take_from(list, (std::min)(portion, blocks - given.size())))
      given.push_back(block.value());
    CHECK(list.size() == blocks - given.size());
  }
  CHECK(given == counting(0, blocks));
}

TEST_CASE("least_recently_released: what came free longest ago goes out first, after what was never given", "[pool]") {
  auto list = list_of<pave::least_recently_released>(0, 7);
  static_cast<void>(take_from(list, 5));
  for (const int block : {3, 0, 4, 1}) list.put(block, content::worth_keeping);
  CHECK(list.size().value() == 6);
  CHECK(pave_tests::order_of(list) == std::vector<std::int32_t>{5, 6, 3, 0, 4, 1});
}

TEST_CASE("least_recently_released: what was left worthless goes out before all else, the latest first", "[pool]") {
  auto list = taken_list(7);
  list.put(2, content::worth_keeping);
  list.put(5, content::worthless);
  list.put(0, content::worth_keeping);
  list.put(1, content::worthless);
  list.put(6, content::worthless);
  list.put(3, content::worth_keeping);
  CHECK(values(take_from(list, 2)) == std::vector<std::int32_t>{6, 1});
  list.put(4, content::worthless);
  list.put(1, content::worth_keeping);
  CHECK(pave_tests::order_of(list) == std::vector<std::int32_t>{4, 5, 2, 0, 3, 1});
}

TEST_CASE("least_recently_released: into an empty list, either content comes first", "[pool]") {
  const content left = GENERATE(content::worthless, content::worth_keeping);
  auto list = taken_list(3);
  list.put(1, left);
  list.put(2, content::worth_keeping);
  list.put(0, content::worthless);
  CHECK(pave_tests::order_of(list) == std::vector<std::int32_t>{0, 1, 2});
  CHECK(list.size().value() == 0);
}

TEST_CASE("least_recently_released: the first, the last and the only one can be removed and put back", "[pool]") {
  for (const std::size_t blocks : {1U, 2U, 3U}) {
    for (std::size_t at = 0; at < blocks; ++at) {
      auto list = list_of<pave::least_recently_released>(0, blocks);
      REQUIRE(list.remove(at));
      list.undo_remove(at);
      CHECK(pave_tests::order_of(list) == counting(0, blocks));
      list.put(at, content::worth_keeping);
      REQUIRE(list.remove(at));
      CHECK(list.size().value() == 0);
    }
  }
}

TEST_CASE("least_recently_released: any stream of calls does what a plain deque does", "[pool][model]") {
  pave_tests::for_each_seed(300, [](std::uint64_t seed) {
    using pave_tests::expect;
    pave_tests::random_source random(seed);
    const auto capacity = static_cast<std::int32_t>(random.between(1, 25));
    auto list = list_of<pave::least_recently_released>(0, capacity);
    std::deque<std::int32_t> plain;
    for (std::int32_t block = 0; block < capacity; ++block) plain.push_back(block);
    std::vector<std::int32_t> out;
    const auto remove = [&](std::int32_t block) {
      const auto found = std::find(plain.begin(), plain.end(), block);
      expect(list.remove(block) == (found != plain.end()), "what is listed is removed, and nothing else");
      if (found == plain.end()) return false;
      plain.erase(found);
      return true;
    };
    for (std::int64_t call = random.between(1, 80); call > 0; --call) {
      switch (random.between(0, 4)) {
        case 0: {
          for (const block_id block : take_from(list, random.index((std::min)(plain.size(), std::size_t{4}) + 1))) {
            expect(block == plain.front(), "the first one goes out");
            out.push_back(plain.front());
            plain.pop_front();
          }
          break;
        }
        case 1: {
          const auto block = static_cast<std::int32_t>(random.index(static_cast<std::size_t>(capacity)));
          if (remove(block)) out.push_back(block);
          break;
        }
        case 2: {
          const std::deque<std::int32_t> before = plain;
          std::vector<std::int32_t> removed;
          for (std::int64_t tries = random.between(1, 9); tries > 0; --tries) {
            const auto block = static_cast<std::int32_t>(random.index(static_cast<std::size_t>(capacity)));
            if (remove(block)) removed.push_back(block);
          }
          for (; !removed.empty(); removed.pop_back()) list.undo_remove(removed.back());
          plain = before;
          break;
        }
        default: {
          if (out.empty()) break;
          const std::size_t at = random.index(out.size());
          const bool worthless = random.one_in(3);
          list.put(out[at], worthless ? content::worthless : content::worth_keeping);
          worthless ? plain.push_front(out[at]) : plain.push_back(out[at]);
          out.erase(out.begin() + static_cast<std::ptrdiff_t>(at));
          break;
        }
      }
      expect(list.size() == plain.size(), "size counts what is free");
      if (random.one_in(20)) {
        pave::least_recently_released moved(std::move(list));
        expect(list.size() == 0, "one that is moved from holds nothing");  // NOLINT(bugprone-use-after-move)
        list = std::move(moved);
      }
    }
    const std::vector<std::int32_t> order(plain.begin(), plain.end());
    expect(pave_tests::order_of(list) == order, "the same order in the end");
  });
}

TEST_CASE("lowest_first: the lowest go out first, ascending, whatever is left in them", "[pool]") {
  auto list = list_of<pave::lowest_first>(2, 200);
  CHECK(values(take_from(list, 150)) == counting(2, 150));
  list.put(130, content::worth_keeping);
  list.put(3, content::worthless);
  list.put(64, content::worth_keeping);
  list.put(2, content::worth_keeping);
  CHECK(list.remove(64));
  CHECK(values(take_from(list, 4)) == std::vector<std::int32_t>{2, 3, 130, 152});
  CHECK(pave_tests::order_of(list) == counting(153, 47));
}

TEST_CASE("lowest_first: any stream of calls does what a sorted set does", "[pool][model]") {
  // The last ones need a level more of summaries: 64³ + 1 ids, and 64² + 1.
  const std::int64_t capacity = GENERATE(1, 63, 64, 65, 700, 4096, 4097, 262145);
  pave_tests::for_each_seed(capacity > 100000 ? 2 : 10, [capacity](std::uint64_t seed) {
    using pave_tests::expect;
    pave_tests::random_source random(seed);
    auto list = list_of<pave::lowest_first>(0, capacity);
    auto plain = list_of<lowest_free>(0, capacity);
    std::set<std::int32_t> held;
    const auto take = [&](std::size_t count) {
      const auto taken = take_from(list, count);
      expect(taken == take_from(plain, count), "the lowest go out");
      for (const block_id block : taken) held.insert(block.value());
    };
    take(static_cast<std::size_t>(random.between(0, capacity)));
    for (int call = 0; call < 300; ++call) {
      const auto block = static_cast<std::int32_t>(random.between(0, capacity - 1));
      switch (random.between(0, 3)) {
        case 0:
          take(random.index((std::min)(static_cast<std::size_t>(plain.size().value()), std::size_t{200}) + 1));
          break;
        case 1:
          expect(list.remove(block) == plain.remove(block), "what is free is removed");
          held.insert(block);
          break;
        default:
          if (held.erase(block) == 0) break;
          list.put(block, content::worthless);
          plain.put(block, content::worthless);
          break;
      }
      expect(list.size() == plain.size(), "size counts what is free");
    }
    take(static_cast<std::size_t>(plain.size().value()));
    for (const std::int32_t block : {static_cast<std::int32_t>(capacity - 1), std::int32_t{0}}) {  // alone in the list
      list.put(block, content::worthless);
      expect(take_from(list, 1)[0] == block, "it is found wherever it is");
    }
  });
}

TEST_CASE("lowest_first: it grows by levels, with some free anywhere", "[pool]") {
  auto list = list_of<pave::lowest_first>(0, 10);
  static_cast<void>(take_from(list, 7));
  std::vector<std::int32_t> expected{7, 8, 9};
  std::int32_t end = 10;
  for (const std::int32_t capacity : {64, 65, 4096, 4097, 262144, 262145, 300000}) {
    REQUIRE(list.reserve(capacity));
    list.add(capacity - 1, capacity);
    expected.push_back(capacity - 1);
    CHECK(list.longest_run().value() == 3);
    CHECK(list.size().value() == static_cast<std::int64_t>(expected.size()));
    end = capacity;
  }
  CHECK_FALSE(list.remove(end - 2));
  // 63 and 64 follow each other, and so do 4095 and 4096, 262143 and 262144.
  CHECK(values(pave_tests::take_runs_from(list, 5)) == std::vector<std::int32_t>{7, 8, 9, 63, 64});
  CHECK(pave_tests::order_of(list) == std::vector<std::int32_t>(expected.begin() + 5, expected.end()));
}

TEST_CASE("block_pool: the longest run of available blocks can be asked for", "[pool]") {
  struct policies : pave::pool_policies {
    using free_list = pave::lowest_first;
  };
  CHECK(pave::block_pool<policies>().longest_run().value() == 0);
  auto made = pave::block_pool<policies>::create({200, 1});
  REQUIRE(made);
  auto pool = std::move(*made);
  CHECK(pool.longest_run().value() == 200);
  const auto all = pave_tests::take(pool, 200);
  CHECK(pool.longest_run().value() == 0);
  REQUIRE(pool.release({all.data() + 60, 10}));
  CHECK(pool.longest_run().value() == 10);
  REQUIRE(pool.resize(64));
  CHECK(pool.longest_run().value() == 4);
  REQUIRE(pool.resize(500));
  CHECK(pool.longest_run().value() == 300);
}

TEST_CASE("block_pool: a queue of a user's makes it give the longest free block first", "[pool]") {
  struct policies : pave::pool_policies {
    using free_list = longest_free;
  };
  auto made = pave::block_pool<policies>::create({4});
  REQUIRE(made);
  auto pool = std::move(*made);
  auto blocks = pave_tests::take(pool, 3);
  const block_id order[] = {blocks[1], blocks[0], blocks[2]};
  REQUIRE(pool.release(order));
  CHECK(values(pave_tests::take(pool, 4)) == std::vector<std::int32_t>{3, 1, 0, 2});
}
