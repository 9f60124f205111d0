// SPDX-License-Identifier: Apache-2.0
// The stock sharing policies, and some of a user's, keep the contract.
#include "contract/sharing_contract.hpp"
#include "support/at_most.hpp"
#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/policy/sharing.hpp>
#include <pave/pool.hpp>

#include <cstdint>

TEMPLATE_TEST_CASE("contract: sharing counts holders, and frees with the last",
                   "[contract][pool]",
                   pave::counted,
                   pave::exclusive,
                   pave_tests::at_most<1>,
                   pave_tests::at_most<2>,
                   pave_tests::at_most<4>) {
  pave_tests::check_sharing<TestType>();
}

static_assert(pave::can_share_v<pave::counted>);
static_assert(!pave::can_share_v<pave::exclusive>);
static_assert(pave::can_share_v<pave_tests::at_most<4>>, "one that does not say so can");

TEST_CASE("counted: a block has up to 2^24 − 1 sequences and 254 pins, all at the same time", "[pool]") {
  pave::counted sharing;
  REQUIRE(sharing.reserve(2));
  sharing.hold(0);
  constexpr std::uint32_t most = (std::uint32_t{1} << 24U) - 1;
  std::uint32_t sequences = 1;
  while (sharing.share(0)) ++sequences;
  CHECK(sequences == most);
  for (std::uint32_t pins = 1; pins <= 254; ++pins) {
    REQUIRE(sharing.pin(0));
    REQUIRE(sharing.holders(0) == most + pins);
  }
  CHECK_FALSE(sharing.pin(0));
  CHECK_FALSE(sharing.share(0));
  CHECK_FALSE(sharing.settle(0));
  CHECK(sharing.holders(0) == most + 254);
  REQUIRE(sharing.drop(0));
  sharing.undo_drop(0);
  CHECK(sharing.holders(0) == most + 254);
  for (; sequences > 0; --sequences) {
    if (!sharing.drop(0)) break;
  }
  CHECK(sequences == 0);
  CHECK_FALSE(sharing.drop(0));
  CHECK(sharing.holders(0) == 254);
}

TEST_CASE("exclusive: a block has one sequence and up to 126 pins, in one byte", "[pool]") {
  pave::exclusive sharing;
  REQUIRE(sharing.reserve(2));
  sharing.hold(0);
  CHECK_FALSE(sharing.share(0));
  for (std::uint32_t pins = 1; pins <= 126; ++pins) {
    REQUIRE(sharing.pin(0));
    REQUIRE(sharing.holders(0) == 1 + pins);
  }
  CHECK_FALSE(sharing.pin(0));
  CHECK_FALSE(sharing.settle(0));
  CHECK(sharing.holders(0) == 127);
  REQUIRE(sharing.drop(0));
  CHECK_FALSE(sharing.pin(0));
  CHECK(sharing.holders(0) == 126);
  CHECK_FALSE(sharing.settle(0));
}

TEST_CASE("exclusive: a pool shares no block, and pins as any other", "[pool]") {
  auto pool = pave::block_pool<pave_tests::pool_with_sharing<pave::exclusive>>::create({3}).value();
  const auto blocks = pave_tests::take(pool, 2);
  CHECK(pool.share(blocks).code() == pave::errc::table_full);
  CHECK(pool.share({&blocks[1], 1}).code() == pave::errc::table_full);
  const pave::block_id free = 2;
  CHECK(pool.share({&free, 1}).code() == pave::errc::not_held);
  CHECK(pool.share({}));
  const auto token = pool.pin(blocks).value();
  CHECK(pool.holders(blocks[0]) == 2);
  REQUIRE(pool.release(blocks));
  CHECK(pool.release(blocks).code() == pave::errc::not_held);
  CHECK(pool.available().value() == 1);
  REQUIRE(pool.unpin(token));
  CHECK(pool.available().value() == 3);
  pave_tests::check_conservation(pool);
}
