// SPDX-License-Identifier: Apache-2.0
// Pools of different block sizes that share one memory, slab by slab.
#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/layout.hpp>
#include <pave/policy/from_slabs.hpp>
#include <pave/pool.hpp>
#include <pave/slab_source.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using pave::block_id;
using pave::errc;
using pave::from_slabs;
using pave::slab_source;
using pave_tests::counting;
using pave_tests::take;
using pave_tests::values;

struct in_slabs : pave::pool_policies {
  using free_list = from_slabs;
};
struct after_a_step : in_slabs {
  using fence = pave::after_step;
};
struct wide_ids : in_slabs {
  using id = pave::basic_block_id<std::int64_t>;
};
struct narrow_ids : in_slabs {
  using id = pave::basic_block_id<std::uint8_t>;
};
using slab_pool = pave::block_pool<in_slabs>;

static_assert(slab_pool::shares_memory && !pave::block_pool<>::shares_memory);
static_assert(pave::shares_memory_v<from_slabs> && !pave::shares_memory_v<pave::lowest_first>);
static_assert(pave::is_free_list_v<from_slabs, pave::basic_block_id<std::int64_t>>);
static_assert(!pave::can_revive_v<from_slabs> && !pave::gives_runs_v<from_slabs>);
static_assert(!std::is_copy_constructible_v<from_slabs>, "two pools never have one slab");
static_assert(noexcept(std::declval<slab_pool&>().allocate({})) && noexcept(std::declval<slab_pool&>().release({})));

slab_source source_of(pave::slab_count slabs, pave::byte_count bytes) {
  return slab_source::create(slabs, bytes).value();
}
template <class Policies = in_slabs>
pave::block_pool<Policies> pool_of(slab_source& source, pave::byte_count block_bytes) {
  return pave::block_pool<Policies>::create({}, from_slabs(source, block_bytes)).value();
}

struct expected_counts {
  std::int64_t available, held, fenced = 0;
};
template <class Pool>
void check_counts(const Pool& pool, const expected_counts& expected) {
  CHECK(pool.available().value() == expected.available);
  CHECK(pool.held().value() == expected.held);
  CHECK(pool.fenced().value() == expected.fenced);
  CHECK(pool.capacity().value() == expected.available + expected.held + expected.fenced);
  pave_tests::check_conservation(pool, static_cast<std::int64_t>(pool.id_end()));
}

}  // namespace

TEST_CASE("from_slabs: a new pool has all of the memory, and so has another one", "[pool][slabs]") {
  slab_source source = source_of(4, 96);
  const slab_pool small = pool_of(source, 32), large = pool_of(source, 96);
  CHECK(small.id_end() == 12);
  CHECK(large.id_end() == 4);
  check_counts(small, {12, 0});
  check_counts(large, {4, 0});
  CHECK(source.free_slabs().value() == 4);
}

TEST_CASE("from_slabs: a draw by one pool takes a slab's blocks from the others, until it comes back",
          "[pool][slabs]") {
  slab_source source = source_of(4, 96);
  slab_pool small = pool_of(source, 32), middle = pool_of(source, 48), large = pool_of(source, 96);
  const auto first = take(small, 1);
  check_counts(small, {11, 1});
  check_counts(middle, {6, 0});
  check_counts(large, {3, 0});
  const auto others = take(small, 3);  // the other two of its slab, and one of the next
  check_counts(small, {8, 4});
  check_counts(middle, {4, 0});
  const auto two = take(large, 2);
  check_counts(small, {2, 4});
  check_counts(middle, {0, 0});
  check_counts(large, {0, 2});

  REQUIRE(small.release(first));
  check_counts(small, {3, 3});
  check_counts(middle, {0, 0});
  REQUIRE(small.release({others.data(), 2}));
  check_counts(small, {5, 1});
  check_counts(middle, {2, 0});
  check_counts(large, {1, 2});
  REQUIRE(large.release(two));
  REQUIRE(small.release({others.data() + 2, 1}));
  check_counts(small, {12, 0});
  check_counts(middle, {8, 0});
  check_counts(large, {4, 0});
}

