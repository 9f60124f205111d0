// SPDX-License-Identifier: Apache-2.0
// What every fence does, alone and in a pool.
#ifndef PAVE_TESTS_CONTRACT_FENCE_CONTRACT_HPP
#define PAVE_TESTS_CONTRACT_FENCE_CONTRACT_HPP

#include "model/random.hpp"
#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/policy/fence.hpp>
#include <pave/pool.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace pave_tests {

template <class Fence>
struct pool_with_fence : pave::pool_policies {
  using fence = Fence;
};

/// Blocks that a fence was given and did not give on yet, and what it may do with each.
class fenced_blocks {
 public:
  explicit fenced_blocks(std::size_t ids) : blocks_(ids) {}

  void release(std::size_t block, std::int64_t last_use, pave::content left) {
    blocks_[block] = {true, last_use, left};
    ++count_;
  }
  /// What a fence is to call. It must not throw, and notes what is wrong.
  [[nodiscard]] auto sink() {
    return [this](pave::block_id block, pave::content left) noexcept {
      one& given = blocks_[block.index()];
      if (!given.waits || given.left != left || given.last_use > done_) is_wrong_ = true;
      given.waits = false;
      --count_;
    };
  }
  void complete(std::int64_t step) { done_ = step; }
  template <class Fence>
  void expect_same(const Fence& fence) const {
    expect(!is_wrong_, "each block is given on once, with what was left in it, and no sooner than it is safe");
    expect(fence.fenced() == count_, "fenced counts those on their way");
    for (std::int64_t by = done_ - 1; by < done_ + 8; ++by) {
      const auto arrives = [by](const one& block) { return block.waits && block.last_use <= by; };
      expect(fence.arriving(by) == std::count_if(blocks_.begin(), blocks_.end(), arrives), "arriving knows when");
    }
    for (std::size_t block = 0; block < blocks_.size(); ++block)
      expect(fence.is_fenced(block) == blocks_[block].waits, "is_fenced knows which");
  }
  [[nodiscard]] bool waits(std::size_t block) const { return blocks_[block].waits; }
  [[nodiscard]] std::int64_t count() const { return count_; }

 private:
  struct one {
    bool waits = false;
    std::int64_t last_use = 0;
    pave::content left = pave::content::worthless;
  };
  std::vector<one> blocks_;
  std::int64_t count_ = 0, done_ = 0;
  bool is_wrong_ = false;
};

