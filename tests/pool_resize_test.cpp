// SPDX-License-Identifier: Apache-2.0
// A pool that grows at once, and shrinks as its last blocks come free.
#include "support/catch.hpp"
#include "support/keeping.hpp"
#include "support/laws.hpp"

#include <pave/pool.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace {

using pave::block_id;
using pave::block_pool;
using pave::errc;
using pave_tests::counting;
using pave_tests::pool_of;
using pave_tests::take;
using pave_tests::values;

struct waiting_keeping : pave_tests::keeping<> {
  using fence = pave::after_step;
};
using keeping_pool = block_pool<waiting_keeping>;

/// Capacity, available, fenced, held and leaving.
template <class Pool>
std::vector<std::int64_t> counts(const Pool& pool) {
  pave_tests::check_conservation(pool, 64);
  return {pool.capacity().value(), pool.available().value(), pool.fenced().value(), pool.held().value(),
          pool.leaving().value()};
}
using numbers = std::vector<std::int64_t>;

template <class Pool>
std::vector<std::int32_t> sorted_drain(Pool& pool) {
  std::vector<std::int32_t> all = pave_tests::drain(pool);
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

TEMPLATE_TEST_CASE("block_pool: it grows at once, from its last block on", "[pool]", block_pool<>, keeping_pool) {
  for (std::int64_t before = 1; before <= 4; ++before) {
    for (std::int64_t taken = 0; taken <= before; ++taken) {
      for (std::int64_t after = before; after <= 9; ++after) {
        auto pool = pool_of<TestType>(before);
        const auto held = take(pool, static_cast<std::size_t>(taken));
        REQUIRE(pool.resize(after));
        CHECK(counts(pool) == numbers{after, after - taken, 0, taken, 0});
        CHECK(sorted_drain(pool) ==
              counting(static_cast<std::int32_t>(taken), static_cast<std::size_t>(after - taken)));
        REQUIRE(pool.release(held));
        CHECK(pool.available().value() == taken);
      }
    }
  }
}

TEMPLATE_TEST_CASE("block_pool: what was beyond its last block fits once it has grown",
                   "[pool]",
                   block_pool<>,
                   keeping_pool) {
  auto pool = pool_of<TestType>(2);
  std::vector<block_id> three(3);
  CHECK(pool.allocate(three).code() == errc::never_fits);
  REQUIRE(pool.resize(3));
  CHECK(pool.allocate(three));
  std::vector<block_id> four(4);
  CHECK(pool.acquire({}, four).error().missing.value() == 1);
  REQUIRE(pool.resize(2));
  CHECK(pool.allocate(three).code() == errc::never_fits);
  CHECK(pool.allocate(three).error().missing.value() == 1);
  CHECK(pool.acquire({}, three).code() == errc::never_fits);
}

TEMPLATE_TEST_CASE("block_pool: free blocks leave at once when it shrinks, held ones when they come free",
                   "[pool]",
                   block_pool<>,
                   keeping_pool) {
  auto pool = pool_of<TestType>(8);
  const auto blocks = take(pool, 6);
  const auto token = pool.pin({&blocks[5], 1}).value();
  REQUIRE(pool.resize(3));
  CHECK(counts(pool) == numbers{6, 0, 0, 6, 3});
  REQUIRE(pool.share({&blocks[4], 1}));
  REQUIRE(pool.release(blocks));
  CHECK(counts(pool) == numbers{5, 3, 0, 2, 2});
  REQUIRE(pool.unpin(token));
  CHECK(counts(pool) == numbers{4, 3, 0, 1, 1});
  CHECK(pool.holders(5) == 0);
  CHECK(pool.release({&blocks[5], 1}).code() == errc::not_held);
  REQUIRE(pool.release({&blocks[4], 1}));
  CHECK(counts(pool) == numbers{3, 3, 0, 0, 0});
  CHECK(sorted_drain(pool) == counting(0, 3));
}

TEST_CASE("block_pool: it says which blocks leave, and how many ids it has had", "[pool]") {
  pave::pool_options options;
  options.blocks = 6;
  options.first_block = 1;
  auto pool = block_pool<>::create(options).value();
  CHECK(pool.id_end() == 7);
  const auto blocks = take(pool, 6);
  const auto leaving = [&pool] {
    std::vector<std::int64_t> all;
    for (std::int64_t block = -1; block < 12; ++block) {
      if (pool.is_leaving(block)) all.push_back(block);
    }
    return all;
  };
  CHECK(leaving().empty());
  REQUIRE(pool.resize(3));
  CHECK(leaving() == numbers{4, 5, 6});
  CHECK(pool.id_end() == 7);
  REQUIRE(pool.resize(5));
  CHECK(leaving() == numbers{6});
  REQUIRE(pool.resize(9));
  CHECK(leaving().empty());
  CHECK(pool.id_end() == 10);
  REQUIRE(pool.resize(1));
  CHECK(pool.id_end() == 10);
  CHECK(leaving() == numbers{2, 3, 4, 5, 6});
  REQUIRE(pool.release({&blocks[3], 1}));
  CHECK(leaving() == numbers{2, 3, 5, 6});  // one that has left does not leave
  REQUIRE(pool.release({&blocks[0], 3}));
  REQUIRE(pool.release({&blocks[4], 2}));
  CHECK(leaving().empty());
  CHECK(pool.id_end() == 10);
  CHECK(pool.capacity().value() == 1);
  CHECK(block_pool<>().id_end() == 0);
}

TEST_CASE("block_pool: a block on its way leaves when it arrives", "[pool]") {
  auto pool = pool_of<keeping_pool>(4);
  const auto blocks = take(pool, 4);
  REQUIRE(pool.release({blocks.data(), 3}, 2));
  REQUIRE(pool.resize(2));
  CHECK(counts(pool) == numbers{4, 0, 3, 1, 2});
  CHECK(pool.arriving(2).value() == 3);
  REQUIRE(pool.release({&blocks[3], 1}, 1));
  CHECK(counts(pool) == numbers{4, 0, 4, 0, 2});
  REQUIRE(pool.complete(1));
  CHECK(counts(pool) == numbers{3, 0, 3, 0, 1});
  REQUIRE(pool.complete(2));
  CHECK(counts(pool) == numbers{2, 2, 0, 0, 0});
  CHECK(sorted_drain(pool) == counting(0, 2));
}

TEST_CASE("block_pool: one that grows again while it shrinks keeps what did not leave yet", "[pool]") {
  auto pool = pool_of<keeping_pool>(8);
  const auto blocks = take(pool, 8);
  REQUIRE(pool.resize(2));
  REQUIRE(pool.release({&blocks[3], 1}));     // it leaves
  REQUIRE(pool.release({&blocks[5], 1}, 4));  // it will
  CHECK(counts(pool) == numbers{7, 0, 1, 6, 5});
  REQUIRE(pool.resize(6));
  // 3 is back and free; 2, 4 and 5 never left; 6 and 7 still leave.
  CHECK(counts(pool) == numbers{8, 1, 1, 6, 2});
  REQUIRE(pool.resize(7));
  CHECK(counts(pool) == numbers{8, 1, 1, 6, 1});
  REQUIRE(pool.release({blocks.data() + 6, 2}));
  CHECK(counts(pool) == numbers{7, 2, 1, 4, 0});
  pool.complete_through(4);
  CHECK(counts(pool) == numbers{7, 3, 0, 4, 0});
  CHECK(sorted_drain(pool) == std::vector<std::int32_t>{3, 5, 6});
}

TEST_CASE("block_pool: told its size again, it stays as it is", "[pool]") {
  auto pool = pool_of<keeping_pool>(5);
  auto twin = pool_of<keeping_pool>(5);
  const auto blocks = take(pool, 4);
  static_cast<void>(take(twin, 4));
  for (auto* each : {&pool, &twin}) REQUIRE(each->release({blocks.data() + 1, 2}));
  REQUIRE(pool.resize(5));
  CHECK(counts(pool) == counts(twin));
  CHECK(pave_tests::drain(pool) == pave_tests::drain(twin));
}

TEST_CASE("block_pool: content stays with a block that stays, and is lost with one that leaves", "[pool]") {
  auto pool = pool_of<keeping_pool>(6);
  const auto notes = pave_tests::fill_and_release(pool);
  REQUIRE(pool.acquire({&notes[4], 1}, {}));
  REQUIRE(pool.resize(3));
  for (const std::size_t block : {3U, 5U}) CHECK_FALSE(pool.is_kept(notes[block]));
  for (const std::size_t block : {0U, 1U, 2U, 4U}) CHECK(pool.is_kept(notes[block]));
  const block_id four = 4;
  REQUIRE(pool.release({&four, 1}));
  CHECK_FALSE(pool.is_kept(notes[4]));
  REQUIRE(pool.resize(20));
  for (const std::size_t block : {3U, 4U, 5U}) {
    CHECK_FALSE(pool.is_kept(notes[block]));
    CHECK(pool.acquire({&notes[block], 1}, {}).code() == errc::stale);
  }
  REQUIRE(pool.acquire({notes.data(), 3}, {}));
  CHECK(counts(pool) == numbers{20, 17, 0, 3, 0});
}

TEST_CASE("block_pool: content of a block that leaves is there as long as somebody holds it", "[pool]") {
  auto pool = pool_of<keeping_pool>(3);
  const auto blocks = take(pool, 3);
  const auto notes = pave_tests::contents(pool, blocks);
  REQUIRE(pool.resize(1));
  REQUIRE(pool.acquire({&notes[2], 1}, {}));
  CHECK(pool.holders(2) == 2);
  REQUIRE(pool.release({&blocks[1], 1}, 3));
  CHECK_FALSE(pool.is_kept(notes[1]));
  REQUIRE(pool.resize(3));  // before it arrived: it stays, with its content
  pool.complete_through(3);
  CHECK(pool.is_kept(notes[1]));
}

TEMPLATE_TEST_CASE("block_pool: with a first block, it grows and shrinks at its other end",
                   "[pool]",
                   block_pool<>,
                   keeping_pool) {
  pave::pool_options options;
  options.blocks = 3;
  options.first_block = 10;
  auto pool = TestType::create(options).value();
  REQUIRE(pool.resize(5));
  const auto all = take(pool, 5);
  auto ids = values(all);
  std::sort(ids.begin(), ids.end());
  CHECK(ids == counting(10, 5));
  CHECK(counts(pool) == numbers{5, 0, 0, 5, 0});
  REQUIRE(pool.resize(1));
  CHECK(counts(pool) == numbers{5, 0, 0, 5, 4});
  REQUIRE(pool.release(all));
  CHECK(counts(pool) == numbers{1, 1, 0, 0, 0});
  CHECK(pave_tests::drain(pool) == std::vector<std::int32_t>{10});
}

TEST_CASE("block_pool: a size that is not positive, or that no id can name, is refused and changes nothing", "[pool]") {
  using pool_type = block_pool<>;
  constexpr std::int64_t most = (std::numeric_limits<std::int32_t>::max)();
  const std::int64_t first = GENERATE(0, 1, 100);
  pave::pool_options options;
  options.blocks = 4;
  options.first_block = first;
  auto pool = pool_type::create(options).value();
  const auto blocks = take(pool, 2);
  for (const std::int64_t size :
       {std::int64_t{0}, std::int64_t{-1}, (std::numeric_limits<std::int64_t>::min)(), most - first + 1, most + 1,
        std::int64_t{1} << 32, (std::int64_t{1} << 32) + 4, (std::numeric_limits<std::int64_t>::max)()}) {
    CHECK(pool.resize(size).code() == errc::invalid_argument);
    CHECK(pool.capacity().value() == 4);
    CHECK(pool.available().value() == 2);
    CHECK(pool.leaving().value() == 0);
  }
  CHECK(pool.release(blocks));
}

TEST_CASE("block_pool: one without capacity, made so or moved from, can be given some", "[pool]") {
  const bool is_moved_from = GENERATE(false, true);
  pave::pool_options options;
  options.blocks = 6;
  options.first_block = 2;
  block_pool<> pool;
  if (is_moved_from) {
    pool = block_pool<>::create(options).value();
    static_cast<void>(take(pool, 3));
    const block_pool<> moved = std::move(pool);
  }
  REQUIRE(pool.resize(4));
  CHECK(counts(pool) == numbers{4, 4, 0, 0, 0});
  CHECK(sorted_drain(pool) == counting(0, 4));
  CHECK(counts(pool) == numbers{4, 0, 0, 4, 0});
}
