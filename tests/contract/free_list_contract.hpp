// SPDX-License-Identifier: Apache-2.0
// What every free list does, alone and in a pool.
#ifndef PAVE_TESTS_CONTRACT_FREE_LIST_CONTRACT_HPP
#define PAVE_TESTS_CONTRACT_FREE_LIST_CONTRACT_HPP

#include "model/random.hpp"
#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/policy/free_list.hpp>
#include <pave/pool.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

namespace pave_tests {

template <class FreeList>
struct pool_with_free_list : pave::pool_policies {
  using free_list = FreeList;
};

template <class FreeList>
void check_free_list() {
  static_assert(pave::is_free_list_v<FreeList>);
  static_assert(std::is_move_constructible_v<FreeList> && std::is_move_assignable_v<FreeList>);

  SECTION("a new one has every block once") {
    for (const std::int64_t capacity : {1, 2, 31, 64, 65, 1000}) {
      FreeList list;
      REQUIRE(list.reserve(capacity));
      CHECK(list.size().value() == capacity);
      std::vector<pave::block_id> all(static_cast<std::size_t>(capacity));
      list.take(all);
      CHECK(list.size().value() == 0);
      std::set<std::int32_t> distinct;
      for (const pave::block_id block : all) distinct.insert(block.value());
      CHECK(distinct.size() == all.size());
      CHECK(*distinct.begin() == 0);
      CHECK(*distinct.rbegin() == capacity - 1);
    }
  }

  SECTION("taking none changes nothing") {
    FreeList list;
    REQUIRE(list.reserve(3));
    list.take({});
    CHECK(list.size().value() == 3);
  }

  SECTION("a block that was put is given again, when its turn comes") {
    FreeList list;
    REQUIRE(list.reserve(4));
    std::vector<pave::block_id> all(4);
    list.take(all);
    list.put(2, pave::content::worth_keeping);
    CHECK(list.size().value() == 1);
    pave::block_id again;
    list.take({&again, 1});
    CHECK(again.value() == 2);
    CHECK(list.size().value() == 0);
  }

  SECTION("it moves with all that it holds") {
    FreeList list;
    REQUIRE(list.reserve(5));
    std::vector<pave::block_id> two(2);
    list.take(two);
    FreeList moved = std::move(list);
    CHECK(moved.size().value() == 3);
    FreeList assigned;
    assigned = std::move(moved);
    CHECK(assigned.size().value() == 3);
    for (const pave::block_id block : two) assigned.put(block, pave::content::worth_keeping);
    std::vector<pave::block_id> all(5);
    assigned.take(all);
    CHECK(
        std::set<std::int32_t>{all[0].value(), all[1].value(), all[2].value(), all[3].value(), all[4].value()}.size() ==
        5);
  }

  SECTION("no block is given twice, and the same calls give the same blocks") {
    for_each_seed(20, [](std::uint64_t seed) {
      random_source random(seed);
      const std::int64_t capacity = random.between(1, 40);
      FreeList list;
      FreeList twin;
      REQUIRE(list.reserve(capacity));
      REQUIRE(twin.reserve(capacity));
      std::vector<pave::block_id> out;
      std::set<std::int32_t> held;
      for (int call = 0; call < 200; ++call) {
        if (random.one_in(2)) {
          std::vector<pave::block_id> taken(static_cast<std::size_t>(random.between(0, list.size().value())));
          std::vector<pave::block_id> twins(taken.size());
          list.take(taken);
          twin.take(twins);
          expect(values(taken) == values(twins), "deterministic");
          for (const pave::block_id block : taken) {
            expect(block.value() >= 0 && block.value() < capacity, "in range");
            expect(held.insert(block.value()).second, "given once");
            out.push_back(block);
          }
        } else if (!out.empty()) {
          const std::size_t at = random.index(out.size());
          const pave::content left = random.one_in(3) ? pave::content::worthless : pave::content::worth_keeping;
          list.put(out[at], left);
          twin.put(out[at], left);
          held.erase(out[at].value());
          out.erase(out.begin() + static_cast<std::ptrdiff_t>(at));
        }
        expect(list.size() + out.size() == capacity, "size counts what is free");
      }
    });
  }

  SECTION("a whole pool runs on it") {
    auto made = pave::block_pool<pool_with_free_list<FreeList>>::create({6});
    REQUIRE(made);
    auto pool = std::move(*made);
    auto first = take(pool, 4);
    check_conservation(pool);
    CHECK(pool.available().value() == 2);
    REQUIRE(pool.share({first.data(), 2}));
    REQUIRE(pool.release(first));
    CHECK(pool.available().value() == 4);
    check_conservation(pool);
    std::vector<pave::block_id> five(5);
    CHECK(pool.allocate(five).error().missing.value() == 1);
    const pave::block_id twice[] = {first[0], first[0]};
    CHECK(pool.release(twice).code() == pave::errc::not_held);
    CHECK(pool.available().value() == 4);
    REQUIRE(pool.release({first.data(), 2}));
    const auto all = take(pool, 6);
    CHECK(std::set<std::int32_t>{all[0].value(), all[1].value(), all[2].value(), all[3].value(), all[4].value(),
                                 all[5].value()}
              .size() == 6);
    check_conservation(pool);
  }
}

}  // namespace pave_tests

#endif  // PAVE_TESTS_CONTRACT_FREE_LIST_CONTRACT_HPP
