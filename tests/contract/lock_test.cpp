// SPDX-License-Identifier: Apache-2.0
// The stock locks, and one of a user's that counts, keep the contract.
#include "contract/lock_contract.hpp"
#include "support/catch.hpp"

#include <pave/policy/lock.hpp>
#include <pave/pool.hpp>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

/// A user's: a lock that notices whoever takes it twice, or gives back what he has not.
class watched_lock {
 public:
  void lock() {
    if (state_->is_locked) state_->is_misused = true;
    state_->is_locked = true;
    state_->times += 1;
  }
  void unlock() {
    if (!state_->is_locked) state_->is_misused = true;
    state_->is_locked = false;
  }

  struct record {
    bool is_locked = false;
    bool is_misused = false;
    int times = 0;
  };
  static std::shared_ptr<record>& latest() {
    static std::shared_ptr<record> shared;
    return shared;
  }

  watched_lock() : state_(std::make_shared<record>()) { latest() = state_; }

 private:
  std::shared_ptr<record> state_;
};

struct watched_policies : pave::pool_policies {
  using lock = watched_lock;
};

/// As a pool of two threads would find it: no member runs without the lock, none returns with it.
void expect_locked() {
  if (!watched_lock::latest()->is_locked) watched_lock::latest()->is_misused = true;
}
struct guarded_list : pave::least_recently_released {
  using stock = pave::least_recently_released;
  void put(pave::block_id block, pave::content left) {
    expect_locked();
    stock::put(block, left);
  }
  void take(pave::span<pave::block_id> out) {
    expect_locked();
    stock::take(out);
  }
  pave::block_count size() const {
    expect_locked();
    return stock::size();
  }
  bool remove(pave::block_id block) {
    expect_locked();
    return stock::remove(block);
  }
  void undo_remove(pave::block_id block) {
    expect_locked();
    stock::undo_remove(block);
  }
};
struct guarded_retention : pave::keep {
  void renew(pave::block_id block) {
    expect_locked();
    pave::keep::renew(block);
  }
  std::uint32_t generation(pave::block_id block) const {
    expect_locked();
    return pave::keep::generation(block);
  }
};
struct guarded_fence : pave::after_step {
  void used(pave::block_id block, pave::step_id last_use) {
    expect_locked();
    pave::after_step::used(block, last_use);
  }
  template <class Sink>
  void complete(pave::step_id step, Sink&& available) {
    expect_locked();
    pave::after_step::complete(step, available);
  }
  pave::block_count fenced() const {
    expect_locked();
    return pave::after_step::fenced();
  }
  pave::block_count arriving(pave::step_id by) const {
    expect_locked();
    return pave::after_step::arriving(by);
  }
};
struct guarded_sharing : pave::counted {
  std::uint32_t holders(pave::block_id block) const {
    expect_locked();
    return pave::counted::holders(block);
  }
  bool pin(pave::block_id block) {
    expect_locked();
    return pave::counted::pin(block);
  }
  void unpin(pave::block_id block) {
    expect_locked();
    pave::counted::unpin(block);
  }
};
struct guarded_observer {
  static void notice(const pave::event& /*what*/) { expect_locked(); }
};
struct guarded_policies : watched_policies {
  using free_list = guarded_list;
  using sharing = guarded_sharing;
  using fence = guarded_fence;
  using retention = guarded_retention;
  using observer = guarded_observer;
};

}  // namespace

TEMPLATE_TEST_CASE("contract: a lock locks and unlocks, and moves while unlocked",
                   "[contract][pool]",
                   pave::unlocked,
                   pave::mutex,
                   watched_lock) {
  pave_tests::check_lock<TestType>();
}

TEST_CASE("block_pool: every member that looks or writes holds the lock once, and gives it back", "[pool]") {
  guarded_observer observer;
  auto pool = pave::block_pool<guarded_policies>::create({4}, observer).value();
  const auto state = watched_lock::latest();
  int times = state->times;
  const auto locked_once = [&] {
    const bool once = state->times == times + 1 && !state->is_locked && !state->is_misused;
    times = state->times;
    return once;
  };
  std::vector<pave::block_id> two(2);
  std::vector<pave::block_id> nine(9);
  REQUIRE(pool.allocate(two));
  CHECK(locked_once());
  CHECK_FALSE(pool.allocate(nine));
  CHECK(locked_once());
  REQUIRE(pool.share(two));
  CHECK(locked_once());
  CHECK_FALSE(pool.share(nine));
  CHECK(locked_once());
  REQUIRE(pool.release(two));
  CHECK(locked_once());
  REQUIRE(pool.release(two));
  CHECK(locked_once());
  CHECK_FALSE(pool.release(two));
  CHECK(locked_once());
  CHECK(pool.complete(1));
  CHECK(locked_once());
  CHECK_FALSE(pool.complete(1));
  CHECK(locked_once());
  pool.complete_through(2);
  CHECK(locked_once());
  CHECK(pool.arriving(3).value() == 0);
  CHECK(locked_once());
  CHECK(pool.capacity().value() == 4);
  CHECK(locked_once());
  CHECK(pool.leaving().value() == 0);
  CHECK(locked_once());
  CHECK(pool.available().value() == 4);
  CHECK(locked_once());
  CHECK(pool.fenced().value() == 0);
  CHECK(locked_once());
  CHECK(pool.held().value() == 0);
  CHECK(locked_once());
  CHECK(pool.holders(0) == 0);
  CHECK(locked_once());

  REQUIRE(pool.allocate(two));
  CHECK(locked_once());
  const pave::kept_block kept = pool.content_of(two[0]).value();
  CHECK(locked_once());
  CHECK_FALSE(pool.content_of(0));
  CHECK(locked_once());
  CHECK(pool.is_kept(kept));
  CHECK(locked_once());
  REQUIRE(pool.release({two.data(), 1}));
  CHECK(locked_once());
  CHECK_FALSE(pool.acquire({&kept, 1}, {nine.data(), 4}));
  CHECK(locked_once());
  CHECK_FALSE(pool.acquire({&kept, 1}, nine));
  CHECK(locked_once());
  REQUIRE(pool.acquire({&kept, 1}, {}));
  CHECK(locked_once());
  REQUIRE(pool.overwrite(two[0]));
  CHECK(locked_once());
  CHECK_FALSE(pool.overwrite(0));
  CHECK(locked_once());
  CHECK_FALSE(pool.acquire({&kept, 1}, {}));
  CHECK(locked_once());
  pool.forget_content();
  CHECK(locked_once());

  const auto token = pool.pin({two.data(), 1}).value();
  CHECK(locked_once());
  CHECK_FALSE(pool.pin({}));
  CHECK(locked_once());
  CHECK_FALSE(pool.pin(nine));
  CHECK(locked_once());
  REQUIRE(pool.unpin(token));
  CHECK(locked_once());
  CHECK_FALSE(pool.unpin(token));
  CHECK(locked_once());
  REQUIRE(pool.resize(6));
  CHECK(locked_once());
  CHECK_FALSE(pool.resize(0));
  CHECK(locked_once());
  std::vector<std::uint32_t> scratch(6);
  int findings = 0;
  const auto say = [&](const pave::finding& /*found*/) {
    expect_locked();
    ++findings;
  };
  CHECK(pool.audit(pave::no_tables(), scratch, say));
  CHECK(locked_once());
  CHECK(findings == 2);
  CHECK_FALSE(pool.audit(pave::no_tables(), {}, say));
  CHECK(locked_once());
}
