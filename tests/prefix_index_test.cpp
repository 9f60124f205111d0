// SPDX-License-Identifier: Apache-2.0
// The index of blocks by content, over a pool alone.
#include "model/random.hpp"
#include "support/catch.hpp"
#include "support/keeping.hpp"

#include <pave/pool.hpp>
#include <pave/prefix_index.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace {

using pave::block_hash;
using pave::block_id;
using pave::errc;
using pool_type = pave::block_pool<pave_tests::keeping<>>;

struct scene {
  explicit scene(std::int64_t blocks, std::int64_t first = 0)
      : pool(pool_type::create({blocks, first}).value()), index(pave::prefix_index::create(first + blocks).value()) {}

  block_id take() {
    std::array<block_id, 1> one;
    REQUIRE(pool.allocate(one));
    return one[0];
  }
  void release(block_id block, pave::content left = pave::content::worth_keeping) {
    REQUIRE(pool.release(std::array{block}, {}, left));
  }
  /// All free blocks are used for something else.
  void overwrite_free() {
    std::vector<block_id> all(static_cast<std::size_t>(pool.available().value()));
    REQUIRE(pool.allocate(all));
    REQUIRE(pool.release(all));
  }
  [[nodiscard]] std::optional<block_id> find(block_hash hash) const {
    const auto kept = index.find(pool, hash);
    if (!kept) return std::nullopt;
    return kept->block;
  }

  pool_type pool;
  pave::prefix_index index;
};

}  // namespace

TEST_CASE("prefix_index: a block is found by its content, held or free, until it is reused", "[prefix_index]") {
  scene s(4, 1);
  const block_id block = s.take();
  CHECK_FALSE(s.find({7, 0}));
  s.index.add(s.pool, {7, 0}, block);
  CHECK(s.find({7, 0}) == block);
  CHECK_FALSE(s.find({7, 1}));
  CHECK_FALSE(s.find({8, 0}));
  s.release(block);
  CHECK(s.find({7, 0}) == block);
  SECTION("it is revived") {
    const auto kept = s.index.find(s.pool, {7, 0});
    std::array<block_id, 3> fresh;
    REQUIRE(s.pool.acquire(std::array{*kept}, fresh));
    CHECK(std::find(fresh.begin(), fresh.end(), block) == fresh.end());
    CHECK(s.find({7, 0}) == block);
  }
  SECTION("it is reused") {
    s.overwrite_free();
    CHECK_FALSE(s.find({7, 0}));
  }
  SECTION("the pool forgets") {
    s.pool.forget_content();
    CHECK_FALSE(s.find({7, 0}));
  }
}

TEST_CASE("prefix_index: what is left as worthless, or written anew, is not found", "[prefix_index]") {
  scene s(4);
  const block_id block = s.take();
  s.index.add(s.pool, {1, 1}, block);
  SECTION("worthless") { s.release(block, pave::content::worthless); }
  SECTION("written anew") { REQUIRE(s.pool.overwrite(block)); }
  CHECK_FALSE(s.find({1, 1}));
}

TEST_CASE("prefix_index: of blocks with one content the first is found, and the next one once that has gone",
          "[prefix_index]") {
  scene s(5);
  std::vector<block_id> blocks;
  for (int i = 0; i < 5; ++i) {
    blocks.push_back(s.take());
    s.index.add(s.pool, {1, 1}, blocks.back());
    CHECK(s.find({1, 1}) == blocks.front());
    CHECK(s.index.size() == blocks.size());
  }
  std::vector<std::size_t> order{0, 1, 2, 3, 4};
  const int by = GENERATE(0, 1, 2, 3, 4);
  std::rotate(order.begin(), order.begin() + by, order.end());
  for (const std::size_t one : order) {
    s.release(blocks[one], pave::content::worthless);
    blocks[one] = block_id{};
    const auto left = std::find_if(blocks.begin(), blocks.end(), [](block_id b) { return b != block_id{}; });
    CHECK(s.find({1, 1}) == (left == blocks.end() ? std::nullopt : std::optional(*left)));
  }
  // Under other names they leave nothing behind.
  for (std::uint64_t i = 0; i < 5; ++i) s.index.add(s.pool, {2, i}, s.take());
  CHECK(s.index.size() == 5);
  CHECK_FALSE(s.find({1, 1}));
  for (std::uint64_t i = 0; i < 5; ++i) CHECK(s.find({2, i}));
}

