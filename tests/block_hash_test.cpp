// SPDX-License-Identifier: Apache-2.0
// Names of content: a hash over a block's tokens and all before them.
#include "support/catch.hpp"

#include <pave/block_hash.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace {

using pave::block_hash;
using pave::block_hasher;

constexpr pave::hash_key known_key{0x0706050403020100, 0x0f0e0d0c0b0a0908};  // bytes 0, 1, … 15

std::vector<std::int32_t> counted(std::size_t tokens) {
  std::vector<std::int32_t> all(tokens);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

TEST_CASE("block_hasher: it is SipHash-2-4 with 128 bits over words in little-endian order", "[block_hash]") {
  // As OpenSSL 3.0 computes it (`openssl mac -macopt size:16 SIPHASH`) over the same bytes, under the same key.
  const block_hasher hasher(known_key);
  CHECK(hasher({0, 0}, std::vector<std::int32_t>{}) == block_hash{0x0a399ab4cac830e1, 0x5d338e95cd27f9df});
  CHECK(hasher({1, 2}, std::array{3, 4, 5}) == block_hash{0xbb5a8dbee3efb442, 0x0fbf64c0c5a96bf4});
  CHECK(hasher({0, 0}, counted(16)) == block_hash{0xbcd90988fc8a29b3, 0x5cbc9f2080171c71});
  CHECK(hasher({7, 0}, std::array{1}, std::array<std::uint64_t, 2>{9, 10}) ==
        block_hash{0x1b45477bec0321b1, 0x4bcd1b133b23f5c0});
  CHECK(hasher({7, 0}, std::array{-1}) == block_hash{0x973c7828e43852a5, 0x4db84fb39cba4a30});
  CHECK(hasher({0, 0}, counted(100)) == block_hash{0x45533fce06a894f0, 0xcb0d7680a27a8570});  // over 255 bytes
}

TEST_CASE("block_hasher: a token counts by the low 32 bits of its id, whatever its type", "[block_hash]") {
  const block_hasher hasher(known_key);
  const block_hash expected = hasher({}, std::vector<std::int32_t>{1, -1, 70000});
  CHECK(hasher({}, std::vector<std::int64_t>{1, -1, 70000}) == expected);
  CHECK(hasher({}, std::vector<std::uint32_t>{1, 0xffffffff, 70000}) == expected);
  CHECK(hasher({}, pave::span<const std::int64_t>(std::vector<std::int64_t>{1, -1, 70000})) == expected);
  CHECK(hasher({}, std::vector<std::uint16_t>{7, 8}) == hasher({}, std::array{7, 8}));
}

TEST_CASE("block_hasher: whatever differs, the names do", "[block_hash]") {
  std::set<std::pair<std::uint64_t, std::uint64_t>> names;
  std::size_t count = 0;
  const auto add = [&](block_hash name) {
    names.insert({name.low, name.high});
    ++count;
  };
  const block_hasher hasher;
  for (std::size_t tokens = 0; tokens < 40; ++tokens) add(hasher({}, std::vector<std::int32_t>(tokens, 0)));
  for (std::size_t words = 1; words < 40; ++words) {
    add(hasher({}, std::array<std::int32_t, 0>{}, std::vector<std::uint64_t>(words, 0)));
  }
  for (unsigned bit = 0; bit < 64; ++bit) {
    const std::uint64_t one = std::uint64_t{1} << bit;
    add(hasher({one, 0}, counted(16)));
    add(hasher({0, one}, counted(16)));
    add(block_hasher(pave::hash_key{one, 0})({}, counted(16)));
    add(block_hasher(pave::hash_key{0, one})({}, counted(16)));
    add(hasher(block_hasher::root(one), counted(15)));
    add(hasher({}, counted(16), std::array{one}));
    for (std::size_t at = 0; at < 16 && bit < 32; ++at) {
      std::vector<std::int32_t> tokens = counted(16);
      tokens[at] = static_cast<std::int32_t>(static_cast<std::uint32_t>(tokens[at]) ^ static_cast<std::uint32_t>(one));
      add(hasher({}, tokens));
    }
  }
  CHECK(names.size() == count);
}

TEST_CASE("hash_blocks: each full block is named behind the one before it", "[block_hash]") {
  const block_hasher hasher(known_key);
  const block_hash root = block_hasher::root(3);
  const std::size_t size = static_cast<std::size_t>(GENERATE(0, 1, 3, 4, 7, 8, 21));
  const std::vector<std::int32_t> tokens = counted(size);
  std::vector<block_hash> names(8);
  REQUIRE(hasher.hash_blocks(root, tokens, 4, names).value() == size / 4);
  block_hash before = root;
  for (std::size_t i = 0; i < size / 4; ++i) {
    before = hasher(before, pave::span<const std::int32_t>(tokens).subspan(4 * i, 4));
    CHECK(names[i] == before);
  }
  CHECK(names[size / 4] == block_hash{});
  // The rest of a prompt goes on where the first part ended.
  if (size < 8) return;
  std::vector<block_hash> rest(8);
  const std::vector<std::int32_t> later(tokens.begin() + 4, tokens.end());
  REQUIRE(hasher.hash_blocks(names[0], later, 4, rest).value() == size / 4 - 1);
  CHECK(rest[0] == names[1]);
}

TEST_CASE("hash_blocks: what cannot be done writes nothing", "[block_hash]") {
  std::vector<block_hash> names(2);
  const pave::result<std::size_t> refused = block_hasher().hash_blocks({}, counted(20), 4, names);
  REQUIRE(refused.code() == pave::errc::buffer_too_small);
  CHECK(refused.error().missing == 3);
  CHECK(names[0] == block_hash{});
  CHECK(block_hasher().hash_blocks({}, counted(20), 0, names).code() == pave::errc::invalid_argument);
  CHECK(block_hasher().hash_blocks({}, counted(20), -4, names).code() == pave::errc::invalid_argument);
  const pave::token_count most = (std::numeric_limits<std::int64_t>::max)();
  CHECK(block_hasher().hash_blocks({}, counted(20), most, names).value() == 0);
}

TEST_CASE("block_hasher: a name can be made at compile time", "[block_hash]") {
  static constexpr std::array<std::int32_t, 3> tokens{3, 4, 5};
  static_assert(block_hasher(known_key)({1, 2}, tokens).low == 0xbb5a8dbee3efb442, "as at run time");
  static_assert(block_hasher::root() != block_hasher::root(1), "salts keep tenants apart");
  SUCCEED();
}
