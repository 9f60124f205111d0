// SPDX-License-Identifier: Apache-2.0
// kv_group: which blocks are needed to go on, which are left behind, and where a sequence can go on.
#include "support/catch.hpp"

#include <pave/groups.hpp>

#include <cstdint>
#include <limits>

namespace {

using pave::block_range;
using pave::kv_group;

constexpr std::int64_t most = (std::numeric_limits<std::int64_t>::max)();

constexpr kv_group full{16};
constexpr kv_group window{16, 100};
constexpr kv_group state{16, 0, 64};

static_assert(window.needed(1000) == block_range{56, 63}, "usable where a constant is needed");
static_assert(window.left_behind(1000) == block_range{0, 56});
static_assert(state.last_resumable(1000) == 960);
static_assert(full.beyond(40, {0, 5}) == block_range{3, 5});

}  // namespace

TEST_CASE("kv_group: a full-attention group needs all blocks before a position, and leaves none behind", "[groups]") {
  CHECK(!full.leaves_blocks_behind());
  CHECK(full.needed(0) == block_range{0, 0});
  CHECK(full.needed(1) == block_range{0, 1});
  CHECK(full.needed(16) == block_range{0, 1});
  CHECK(full.needed(17) == block_range{0, 2});
  CHECK(full.left_behind(1000).empty());
  CHECK(full.is_resumable(0));
  CHECK(full.is_resumable(17));
}

TEST_CASE("kv_group: a window group needs just the blocks that its window reaches into", "[groups]") {
  CHECK(window.leaves_blocks_behind());
  CHECK(window.needed(0) == block_range{0, 0});
  CHECK(window.needed(100) == block_range{0, 7});
  CHECK(window.needed(115) == block_range{0, 8});
  CHECK(window.needed(116) == block_range{1, 8});
  CHECK(window.left_behind(115) == block_range{0, 0});
  CHECK(window.left_behind(116) == block_range{0, 1});
  CHECK(window.is_resumable(117));
  // Position by position: a block is needed where a position of [p - window, p) is in it.
  const kv_group each = GENERATE(kv_group{1, 1}, kv_group{4, 1}, kv_group{4, 4}, kv_group{4, 6}, kv_group{3, 7});
  for (std::int64_t p = 0; p < 30; ++p) {
    for (std::int64_t block = 0; block < 30; ++block) {
      CAPTURE(each.tokens_per_block.value(), each.window.value(), p, block);
      bool is_read = false;
      for (std::int64_t at = p - each.window.value(); at < p; ++at) {
        is_read = is_read || (at >= 0 && at / each.tokens_per_block.value() == block);
      }
      const block_range needed = each.needed(p);
      const bool is_needed = block >= needed.first.value() && block < needed.last.value();
      if (is_needed != is_read) REQUIRE(is_needed == is_read);
      const bool is_left_behind = block < each.left_behind(p).last.value();
      const bool is_before = !is_read && (block + 1) * each.tokens_per_block.value() <= p - each.window.value();
      if (is_left_behind != is_before) REQUIRE(is_left_behind == is_before);
    }
  }
}

TEST_CASE("kv_group: a state group needs the block of the last token, and goes on at checkpoints", "[groups]") {
  CHECK(state.leaves_blocks_behind());
  CHECK(state.needed(0) == block_range{0, 0});
  CHECK(state.needed(1) == block_range{0, 1});
  CHECK(state.needed(64) == block_range{3, 4});
  CHECK(state.needed(65) == block_range{4, 5});
  CHECK(state.left_behind(64) == block_range{0, 3});
  CHECK(state.left_behind(16) == block_range{0, 0});
  CHECK(state.is_resumable(0));
  CHECK(state.is_resumable(128));
  CHECK(!state.is_resumable(127));
  CHECK(!state.is_resumable(129));
  CHECK(state.last_resumable(63) == 0);
  CHECK(state.last_resumable(64) == 64);
  CHECK(state.last_resumable(191) == 128);
}

TEST_CASE("kv_group: a cut takes the blocks wholly beyond it, of those that are there", "[groups]") {
  const block_range blocks{2, 6};
  CHECK(full.beyond(0, blocks) == blocks);
  CHECK(full.beyond(32, blocks) == blocks);
  CHECK(full.beyond(33, blocks) == block_range{3, 6});
  CHECK(full.beyond(95, blocks) == block_range{6, 6});
  CHECK(full.beyond(96, blocks) == block_range{6, 6});
  CHECK(full.beyond(most, blocks) == block_range{6, 6});
}

TEST_CASE("kv_group: no position is too large", "[groups]") {
  CHECK(full.needed(most) == block_range{0, most / 16 + 1});
  CHECK(window.needed(most) == block_range{(most - 100) / 16, most / 16 + 1});
  CHECK(state.needed(most) == block_range{most / 16, most / 16 + 1});
  CHECK(state.last_resumable(most) == most / 64 * 64);
  CHECK(kv_group{1, most}.needed(most) == block_range{0, most});
}

TEST_CASE("kv_group: without a block size, or with both a window and checkpoints, it is none", "[groups]") {
  CHECK(full.is_valid());
  CHECK(window.is_valid());
  CHECK(state.is_valid());
  CHECK(!kv_group{0}.is_valid());
  CHECK(!kv_group{-1}.is_valid());
  CHECK(!kv_group{16, -1}.is_valid());
  CHECK(!kv_group{16, 0, -1}.is_valid());
  CHECK(!kv_group{16, 1, 1}.is_valid());
}

TEST_CASE("kv_group: equal ones keep the same", "[groups]") {
  CHECK(full == kv_group{});
  CHECK(window == kv_group{16, 100, 0});
  CHECK(window != full);
  CHECK(state != full);
  CHECK(kv_group{8} != full);
}
