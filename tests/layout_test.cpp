// SPDX-License-Identifier: Apache-2.0
// Layout: blocks for tokens, bytes of a block, and addresses in 64 bits.
#include "support/catch.hpp"

#include <pave/layout.hpp>

#include <cstdint>
#include <limits>

namespace {

constexpr std::int64_t most = (std::numeric_limits<std::int64_t>::max)();

static_assert(pave::blocks_for(17, 16) == 2, "usable where a constant is needed");

}  // namespace

TEST_CASE("blocks_for: the quotient, rounded up", "[layout]") {
  const std::int64_t each = GENERATE(1, 2, 3, 15, 16, 17, 64, 1000);
  CHECK(pave::blocks_for(0, each).value() == 0);
  for (std::int64_t blocks = 0; blocks < 5; ++blocks) {
    CHECK(pave::blocks_for(blocks * each + 1, each).value() == blocks + 1);
    CHECK(pave::blocks_for((blocks + 1) * each, each).value() == blocks + 1);
  }
}

TEST_CASE("blocks_for: exact up to the largest counts there are", "[layout]") {
  CHECK(pave::blocks_for(most, 1).value() == most);
  CHECK(pave::blocks_for(most, 2).value() == most / 2 + 1);
  CHECK(pave::blocks_for(most - 1, 2).value() == most / 2);
  CHECK(pave::blocks_for(most, 16).value() == most / 16 + 1);
  CHECK(pave::blocks_for(most - 15, 16).value() == most / 16);
  CHECK(pave::blocks_for(most, most).value() == 1);
  CHECK(pave::blocks_for(most - 1, most).value() == 1);
  CHECK(pave::blocks_for(1, most).value() == 1);
  CHECK(pave::blocks_for(most, most - 1).value() == 2);
}

TEST_CASE("kv_layout: keys and values of every layer, head and token", "[layout]") {
  pave::kv_layout layout;
  layout.layers = 40;
  layout.kv_heads = 40;
  layout.head_size = 128;
  layout.element_bytes = 2;
  layout.tokens_per_block = 16;
  CHECK(layout.bytes_per_token().value() == 2LL * 40 * 40 * 128 * 2);
  CHECK(layout.bytes_per_block().value() == 2LL * 40 * 40 * 128 * 2 * 16);
  CHECK(layout.blocks_in(layout.bytes_per_block()).value() == 1);
  CHECK(layout.blocks_in(layout.bytes_per_block() - 1).value() == 0);
  CHECK(layout.blocks_in(layout.bytes_per_block().value() * 3914 + 1).value() == 3914);

  layout.kv_heads = 1;  // one group of heads, and one byte an element
  layout.element_bytes = 1;
  CHECK(layout.bytes_per_token().value() == 2 * 40 * 128);
}

TEST_CASE("kv_layout: sizes beyond 32 bits are exact", "[layout]") {
  pave::kv_layout layout;
  layout.layers = 128;
  layout.kv_heads = 128;
  layout.head_size = 256;
  layout.element_bytes = 4;
  layout.tokens_per_block = 1024;
  CHECK(layout.bytes_per_block().value() == (std::int64_t{2} << (7 + 7 + 8 + 2 + 10)));
  CHECK(layout.blocks_in(std::int64_t{1} << 45).value() == (std::int64_t{1} << 10));
}

TEST_CASE("block_offset: an id of any width has its own address", "[layout]") {
  constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
  CHECK(pave::block_offset(pave::basic_block_id<std::uint8_t>(254), 64 * mebibyte).value() == 254 * 64 * mebibyte);
  CHECK(pave::block_offset(pave::basic_block_id<std::int16_t>(32767), mebibyte).value() == 32767 * mebibyte);
  CHECK(pave::block_offset(pave::basic_block_id<std::uint32_t>(4294967294), 2 * mebibyte).value() ==
        4294967294 * 2 * mebibyte);
  CHECK(pave::block_offset(pave::basic_block_id<std::int64_t>(std::int64_t{1} << 40), 1024).value() == std::int64_t{1}
                                                                                                           << 50);
  CHECK(pave::block_offset(pave::basic_block_id<std::uint64_t>(7), mebibyte).value() == 7 * mebibyte);
}

