// SPDX-License-Identifier: Apache-2.0
// What every free list does besides that gives blocks in runs of ids that follow each other, alone and in a pool.
#ifndef PAVE_TESTS_CONTRACT_RUNS_CONTRACT_HPP
#define PAVE_TESTS_CONTRACT_RUNS_CONTRACT_HPP

#include "contract/free_list_contract.hpp"
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
#include <utility>
#include <vector>

namespace pave_tests {

/// Free ids, and their runs by looking at all of them.
struct plain_runs {
  struct run {
    std::int32_t first = 0;
    std::size_t length = 0;
  };
  std::set<std::int32_t> free;

  /// The lowest run of `wanted` or more, or the longest, the lowest of equals.
  [[nodiscard]] run best(std::size_t wanted) const {
    run found;
    run here;
    for (const std::int32_t block : free) {
      const bool follows = here.length > 0 && block == here.first + static_cast<std::int32_t>(here.length);
      here = follows ? run{here.first, here.length + 1} : run{block, 1};
      if (here.length > found.length) found = here;
      if (found.length == wanted) break;
    }
    return found;
  }
  [[nodiscard]] std::size_t longest() const { return best(free.size() + 1).length; }
  std::vector<std::int32_t> take(std::size_t count) {
    std::vector<std::int32_t> taken;
    while (taken.size() < count) {
      const run next = best(count - taken.size());
      for (const std::int32_t block : counting(next.first, next.length)) {
        taken.push_back(block);
        free.erase(block);
      }
    }
    return taken;
  }
};

template <class Id = pave::block_id, class FreeList>
std::vector<Id> take_runs_from(FreeList& list, std::size_t count) {
  std::vector<Id> taken(count);
  list.take_runs(pave::span<Id>(taken));
  return taken;
}

/// A list and the plain model of it, which are told the same.
template <class FreeList>
class runs_pair {
 public:
  void resize(std::int64_t end) {
    if (end < ids_.end) {
      ids_.shrink(end, list_);
      plain_.free.erase(plain_.free.lower_bound(static_cast<std::int32_t>(end)), plain_.free.end());
    } else {
      ids_.grow(end, list_);
      for (std::int64_t block = ids_.end; block < end; ++block) {
        if (ids_.held.count(static_cast<std::int32_t>(block)) == 0)
          plain_.free.insert(static_cast<std::int32_t>(block));
      }
    }
    ids_.end = end;
  }
  void take(std::size_t count) {
    for (const pave::block_id block : take_from(list_, count)) {
      expect(plain_.free.erase(block.value()) == 1, "what is given was free");
      ids_.held.insert(block.value());
    }
  }
  void take_runs(std::size_t count) {
    const std::vector<std::int32_t> taken = plain_.take(count);
    expect(values(take_runs_from(list_, count)) == taken, "as few runs as looking at all of them finds");
    ids_.held.insert(taken.begin(), taken.end());
  }
  void put(std::int32_t block) {
    if (ids_.held.erase(block) == 0 || block >= ids_.end) return;
    list_.put(block, pave::content::worth_keeping);
    plain_.free.insert(block);
  }
  void remove(std::int32_t block, bool undo) {
    if constexpr (pave::can_revive_v<FreeList>) {
      const bool was_free = plain_.free.count(block) == 1;
      expect(list_.remove(block) == was_free, "what is free is removed");
      if (!was_free) return;
      if (undo) {
        list_.undo_remove(block);
      } else {
        plain_.free.erase(block);
        ids_.held.insert(block);
      }
    }
  }
  /// Some that are held, from a random one on.
  void put_some(random_source& random) {
    if (ids_.held.empty()) return;
    auto at = ids_.held.begin();
    std::advance(at, random.index(ids_.held.size()));
    std::vector<std::int32_t> some;
    for (std::int64_t count = random.between(1, 70); count > 0 && at != ids_.held.end(); --count) some.push_back(*at++);
    for (const std::int32_t block : some) put(block);
  }
  void check() const {
    expect(list_.size() == plain_.free.size(), "size counts what is free");
    if constexpr (pave::detail::is_detected_v<pave::detail::free_list_longest_run, FreeList>) {
      expect(list_.longest_run() == plain_.longest(), "it knows the longest run");
    }
  }
  [[nodiscard]] std::size_t free() const { return plain_.free.size(); }

