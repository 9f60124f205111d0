// SPDX-License-Identifier: Apache-2.0
// The pool: who holds what, all or nothing, and conservation after every call.
#include "support/catch.hpp"
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
using pave_tests::all_holders;
using pave_tests::check_conservation;
using pave_tests::counting;
using pave_tests::take;
using pave_tests::values;

block_pool<> pool_of(pave::block_count blocks) {
  auto made = block_pool<>::create({blocks});
  REQUIRE(made);
  return std::move(*made);
}

/// Every call on a pool without capacity is refused, and none crashes.
void check_empty(block_pool<>& pool) {
  CHECK(pool.capacity().value() == 0);
  CHECK(pool.available().value() == 0);
  CHECK(pool.fenced().value() == 0);
  CHECK(pool.held().value() == 0);
  CHECK(pool.holders(0) == 0);
  CHECK(pool.holders(block_id()) == 0);
  std::vector<block_id> one{block_id(77)};
  CHECK(pool.allocate(one).code() == errc::never_fits);
  CHECK(pool.allocate(one).error().missing.value() == 1);
  CHECK(one[0].value() == 77);
  const block_id zero = 0;
  CHECK(pool.share({&zero, 1}).code() == errc::not_held);
  CHECK(pool.release({&zero, 1}).code() == errc::not_held);
  CHECK(pool.pin({&zero, 1}).code() == errc::not_held);
  CHECK(pool.pin({}).code() == errc::invalid_argument);
  for (const std::uint32_t generation : {0U, 1U}) CHECK(pool.unpin({0, generation}).code() == errc::stale);
  CHECK(pool.complete(5));
  pool.complete_through(7);
  CHECK(pool.arriving(9).value() == 0);
  CHECK(pool.leaving().value() == 0);
  CHECK(pool.audit(pave::no_tables(), {}, [](const pave::finding& /*found*/) {}).value() == 0);
  CHECK(pool.allocate({}));
  CHECK(pool.available().value() == 0);
}

}  // namespace

TEST_CASE("block_pool: a new one has every block available and none held", "[pool]") {
  const std::int64_t size = GENERATE(1, 2, 7, 64, 1000);
  const block_pool<> pool = pool_of(size);
  CHECK(pool.capacity().value() == size);
  CHECK(pool.available().value() == size);
  CHECK(pool.held().value() == 0);
  CHECK(pool.fenced().value() == 0);
  check_conservation(pool);
}

TEST_CASE("block_pool: create refuses a size that is not positive, or that no id can name", "[pool]") {
  constexpr std::int64_t most = (std::numeric_limits<std::int64_t>::max)();
  const std::int64_t size = GENERATE_COPY(std::int64_t{0}, std::int64_t{-1}, (std::numeric_limits<std::int64_t>::min)(),
                                          std::int64_t{1} << 31, (std::int64_t{1} << 31) + 1, std::int64_t{1} << 32,
                                          (std::int64_t{1} << 32) + 4, most);
  const auto made = block_pool<>::create({size});
  CHECK_FALSE(made.has_value());
  CHECK(made.code() == errc::invalid_argument);
  CHECK(block_pool<>::create({(std::numeric_limits<std::uint64_t>::max)()}).code() == errc::invalid_argument);
  CHECK(block_pool<>::create({}).code() == errc::invalid_argument);
}

TEST_CASE("block_pool: a default one has no capacity, and refuses every call", "[pool]") {
  block_pool<> pool;
  check_empty(pool);
}

TEST_CASE("block_pool: a moved-from one has no capacity, and the other has all that it held", "[pool]") {
  block_pool<> pool = pool_of(5);
  const auto held = take(pool, 2);
  REQUIRE(pool.share({held.data(), 1}));
  const auto token = pool.pin({held.data() + 1, 1}).value();

  block_pool<> moved = std::move(pool);
  check_empty(pool);  // NOLINT(bugprone-use-after-move)
  CHECK(moved.capacity().value() == 5);
  CHECK(moved.available().value() == 3);
  CHECK(moved.holders(held[0]) == 2);
  CHECK(moved.holders(held[1]) == 2);
  check_conservation(moved);

  block_pool<> assigned = pool_of(9);
  assigned = std::move(moved);
  check_empty(moved);  // NOLINT(bugprone-use-after-move)
  CHECK(assigned.capacity().value() == 5);
  CHECK(assigned.available().value() == 3);
  REQUIRE(assigned.release(held));
  CHECK(assigned.available().value() == 3);
  REQUIRE(assigned.unpin(token));
  CHECK(assigned.available().value() == 4);
  CHECK(assigned.unpin(token).code() == errc::stale);
  check_conservation(assigned);

  pool = pool_of(2);
  CHECK(pool.capacity().value() == 2);
  static_cast<void>(take(pool, 2));
}