TEST_CASE("block_offset: the address of a block is exact in 64 bits", "[layout]") {
  constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
  CHECK(pave::block_offset(0, 2 * mebibyte).value() == 0);
  CHECK(pave::block_offset(2'999'999, 2 * mebibyte).value() == 6'291'453'902'848);
  CHECK(pave::block_offset(2047, mebibyte).value() == (std::int64_t{2047} << 20));
  CHECK(pave::block_offset(2048, mebibyte).value() == (std::int64_t{1} << 31));
  CHECK(pave::block_offset(4096, mebibyte).value() == (std::int64_t{1} << 32));
  constexpr std::int32_t last = (std::numeric_limits<std::int32_t>::max)();
  CHECK(pave::block_offset(last, 2 * mebibyte).value() == std::int64_t{last} * 2 * mebibyte);
  CHECK(pave::block_offset(last, std::int64_t{1} << 32).value() == std::int64_t{last} << 32);
  CHECK(pave::block_offset(1, std::int64_t{1} << 62).value() == std::int64_t{1} << 62);
}

TEST_CASE("slab_layout: blocks lie in slabs one after another, and what is left over is unused", "[layout]") {
  const pave::slab_layout layout{100, 30};
  CHECK(layout.blocks_per_slab().value() == 3);
  const std::int64_t offsets[] = {0, 30, 60, 100, 130, 160, 200};
  for (int block = 0; block < 7; ++block) CHECK(layout.offset(block).value() == offsets[block]);
  const std::int64_t slabs[] = {0, 1, 1, 1, 2, 2, 2, 3};
  for (int blocks = 0; blocks < 8; ++blocks) CHECK(layout.slabs_for(blocks).value() == slabs[blocks]);
  CHECK(layout.slabs_for(most).value() == most / 3 + 1);
}

TEST_CASE("slab_layout: a block is at least a byte, and at most a slab", "[layout]") {
  CHECK(pave::slab_layout{100, 100}.is_valid());
  CHECK(pave::slab_layout{100, 1}.is_valid());
  for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{101}, most})
    CHECK_FALSE(pave::slab_layout{100, bytes}.is_valid());
  CHECK_FALSE(pave::slab_layout{}.is_valid());
}

TEST_CASE("slab_layout: the address of a block is exact in 64 bits", "[layout]") {
  constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
  const pave::slab_layout even{2 * mebibyte, mebibyte / 16};  // 32 blocks
  CHECK(even.offset(65535).value() == (std::int64_t{65535} << 16));
  CHECK(even.offset(65536).value() == (std::int64_t{1} << 32));
  CHECK(even.offset(65537).value() == (std::int64_t{1} << 32) + mebibyte / 16);
  constexpr std::int32_t last = (std::numeric_limits<std::int32_t>::max)() - 1;
  CHECK(even.offset(last).value() == std::int64_t{last} << 16);

  const pave::slab_layout uneven{3 * mebibyte + 1, mebibyte};  // 3 blocks, and a byte
  CHECK(uneven.offset(3 * 2048).value() == 2048 * (3 * mebibyte + 1));
  CHECK(uneven.offset(3 * 2048 + 2).value() == 2048 * (3 * mebibyte + 1) + 2 * mebibyte);
  CHECK(uneven.offset(last).value() == last / 3 * (3 * mebibyte + 1) + last % 3 * mebibyte);

  const pave::slab_layout large{std::int64_t{1} << 40, std::int64_t{1} << 32};  // 256 blocks
  CHECK(large.offset(255).value() == std::int64_t{255} << 32);
  CHECK(large.offset(pave::basic_block_id<std::uint8_t>(254)).value() == std::int64_t{254} << 32);
  CHECK(large.offset(pave::basic_block_id<std::int64_t>(std::int64_t{1} << 30)).value() == std::int64_t{1} << 62);
}
