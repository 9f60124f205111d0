// SPDX-License-Identifier: Apache-2.0
// The stock free lists, and two of a user's, keep the contract.
#include "contract/free_list_contract.hpp"
#include "contract/reviving_free_list_contract.hpp"
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
using pave_tests::values;

/// A user's: the block that came free longest ago goes out first. A ring, which gives none out of its midst.
class longest_free {
 public:
  bool reserve(pave::block_count capacity) {
    ring_.clear();
    for (std::int64_t block = 0; block < capacity.value(); ++block) ring_.emplace_back(block);
    first_ = 0;
    size_ = ring_.size();
    return true;
  }
  void take(pave::span<block_id> out) {
    for (block_id& block : out) {
      block = ring_[first_];
      first_ = (first_ + 1) % ring_.size();
    }
    size_ -= out.size();
  }
  void put(block_id block, content /*left*/) { ring_[(first_ + size_++) % ring_.size()] = block; }
  pave::block_count size() const { return size_; }

 private:
  std::vector<block_id> ring_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

/// A user's: the lowest id goes out first, and any of them out of the midst.
class lowest_free {
 public:
  bool reserve(pave::block_count capacity) {
    for (std::int64_t block = 0; block < capacity.value(); ++block) free_.emplace(block);
    return true;
  }
  void take(pave::span<block_id> out) {
    for (block_id& block : out) {
      block = *free_.begin();
      free_.erase(free_.begin());
    }
  }
  void put(block_id block, content /*left*/) { free_.insert(block); }
  pave::block_count size() const { return free_.size(); }
  bool remove(block_id block) { return free_.erase(block) == 1; }
  void undo_remove(block_id block) { free_.insert(block); }

 private:
  std::set<block_id> free_;
};

static_assert(!pave::can_revive_v<pave::last_released>, "a stack gives none out of its midst");
static_assert(!pave::can_revive_v<longest_free>);
static_assert(!pave::can_revive_v<int>);

/// A list of `blocks`, all of them taken, in the order in which it gave them.
pave::least_recently_released taken_list(std::size_t blocks) {
  pave::least_recently_released list;
  REQUIRE(list.reserve(blocks));
  std::vector<block_id> all(blocks);
  list.take(all);
  REQUIRE(values(all) == counting(0, blocks));
  return list;
}

}  // namespace

TEMPLATE_TEST_CASE("contract: a free list gives each free block once",
                   "[contract][pool]",
                   pave::last_released,
                   pave::least_recently_released,
                   longest_free,
                   lowest_free) {
  pave_tests::check_free_list<TestType>();
}

TEMPLATE_TEST_CASE("contract: a free list that can revive gives a block out of its midst, and takes it back there",
                   "[contract][pool]",
                   pave::least_recently_released,
                   lowest_free) {
  pave_tests::check_reviving_free_list<TestType>();
}

TEST_CASE("last_released: 0, 1, 2, … at first, then what came free last", "[pool]") {
  pave::last_released list;
  REQUIRE(list.reserve(8));
  std::vector<block_id> out(5);
  list.take(out);
  CHECK(values(out) == counting(0, 5));
  list.put(1, content::worth_keeping);
  list.put(3, content::worthless);
  list.put(0, content::worth_keeping);
  list.take(out);
  CHECK(values(out) == std::vector<std::int32_t>{0, 3, 1, 5, 6});
}

TEST_CASE("least_recently_released: 0, 1, 2, … at first, in any portions", "[pool]") {
  const std::size_t portion = GENERATE(1U, 2U, 3U, 7U, 12U);
  constexpr std::size_t blocks = 12;
  pave::least_recently_released list;
  REQUIRE(list.reserve(blocks));
  std::vector<std::int32_t> given;
  while (given.size() < blocks) {
    std::vector<block_id> out((std::min)(portion, blocks - given.size()));
    list.take(out);
    for (const block_id block : out) given.push_back(block.value());
    CHECK(list.size() == blocks - given.size());
  }
  CHECK(given == counting(0, blocks));
}

TEST_CASE("least_recently_released: what came free longest ago goes out first, after what was never given", "[pool]") {
  pave::least_recently_released list;
  REQUIRE(list.reserve(7));
  std::vector<block_id> out(5);
  list.take(out);
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
  std::vector<block_id> out(2);
  list.take(out);
  CHECK(values(out) == std::vector<std::int32_t>{6, 1});
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
      pave::least_recently_released list;
      REQUIRE(list.reserve(blocks));
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
    pave::least_recently_released list;
    REQUIRE(list.reserve(capacity));
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
          std::vector<block_id> taken(random.index((std::min)(plain.size(), std::size_t{4}) + 1));
          list.take(taken);
          for (const block_id block : taken) {
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