TEST_CASE("from_slabs: where one pool has all slabs, the others are short, and of nothing that never fits",
          "[pool][slabs]") {
  slab_source source = source_of(2, 96);
  slab_pool small = pool_of(source, 32), large = pool_of(source, 48);
  const auto all = take(small, 6);
  CHECK(values(all) == counting(0, 6));
  CHECK(source.free_slabs().value() == 0);
  std::vector<block_id> out(4, block_id(77));
  CHECK(large.allocate(out).code() == errc::shortage);
  CHECK(large.allocate(out).error().missing.value() == 4);
  std::vector<block_id> many(7, block_id(77));
  CHECK(large.allocate({many.data(), 5}).code() == errc::never_fits);
  CHECK(large.allocate({many.data(), 5}).error().missing.value() == 1);
  CHECK(small.allocate({many.data(), 1}).code() == errc::shortage);
  CHECK(small.allocate(many).code() == errc::never_fits);
  CHECK(out == std::vector<block_id>(4, block_id(77)));
  check_counts(large, {0, 0});

  REQUIRE(small.release({all.data() + 1, 4}));  // each slab keeps one
  CHECK(large.allocate(out).error().missing.value() == 4);
  REQUIRE(small.release({all.data(), 1}));
  CHECK(large.allocate(out).error().missing.value() == 2);
  REQUIRE(small.release({all.data() + 5, 1}));
  CHECK(large.allocate(out));
  check_counts(small, {0, 0});
}

TEST_CASE("from_slabs: the fullest slab gives first, and of equals the one that changed last", "[pool][slabs]") {
  slab_source source = source_of(4, 4);
  slab_pool pool = pool_of(source, 1);
  const auto all = take(pool, 12);  // slabs 0, 1 and 2
  const block_id some[] = {0, 1, 5, 9, 10, 11};
  REQUIRE(pool.release(some));  // 2, 1 and 3 of them are free
  CHECK(source.free_slabs().value() == 1);
  CHECK(values(take(pool, 1)) == std::vector<std::int32_t>{5});
  CHECK(values(take(pool, 2)) == std::vector<std::int32_t>{1, 0});
  CHECK(values(take(pool, 4)) == std::vector<std::int32_t>{11, 10, 9, 12});

  const block_id one_each[] = {8, 0, 4};
  REQUIRE(pool.release(one_each));  // and three of slab 3 are free
  CHECK(values(take(pool, 6)) == std::vector<std::int32_t>{4, 0, 8, 13, 14, 15});
}

TEST_CASE("from_slabs: what stays in few slabs lets the others go", "[pool][slabs]") {
  slab_source source = source_of(64, 16);
  slab_pool pool = pool_of(source, 1);
  auto held = take(pool, 1024);
  for (int round = 0; round < 50; ++round) {
    // Every other block goes, and as many come: into the slabs that have the most already.
    std::vector<block_id> goes, stays;
    for (std::size_t i = 0; i < held.size(); ++i)
      ((i * 7 + static_cast<std::size_t>(round)) % 2 == 0 ? goes : stays).push_back(held[i]);
    REQUIRE(pool.release(goes));
    const auto more = take(pool, goes.size() * 3 / 4);
    held = stays;
    held.insert(held.end(), more.begin(), more.end());
  }
  const std::int64_t needed = source.layout(1).slabs_for(held.size()).value();
  CHECK((source.slabs() - source.free_slabs()).value() <= needed + 4);
}

TEST_CASE("from_slabs: a slab goes round from pool to pool", "[pool][slabs]") {
  slab_source source = source_of(1, 12);
  slab_pool pools[] = {pool_of(source, 12), pool_of(source, 3), pool_of(source, 4), pool_of(source, 5)};
  const std::size_t blocks[] = {1, 4, 3, 2};
  for (int round = 0; round < 5; ++round) {
    for (std::size_t i = 0; i < 4; ++i) {
      auto all = take(pools[i], blocks[i]);
      std::sort(all.begin(), all.end());
      CHECK(values(all) == counting(0, blocks[i]));
      for (std::size_t other = 0; other < 4; ++other) CHECK(pools[other].available().value() == 0);
      REQUIRE(pools[i].release(all));
      for (std::size_t other = 0; other < 4; ++other) CHECK(pools[other].available() == blocks[other]);
    }
  }
}

