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
struct guarded_policies : watched_policies {
  using free_list = guarded_list;
  using retention = guarded_retention;
};

}  // namespace

TEMPLATE_TEST_CASE("contract: a lock locks and unlocks, and moves while unlocked",
                   "[contract][pool]",
                   pave::unlocked,
                   watched_lock) {
  pave_tests::check_lock<TestType>();
}

TEST_CASE("block_pool: every member that looks or writes holds the lock once, and gives it back", "[pool]") {
  auto made = pave::block_pool<guarded_policies>::create({4});
  REQUIRE(made);
  auto pool = std::move(*made);
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
  pool.complete(1);
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
}