TEST_CASE("block_pool: it gives 0, 1, 2, … at first, then what was released last", "[pool]") {
  block_pool<> pool = pool_of(8);
  CHECK(values(take(pool, 3)) == counting(0, 3));
  CHECK(values(take(pool, 2)) == counting(3, 2));
  const block_id some[] = {1, 4, 0};
  REQUIRE(pool.release(some));
  CHECK(values(take(pool, 5)) == std::vector<std::int32_t>{0, 4, 1, 5, 6});
}

TEST_CASE("block_pool: allocate gives all that was asked, or none and says how much is missing", "[pool]") {
  const std::size_t size = GENERATE(1U, 2U, 5U, 16U);
  for (std::size_t taken = 0; taken <= size; ++taken) {
    for (std::size_t wanted = 0; wanted <= size + 3; ++wanted) {
      block_pool<> pool = pool_of(size);
      static_cast<void>(take(pool, taken));
      std::vector<block_id> out(wanted, block_id(1234));
      const auto before = all_holders(pool);
      const auto given = pool.allocate(out);
      check_conservation(pool);
      if (wanted <= size - taken) {
        REQUIRE(given);
        CHECK(pool.available() == size - taken - wanted);
        for (const block_id block : out) CHECK(pool.holders(block) == 1);
        continue;
      }
      const bool never = wanted > size;
      CHECK(given.code() == (never ? errc::never_fits : errc::shortage));
      CHECK(given.error().missing == (never ? wanted - size : wanted - (size - taken)));
      CHECK(all_holders(pool) == before);
      CHECK(pool.available() == size - taken);
      CHECK(std::all_of(out.begin(), out.end(), [](block_id block) { return block.value() == 1234; }));
    }
  }
}

TEST_CASE("block_pool: a refused allocate does not change which blocks come next", "[pool]") {
  block_pool<> pool = pool_of(6);
  const auto first = take(pool, 4);
  const block_id back[] = {first[2], first[0]};
  REQUIRE(pool.release(back));
  std::vector<block_id> five(5);
  REQUIRE_FALSE(pool.allocate(five));
  CHECK(values(take(pool, 4)) == std::vector<std::int32_t>{0, 2, 4, 5});
}

TEST_CASE("block_pool: a double release is refused and frees nothing", "[pool]") {
  block_pool<> pool = pool_of(4);
  const auto blocks = take(pool, 3);
  REQUIRE(pool.release(blocks));
  CHECK(pool.available().value() == 4);
  CHECK(pool.release(blocks).code() == errc::not_held);
  CHECK(pool.release({blocks.data(), 1}).code() == errc::not_held);
  CHECK(pool.available().value() == 4);
  check_conservation(pool);
  CHECK(values(take(pool, 4)).size() == 4);
}

TEST_CASE("block_pool: share adds a holder for each time that a block is named", "[pool]") {
  block_pool<> pool = pool_of(4);
  const auto blocks = take(pool, 2);
  const block_id named[] = {blocks[0], blocks[1], blocks[0], blocks[0]};
  REQUIRE(pool.share(named));
  CHECK(pool.holders(blocks[0]) == 4);
  CHECK(pool.holders(blocks[1]) == 2);
  CHECK(pool.held().value() == 2);
  CHECK(pool.available().value() == 2);
  check_conservation(pool);
}

TEST_CASE("block_pool: a share of a free block or of none shares nothing at all", "[pool]") {
  block_pool<> pool = pool_of(4);
  const auto blocks = take(pool, 2);
  const block_id bad = GENERATE(block_id(2), block_id(3), block_id(4), block_id(5), block_id(), block_id(-1),
                                block_id((std::numeric_limits<std::int32_t>::max)()));
  for (std::size_t at = 0; at < 4; ++at) {
    std::vector<block_id> named{blocks[0], blocks[1], blocks[0]};
    named.insert(named.begin() + static_cast<std::ptrdiff_t>(at), bad);
    const auto before = all_holders(pool);
    CHECK(pool.share(named).code() == errc::not_held);
    CHECK(all_holders(pool) == before);
    check_conservation(pool);
  }
}

TEST_CASE("block_pool: a release of a free block or of none releases nothing at all", "[pool]") {
  block_pool<> pool = pool_of(4);
  const auto blocks = take(pool, 2);
  REQUIRE(pool.share({blocks.data(), 1}));
  const block_id bad = GENERATE(block_id(2), block_id(3), block_id(4), block_id(5), block_id(), block_id(-1),
                                block_id((std::numeric_limits<std::int32_t>::max)()));
  for (std::size_t at = 0; at < 4; ++at) {
    std::vector<block_id> named{blocks[0], blocks[1], blocks[0]};
    named.insert(named.begin() + static_cast<std::ptrdiff_t>(at), bad);
    const auto before = all_holders(pool);
    CHECK(pool.release(named).code() == errc::not_held);
    CHECK(all_holders(pool) == before);
    CHECK(pool.available().value() == 2);
    check_conservation(pool);
  }
  CHECK(values(take(pool, 2)) == counting(2, 2));
}