TEST_CASE("prefix_index: to add a block again changes nothing, and under another name it moves", "[prefix_index]") {
  scene s(4);
  const block_id block = s.take();
  s.index.add(s.pool, {1, 1}, block);
  s.index.add(s.pool, {1, 1}, block);
  CHECK(s.index.size() == 1);
  s.index.add(s.pool, {2, 2}, block);
  CHECK(s.index.size() == 1);
  CHECK_FALSE(s.find({1, 1}));
  CHECK(s.find({2, 2}) == block);
}

TEST_CASE("prefix_index: a block that nobody holds, or that is out of range, is passed over", "[prefix_index]") {
  scene s(4);
  const block_id block = s.take();
  s.release(block);
  s.index.add(s.pool, {1, 1}, block);
  s.index.add(s.pool, {1, 1}, block_id{});
  s.index.add(s.pool, {1, 1}, block_id(4));
  CHECK(s.index.size() == 0);
  // An index for fewer ids than the pool has.
  const std::array held{s.take(), s.take()};
  const auto [low, high] = std::minmax(held[0], held[1]);
  pave::prefix_index narrow = pave::prefix_index::create(high.value()).value();
  narrow.add(s.pool, {1, 1}, low);
  narrow.add(s.pool, {2, 2}, high);
  CHECK(narrow.find(s.pool, {1, 1}));
  CHECK_FALSE(narrow.find(s.pool, {2, 2}));
}

TEST_CASE("prefix_index: a block on its way is not found before it is there", "[prefix_index]") {
  struct fenced : pave_tests::keeping<> {
    using fence = pave::after_step;
  };
  auto pool = pave::block_pool<fenced>::create({2}).value();
  auto index = pave::prefix_index::create(2).value();
  std::array<block_id, 1> one;
  REQUIRE(pool.allocate(one));
  index.add(pool, {1, 1}, one[0]);
  REQUIRE(pool.release(one, 3));
  CHECK_FALSE(index.find(pool, {1, 1}));
  pool.complete_through(3);
  CHECK(index.find(pool, {1, 1}));
}

TEST_CASE("prefix_index: a prefix is found up to the first block that is not there", "[prefix_index]") {
  scene s(8);
  std::vector<block_hash> hashes;
  std::vector<block_id> blocks;
  for (std::uint64_t i = 0; i < 5; ++i) {
    hashes.push_back({i + 1, 0});
    blocks.push_back(s.take());
    s.index.add(s.pool, hashes.back(), blocks.back());
  }
  const std::size_t gone = static_cast<std::size_t>(GENERATE(0, 2, 4));
  s.release(blocks[gone], pave::content::worthless);
  std::array<pave::kept_block, 8> found;
  CHECK(s.index.find_prefix(s.pool, hashes, found) == gone);
  for (std::size_t i = 0; i < gone; ++i) CHECK(found[i].block == blocks[i]);
  CHECK(s.index.find_prefix(s.pool, hashes, pave::span<pave::kept_block>(found).first(1)) ==
        (std::min)(gone, std::size_t{1}));
  CHECK(s.index.find_prefix(s.pool, {}, found) == 0);
}

