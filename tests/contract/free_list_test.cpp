// SPDX-License-Identifier: Apache-2.0
// The stock free lists, and a queue of a user's, keep the contract.
#include "contract/free_list_contract.hpp"
#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/policy/free_list.hpp>
#include <pave/pool.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace {

/// A user's: the block that came free longest ago goes out first. A ring.
class longest_free {
 public:
  bool reserve(pave::block_count capacity) {
    ring_.clear();
    for (std::int64_t block = 0; block < capacity.value(); ++block) ring_.emplace_back(block);
    first_ = 0;
    size_ = ring_.size();
    return true;
  }
  void take(pave::span<pave::block_id> out) {
    for (pave::block_id& block : out) {
      block = ring_[first_];
      first_ = (first_ + 1) % ring_.size();
    }
    size_ -= out.size();
  }
  void put(pave::block_id block) { ring_[(first_ + size_++) % ring_.size()] = block; }
  pave::block_count size() const { return size_; }

 private:
  std::vector<pave::block_id> ring_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace

TEMPLATE_TEST_CASE("contract: a free list gives each free block once",
                   "[contract][pool]",
                   pave::last_released,
                   longest_free) {
  pave_tests::check_free_list<TestType>();
}

TEST_CASE("last_released: 0, 1, 2, … at first, then what came free last", "[pool]") {
  pave::last_released list;
  REQUIRE(list.reserve(8));
  std::vector<pave::block_id> out(5);
  list.take(out);
  CHECK(pave_tests::values(out) == pave_tests::counting(0, 5));
  list.put(1);
  list.put(3);
  list.put(0);
  list.take(out);
  CHECK(pave_tests::values(out) == std::vector<std::int32_t>{0, 3, 1, 5, 6});
}

TEST_CASE("block_pool: a queue of a user's makes it give the longest free block first", "[pool]") {
  struct policies : pave::pool_policies {
    using free_list = longest_free;
  };
  auto made = pave::block_pool<policies>::create({4});
  REQUIRE(made);
  auto pool = std::move(*made);
  auto blocks = pave_tests::take(pool, 3);
  const pave::block_id order[] = {blocks[1], blocks[0], blocks[2]};
  REQUIRE(pool.release(order));
  CHECK(pave_tests::values(pave_tests::take(pool, 4)) == std::vector<std::int32_t>{3, 1, 0, 2});
}
