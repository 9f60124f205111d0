// SPDX-License-Identifier: Apache-2.0
// What every fence does, alone and in a pool.
#ifndef PAVE_TESTS_CONTRACT_FENCE_CONTRACT_HPP
#define PAVE_TESTS_CONTRACT_FENCE_CONTRACT_HPP

#include "model/random.hpp"
#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/policy/fence.hpp>
#include <pave/pool.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pave_tests {

template <class Fence>
struct pool_with_fence : pave::pool_policies {
  using fence = Fence;
};

template <class Fence>
void check_fence() {
  static_assert(pave::is_fence_v<Fence>);

  SECTION("each block becomes safe once, and by the step of its last use") {
    for_each_seed(20, [](std::uint64_t seed) {
      random_source random(seed);
      constexpr std::size_t capacity = 16;
      Fence fence;
      REQUIRE(fence.reserve(capacity));
      std::vector<std::int64_t> last_use(capacity, -1);  // of those on their way
      std::int64_t on_their_way = 0;
      std::int64_t step = 0;
      const auto sink = [&](pave::block_id block) noexcept {
        --on_their_way;
        if (last_use[block.index()] < 0) on_their_way = -1000;  // nobody released it
        last_use[block.index()] = -1;
      };
      for (int call = 0; call < 100; ++call) {
        if (random.one_in(3)) {
          fence.complete(++step, sink);
          for (const std::int64_t use : last_use) expect(use < 0 || use > step, "safe when its step is done");
        } else {
          const std::size_t block = random.index(capacity);
          if (last_use[block] >= 0) continue;
          last_use[block] = random.between(0, step + 3);
          ++on_their_way;
          // Its holders let go in any order; the latest use counts.
          const std::int64_t earlier = random.between(0, last_use[block]);
          const bool late_goes_first = random.one_in(2);
          fence.used(block, late_goes_first ? last_use[block] : earlier);
          fence.used(block, late_goes_first ? earlier : last_use[block]);
          fence.release(block, sink);
        }
        expect(on_their_way >= 0, "given on once");
        expect(fence.fenced() == on_their_way, "fenced counts those on their way");
      }
      fence.complete(step + 3, sink);
      expect(on_their_way == 0, "all come in the end");
      expect(fence.fenced() == 0, "none is left behind");
    });
  }

  SECTION("in a pool, what it keeps back is neither available nor held") {
    auto made = pave::block_pool<pool_with_fence<Fence>>::create({5});
    REQUIRE(made);
    auto pool = std::move(*made);
    auto blocks = take(pool, 5);
    REQUIRE(pool.release({blocks.data(), 2}, 7));
    check_conservation(pool);
    CHECK((pool.available() + pool.fenced()).value() == 2);
    REQUIRE(pool.release({blocks.data() + 2, 1}, 9));
    check_conservation(pool);
    CHECK(pool.release({blocks.data(), 1}, 9).code() == pave::errc::not_held);
    CHECK(pool.share({blocks.data(), 1}).code() == pave::errc::not_held);
    CHECK(pool.holders(blocks[0]) == 0);

    pool.complete(7);
    CHECK(pool.available().value() >= 2);
    check_conservation(pool);
    pool.complete(9);
    CHECK(pool.available().value() == 3);
    CHECK(pool.fenced().value() == 0);
    check_conservation(pool);
    static_cast<void>(take(pool, 3));
    check_conservation(pool);
  }

  SECTION("in a pool, a refused release keeps nothing back") {
    auto made = pave::block_pool<pool_with_fence<Fence>>::create({3});
    REQUIRE(made);
    auto pool = std::move(*made);
    const auto blocks = take(pool, 2);
    const pave::block_id named[] = {blocks[0], blocks[1], blocks[0]};
    CHECK(pool.release(named, 4).code() == pave::errc::not_held);
    CHECK(pool.fenced().value() == 0);
    CHECK(pool.held().value() == 2);
    pool.complete(4);
    CHECK(pool.available().value() == 1);
    check_conservation(pool);
  }
}

}  // namespace pave_tests

#endif  // PAVE_TESTS_CONTRACT_FENCE_CONTRACT_HPP