TEST_CASE("block_pool: in one release a block may be named as often as it has holders, in any mixture", "[pool]") {
  // Three blocks with 1 to 3 holders each, named 0 to 4 times each, in three orders.
  for (std::uint32_t mixture = 0; mixture < 27; ++mixture) {
    const std::uint32_t holders[] = {mixture % 3 + 1, mixture / 3 % 3 + 1, mixture / 9 + 1};
    for (std::uint32_t names = 0; names < 125; ++names) {
      const std::uint32_t named[] = {names % 5, names / 5 % 5, names / 25};
      block_pool<> pool = pool_of(4);
      const auto blocks = take(pool, 3);
      for (std::size_t b = 0; b < 3; ++b) {
        for (std::uint32_t i = 1; i < holders[b]; ++i) REQUIRE(pool.share({&blocks[b], 1}));
      }
      std::vector<block_id> list;
      for (std::size_t b = 0; b < 3; ++b) list.insert(list.end(), named[b], blocks[b]);
      const auto order = (mixture + names) % 3;
      if (order == 1) std::reverse(list.begin(), list.end());
      if (order == 2)
        std::rotate(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2), list.end());

      const bool allowed = named[0] <= holders[0] && named[1] <= holders[1] && named[2] <= holders[2];
      const auto before = all_holders(pool);
      const auto released = pool.release(list);
      std::int64_t freed = 0;
      bool as_expected = released.has_value() == allowed && (allowed || released.code() == errc::not_held);
      for (std::size_t b = 0; b < 3; ++b) {
        const std::uint32_t left = allowed ? holders[b] - named[b] : holders[b];
        as_expected = as_expected && pool.holders(blocks[b]) == left;
        freed += left == 0 ? 1 : 0;
      }
      as_expected = as_expected && pool.available() == 1 + freed &&
                    pool.available() + pave_tests::distinct_held(pool) == pool.capacity();
      if (!as_expected) {
        CAPTURE(mixture, names, order, before);
        REQUIRE(as_expected);
      }
    }
  }
  SUCCEED();
}

TEST_CASE("block_pool: a release of several that ends holders of each frees them in the order named", "[pool]") {
  block_pool<> pool = pool_of(3);
  const auto blocks = take(pool, 3);
  REQUIRE(pool.share({blocks.data(), 1}));
  const block_id named[] = {2, 0, 1, 0};
  REQUIRE(pool.release(named));
  CHECK(pool.available().value() == 3);
  // The last of them is the first to go out again.
  CHECK(take(pool, 3).back() == block_id(2));
}

TEST_CASE("block_pool: releasing, sharing and taking nothing does nothing", "[pool]") {
  block_pool<> pool = pool_of(2);
  static_cast<void>(take(pool, 1));
  CHECK(pool.allocate({}));
  CHECK(pool.share({}));
  CHECK(pool.release({}));
  CHECK(pool.available().value() == 1);
  check_conservation(pool);
}

TEST_CASE("block_pool: what is in range but free has no holders, and what is out of range neither", "[pool]") {
  block_pool<> pool = pool_of(3);
  static_cast<void>(take(pool, 1));
  CHECK(pool.holders(0) == 1);
  CHECK(pool.holders(1) == 0);
  CHECK(pool.holders(3) == 0);
  CHECK(pool.holders(block_id()) == 0);
  CHECK(pool.holders((std::numeric_limits<std::int32_t>::max)()) == 0);
}

TEST_CASE("block_pool: the same calls give the same ids", "[pool]") {
  const auto run = [] {
    block_pool<> pool = pool_of(32);
    std::vector<std::int32_t> given;
    std::vector<block_id> held;
    for (std::size_t i = 0; i < 60; ++i) {
      std::vector<block_id> out(i % 7);
      if (pool.allocate(out)) {
        for (const block_id block : out) given.push_back(block.value());
        held.insert(held.end(), out.begin(), out.end());
      }
      const std::size_t back = (std::min)(held.size(), (i * 5) % 9);
      REQUIRE(pool.release({held.data(), back}));
      held.erase(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(back));
    }
    return given;
  };
  CHECK(run() == run());
}

TEST_CASE("block_pool: after create a pool takes no memory of its own", "[pool]") {
  static_assert(noexcept(std::declval<block_pool<>&>().allocate({})));
  static_assert(noexcept(std::declval<block_pool<>&>().release({})));
  static_assert(noexcept(std::declval<block_pool<>&>().share({})));
  static_assert(noexcept(std::declval<block_pool<>&>().pin({})));
  static_assert(noexcept(std::declval<block_pool<>&>().unpin({})));
  static_assert(noexcept(std::declval<block_pool<>&>().complete({})));
  static_assert(noexcept(std::declval<block_pool<>&>().complete_through({})));
  static_assert(noexcept(std::declval<block_pool<>&>().resize({})));
  static_assert(!std::is_copy_constructible_v<block_pool<>>, "two pools never own one block");
  static_assert(std::is_nothrow_move_constructible_v<block_pool<>>);
  SUCCEED();
}