 private:
  FreeList list_;
  plain_runs plain_;
  id_space ids_;
};

/// Random calls to a list of `capacity` ids and more.
template <class FreeList>
void check_runs_of(std::int64_t capacity, std::uint64_t seed, int calls) {
  random_source random(seed);
  runs_pair<FreeList> pair;
  pair.resize(capacity);
  const auto any_block = [&] { return static_cast<std::int32_t>(random.between(0, capacity - 1)); };
  const auto any_count = [&] {
    const std::size_t some = random.one_in(8) ? pair.free() : (std::min)(pair.free(), std::size_t{150});
    return random.index(some + 1);
  };
  for (int call = 0; call < calls; ++call) {
    switch (random.between(0, 7)) {
      case 0: pair.take(any_count()); break;
      case 1: pair.take_runs(any_count()); break;
      case 2: pair.take_runs((std::min)(pair.free(), std::size_t{1})); break;
      case 3: pair.remove(any_block(), random.one_in(3)); break;
      case 4:
        if (random.one_in(6)) pair.resize(random.between(0, capacity + capacity / 2));
        break;
      case 5: pair.put_some(random); break;
      default:
        for (std::int64_t count = random.between(1, 20); count > 0; --count) pair.put(any_block());
        break;
    }
    if (random.one_in(4)) pair.check();  // asking must not be what keeps it right
  }
  pair.take_runs(pair.free());
  pair.check();
}

template <class FreeList>
void check_free_list_with_runs() {
  static_assert(pave::gives_runs_v<FreeList>);

  SECTION("the lowest run that is long enough, and its lowest ids") {
    FreeList list;
    REQUIRE(list.reserve(100));
    list.add(3, 5);
    list.add(10, 14);
    list.add(20, 30);
    CHECK(values(take_runs_from(list, 3)) == counting(10, 3));
    CHECK(values(take_runs_from(list, 2)) == counting(3, 2));
    CHECK(values(take_runs_from(list, 1)) == counting(13, 1));
    CHECK(values(take_runs_from(list, 10)) == counting(20, 10));
    CHECK(list.size().value() == 0);
  }

  SECTION("where none is long enough the longest, the lowest of equals, and then the rest alike") {
    FreeList list;
    REQUIRE(list.reserve(100));
    list.add(3, 5);
    list.add(60, 66);
    list.add(80, 86);
    list.add(90, 93);
    CHECK(values(take_runs_from(list, 8)) == std::vector<std::int32_t>{60, 61, 62, 63, 64, 65, 3, 4});
    CHECK(values(take_runs_from(list, 8)) == std::vector<std::int32_t>{80, 81, 82, 83, 84, 85, 90, 91});
    CHECK(list.size().value() == 1);
  }

  SECTION("none of none") {
    FreeList list;
    CHECK(take_runs_from(list, 0).empty());
    list = list_of<FreeList>(0, 3);
    CHECK(take_runs_from(list, 0).empty());
    CHECK(list.size().value() == 3);
  }

  SECTION("a run goes over any border") {
    for (const std::int32_t border : {128, 192, 256, 2048, 4096}) {
      FreeList list = list_of<FreeList>(0, 5000);
      static_cast<void>(take_from(list, 5000));
      for (const std::int32_t block : counting(border - 70, 140)) list.put(block, pave::content::worthless);
      list.put(5, pave::content::worthless);
      CHECK(values(take_runs_from(list, 140)) == counting(border - 70, 140));
      CHECK(values(take_runs_from(list, 1)) == counting(5, 1));
    }
  }

  SECTION("every pattern of ten blocks around a border, for every count") {
    for (std::uint32_t pattern = 0; pattern < 1024; ++pattern) {
      plain_runs plain;
      for (std::int32_t i = 0; i < 10; ++i) {
        if (((pattern >> static_cast<std::uint32_t>(i)) & 1U) != 0) plain.free.insert(59 + i);
      }
      for (std::size_t count = 1; count <= plain.free.size(); ++count) {
        FreeList list;
        expect(list.reserve(80), "memory is there");
        for (const std::int32_t block : plain.free) list.add(block, block + 1);
        expect(values(take_runs_from(list, count)) == plain_runs(plain).take(count), "as looking at all finds");
      }
    }
    SUCCEED();
  }

  SECTION("it gives the pool's ids, whatever their width") {
    FreeList list = list_of<FreeList>(2, 90);
    CHECK(take_runs_from<pave::basic_block_id<std::int64_t>>(list, 80).back().value() == 81);
    CHECK(take_runs_from<pave::basic_block_id<std::uint16_t>>(list, 8).back().value() == 89);
  }

  SECTION("one that is moved from has no runs, and its runs go along") {
    FreeList list = list_of<FreeList>(0, 300);
    static_cast<void>(take_from(list, 10));
    FreeList moved = std::move(list);
    CHECK(values(take_runs_from(moved, 200)) == counting(10, 200));
    REQUIRE(list.reserve(20));  // NOLINT(bugprone-use-after-move)
    CHECK(list.size().value() == 0);
    list.add(7, 20);
    CHECK(values(take_runs_from(list, 13)) == counting(7, 13));
  }

  SECTION("any stream of calls does what looking at all blocks does") {
    for_each_seed(150, [](std::uint64_t seed) {
      random_source random(seed);
      check_runs_of<FreeList>(random.between(1, random.one_in(2) ? 70 : 700), seed, 80);
    });
  }

  SECTION("also where the words just fill a level, or just do not") {
    for (const std::int64_t capacity : {63, 64, 65, 127, 128, 129, 255, 256, 257, 4095, 4096, 4097}) {
      for_each_seed(3, [capacity](std::uint64_t seed) { check_runs_of<FreeList>(capacity, seed, 60); });
    }
  }

  SECTION("a pool gives runs, all of them or none") {
    auto made = pave::block_pool<pool_with_free_list<FreeList>>::create({12, 1});
    REQUIRE(made);
    auto pool = std::move(*made);
    const auto all = take(pool, 12);
    const std::vector<pave::block_id> some{1, 3, 4, 7, 8, 9, 12};
    REQUIRE(pool.release(some));
    const auto before = all_holders(pool);

    std::vector<pave::block_id> out(8);
    const auto short_of = pool.allocate_runs(out);
    CHECK(short_of.code() == pave::errc::shortage);
    CHECK(short_of.error().missing.value() == 1);
    out.resize(13);
    const auto too_many = pool.allocate_runs(out);
    CHECK(too_many.code() == pave::errc::never_fits);
    CHECK(too_many.error().missing.value() == 1);
    for (const pave::block_id block : out) CHECK(block == pave::block_id());
    CHECK(all_holders(pool) == before);
    CHECK(pool.available().value() == 7);

    REQUIRE(pool.allocate_runs({out.data(), 2}));
    REQUIRE(pool.allocate_runs({out.data() + 2, 4}));
    out.resize(6);
    CHECK(values(out) == std::vector<std::int32_t>{3, 4, 7, 8, 9, 1});
    for (const pave::block_id block : out) CHECK(pool.holders(block) == 1);
    CHECK(pool.held().value() == 11);
    REQUIRE(pool.allocate_runs({out.data(), 0}));
    CHECK(pool.available().value() == 1);
    REQUIRE(pool.release(out));
    CHECK(pool.available().value() == 7);
  }
}

}  // namespace pave_tests

#endif  // PAVE_TESTS_CONTRACT_RUNS_CONTRACT_HPP
