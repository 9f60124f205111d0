// SPDX-License-Identifier: Apache-2.0
// Pins: a transfer's hold on blocks, which ends once, by its token, and by nothing else.
#include "support/catch.hpp"
#include "support/keeping.hpp"
#include "support/laws.hpp"

#include <pave/cache.hpp>
#include <pave/pool.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

using pave::block_id;
using pave::block_pool;
using pave::errc;
using pave::pin_token;
using pave_tests::all_holders;
using pave_tests::check_conservation;
using pave_tests::drain;
using pave_tests::pool_of;
using pave_tests::take;

block_pool<> pool_with_pins(pave::block_count blocks, std::size_t pinned_blocks) {
  pave::pool_options options;
  options.blocks = blocks;
  options.pinned_blocks = pinned_blocks;
  return block_pool<>::create(options).value();
}

template <class Pool>
pin_token pin(Pool& pool, const std::vector<typename Pool::id_type>& blocks) {
  const auto token = pool.pin(blocks);
  REQUIRE(token);
  return *token;
}

}  // namespace

TEST_CASE("block_pool: a pinned block is not available before its pin ends, whoever lets go of it", "[pool]") {
  auto pool = pool_of<block_pool<>>(4);
  const auto blocks = take(pool, 3);
  REQUIRE(pool.share({blocks.data(), 1}));
  const pin_token token = pin(pool, {blocks[0], blocks[1]});
  CHECK(all_holders(pool) == std::vector<std::uint32_t>{3, 2, 1, 0});
  REQUIRE(pool.release(blocks));
  REQUIRE(pool.release({blocks.data(), 1}));
  CHECK(all_holders(pool) == std::vector<std::uint32_t>{1, 1, 0, 0});
  CHECK(pool.available().value() == 2);
  CHECK(pool.held().value() == 2);
  std::vector<block_id> three(3);
  CHECK(pool.allocate(three).error().missing.value() == 1);
  check_conservation(pool);
  REQUIRE(pool.unpin(token));
  CHECK(pool.available().value() == 4);
  check_conservation(pool);
  CHECK(drain(pool).size() == 4);
}

TEST_CASE("block_pool: a pin that ends while sequences hold its blocks frees none of them", "[pool]") {
  auto pool = pool_of<block_pool<>>(3);
  const auto blocks = take(pool, 2);
  const pin_token token = pin(pool, blocks);
  REQUIRE(pool.unpin(token));
  CHECK(all_holders(pool) == std::vector<std::uint32_t>{1, 1, 0});
  CHECK(pool.available().value() == 1);
  REQUIRE(pool.release(blocks));
  CHECK(pool.available().value() == 3);
}

TEST_CASE("block_pool: a release too many never ends a pin", "[pool]") {
  auto pool = pool_of<block_pool<>>(3);
  const auto blocks = take(pool, 2);
  const pin_token token = pin(pool, {blocks[0], blocks[0]});
  const block_id named[] = {blocks[1], blocks[0], blocks[0]};
  CHECK(pool.release(named).code() == errc::not_held);
  CHECK(all_holders(pool) == std::vector<std::uint32_t>{3, 1, 0});
  REQUIRE(pool.release({named, 2}));
  for (int i = 0; i < 3; ++i) {
    CHECK(pool.release({blocks.data(), 1}).code() == errc::not_held);
    CHECK(all_holders(pool) == std::vector<std::uint32_t>{2, 0, 0});
  }
  REQUIRE(pool.unpin(token));
  CHECK(pool.available().value() == 3);
}

TEST_CASE("block_pool: a block that one pin names twice is pinned twice, and comes free once", "[pool]") {
  auto pool = pool_of<block_pool<>>(2);
  const auto blocks = take(pool, 2);
  const pin_token token = pin(pool, {blocks[1], blocks[0], blocks[1]});
  CHECK(all_holders(pool) == std::vector<std::uint32_t>{2, 3});
  REQUIRE(pool.release(blocks));
  REQUIRE(pool.unpin(token));
  CHECK(pool.available().value() == 2);
  CHECK(all_holders(pool) == std::vector<std::uint32_t>{0, 0});
  CHECK(drain(pool) == std::vector<std::int32_t>{1, 0});
}

TEST_CASE("block_pool: a pin ends once, and a stale token changes nothing", "[pool]") {
  auto pool = pool_of<block_pool<>>(3);
  const auto blocks = take(pool, 2);
  const pin_token first = pin(pool, {blocks[0]});
  const pin_token second = pin(pool, {blocks[0], blocks[1]});
  REQUIRE(first != second);
  REQUIRE(pool.unpin(first));
  const std::vector<std::uint32_t> before{2, 2, 0};
  CHECK(all_holders(pool) == before);
  for (const pin_token stale :
       {first, pin_token{}, pin_token{second.slot, 0}, pin_token{second.slot, second.generation + 1},
        pin_token{second.slot + 1, second.generation}, pin_token{255, 1}, pin_token{256, 0}, pin_token{256, 1},
        pin_token{0xffffffffU, 0}, pin_token{0xffffffffU, 1}}) {
    CHECK(pool.unpin(stale, 5).code() == errc::stale);
    CHECK(all_holders(pool) == before);
  }
  REQUIRE(pool.unpin(second));
  CHECK(pool.unpin(second).code() == errc::stale);
  CHECK(all_holders(pool) == std::vector<std::uint32_t>{1, 1, 0});
}