TEST_CASE("from_slabs: a shared or a pinned block, and one on its way, keep their slab", "[pool][slabs]") {
  slab_source source = source_of(2, 4);
  auto pool = pool_of<after_a_step>(source, 2);
  slab_pool other = pool_of(source, 4);
  const auto held = take(pool, 2);
  REQUIRE(pool.share({held.data(), 1}));
  const pave::pin_token token = pool.pin({held.data() + 1, 1}).value();
  REQUIRE(pool.release(held, 3));
  check_counts(other, {1, 0});
  REQUIRE(pool.release({held.data(), 1}, 1));
  check_counts(pool, {2, 1, 1});
  CHECK(pool.arriving(3).value() == 1);
  REQUIRE(pool.unpin(token, 5));
  check_counts(pool, {2, 0, 2});
  check_counts(other, {1, 0});
  pool.complete_through(4);
  check_counts(pool, {3, 0, 1});
  check_counts(other, {1, 0});
  pool.complete_through(5);
  check_counts(pool, {4, 0, 0});
  check_counts(other, {2, 0});
}

TEST_CASE("from_slabs: a release that names a bad block gives no slab back", "[pool][slabs]") {
  slab_source source = source_of(2, 4);
  slab_pool pool = pool_of(source, 2);
  const auto held = take(pool, 2);
  for (const block_id bad : {block_id(2), block_id(3), block_id(4), block_id(), held[0]}) {
    const block_id named[] = {held[0], held[1], bad};
    CHECK(pool.release(named).code() == errc::not_held);
    check_counts(pool, {2, 2});
    CHECK(source.free_slabs().value() == 1);
  }
}

TEST_CASE("from_slabs: what was asked of several pools together is there for all of them", "[pool][slabs]") {
  slab_source source = source_of(4, 96);
  slab_pool small = pool_of(source, 32), large = pool_of(source, 48);
  static_cast<void>(take(small, 1));
  const auto fit = [&](pave::block_count of_small, pave::block_count of_large) {
    const pave::slab_request both[] = {{32, small.available(), of_small}, {48, large.available(), of_large}};
    return source.fits(both);
  };
  CHECK(fit(2, 6));
  CHECK_FALSE(fit(3, 6));
  CHECK(fit(5, 4));
  CHECK_FALSE(fit(5, 5));
  static_cast<void>(take(large, 4));
  static_cast<void>(take(small, 5));
  check_counts(small, {0, 6});
  check_counts(large, {0, 4});
}

TEST_CASE("from_slabs: a pool that ends gives its slabs back, with all that it held", "[pool][slabs]") {
  slab_source source = source_of(3, 8);
  slab_pool stays = pool_of(source, 8);
  {
    slab_pool ends = pool_of(source, 2);
    static_cast<void>(take(ends, 5));
    static_cast<void>(take(stays, 1));
    CHECK(source.free_slabs().value() == 0);
  }
  CHECK(source.free_slabs().value() == 2);
  check_counts(stays, {2, 1});
}

TEST_CASE("from_slabs: a moved pool goes on with its slabs, and one that is moved from has none", "[pool][slabs]") {
  slab_source source = source_of(4, 8);
  slab_pool pool = pool_of(source, 2);
  auto held = take(pool, 3);
  slab_pool moved(std::move(pool));
  check_counts(pool, {0, 0});  // NOLINT(bugprone-use-after-move)
  CHECK(pool.allocate(held).code() == errc::never_fits);
  CHECK(pool.release(held).code() == errc::not_held);
  check_counts(moved, {13, 3});
  CHECK(source.free_slabs().value() == 3);

  slab_pool assigned = pool_of(source, 4);
  static_cast<void>(take(assigned, 3));
  CHECK(source.free_slabs().value() == 1);
  assigned = std::move(moved);
  CHECK(source.free_slabs().value() == 3);
  check_counts(assigned, {13, 3});
  REQUIRE(assigned.release(held));
  CHECK(source.free_slabs().value() == 4);
}

