// SPDX-License-Identifier: Apache-2.0
// What every sharing policy does, alone and in a pool.
#ifndef PAVE_TESTS_CONTRACT_SHARING_CONTRACT_HPP
#define PAVE_TESTS_CONTRACT_SHARING_CONTRACT_HPP

#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/policy/sharing.hpp>
#include <pave/pool.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace pave_tests {

template <class Sharing>
struct pool_with_sharing : pave::pool_policies {
  using sharing = Sharing;
};

/// Shares `block` until it may not be, or `most` hold it.
template <class Sharing>
std::uint32_t share_up_to(Sharing& sharing, pave::block_id block, std::uint32_t most) {
  std::uint32_t holders = sharing.holders(block);
  while (holders < most) {
    if (!sharing.share(block)) {
      CHECK(sharing.holders(block) == holders);
      break;
    }
    ++holders;
    CHECK(sharing.holders(block) == holders);
  }
  return holders;
}

/// Pins `block` until it may not be, or `most` hold it.
template <class Sharing>
std::uint32_t pin_up_to(Sharing& sharing, pave::block_id block, std::uint32_t most) {
  std::uint32_t holders = sharing.holders(block);
  while (holders < most && sharing.pin(block)) {
    ++holders;
    CHECK(sharing.holders(block) == holders);
  }
  CHECK(sharing.holders(block) == holders);
  return holders;
}

template <class Sharing>
void check_pins() {
  SECTION("a pin holds a block as a sequence does, and no drop ends it") {
    Sharing sharing;
    REQUIRE(sharing.reserve(2));
    sharing.hold(1);
    REQUIRE(sharing.pin(1));
    CHECK(sharing.holders(1) == 2);
    REQUIRE(sharing.drop(1));
    CHECK(sharing.holders(1) == 1);
    CHECK_FALSE(sharing.settle(1));
    CHECK_FALSE(sharing.drop(1));
    CHECK(sharing.holders(1) == 1);
    sharing.unpin(1);
    CHECK(sharing.settle(1));
    CHECK_FALSE(sharing.settle(1));
    CHECK(sharing.holders(1) == 0);
    CHECK(sharing.holders(0) == 0);
    sharing.hold(1);
    CHECK(sharing.holders(1) == 1);
  }

  SECTION("a block that only pins hold can have a sequence again") {
    Sharing sharing;
    REQUIRE(sharing.reserve(1));
    sharing.hold(0);
    REQUIRE(sharing.pin(0));
    REQUIRE(sharing.drop(0));
    REQUIRE(sharing.share(0));
    CHECK(sharing.holders(0) == 2);
    REQUIRE(sharing.drop(0));
    CHECK_FALSE(sharing.drop(0));
    CHECK_FALSE(sharing.settle(0));
    CHECK(sharing.holders(0) == 1);
    sharing.undo_drop(0);
    CHECK(sharing.holders(0) == 2);
    sharing.unpin(0);
    CHECK_FALSE(sharing.settle(0));
    REQUIRE(sharing.drop(0));
    CHECK(sharing.settle(0));
  }

  SECTION("with all the pins and sequences that a block can have, each of them counts, and the last one frees it") {
    const bool sequence_goes_first = GENERATE(true, false);
    Sharing sharing;
    REQUIRE(sharing.reserve(3));
    sharing.hold(1);
    const std::uint32_t sequences = share_up_to(sharing, 1, 5);
    const std::uint32_t holders = pin_up_to(sharing, 1, 1000);
    std::uint32_t left = holders;
    const auto drop_all = [&] {
      for (std::uint32_t i = 0; i < sequences; ++i) {
        REQUIRE(sharing.drop(1));
        --left;
        CHECK(sharing.holders(1) == left);
        CHECK(sharing.settle(1) == (left == 0));
      }
      CHECK_FALSE(sharing.drop(1));
    };
    if (sequence_goes_first) drop_all();
    for (std::uint32_t i = sequences; i < holders; ++i) {
      sharing.unpin(1);
      --left;
      CHECK(sharing.holders(1) == left);
      CHECK(sharing.settle(1) == (left == 0));
    }
    if (!sequence_goes_first) drop_all();
    CHECK(sharing.holders(1) == 0);
    CHECK(sharing.holders(0) == 0);
    CHECK(sharing.holders(2) == 0);
  }
}

