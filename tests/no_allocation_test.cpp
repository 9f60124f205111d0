// SPDX-License-Identifier: Apache-2.0
// Law 9: after create() no call takes memory; and create() gives all back where the host refuses some of it.
#include "support/catch.hpp"
#include "support/memory_watch.hpp"

#include <pave/pave.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <vector>

// It is there before any of the operators below is called.
pave_tests::memory_watch pave_tests::watch;

namespace {

using pave_tests::require_all_is_given_back;
using pave_tests::watch;
using pave_tests::watched;

/// @param alignment a power of two, or 0 for any
void* take(std::size_t size, std::size_t alignment = 0) noexcept {
  if (watch.is_on) {
    if (watch.asked++ == watch.refused || size > watch.largest) return nullptr;
    ++watch.taken;
    watch.bytes += size;
  }
  if (alignment == 0) return std::malloc(size == 0 ? 1 : size);
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
void* take_or_throw(std::size_t size) {
  void* memory = take(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void give_back(void* memory) noexcept {
  if (watch.is_on && memory != nullptr) ++watch.given_back;
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return take_or_throw(size); }
void* operator new[](std::size_t size) { return take_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept { return take(size); }
void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept { return take(size); }
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete[](void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { give_back(memory); }
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept { give_back(memory); }
void operator delete[](void* memory, const std::nothrow_t& /*tag*/) noexcept { give_back(memory); }
// Of what is aligned to more than usual the headers have only arrays, and take them without exceptions.
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t& /*tag*/) noexcept {
  return take(size, static_cast<std::size_t>(alignment));
}
void operator delete[](void* memory, std::align_val_t /*alignment*/) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  give_back(memory);
}
void operator delete[](void* memory, std::align_val_t /*alignment*/, const std::nothrow_t& /*tag*/) noexcept {
  give_back(memory);
}

namespace {

struct keeping : pave::pool_policies {
  using free_list = pave::least_recently_released;
  using retention = pave::keep;
};
struct keeping_cache : pave::cache_policies {
  using pool = keeping;
};
struct packed : keeping {
  using free_list = pave::lowest_first;
};
struct per_thread_policies : pave::pool_policies {
  using lock = pave::per_thread;
};

struct indexed_groups : pave::group_cache_policies {
  using pool = keeping;
  using prefix_index = pave::prefix_index;
};
/// Of 16 blocks of two tokens, or 8 of four, in group 0.
pave::span<const pave::block_hash> hashes_of(const std::vector<pave::block_hash>& hashes, std::size_t group) {
  return {hashes.data() + group * 8, group == 0 ? std::size_t{4} : std::size_t{8}};
}

pave::kv_cache_options options_of_cache() {
  pave::kv_cache_options options;
  options.blocks = 24;
  options.tokens_per_block = 4;
  options.sequences = 8;
  options.steps_in_flight = 3;
  return options;
}

}  // namespace

TEMPLATE_TEST_CASE(
    "block_pool: no call but create takes memory", "[pool][memory]", pave::pool_policies, keeping, packed) {
  pave::block_pool<TestType> pool = pave::block_pool<TestType>::create({8}).value();
  std::array<pave::block_id, 8> blocks{};
  std::array<pave::block_id, 9> too_many{};
  std::array<pave::kept_block, 8> kept{};
  int revived = 0;
  {
    const watched memory;
    for (int i = 0; i < 100; ++i) {
      static_cast<void>(pool.allocate(blocks));
      static_cast<void>(pool.allocate(too_many));
      static_cast<void>(pool.share(blocks));
      static_cast<void>(pool.release(blocks));
      static_cast<void>(pool.release(blocks, i));
      static_cast<void>(pool.release(blocks));
      static_cast<void>(pool.complete(i));
      pool.allocate(blocks).value();
      pool.overwrite(blocks[0]).value();
      for (std::size_t b = 0; b < kept.size(); ++b) kept[b] = pool.content_of(blocks[b]).value();
      pool.release(blocks).value();
      static_cast<void>(pool.acquire({kept.data(), 4}, {too_many.data(), 5}));
      static_cast<void>(pool.acquire(kept, too_many));
      if (pool.acquire({kept.data(), 4}, {too_many.data(), 4})) {
        static_cast<void>(pool.acquire({kept.data(), 4}, {}));
        static_cast<void>(pool.acquire(kept, {}));
        static_cast<void>(pool.is_kept(kept[0]));
        pool.release({blocks.data(), 4}).value();
        pool.release(blocks, i, pave::content::worthless).value();
        revived += 4;
      }
      pool.forget_content();
    }
  }
  REQUIRE(revived == (pave::block_pool<TestType>::keeps_content ? 400 : 0));
  REQUIRE(watch.asked == 0);
  REQUIRE(pool.available() == 8);
}

/// Takes and puts back of a list that has 0 … 99, and 150 … blocks − 1.
bool gives_all(pave::lowest_first& list, std::int64_t blocks) {
  std::array<pave::block_id, 100> out{};
  list.take(pave::span<pave::block_id>(out));
  bool good = out[0] == 0 && out[99] == 99 && list.longest_run() == (blocks > 150 ? blocks - 150 : 0);
  for (const pave::block_id block : out) list.put(block, pave::content::worthless);
  list.take_runs(pave::span<pave::block_id>(out));
  good = out[0] == 0 && out[99] == 99 && good;
  for (const pave::block_id block : out) list.put(block, pave::content::worthless);
  good = list.remove(99) && good;
  list.undo_remove(99);
  return good;
}

TEST_CASE("lowest_first: no call but reserve takes memory, and one that is refused some changes nothing",
          "[pool][memory]") {
  std::int64_t refused = 0;
  for (bool is_there = false; !is_there; ++refused) {
    pave::lowest_first list;
    REQUIRE(list.reserve(100));
    list.add(0, 100);
    {
      const watched memory(refused);
      is_there = list.reserve(300000);
    }
    bool good = false;
    {
      const watched memory;
      good = gives_all(list, 100);
    }
    REQUIRE(good);
    REQUIRE(watch.asked == 0);
    REQUIRE(list.reserve(5000));  // less than what was refused
    list.add(150, 5000);
    REQUIRE(gives_all(list, 5000));
    REQUIRE(list.reserve(300000));
    list.add(5000, 300000);
    {
      const watched memory;
      good = gives_all(list, 300000);
      list.withdraw(100);
    }
    REQUIRE(good);
    REQUIRE(watch.asked == 0);
    REQUIRE(gives_all(list, 100));
  }
  REQUIRE(refused > 4);
}

TEST_CASE("block_pool: no call of a per_thread pool, or of its handles, takes memory but create",
          "[pool][threads][memory]") {
  auto pool = pave::block_pool<per_thread_policies>::create({600, 0, 0, 2}).value();
  std::array<pave::block_id, 400> blocks{};
  std::array<pave::block_id, 601> too_many{};
  int shortages = 0;
  {
    const watched memory;
    for (int i = 0; i < 100; ++i) {
      auto first = pool.local().value();
      auto second = pool.local().value();
      static_cast<void>(pool.local());
      first.allocate(blocks).value();
      shortages += second.allocate(blocks).code() == pave::errc::shortage ? 1 : 0;
      static_cast<void>(pool.allocate(too_many));
      second.share(blocks).value();
      pool.release(blocks, i).value();
      first.release({blocks.data(), 200}).value();
      second.release({blocks.data() + 200, 200}).value();
      static_cast<void>(second.release(blocks));
      pool.allocate({too_many.data(), 600}).value();
      pool.release({too_many.data(), 600}).value();
    }
  }
  REQUIRE(shortages == 100);
  REQUIRE(watch.asked == 0);
  REQUIRE(pool.available() == 600);
}

TEST_CASE("eviction_planner: no plan takes memory, by price, by looking at all, or by an index", "[planner][memory]") {
  struct by_price : pave::planner_policies {
    using victim_order = pave::cheapest_restore;
    using cut_shape = pave::cheapest_range;
  };
  std::vector<pave::block_table_candidates<>::row> rows;
  std::vector<std::int32_t> table;
  for (std::int32_t i = 0; i < 100; ++i) {
    rows.push_back({{i, static_cast<std::uint64_t>(i)}, 20, i % 3 == 0, 20 * 16 - i % 16});
    for (std::int32_t at = 0; at < 20; ++at) table.push_back(i * 20 + at);
  }
  const std::vector<std::uint32_t> holders(table.size(), 1);
  const pave::block_table_candidates<> view(rows, table.data(), 20, holders);
  std::vector<pave::basic_cut<std::size_t>> room(rows.size());
  std::vector<std::uint32_t> scratch(rows.size());
  auto index = pave::victim_index<>::create(rows.size()).value();
  const pave::rank requester{-1, 0};
  bool all_made = true;
  {
    const watched memory;
    for (std::size_t i = 0; i < rows.size(); ++i) index.insert(view, i).value();
    for (const std::int64_t shortage : {1, 5, 64, 300, 1900}) {
      pave::basic_cut_list<std::size_t> cuts(room);
      const auto from = pave::victims::parked_then_running;
      all_made = pave::eviction_planner<by_price>()(view, requester, shortage, from, cuts, scratch) && all_made;
      all_made = pave::eviction_planner<>()(view, requester, shortage, from, cuts, scratch) && all_made;
      all_made = pave::eviction_planner<>()(view, index, requester, shortage, from, cuts) && all_made;
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      index.refresh(view, i).value();
      index.erase(i).value();
    }
  }
  REQUIRE(all_made);
  REQUIRE(watch.asked == 0);
}

TEST_CASE("group_planner: no plan takes memory, with what is left behind or with cuts", "[planner][memory]") {
  const pave::kv_group kinds[] = {{16}, {16, 100}, {16, 0, 64}};
  const std::size_t rows_of = 40;
  std::vector<pave::group_table_candidates<>::row> rows;
  std::vector<std::int32_t> table;
  for (std::int32_t i = 0; i < 40; ++i) {
    rows.push_back({{i, static_cast<std::uint64_t>(i)}, 20 * 16 - i % 16, i % 3 == 0});
    for (std::int32_t at = 0; at < 20; ++at) table.push_back(i * 20 + at);
  }
  const std::vector<std::uint32_t> holders(table.size(), 1);
  const std::vector<std::int32_t> ends(rows_of, 20);
  std::vector<pave::group_table> groups;
  for (const pave::kv_group& kind : kinds) groups.push_back({kind, table.data(), 20, ends, holders});
  const pave::group_table_candidates<> view(rows, groups);
  std::vector<pave::basic_group_cut<std::size_t>> cuts(rows_of);
  std::vector<pave::basic_blocks_left_behind<std::size_t>> left_behind(rows_of * 3);
  std::vector<pave::plan> amounts(3);
  std::vector<pave::group_victim> scratch(rows_of);
  const pave::basic_group_plan_room<std::size_t> room{cuts, left_behind, amounts, scratch};
  bool all_made = true;
  {
    const watched memory;
    for (const std::int64_t shortage : {1, 5, 64, 790}) {
      for (const std::int64_t times : {0, 1}) {
        const pave::block_count each[] = {shortage * times, shortage, shortage};
        const auto made =
            pave::group_planner<>()(view, pave::rank{-1, 0}, each, pave::victims::parked_then_running, room);
        all_made = made && all_made;
      }
    }
  }
  REQUIRE(all_made);
  REQUIRE(watch.asked == 0);
}

TEST_CASE("group_cache: no call takes memory but create", "[group_cache][memory]") {
  const std::vector<pave::group_pool_options> groups{{{4}, 40}, {{2, 5}, 24}, {{2, 0, 4}, 24}};
  auto cache = pave::group_cache<indexed_groups>::create({64, 6, 2}, groups).value();
  std::vector<pave::block_hash> hashes(32);
  for (std::size_t i = 0; i < hashes.size(); ++i) hashes[i] = {i, 7};
  bool all_made = true;
  std::int64_t cuts = 0;
  std::int64_t found = 0;
  {
    const watched memory;
    for (std::int64_t i = 0; i < 4; ++i) {
      const auto id = cache.admit(i, 17);
      for (std::size_t g = 0; g < 3; ++g)
        all_made = id && cache.set_hashes(*id, g, 0, hashes_of(hashes, g)) && all_made;
    }
    for (int steps = 0; steps < 60; ++steps) {
      const auto step = cache.begin_step();
      if (steps == 5) all_made = cache.fork({0, 1}, 9) && all_made;
      for (std::uint32_t slot = 0; slot < 6; ++slot) {
        const auto grown = cache.grow_or_reclaim({slot, 1}, cache.remaining({slot, 1}).has_value() ? 2 : 0);
        if (grown) cuts += static_cast<std::int64_t>(grown->cuts.size());
      }
      for (auto next = cache.next_restore(40); next; next = cache.next_restore(40)) found += next->found.size().value();
      if (steps == 9) all_made = cache.truncate({0, 1}, 12) && all_made;
      if (steps == 30) all_made = cache.finish({0, 1}) && all_made;
      if (steps == 40) cache.reset();
      all_made = cache.complete(*step) && all_made;
    }
  }
  REQUIRE(all_made);
  REQUIRE(cuts > 0);
  REQUIRE(found > 0);
  REQUIRE(watch.asked == 0);
}

TEST_CASE("create: where memory is refused, all that was taken is given back", "[cache][pool][tracker][memory]") {
  SECTION("kv_cache") {
    require_all_is_given_back([] { return pave::kv_cache<>::create(options_of_cache()).code(); });
    require_all_is_given_back([] { return pave::kv_cache<keeping_cache>::create(options_of_cache()).code(); });
  }
  SECTION("group_cache") {
    const std::vector<pave::group_pool_options> groups{{{4}, 24}, {{2, 5}, 12}};
    const auto create = [&](auto policies) {
      return pave::group_cache<decltype(policies)>::create({64, 8, 2}, groups).code();
    };
    require_all_is_given_back([&] { return create(pave::group_cache_policies{}); });
    require_all_is_given_back([&] { return create(indexed_groups{}); });
  }
  SECTION("block_pool") {
    require_all_is_given_back([] { return pave::block_pool<>::create({24}).code(); });
    require_all_is_given_back([] { return pave::block_pool<keeping>::create({24}).code(); });
    require_all_is_given_back([] { return pave::block_pool<packed>::create({24}).code(); });
    require_all_is_given_back([] { return pave::block_pool<per_thread_policies>::create({24}).code(); });
  }
  SECTION("restore_tracker") {
    require_all_is_given_back([] { return pave::restore_tracker<>::create({8, 100}).code(); });
    require_all_is_given_back([] { return pave::restore_tracker<>::create({8, 100, 4}).code(); });
  }
  SECTION("victim_index") {
    require_all_is_given_back([] { return pave::victim_index<>::create(8).code(); });
  }
  SECTION("prefix_index") {
    require_all_is_given_back([] { return pave::prefix_index::create(24).code(); });
  }
}

TEST_CASE("create: sizes that no host has memory for are refused, not wrapped around",
          "[cache][pool][tracker][memory]") {
  constexpr std::int64_t many = (std::numeric_limits<std::int32_t>::max)();
  pave::kv_cache_options wide = options_of_cache();
  wide.sequences = static_cast<std::size_t>(many);
  wide.steps_in_flight = 64;
  pave::kv_cache_options large = options_of_cache();
  large.blocks = many;
  large.blocks_per_sequence = many;
  large.sequences = static_cast<std::size_t>(many);
  std::array<pave::errc, 9> codes{};
  {
    const watched memory(-1, std::size_t{1} << 26U);
    codes = {pave::kv_cache<>::create(wide).code(),
             pave::kv_cache<>::create(large).code(),
             pave::block_pool<>::create({many}).code(),
             pave::block_pool<keeping>::create({many}).code(),
             pave::block_pool<packed>::create({many}).code(),
             pave::block_pool<per_thread_policies>::create({many}).code(),
             pave::prefix_index::create(many).code(),
             pave::restore_tracker<>::create({(std::numeric_limits<std::uint32_t>::max)()}).code(),
             pave::restore_tracker<>::create({1, (std::numeric_limits<std::int64_t>::max)(), 1}).code()};
  }
  for (const pave::errc code : codes) REQUIRE(code == pave::errc::out_of_memory);
  REQUIRE(watch.taken == watch.given_back);
}