TEST_CASE("prefix_index: options out of range are refused, and an empty one knows nothing", "[prefix_index]") {
  CHECK(pave::prefix_index::create(0).code() == errc::invalid_argument);
  CHECK(pave::prefix_index::create(-1).code() == errc::invalid_argument);
  CHECK(pave::prefix_index::create(std::int64_t{1} << 32U).code() == errc::invalid_argument);
  scene s(2);
  const block_id block = s.take();
  pave::prefix_index empty;
  CHECK_FALSE(empty.find(s.pool, {1, 1}));
  empty.add(s.pool, {1, 1}, block);
  CHECK(empty.size() == 0);
  s.index.add(s.pool, {1, 1}, block);
  const pave::prefix_index moved = std::move(s.index);
  CHECK(moved.find(s.pool, {1, 1}));
  CHECK_FALSE(s.find({1, 1}));  // NOLINT(bugprone-use-after-move)
  CHECK(s.index.size() == 0);   // NOLINT(bugprone-use-after-move)
}

TEST_CASE("prefix_index: what it knows survives more room", "[prefix_index]") {
  scene s(300);
  std::vector<std::pair<block_hash, block_id>> known;
  pave::prefix_index grows = pave::prefix_index::create(3).value();
  for (std::uint64_t i = 0; i < 300; ++i) {
    REQUIRE(grows.reserve(static_cast<std::int64_t>(i + 1)));
    const block_id block = s.take();
    grows.add(s.pool, {i / 2, 5}, block);
    if (block.index() <= i && i % 2 == 0) known.emplace_back(block_hash{i / 2, 5}, block);
  }
  CHECK(known.size() == 150);
  for (const auto& [hash, block] : known) CHECK(grows.find(s.pool, hash)->block == block);
}

TEST_CASE("prefix_index: over random walks it finds just what is there", "[prefix_index]") {
  pave_tests::for_each_seed(30, [](std::uint64_t seed) {
    pave_tests::random_source random(seed);
    const std::int64_t blocks = random.between(1, 40);
    scene s(blocks, random.between(0, 2));
    const std::int64_t names = random.between(1, 60);
    // Names that differ in a few bits, as a bad hash of an engine's may.
    const std::int64_t shift = random.between(0, 57);
    const auto name = [&](std::int64_t i) { return block_hash{static_cast<std::uint64_t>(i) << shift, 0}; };
    std::vector<block_id> held;
    std::map<std::int64_t, std::vector<pave::kept_block>> expected;  // by name, in the order in which they were added
    const auto first_of = [&](std::int64_t i) {
      const auto& all = expected[i];
      const auto at = std::find_if(all.begin(), all.end(), [&](pave::kept_block b) { return s.pool.is_kept(b); });
      return at == all.end() ? std::nullopt : std::optional(*at);
    };
    for (int step = 0; step < 1000; ++step) {
      const std::int64_t what = random.between(0, 7);
      const std::int64_t one = random.between(1, names);
      if (what < 3 && s.pool.available() > 0) {
        held.push_back(s.take());
      } else if (what < 5 && !held.empty()) {
        std::swap(held[random.index(held.size())], held.back());
        s.release(held.back(), random.one_in(4) ? pave::content::worthless : pave::content::worth_keeping);
        held.pop_back();
      } else if (what < 7 && !held.empty()) {
        const pave::kept_block kept = s.pool.content_of(held[random.index(held.size())]).value();
        s.index.add(s.pool, name(one), kept.block);
        auto& all = expected[one];
        if (std::count(all.begin(), all.end(), kept) == 0) {
          for (auto& [other, same] : expected) {
            const auto is_it = [&](pave::kept_block b) { return b.block == kept.block; };
            same.erase(std::remove_if(same.begin(), same.end(), is_it), same.end());
          }
          all.push_back(kept);
        }
      } else if (s.pool.available() > 0) {
        const auto kept = s.index.find(s.pool, name(one));
        if (kept && s.pool.holders(kept->block) == 0) {
          REQUIRE(s.pool.acquire(std::array{*kept}, {}));
          held.push_back(kept->block);
        }
      }
      std::size_t size = 0;
      for (std::int64_t i = 1; i <= names; ++i) {
        REQUIRE(s.index.find(s.pool, name(i)) == first_of(i));
        size += expected[i].size();
      }
      REQUIRE(s.index.size() == size);
    }
  });
}