template <class Sharing>
void check_sharing() {
  static_assert(pave::is_sharing_v<Sharing>);
  static_assert(std::is_nothrow_move_constructible_v<Sharing> && std::is_nothrow_move_assignable_v<Sharing>);
  check_pins<Sharing>();

  SECTION("it says whether blocks can be shared") {
    Sharing sharing;
    REQUIRE(sharing.reserve(1));
    sharing.hold(0);
    if (sharing.share(0)) CHECK(pave::can_share_v<Sharing>);
    static_assert(pave::block_pool<pool_with_sharing<Sharing>>::can_share == pave::can_share_v<Sharing>);
  }

  SECTION("more ids keep what is there, and it moves with all that it counts") {
    Sharing sharing;
    REQUIRE(sharing.reserve(2));
    sharing.hold(1);
    REQUIRE(sharing.pin(1));
    REQUIRE(sharing.reserve(50));
    CHECK(sharing.holders(1) == 2);
    CHECK(sharing.holders(49) == 0);
    sharing.hold(49);
    REQUIRE(sharing.reserve(3));
    Sharing moved = std::move(sharing);
    Sharing assigned;
    assigned = std::move(moved);
    CHECK(assigned.holders(1) == 2);
    CHECK(assigned.holders(49) == 1);
    REQUIRE(assigned.drop(49));
    CHECK(assigned.settle(49));
  }

  SECTION("nothing is held at first, and a drop of it is refused") {
    Sharing sharing;
    REQUIRE(sharing.reserve(3));
    for (int block = 0; block < 3; ++block) {
      CHECK(sharing.holders(block) == 0);
      CHECK_FALSE(sharing.drop(block));
      CHECK(sharing.holders(block) == 0);
      CHECK_FALSE(sharing.settle(block));
    }
  }

  SECTION("the last of the holders frees the block, once") {
    Sharing sharing;
    REQUIRE(sharing.reserve(2));
    sharing.hold(1);
    CHECK(sharing.holders(1) == 1);
    std::uint32_t holders = share_up_to(sharing, 1, 5);
    while (holders > 1) {
      REQUIRE(sharing.drop(1));
      CHECK_FALSE(sharing.settle(1));
      CHECK(sharing.holders(1) == --holders);
    }
    REQUIRE(sharing.drop(1));
    CHECK_FALSE(sharing.drop(1));
    CHECK(sharing.settle(1));
    CHECK_FALSE(sharing.settle(1));
    CHECK(sharing.holders(1) == 0);
    CHECK_FALSE(sharing.drop(1));
    CHECK(sharing.holders(0) == 0);
    sharing.hold(1);
    CHECK(sharing.holders(1) == 1);
  }

  SECTION("drops are taken back, from the last to the first") {
    Sharing sharing;
    REQUIRE(sharing.reserve(1));
    sharing.hold(0);
    const std::uint32_t holders = share_up_to(sharing, 0, 3);
    for (std::uint32_t drops = 1; drops <= holders; ++drops) {
      for (std::uint32_t i = 0; i < drops; ++i) REQUIRE(sharing.drop(0));
      for (std::uint32_t i = 0; i < drops; ++i) sharing.undo_drop(0);
      CHECK(sharing.holders(0) == holders);
      CHECK_FALSE(sharing.settle(0));
    }
  }

  SECTION("a pool counts with it, and refuses a double release") {
    auto made = pave::block_pool<pool_with_sharing<Sharing>>::create({4});
    REQUIRE(made);
    auto pool = std::move(*made);
    const auto blocks = take(pool, 3);
    const std::uint32_t holders = pool.share({blocks.data(), 1}) ? 2 : 1;
    CHECK(pool.holders(blocks[0]) == holders);
    check_conservation(pool);

    std::vector<pave::block_id> named{blocks[1]};
    for (std::uint32_t i = 0; i <= holders; ++i) named.push_back(blocks[0]);
    const auto before = all_holders(pool);
    CHECK(pool.release(named).code() == pave::errc::not_held);
    CHECK(all_holders(pool) == before);
    CHECK(pool.available().value() == 1);
    named.pop_back();
    REQUIRE(pool.release(named));
    CHECK(pool.available().value() == 3);
    check_conservation(pool);
  }

  SECTION("in a pool, a pin that one block cannot take is a pin of none") {
    pave::pool_options options;
    options.blocks = 3;
    options.pinned_blocks = 2000;
    auto pool = pave::block_pool<pool_with_sharing<Sharing>>::create(options).value();
    const auto blocks = take(pool, 2);
    std::vector<pave::pin_token> tokens;
    bool is_full = false;
    for (int i = 0; i < 300 && !is_full; ++i) {
      const pave::block_id named[] = {blocks[0], blocks[1], blocks[1]};
      const auto before = all_holders(pool);
      const auto token = pool.pin(named);
      is_full = !token;
      if (is_full) {
        CHECK(token.code() == pave::errc::table_full);
        CHECK(all_holders(pool) == before);
      } else {
        CHECK(pool.holders(blocks[1]) == before[blocks[1].index()] + 2);
        tokens.push_back(*token);
      }
    }
    CHECK(is_full);
    REQUIRE(pool.release(blocks));
    CHECK(pool.release({&blocks[0], 1}).code() == pave::errc::not_held);
    CHECK(pool.held().value() == (tokens.empty() ? 0 : 2));
    for (const pave::pin_token token : tokens) REQUIRE(pool.unpin(token));
    CHECK(pool.available().value() == 3);
    check_conservation(pool);
  }

  SECTION("a share that one block cannot take is a share of none") {
    auto made = pave::block_pool<pool_with_sharing<Sharing>>::create({3});
    REQUIRE(made);
    auto pool = std::move(*made);
    const auto blocks = take(pool, 2);
    for (int i = 0; i < 8; ++i) {
      const pave::block_id named[] = {blocks[0], blocks[1], blocks[1]};
      const auto before = all_holders(pool);
      const auto shared = pool.share(named);
      if (!shared) {
        CHECK(shared.code() == pave::errc::table_full);
        CHECK(all_holders(pool) == before);
      } else {
        CHECK(pool.holders(blocks[0]) == before[blocks[0].index()] + 1);
        CHECK(pool.holders(blocks[1]) == before[blocks[1].index()] + 2);
      }
      check_conservation(pool);
    }
  }
}

}  // namespace pave_tests

#endif  // PAVE_TESTS_CONTRACT_SHARING_CONTRACT_HPP
