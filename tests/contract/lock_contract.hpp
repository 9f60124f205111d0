// SPDX-License-Identifier: Apache-2.0
// What every lock does, alone and in a pool.
#ifndef PAVE_TESTS_CONTRACT_LOCK_CONTRACT_HPP
#define PAVE_TESTS_CONTRACT_LOCK_CONTRACT_HPP

#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/policy/lock.hpp>
#include <pave/pool.hpp>

#include <type_traits>
#include <utility>

namespace pave_tests {

template <class Lock>
struct pool_with_lock : pave::pool_policies {
  using lock = Lock;
};

template <class Lock>
void check_lock() {
  static_assert(pave::is_lock_v<Lock>);
  static_assert(std::is_move_constructible_v<Lock> && std::is_move_assignable_v<Lock>, "movable while unlocked");

  SECTION("it locks again after it was unlocked, also when moved") {
    Lock lock;
    lock.lock();
    lock.unlock();
    Lock moved = std::move(lock);
    moved.lock();
    moved.unlock();
    Lock assigned;
    assigned = std::move(moved);
    assigned.lock();
    assigned.unlock();
  }

  SECTION("a pool works under it, refused calls included") {
    auto made = pave::block_pool<pool_with_lock<Lock>>::create({3});
    REQUIRE(made);
    auto pool = std::move(*made);
    const auto blocks = take(pool, 2);
    REQUIRE(pool.share(blocks));
    std::vector<pave::block_id> too_many(4);
    CHECK_FALSE(pool.allocate(too_many));
    REQUIRE(pool.release(blocks));
    REQUIRE(pool.release(blocks));
    CHECK_FALSE(pool.release(blocks));
    CHECK_FALSE(pool.share(blocks));
    const auto held = take(pool, 1);
    const auto token = pool.pin(held);
    REQUIRE(token);
    CHECK(pool.unpin(*token));
    CHECK_FALSE(pool.unpin(*token));
    CHECK(pool.complete(1));
    pool.complete_through(2);
    REQUIRE(pool.resize(2));
    CHECK(pool.leaving() == (held[0] == pave::block_id(2) ? 1 : 0));
    check_conservation(pool);
  }
}

}  // namespace pave_tests

#endif  // PAVE_TESTS_CONTRACT_LOCK_CONTRACT_HPP
