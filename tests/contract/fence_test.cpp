// SPDX-License-Identifier: Apache-2.0
// The stock fences, and one of a user's that waits, keep the contract.
#include "contract/fence_contract.hpp"
#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/policy/fence.hpp>
#include <pave/pool.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

/// A user's: a released block waits until the step of its last use is done.
class until_done {
 public:
  static constexpr bool delays = true;

  bool reserve(pave::block_count capacity) {
    last_use_.resize(static_cast<std::size_t>(capacity.value()));
    waiting_.reserve(static_cast<std::size_t>(capacity.value()));
    return true;
  }
  void used(pave::block_id block, pave::step_id last_use) {
    if (last_use_[block.index()] < last_use) last_use_[block.index()] = last_use;
  }
  template <class Sink>
  void release(pave::block_id block, Sink&& available) {
    const pave::step_id last_use = std::exchange(last_use_[block.index()], pave::step_id{});
    if (last_use <= done_) {
      available(block);
    } else {
      waiting_.push_back({block, last_use});
    }
  }
  template <class Sink>
  void complete(pave::step_id step, Sink&& available) {
    if (done_ < step) done_ = step;
    std::size_t kept = 0;
    for (const one& each : waiting_) {
      if (each.last_use <= done_) {
        available(each.block);
      } else {
        waiting_[kept++] = each;
      }
    }
    waiting_.resize(kept);
  }
  pave::block_count fenced() const { return waiting_.size(); }

 private:
  struct one {
    pave::block_id block;
    pave::step_id last_use;
  };
  std::vector<pave::step_id> last_use_;  // of blocks that are held
  std::vector<one> waiting_;
  pave::step_id done_;
};

struct waiting_policies : pave::pool_policies {
  using fence = until_done;
};

pave::block_pool<waiting_policies> waiting_pool(pave::block_count blocks) {
  auto made = pave::block_pool<waiting_policies>::create({blocks});
  REQUIRE(made);
  return std::move(*made);
}

}  // namespace

TEMPLATE_TEST_CASE("contract: a fence gives each released block on once, when it is safe",
                   "[contract][pool]",
                   pave::at_once,
                   until_done) {
  pave_tests::check_fence<TestType>();
}

TEST_CASE("at_once: a released block is available at once, whatever is in flight", "[pool]") {
  auto made = pave::block_pool<>::create({2});
  REQUIRE(made);
  auto pool = std::move(*made);
  const auto blocks = pave_tests::take(pool, 2);
  REQUIRE(pool.release(blocks, 99));
  CHECK(pool.available().value() == 2);
  CHECK(pool.fenced().value() == 0);
}

TEST_CASE("block_pool: with a fence that waits, a block is not given out before its step is done", "[pool]") {
  auto pool = waiting_pool(2);
  const auto blocks = pave_tests::take(pool, 2);
  REQUIRE(pool.release(blocks, 7));
  std::vector<pave::block_id> two(2);
  CHECK(pool.allocate(two).code() == pave::errc::shortage);
  CHECK(pool.allocate(two).error().missing.value() == 2);
  pool.complete(6);
  CHECK(pool.available().value() == 0);
  CHECK(pool.fenced().value() == 2);
  pool.complete(7);
  CHECK(pool.allocate(two));
}

TEST_CASE("block_pool: the fence of a shared block is the latest of all its holders'", "[pool]") {
  const bool late_holder_goes_first = GENERATE(true, false);
  CAPTURE(late_holder_goes_first);
  auto pool = waiting_pool(1);
  const auto block = pave_tests::take(pool, 1);
  REQUIRE(pool.share(block));
  REQUIRE(pool.release(block, late_holder_goes_first ? 7 : 3));
  REQUIRE(pool.release(block, late_holder_goes_first ? 3 : 7));
  pool.complete(3);
  CHECK(pool.available().value() == 0);
  CHECK(pool.fenced().value() == 1);
  pool.complete(7);
  CHECK(pool.available().value() == 1);
}

TEST_CASE("block_pool: with a fence that waits, a block joins the queue of free ones when it is safe", "[pool]") {
  struct waiting_queue : waiting_policies {
    using free_list = pave::least_recently_released;
  };
  auto made = pave::block_pool<waiting_queue>::create({4});
  REQUIRE(made);
  auto pool = std::move(*made);
  const auto blocks = pave_tests::take(pool, 3);
  REQUIRE(pool.release({blocks.data(), 1}, 9));
  REQUIRE(pool.release({blocks.data() + 1, 1}, 7));
  REQUIRE(pool.release({blocks.data() + 2, 1}, 0));
  CHECK(pool.available().value() == 2);
  pool.complete(7);
  CHECK(pool.available().value() == 3);
  pool.complete(9);
  CHECK(pave_tests::values(pave_tests::take(pool, 4)) == std::vector<std::int32_t>{3, 2, 1, 0});
}
