// SPDX-License-Identifier: Apache-2.0
// What every free list does besides that can give a block out of its midst, alone and in a pool that keeps content.
#ifndef PAVE_TESTS_CONTRACT_REVIVING_FREE_LIST_CONTRACT_HPP
#define PAVE_TESTS_CONTRACT_REVIVING_FREE_LIST_CONTRACT_HPP

#include "contract/free_list_contract.hpp"
#include "model/random.hpp"
#include "support/catch.hpp"
#include "support/keeping.hpp"
#include "support/laws.hpp"

#include <pave/policy/free_list.hpp>
#include <pave/policy/retention.hpp>
#include <pave/pool.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pave_tests {

template <class FreeList>
struct keeping_with_free_list : pave::pool_policies {
  using free_list = FreeList;
  using retention = pave::keep;
};

/// `order` without the first `count` of `removed`.
inline std::vector<std::int32_t> without(std::vector<std::int32_t> order,
                                         const std::vector<std::int32_t>& removed,
                                         std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) order.erase(std::find(order.begin(), order.end(), removed[i]));
  return order;
}

/// Calls `body(blocks)` for every choice of the blocks 0 … capacity − 1, in every order.
template <class Body>
void for_each_arrangement(std::int32_t capacity, std::vector<std::int32_t>& chosen, const Body& body) {
  body(chosen);
  for (std::int32_t block = 0; block < capacity; ++block) {
    if (std::find(chosen.begin(), chosen.end(), block) != chosen.end()) continue;
    chosen.push_back(block);
    for_each_arrangement(capacity, chosen, body);
    chosen.pop_back();
  }
}