TEST_CASE("from_slabs: ids of any width, and addresses beyond 4 GiB", "[pool][slabs]") {
  constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
  slab_source source = source_of(40'000, 2 * mebibyte + 5);  // 78 GiB
  auto pool = pool_of<wide_ids>(source, mebibyte);
  const auto all = take(pool, 80'000);
  const pave::slab_layout layout = source.layout(mebibyte);
  for (std::int64_t i = 0; i < 80'000; ++i) {
    const auto block = all[static_cast<std::size_t>(i)];
    REQUIRE(layout.offset(block).value() == i / 2 * (2 * mebibyte + 5) + i % 2 * mebibyte);
  }
  CHECK(layout.offset(all.back()).value() == 39'999 * (2 * mebibyte + 5) + mebibyte);

  slab_source few = source_of(51, 50);
  auto narrow = pool_of<narrow_ids>(few, 10);  // 255 ids
  CHECK(take(narrow, 255).back().value() == 254);
}

TEST_CASE("from_slabs: create refuses block sizes, counts and ids that cannot be", "[pool][slabs]") {
  slab_source source = source_of(4, 96);
  constexpr std::int64_t most = (std::numeric_limits<std::int64_t>::max)();
  for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{97}, most})
    CHECK(slab_pool::create({}, from_slabs(source, bytes)).code() == errc::invalid_argument);
  CHECK(slab_pool::create({}).code() == errc::invalid_argument);
  CHECK(slab_pool::create({12}).code() == errc::invalid_argument);
  CHECK(slab_pool::create({12}, from_slabs()).code() == errc::invalid_argument);
  CHECK(slab_pool::create({12}, from_slabs(source, 32)).has_value());
  for (const std::int64_t blocks : {std::int64_t{-1}, std::int64_t{1}, std::int64_t{11}, std::int64_t{13}, most})
    CHECK(slab_pool::create({blocks}, from_slabs(source, 32)).code() == errc::invalid_argument);
  CHECK(slab_pool::create({12, 1}, from_slabs(source, 32)).code() == errc::invalid_argument);
  CHECK(slab_pool::create({0, -1}, from_slabs(source, 32)).code() == errc::invalid_argument);

  slab_source many = source_of(52, 50);
  CHECK(pave::block_pool<narrow_ids>::create({}, from_slabs(many, 10)).code() == errc::invalid_argument);
  slab_source vast = source_of(1 << 20, std::int64_t{1} << 20);
  CHECK(slab_pool::create({}, from_slabs(vast, 1)).code() == errc::invalid_argument);
  slab_source none;
  CHECK(slab_pool::create({}, from_slabs(none, 32)).code() == errc::invalid_argument);
}

TEST_CASE("from_slabs: a block of a whole slab, and slabs of many blocks", "[pool][slabs]") {
  const std::int64_t per_slab = GENERATE(1, 2, 63, 64, 65, 4097);
  slab_source source = source_of(3, per_slab);
  slab_pool pool = pool_of(source, 1);
  const auto all = take(pool, static_cast<std::size_t>(3 * per_slab));
  CHECK(values(all) == counting(0, all.size()));
  check_counts(pool, {0, 3 * per_slab});
  for (std::size_t i = 0; i < all.size(); ++i) {  // one of each slab in turn
    const block_id block = all[i % 3 * static_cast<std::size_t>(per_slab) + i / 3];
    REQUIRE(pool.release({&block, 1}));
    REQUIRE(pool.available() == i + 1);
  }
  CHECK(source.free_slabs().value() == 3);
}

TEST_CASE("from_slabs: an audit counts what this pool has", "[pool][slabs]") {
  slab_source source = source_of(4, 96);
  slab_pool small = pool_of(source, 32), large = pool_of(source, 96);
  const auto held = take(small, 2);
  static_cast<void>(take(large, 2));
  std::array<std::uint32_t, 12> scratch{};
  std::vector<pave::finding> found;
  const auto say = [&found](const pave::finding& one) { found.push_back(one); };
  CHECK(small.audit(pave::no_tables(), scratch, say).value() == 2);
  REQUIRE(found.size() == 2);
  for (const pave::finding& one : found) CHECK(one.kind == pave::finding_kind::leaked);
  REQUIRE(small.release(held));
  CHECK(small.audit(pave::no_tables(), scratch, say).value() == 0);
}