template <class Fence>
void check_fence_alone() {
  SECTION("each block becomes safe once, with what was left in it, and by the latest step of its holders") {
    for_each_seed(20, [](std::uint64_t seed) {
      random_source random(seed);
      constexpr std::size_t ids = 16;
      Fence fence;
      REQUIRE(fence.reserve(ids / 2));
      fenced_blocks blocks(ids);
      const auto sink = blocks.sink();
      std::int64_t step = 0;
      std::size_t there = ids / 2;
      for (int call = 0; call < 150; ++call) {
        if (call == 40) {
          REQUIRE(fence.reserve(ids));  // it keeps what is there
          there = ids;
        }
        if (call == 80) {
          Fence moved(std::move(fence));
          fence = std::move(moved);
        }
        if (random.one_in(3)) {
          step += random.between(0, 2);
          blocks.complete(step);
          fence.complete(step, sink);
          fence.complete(step - random.between(0, 3), sink);  // which was done already
        } else if (const std::size_t block = random.index(there); !blocks.waits(block)) {
          const std::int64_t last_use = random.between(0, step + 5);
          const std::int64_t earlier = random.between(0, last_use);
          const bool late_goes_first = random.one_in(2);
          const auto left = random.one_in(2) ? pave::content::worthless : pave::content::worth_keeping;
          fence.used(block, late_goes_first ? last_use : earlier);
          fence.used(block, late_goes_first ? earlier : last_use);
          expect(fence.is_in_use(block) == (Fence::delays && last_use > step), "is_in_use knows of a held block");
          blocks.release(block, Fence::delays ? last_use : step, left);
          fence.release(block, left, sink);
          expect(blocks.waits(block) == (Fence::delays && last_use > step), "safe at once, if it is");
        }
        if (call >= 40) blocks.expect_same(fence);
      }
      blocks.complete(step + 5);
      fence.complete(step + 5, sink);
      expect(blocks.count() == 0, "all come in the end");
      blocks.expect_same(fence);
    });
  }

  SECTION("what it knew of a block's earlier holders does not keep the block back") {
    Fence fence;
    REQUIRE(fence.reserve(2));
    int given = 0;
    const auto sink = [&given](pave::block_id /*block*/, pave::content /*left*/) noexcept { ++given; };
    fence.used(0, 5);
    fence.release(0, pave::content::worthless, sink);
    fence.complete(5, sink);
    CHECK(given == 1);
    for (std::int64_t step = 6; step < 20; ++step) {
      fence.used(1, step + 1);
      fence.used(0, step - 1);
      fence.release(0, pave::content::worthless, sink);
      CHECK(given == step - 4);
      fence.complete(step, sink);
      CHECK(given == step - 4);
    }
  }

  SECTION("a held block is in use until the latest step of those who let go of it is done") {
    Fence fence;
    REQUIRE(fence.reserve(3));
    const auto sink = [](pave::block_id /*block*/, pave::content /*left*/) noexcept {};
    fence.used(1, 5);
    fence.used(1, 3);
    for (std::int64_t step = 2; step < 12; ++step) {
      fence.complete(step, sink);
      CHECK(fence.is_in_use(1) == (Fence::delays && step < 5));
      CHECK_FALSE(fence.is_in_use(0));
    }
    fence.used(1, 9);
    CHECK_FALSE(fence.is_in_use(1));
    fence.used(1, 13);
    CHECK(fence.is_in_use(1) == Fence::delays);
    fence.complete(13, sink);
    fence.release(1, pave::content::worthless, sink);
    CHECK_FALSE(fence.is_in_use(1));
  }

  SECTION("one that is moved from keeps nothing back") {
    Fence fence;
    REQUIRE(fence.reserve(2));
    int given = 0;
    const auto sink = [&given](pave::block_id /*block*/, pave::content /*left*/) noexcept { ++given; };
    fence.used(1, 5);
    fence.release(1, pave::content::worthless, sink);
    const int at_once = given;
    Fence moved(std::move(fence));
    CHECK(fence.fenced().value() == 0);  // NOLINT(bugprone-use-after-move)
    CHECK(fence.arriving(9).value() == 0);
    fence.complete(5, sink);
    CHECK(given == at_once);
    CHECK(moved.fenced().value() == 1 - at_once);
    moved.complete(5, sink);
    CHECK(given == 1);
  }
}