template <class FreeList>
void check_reviving_free_list() {
  static_assert(pave::can_revive_v<FreeList>);

  SECTION("a block is removed once, and given again only after it was put") {
    FreeList list = list_of<FreeList>(0, 5);
    CHECK(list.remove(2));
    CHECK(list.size().value() == 4);
    CHECK_FALSE(list.remove(2));
    CHECK(list.size().value() == 4);
    CHECK(sorted_order_of(list) == std::vector<std::int32_t>{0, 1, 3, 4});
    CHECK_FALSE(list.remove(2));
    list.put(2, pave::content::worth_keeping);
    CHECK(list.size().value() == 1);
    CHECK(list.remove(2));
    CHECK(list.size().value() == 0);
    list.put(2, pave::content::worthless);
    CHECK(order_of(list) == std::vector<std::int32_t>{2});
  }

  SECTION("a block that was taken is not there to remove") {
    FreeList list = list_of<FreeList>(0, 6);
    const std::vector<pave::block_id> taken = take_from(list, 4);
    for (const pave::block_id block : taken) CHECK_FALSE(list.remove(block));
    CHECK(list.size().value() == 2);
    for (const pave::block_id block : taken) {
      list.put(block, pave::content::worth_keeping);
      CHECK(list.remove(block));
      CHECK_FALSE(list.remove(block));
    }
    CHECK(list.size().value() == 2);
    CHECK(order_of(list).size() == 2);
    for (std::int32_t block = 0; block < 6; ++block) CHECK_FALSE(list.remove(block));
  }

  SECTION("the others keep their order, and removals undone from the latest back leave no trace") {
    constexpr std::int32_t capacity = 5;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      std::vector<std::int32_t> chosen;
      for_each_arrangement(capacity, chosen, [seed](const std::vector<std::int32_t>& removed) {
        for (std::size_t stays = 0; stays <= removed.size(); ++stays) {  // so many of them are not undone
          auto list = mixed_list<FreeList>(capacity, seed);
          auto twin = mixed_list<FreeList>(capacity, seed);
          for (const std::int32_t block : removed) expect(list.remove(block), "listed, so removed");
          expect(list.size() + removed.size() == capacity, "removals are counted");
          for (std::size_t i = removed.size(); i > stays; --i) list.undo_remove(removed[i - 1]);
          expect(list.size() + stays == capacity, "undone ones too");
          expect(order_of(list) == without(order_of(twin), removed, stays), "each is where it was");
        }
      });
    }
  }

  SECTION("what was withdrawn is not there to remove, until it is added again") {
    FreeList list = list_of<FreeList>(0, 70);
    CHECK(list.remove(66));
    list.withdraw(65);
    for (const std::int32_t block : counting(65, 5)) CHECK_FALSE(list.remove(block));
    CHECK(list.size().value() == 65);
    list.add(68, 70);
    CHECK(list.remove(68));
    CHECK_FALSE(list.remove(67));
    CHECK(list.remove(64));
    CHECK(list.size().value() == 65);
  }

  SECTION("what is removed stays out while the list grows, and a removal after that can be undone") {
    auto list = mixed_list<FreeList>(6, 1);
    auto twin = mixed_list<FreeList>(6, 1);
    CHECK(list.remove(4));
    CHECK(twin.remove(4));
    REQUIRE(list.reserve(300));
    CHECK_FALSE(list.remove(4));
    CHECK_FALSE(list.remove(299));
    CHECK(list.remove(2));
    list.undo_remove(2);
    CHECK(order_of(list) == order_of(twin));
  }

  SECTION("it moves with all that it holds") {
    auto list = mixed_list<FreeList>(6, 1);
    auto twin = mixed_list<FreeList>(6, 1);
    CHECK(list.remove(3));
    FreeList moved = std::move(list);
    CHECK_FALSE(moved.remove(3));
    CHECK(moved.remove(0));
    FreeList assigned;
    assigned = std::move(moved);
    CHECK(assigned.size().value() == 4);
    CHECK(assigned.remove(5));
    assigned.undo_remove(5);
    CHECK(order_of(assigned) == without(order_of(twin), {3, 0}, 2));
  }

  SECTION("no stream of calls tells a list whose removals were all undone from one that saw none") {
    for_each_seed(60, [](std::uint64_t seed) {
      random_source random(seed);
      const std::int64_t capacity = random.between(1, 30);
      auto list = mixed_list<FreeList>(capacity, seed);
      auto twin = mixed_list<FreeList>(capacity, seed);
      std::vector<pave::block_id> out;
      for (int call = 0; call < 100; ++call) {
        if (random.one_in(3)) {
          const std::size_t count = random.index(static_cast<std::size_t>(list.size().value()) + 1);
          const auto taken = take_from(list, (std::min)(count, std::size_t{3}));
          expect(taken == take_from(twin, taken.size()), "both give the same blocks");
          out.insert(out.end(), taken.begin(), taken.end());
        } else if (random.one_in(2) && !out.empty()) {
          const std::size_t at = random.index(out.size());
          const auto left = random.one_in(3) ? pave::content::worthless : pave::content::worth_keeping;
          list.put(out[at], left);
          twin.put(out[at], left);
          out.erase(out.begin() + static_cast<std::ptrdiff_t>(at));
        } else if (random.one_in(4)) {  // one that both remove for good
          const pave::block_id block = random.between(0, capacity - 1);
          const bool is_out = std::find(out.begin(), out.end(), block) != out.end();
          expect(list.remove(block) == !is_out, "what is listed is removed");
          expect(twin.remove(block) == !is_out, "by both");
          if (!is_out) out.push_back(block);
        } else {
          std::vector<pave::block_id> removed;
          for (std::int64_t tries = random.between(1, 8); tries > 0; --tries) {
            const pave::block_id block = random.between(0, capacity - 1);
            if (list.remove(block)) removed.push_back(block);
          }
          expect(list.size() + removed.size() == twin.size(), "size counts them out");
          for (; !removed.empty(); removed.pop_back()) list.undo_remove(removed.back());
        }
        expect(list.size() == twin.size() && list.size() + out.size() == capacity, "size counts what is free");
      }
      expect(order_of(list) == order_of(twin), "the same order in the end");
    });
  }

  SECTION("a pool revives by it, and one that it refuses leaves its order alone") {
    using pool_type = pave::block_pool<keeping_with_free_list<FreeList>>;
    auto pool = pool_of<pool_type>(5);
    auto twin = pool_of<pool_type>(5);
    const auto notes = fill_and_release(pool);
    CHECK(fill_and_release(twin) == notes);
    const auto before = face(pool, notes);
    std::vector<pave::block_id> fresh(3);
    const std::vector<pave::kept_block> three{notes[3], notes[0], notes[2]};
    CHECK(pool.acquire(three, fresh).code() == pave::errc::never_fits);
    CHECK(face(pool, notes) == before);
    REQUIRE(pool.acquire({three.data(), 1}, {fresh.data(), 1}));
    REQUIRE(twin.acquire({three.data(), 1}, {fresh.data() + 1, 1}));
    CHECK(fresh[0] == fresh[1]);
    CHECK(pool.holders(3) == 1);
    CHECK(fresh[0] != pave::block_id(3));
    CHECK(pool.is_kept(notes[3]));
    check_conservation(pool);
    CHECK(drain(pool) == drain(twin));
  }
}

}  // namespace pave_tests

#endif  // PAVE_TESTS_CONTRACT_REVIVING_FREE_LIST_CONTRACT_HPP