TEST_CASE("block_pool: only the place of a pin's first block, and only since then, names the pin", "[pool]") {
  auto pool = pool_of<block_pool<>>(4);
  const auto blocks = take(pool, 4);
  const pin_token token = pin(pool, blocks);
  for (std::uint32_t slot = 0; slot < 300; ++slot) {
    for (const std::uint32_t generation : {0U, 1U, 2U}) {
      if (slot == token.slot && generation == token.generation) continue;
      CHECK(pool.unpin({slot, generation}).code() == errc::stale);
    }
  }
  CHECK(all_holders(pool) == std::vector<std::uint32_t>{2, 2, 2, 2});
  CHECK(pool.unpin(token));
}

TEST_CASE("block_pool: no token is given twice, however often its place is", "[pool]") {
  auto pool = pool_with_pins(3, 3);
  const auto blocks = take(pool, 3);
  std::vector<pin_token> seen;
  for (int i = 0; i < 60; ++i) {
    const std::vector<block_id> named(blocks.begin(), blocks.begin() + 1 + i % 3);
    const pin_token token = pin(pool, named);
    for (const pin_token old : seen) {
      REQUIRE(old != token);
      REQUIRE(pool.unpin(old).code() == errc::stale);
    }
    CHECK(token.generation != 0);
    seen.push_back(token);
    REQUIRE(pool.unpin(token));
  }
  CHECK(all_holders(pool) == std::vector<std::uint32_t>{1, 1, 1});
}

TEST_CASE("block_pool: a pin of free blocks, of none and of blocks out of range is refused, whole", "[pool]") {
  auto pool = pool_of<block_pool<>>(4);
  const auto blocks = take(pool, 2);
  CHECK(pool.pin({}).code() == errc::invalid_argument);
  for (const block_id bad : {block_id(2), block_id(3), block_id(4), block_id(), block_id(-1), block_id(0x7fffffff)}) {
    for (std::size_t at = 0; at < 3; ++at) {
      std::vector<block_id> named{blocks[0], blocks[1]};
      named.insert(named.begin() + static_cast<std::ptrdiff_t>(at), bad);
      CHECK(pool.pin(named).code() == errc::not_held);
      CHECK(all_holders(pool) == std::vector<std::uint32_t>{1, 1, 0, 0});
    }
  }
  CHECK(pin(pool, blocks).generation == 1);
}

TEST_CASE("block_pool: pins name as many blocks as the options allow, and all of them again when they end", "[pool]") {
  const std::size_t most = GENERATE(0U, 1U, 2U, 5U, 6U);
  auto pool = pool_with_pins(8, most);
  const auto blocks = take(pool, 8);
  for (int turn = 0; turn < 3; ++turn) {
    for (std::size_t first = 1; first <= most; ++first) {
      const pin_token token = pin(pool, {blocks.begin(), blocks.begin() + static_cast<std::ptrdiff_t>(first)});
      for (std::size_t more = 1; more <= 8; ++more) {
        const auto other = pool.pin({blocks.data(), more});
        CHECK(other.has_value() == (first + more <= most));
        if (other) {
          REQUIRE(pool.unpin(*other));
        } else {
          CHECK(other.code() == errc::table_full);
        }
        for (std::size_t i = 0; i < 8; ++i) CHECK(pool.holders(blocks[i]) == (i < first ? 2 : 1));
      }
      REQUIRE(pool.unpin(token));
    }
    CHECK(pool.pin({blocks.data(), most + 1}).code() == errc::table_full);
  }
}

TEST_CASE("block_pool: by default, pins name 256 blocks", "[pool]") {
  auto pool = pool_of<block_pool<>>(257);
  const auto blocks = take(pool, 257);
  CHECK(pool.pin(blocks).code() == errc::table_full);
  const auto token = pool.pin({blocks.data(), 256});
  REQUIRE(token);
  CHECK(pool.pin({blocks.data(), 1}).code() == errc::table_full);
  REQUIRE(pool.unpin(*token));
  CHECK(pool.pin({blocks.data() + 1, 256}));
}

TEST_CASE("block_pool: a block has up to 254 pins, and one more is refused with all that came with it", "[pool]") {
  auto pool = pool_with_pins(2, 1000);
  const auto blocks = take(pool, 2);
  std::vector<pin_token> tokens;
  for (int i = 0; i < 254; ++i) tokens.push_back(pin(pool, {blocks[0]}));
  CHECK(pool.holders(blocks[0]) == 255);
  const block_id named[] = {blocks[1], blocks[1], blocks[0], blocks[1]};
  CHECK(pool.pin(named).code() == errc::table_full);
  CHECK(all_holders(pool) == std::vector<std::uint32_t>{255, 1});
  CHECK(pool.pin({named, 2}));
  REQUIRE(pool.release({blocks.data(), 1}));
  for (const pin_token token : tokens) {
    CHECK(pool.available().value() == 0);
    REQUIRE(pool.unpin(token));
  }
  CHECK(pool.available().value() == 1);
  check_conservation(pool);
}

