// SPDX-License-Identifier: Apache-2.0
// The stock fences, and one of a user's that waits, keep the contract.
#include "contract/fence_contract.hpp"
#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/policy/fence.hpp>
#include <pave/pool.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

/// A user's: a released block waits until the step of its last use is done.
class until_done {
 public:
  static constexpr bool delays = true;

  bool reserve(pave::block_count ids) {
    last_use_.resize(static_cast<std::size_t>(ids.value()));
    waiting_.reserve(static_cast<std::size_t>(ids.value()));
    return true;
  }
  void used(pave::block_id block, pave::step_id last_use) {
    if (last_use_[block.index()] < last_use) last_use_[block.index()] = last_use;
  }
  template <class Sink>
  void release(pave::block_id block, pave::content left, Sink&& available) {
    const pave::step_id last_use = std::exchange(last_use_[block.index()], pave::step_id{});
    if (last_use <= done_) {
      available(block, left);
    } else {
      waiting_.push_back({block, last_use, left});
    }
  }
  template <class Sink>
  void complete(pave::step_id step, Sink&& available) {
    if (done_ < step) done_ = step;
    std::size_t kept = 0;
    for (const one& each : waiting_) {
      if (each.last_use <= done_) {
        available(each.block, each.left);
      } else {
        waiting_[kept++] = each;
      }
    }
    waiting_.resize(kept);
  }
  pave::block_count fenced() const { return waiting_.size(); }
  pave::block_count arriving(pave::step_id by) const {
    return std::count_if(waiting_.begin(), waiting_.end(), [by](const one& each) { return each.last_use <= by; });
  }
  bool is_fenced(pave::block_id block) const {
    return std::any_of(waiting_.begin(), waiting_.end(), [block](const one& each) { return each.block == block; });
  }
  bool is_in_use(pave::block_id block) const { return done_ < last_use_[block.index()]; }

 private:
  struct one {
    pave::block_id block;
    pave::step_id last_use;
    pave::content left;
  };
  std::vector<pave::step_id> last_use_;  // of blocks that are held
  std::vector<one> waiting_;
  pave::step_id done_;
};

static_assert(!pave::at_once::delays);
static_assert(pave::after_step::delays);
static_assert(!pave::is_fence_v<int>);

}  // namespace

TEMPLATE_TEST_CASE("contract: a fence gives each released block on once, when it is safe",
                   "[contract][pool]",
                   pave::at_once,
                   pave::after_step,
                   until_done) {
  pave_tests::check_fence<TestType>();
}

TEST_CASE("at_once: a released block is available at once, whatever is in flight", "[pool]") {
  auto pool = pave::block_pool<>::create({2}).value();
  const auto blocks = pave_tests::take(pool, 2);
  REQUIRE(pool.release(blocks, 99));
  CHECK(pool.available().value() == 2);
  CHECK(pool.fenced().value() == 0);
  CHECK(pool.arriving(1000).value() == 0);
}

TEST_CASE("at_once: a pool that waits for no step takes all that are named as done", "[pool]") {
  auto pool = pave::block_pool<>::create({2}).value();
  for (const std::int64_t step : {-1, 0, 7, 7, 1000, 1}) CHECK(pool.complete(step));
  pool.complete_through(-3);
  pool.complete_through(5);
  CHECK(pool.available().value() == 2);
}