template <class Fence>
void check_fence() {
  static_assert(pave::is_fence_v<Fence>);
  static_assert(std::is_nothrow_move_constructible_v<Fence> && std::is_nothrow_move_assignable_v<Fence>);
  using pool_type = pave::block_pool<pool_with_fence<Fence>>;
  static_assert(pool_type::delays == Fence::delays);
  check_fence_alone<Fence>();

  SECTION("in a pool, what it keeps back is neither available nor held") {
    auto pool = pool_type::create({5}).value();
    auto blocks = take(pool, 5);
    REQUIRE(pool.release({blocks.data(), 2}, 7));
    check_conservation(pool);
    CHECK((pool.available() + pool.fenced()).value() == 2);
    CHECK(pool.arriving(6).value() == 0);
    CHECK(pool.arriving(7) == pool.fenced());
    REQUIRE(pool.release({blocks.data() + 2, 1}, 9));
    check_conservation(pool);
    CHECK(pool.release({blocks.data(), 1}, 9).code() == pave::errc::not_held);
    CHECK(pool.share({blocks.data(), 1}).code() == pave::errc::not_held);
    CHECK(pool.pin({blocks.data(), 1}).code() == pave::errc::not_held);
    CHECK(pool.content_of(blocks[0]).code() == pave::errc::not_held);
    CHECK(pool.holders(blocks[0]) == 0);

    pool.complete_through(7);
    CHECK(pool.available().value() >= 2);
    check_conservation(pool);
    pool.complete_through(9);
    CHECK(pool.available().value() == 3);
    CHECK(pool.fenced().value() == 0);
    check_conservation(pool);
    static_cast<void>(take(pool, 3));
    check_conservation(pool);
  }

  SECTION("in a pool, a refused release keeps nothing back") {
    auto pool = pool_type::create({3}).value();
    const auto blocks = take(pool, 2);
    const pave::block_id named[] = {blocks[0], blocks[1], blocks[0]};
    CHECK(pool.release(named, 4).code() == pave::errc::not_held);
    CHECK(pool.fenced().value() == 0);
    CHECK(pool.held().value() == 2);
    REQUIRE(pool.release(blocks));  // and its step is forgotten
    CHECK(pool.available().value() == 3);
    check_conservation(pool);
  }

  SECTION("in a pool, steps may come to their end in any order, and each block waits for all up to its own") {
    std::vector<std::int64_t> order{1, 2, 3, 4};
    do {
      auto pool = pool_type::create({4}).value();
      const auto blocks = take(pool, 4);
      for (std::size_t i = 0; i < 4; ++i) REQUIRE(pool.release({&blocks[i], 1}, i + 1));
      std::vector<bool> is_done(6);
      for (const std::int64_t step : order) {
        REQUIRE(pool.complete(step));
        is_done[static_cast<std::size_t>(step)] = true;
        std::int64_t done = 0;
        while (is_done[static_cast<std::size_t>(done + 1)]) ++done;
        CHECK(pool.available().value() == (Fence::delays ? done : 4));
        check_conservation(pool);
      }
      CHECK(pool.available().value() == 4);
    } while (std::next_permutation(order.begin(), order.end()));
  }

  SECTION("in a pool, what one who let go still uses is not overwritten by whoever holds it") {
    auto pool = pool_type::create({3}).value();
    const auto blocks = take(pool, 2);
    const pave::block_id used = blocks[0];
    REQUIRE(pool.share({&used, 1}));
    const auto token = pool.pin({&used, 1}).value();
    CHECK_FALSE(pool.is_in_use(used));
    REQUIRE(pool.release({&used, 1}, 2));
    CHECK(pool.is_in_use(used) == Fence::delays);
    REQUIRE(pool.unpin(token, 3));
    for (const std::int64_t step : {1, 2, 3}) {
      CHECK(pool.is_in_use(used) == Fence::delays);
      CHECK(pool.overwrite(used).has_value() != Fence::delays);
      if (Fence::delays) CHECK(pool.overwrite(used).code() == pave::errc::busy);
      CHECK_FALSE(pool.is_in_use(blocks[1]));
      CHECK(pool.overwrite(blocks[1]));
      REQUIRE(pool.complete(step));
    }
    CHECK_FALSE(pool.is_in_use(used));
    CHECK(pool.overwrite(used));
    REQUIRE(pool.release({&used, 1}, 4));
    for (const std::int32_t none : {used.value(), 2, 3, -1}) CHECK_FALSE(pool.is_in_use(none));
  }

  SECTION("in a pool, a transfer that ends is waited for as a sequence is") {
    auto pool = pool_type::create({2}).value();
    const auto blocks = take(pool, 1);
    const auto token = pool.pin(blocks).value();
    REQUIRE(pool.release(blocks, 3));
    CHECK(pool.held().value() == 1);
    REQUIRE(pool.unpin(token, 2));
    CHECK(pool.available().value() == (Fence::delays ? 1 : 2));
    check_conservation(pool);
    pool.complete_through(2);
    CHECK(pool.available().value() == (Fence::delays ? 1 : 2));
    pool.complete_through(3);
    CHECK(pool.available().value() == 2);
  }
}

}  // namespace pave_tests

#endif  // PAVE_TESTS_CONTRACT_FENCE_CONTRACT_HPP