TEST_CASE("block_pool: a sequence takes a block back that only a pin holds", "[pool]") {
  auto pool = pool_of<pave_tests::keeping_pool>(2);
  const auto blocks = take(pool, 1);
  const pave::kept_block note = pool.content_of(blocks[0]).value();
  const pin_token token = pin(pool, blocks);
  REQUIRE(pool.release(blocks, {}, pave::content::worthless));
  CHECK(pool.is_kept(note));
  CHECK(pool.content_of(blocks[0]).value() == note);
  if (GENERATE(true, false)) {
    REQUIRE(pool.share(blocks));
  } else {
    REQUIRE(pool.acquire({&note, 1}, {}));
  }
  CHECK(pool.holders(blocks[0]) == 2);
  REQUIRE(pool.unpin(token));
  CHECK(pool.holders(blocks[0]) == 1);
  REQUIRE(pool.release(blocks));
  CHECK(pool.is_kept(note));
}

TEST_CASE("block_pool: what a pin lets go of last keeps its content", "[pool]") {
  auto pool = pool_of<pave_tests::keeping_pool>(3);
  const auto blocks = take(pool, 2);
  const auto notes = pave_tests::contents(pool, blocks);
  const pin_token token = pin(pool, blocks);
  REQUIRE(pool.release(blocks, {}, pave::content::worthless));
  REQUIRE(pool.unpin(token));
  for (const pave::kept_block& note : notes) CHECK(pool.is_kept(note));
  CHECK(drain(pool) == std::vector<std::int32_t>{2, 0, 1});
}

TEST_CASE("block_pool: a pinned block is not its sequence's alone to overwrite", "[pool]") {
  auto pool = pool_of<pave_tests::keeping_pool>(2);
  const auto blocks = take(pool, 1);
  const pave::kept_block note = pool.content_of(blocks[0]).value();
  const pin_token token = pin(pool, blocks);
  CHECK(pool.overwrite(blocks[0]).code() == errc::busy);
  CHECK(pool.is_kept(note));
  REQUIRE(pool.unpin(token));
  CHECK(pool.overwrite(blocks[0]));
  CHECK_FALSE(pool.is_kept(note));
}

TEST_CASE("block_pool: a moved pool keeps its pins, and a moved-from one has none", "[pool]") {
  auto pool = pool_with_pins(3, 4);
  const auto blocks = take(pool, 2);
  const pin_token token = pin(pool, blocks);
  const pin_token ended = pin(pool, {blocks[0]});
  REQUIRE(pool.unpin(ended));
  auto moved = std::move(pool);
  CHECK(pool.unpin(token).code() == errc::stale);  // NOLINT(bugprone-use-after-move)
  CHECK(pool.pin(blocks).code() == errc::not_held);
  CHECK(moved.unpin(ended).code() == errc::stale);
  REQUIRE(moved.release(blocks));
  CHECK(moved.available().value() == 1);

  auto assigned = pool_with_pins(9, 1);
  const pin_token other = pin(assigned, take(assigned, 1));
  assigned = std::move(moved);
  CHECK(assigned.holders(blocks[1]) == 1);
  REQUIRE(assigned.unpin(token));
  CHECK(assigned.unpin(other).code() == errc::stale);
  CHECK(assigned.available().value() == 3);
  const auto again = take(assigned, 3);
  CHECK(assigned.pin(again));
  CHECK(assigned.pin({again.data(), 2}).code() == errc::table_full);
}

TEST_CASE("pin_token: equal where slot and generation are", "[pool]") {
  CHECK(pin_token{3, 7} == pin_token{3, 7});
  CHECK(pin_token{3, 7} != pin_token{3, 8});
  CHECK(pin_token{3, 7} != pin_token{4, 7});
  CHECK_FALSE(pin_token{3, 7} == pin_token{4, 7});
  CHECK_FALSE(pin_token{3, 7} != pin_token{3, 7});
}

TEST_CASE("pin: more pinned blocks than 32 bits count are refused, before memory is asked for them", "[pool][pin]") {
  for (const std::size_t many : {std::size_t{1} << 32U, static_cast<std::size_t>(-1)}) {
    pave::pool_options options;
    options.blocks = 1;
    options.pinned_blocks = many;
    CHECK(block_pool<>::create(options).code() == errc::invalid_argument);
    pave::kv_cache_options of_cache;
    of_cache.blocks = 1;
    of_cache.pinned_blocks = many;
    CHECK(pave::kv_cache<>::create(of_cache).code() == errc::invalid_argument);
  }
}
