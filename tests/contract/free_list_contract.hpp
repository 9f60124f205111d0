// SPDX-License-Identifier: Apache-2.0
// What every free list does, alone and in a pool.
#ifndef PAVE_TESTS_CONTRACT_FREE_LIST_CONTRACT_HPP
#define PAVE_TESTS_CONTRACT_FREE_LIST_CONTRACT_HPP

#include "model/random.hpp"
#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/policy/free_list.hpp>
#include <pave/pool.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

namespace pave_tests {

template <class FreeList>
struct pool_with_free_list : pave::pool_policies {
  using free_list = FreeList;
};

/// A list in which first … last − 1 are free.
template <class FreeList>
FreeList list_of(pave::block_id first, pave::block_id last) {
  FreeList list;
  REQUIRE(list.reserve(last.value()));
  list.add(first, last);
  return list;
}

/// The next `count` blocks of the list, as ids of any width.
template <class Id = pave::block_id, class FreeList>
std::vector<Id> take_from(FreeList& list, std::size_t count) {
  std::vector<Id> taken(count);
  list.take(pave::span<Id>(taken));
  return taken;
}

/// Takes all that is in the list: its order.
template <class FreeList>
std::vector<std::int32_t> order_of(FreeList& list) {
  return values(take_from(list, static_cast<std::size_t>(list.size().value())));
}
template <class FreeList>
std::vector<std::int32_t> sorted_order_of(FreeList& list) {
  std::vector<std::int32_t> order = order_of(list);
  std::sort(order.begin(), order.end());
  return order;
}

/// A list of 0 … capacity − 1 in a mixed order, the same one for the same seed.
template <class FreeList>
FreeList mixed_list(std::int64_t capacity, std::uint64_t seed) {
  FreeList list = list_of<FreeList>(0, capacity);
  std::vector<pave::block_id> out = take_from(list, static_cast<std::size_t>(capacity));
  random_source random(seed);
  while (!out.empty()) {
    const std::size_t at = random.index(out.size());
    list.put(out[at], random.one_in(3) ? pave::content::worthless : pave::content::worth_keeping);
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return list;
}

/// The ids of a list as a pool has them: those before `end` are its own, and others are held until they leave.
struct id_space {
  std::int64_t end = 0;
  std::set<std::int32_t> held;

  /// Adds the ids before `new_end` that nobody holds, as ranges.
  template <class FreeList>
  void grow(std::int64_t new_end, FreeList& list) {
    expect(list.reserve(new_end), "memory is there");
    for (std::int64_t first = end; first < new_end;) {
      std::int64_t last = first;
      while (last < new_end && held.count(static_cast<std::int32_t>(last)) == 0) ++last;
      if (first < last) list.add(first, last);
      first = last + 1;
    }
  }
  template <class FreeList>
  void shrink(std::int64_t new_end, FreeList& list) const {
    list.withdraw(new_end);
  }
  [[nodiscard]] std::int64_t free() const {
    std::int64_t count = end;
    for (const std::int32_t block : held) count -= block < end ? 1 : 0;
    return count;
  }
};

template <class Id, class FreeList>
void check_ids() {
  if constexpr (pave::is_free_list_v<FreeList, Id>) {
    FreeList list = list_of<FreeList>(5, 9);
    FreeList twin = list_of<FreeList>(5, 9);
    const std::vector<Id> wide = take_from<Id>(list, 4);
    const std::vector<pave::block_id> plain = take_from(twin, 4);
    for (std::size_t i = 0; i < 4; ++i) CHECK(std::int64_t{wide[i].value()} == plain[i].value());
  }
}

template <class FreeList>
void check_free_list() {
  static_assert(pave::is_free_list_v<FreeList>);
  static_assert(std::is_move_constructible_v<FreeList> && std::is_move_assignable_v<FreeList>);

  SECTION("memory alone makes no block free") {
    FreeList list;
    CHECK(list.size().value() == 0);
    REQUIRE(list.reserve(10));
    CHECK(list.size().value() == 0);
  }

  SECTION("each block that was added is there once") {
    for (const std::int64_t capacity : {1, 2, 31, 64, 65, 1000}) {
      FreeList list = list_of<FreeList>(0, capacity);
      CHECK(list.size().value() == capacity);
      CHECK(sorted_order_of(list) == counting(0, static_cast<std::size_t>(capacity)));
      CHECK(list.size().value() == 0);
    }
  }

  SECTION("the ids need not begin at 0, nor come in one range") {
    FreeList list;
    REQUIRE(list.reserve(200));
    list.add(5, 9);
    CHECK(list.size().value() == 4);
    list.add(60, 131);
    list.add(199, 200);
    CHECK(list.size().value() == 76);
    std::vector<std::int32_t> expected = counting(5, 4);
    for (const std::int32_t block : counting(60, 71)) expected.push_back(block);
    expected.push_back(199);
    CHECK(sorted_order_of(list) == expected);
  }

  SECTION("adding none changes nothing") {
    FreeList list = list_of<FreeList>(0, 3);
    list.add(3, 3);
    CHECK(sorted_order_of(list) == counting(0, 3));
  }

  SECTION("it gives the pool's ids, whatever their width") {
    check_ids<pave::basic_block_id<std::int64_t>, FreeList>();
    check_ids<pave::basic_block_id<std::uint16_t>, FreeList>();
  }

  SECTION("taking none changes nothing") {
    FreeList list = list_of<FreeList>(0, 3);
    CHECK(take_from(list, 0).empty());
    CHECK(list.size().value() == 3);
  }

  SECTION("a block that was put is given again, when its turn comes") {
    FreeList list = list_of<FreeList>(0, 4);
    static_cast<void>(take_from(list, 4));
    list.put(2, pave::content::worth_keeping);
    CHECK(list.size().value() == 1);
    CHECK(order_of(list) == counting(2, 1));
    CHECK(list.size().value() == 0);
  }

  SECTION("it moves with all that it holds, and leaves an empty one that can be used again") {
    FreeList list = list_of<FreeList>(0, 5);
    const std::vector<pave::block_id> two = take_from(list, 2);
    FreeList moved = std::move(list);
    CHECK(moved.size().value() == 3);
    CHECK(list.size().value() == 0);  // NOLINT(bugprone-use-after-move)
    FreeList assigned;
    assigned = std::move(moved);
    CHECK(assigned.size().value() == 3);
    CHECK(moved.size().value() == 0);  // NOLINT(bugprone-use-after-move)
    for (const pave::block_id block : two) assigned.put(block, pave::content::worth_keeping);
    CHECK(sorted_order_of(assigned) == counting(0, 5));
    REQUIRE(moved.reserve(70));
    CHECK(moved.size().value() == 0);
    moved.add(66, 70);
    CHECK(sorted_order_of(moved) == counting(66, 4));
  }

  SECTION("it grows, and keeps what is there") {
    for (const std::int64_t capacity : {1, 5, 63, 64, 65, 200}) {
      for (const std::int64_t more : {1, 64, 5000}) {
        auto list = mixed_list<FreeList>(capacity, 7);
        const std::int32_t out = take_from(list, 1)[0].value();
        REQUIRE(list.reserve(capacity + more));
        CHECK(list.size().value() == capacity - 1);
        list.add(capacity, capacity + more);
        CHECK(list.size().value() == capacity - 1 + more);
        std::vector<std::int32_t> expected = counting(0, static_cast<std::size_t>(capacity + more));
        expected.erase(expected.begin() + out);
        CHECK(sorted_order_of(list) == expected);
      }
    }
  }

  SECTION("room that is there already is no reason to change") {
    for (const std::int64_t capacity : {10, 5000}) {
      auto list = mixed_list<FreeList>(capacity, 3);
      auto twin = mixed_list<FreeList>(capacity, 3);
      REQUIRE(list.reserve(capacity));
      REQUIRE(list.reserve(4));
      CHECK(order_of(list) == order_of(twin));
    }
  }

  SECTION("what is withdrawn is not free any more, and the others keep their order") {
    for (const std::int64_t capacity : {1, 7, 64, 70, 130}) {
      for (std::int64_t first = 0; first <= capacity; ++first) {
        auto list = mixed_list<FreeList>(capacity, 11);
        auto twin = mixed_list<FreeList>(capacity, 11);
        const auto taken = take_from(list, static_cast<std::size_t>(capacity / 3));
        REQUIRE(take_from(twin, taken.size()) == taken);
        list.withdraw(first);
        std::vector<std::int32_t> expected = order_of(twin);
        const auto goes = [first](std::int32_t block) { return block >= first; };
        expected.erase(std::remove_if(expected.begin(), expected.end(), goes), expected.end());
        REQUIRE(list.size() == expected.size());
        REQUIRE(order_of(list) == expected);
      }
    }
  }

  SECTION("what was withdrawn can be added again") {
    FreeList list = list_of<FreeList>(0, 100);
    list.withdraw(3);
    CHECK(list.size().value() == 3);
    list.add(3, 100);
    CHECK(sorted_order_of(list) == counting(0, 100));
  }

  SECTION("no block is given twice, and the same calls give the same blocks") {
    for_each_seed(60, [](std::uint64_t seed) {
      random_source random(seed);
      FreeList list;
      FreeList twin;
      id_space ids;
      const std::int64_t most = random.one_in(3) ? 300 : 40;
      for (int call = 0; call < 200; ++call) {
        if (call == 0 || random.one_in(20)) {
          const std::int64_t end = random.between(0, most);
          if (end < ids.end) {
            ids.shrink(end, list);
            ids.shrink(end, twin);
          } else {
            ids.grow(end, list);
            ids.grow(end, twin);
          }
          ids.end = end;
        } else if (random.one_in(2)) {
          const std::size_t count = random.index(static_cast<std::size_t>(list.size().value()) + 1);
          const auto taken = take_from(list, count);
          expect(taken == take_from(twin, count), "deterministic");
          for (const pave::block_id block : taken) {
            expect(block.value() >= 0 && block.value() < ids.end, "in range");
            expect(ids.held.insert(block.value()).second, "given once");
          }
        } else if (!ids.held.empty()) {
          auto at = ids.held.begin();
          std::advance(at, random.index(ids.held.size()));
          const pave::content left = random.one_in(3) ? pave::content::worthless : pave::content::worth_keeping;
          if (*at < ids.end) {
            list.put(*at, left);
            twin.put(*at, left);
          }
          ids.held.erase(at);
        }
        expect(list.size() == ids.free(), "size counts what is free");
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
