// SPDX-License-Identifier: Apache-2.0
// Threads that fill, share and release blocks of one pool at random, and look whether anybody else wrote into theirs.
#include "model/random.hpp"
#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/pool.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using pave_tests::random_source;

struct per_thread_policies : pave::pool_policies {
  using lock = pave::per_thread;
};
struct mutex_policies : pave::pool_policies {
  using lock = pave::mutex;
};

constexpr std::size_t threads = 4, handles = 3;
constexpr std::size_t capacity = 96;
constexpr int calls_of_a_thread = 20000;

/// A block, and what its first holder wrote into it.
struct stamped {
  pave::block_id block;
  std::uint64_t stamp = 0;
};

/// Blocks that one thread hands to the next.
class mailbox {
 public:
  void put(const stamped& one) {
    const std::lock_guard<std::mutex> locked(mutex_);
    letters_.push_back(one);
  }
  std::vector<stamped> take_all() {
    const std::lock_guard<std::mutex> locked(mutex_);
    return std::exchange(letters_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<stamped> letters_;
};

/// What the threads share. The device's bytes are no atomics: whoever gets a block that another one still uses races.
template <class Policies>
struct site {
  pave::block_pool<Policies> pool = pave::block_pool<Policies>::create({capacity, 0, 0, handles}).value();
  std::vector<std::uint64_t> device = std::vector<std::uint64_t>(capacity);
  std::vector<mailbox> mail = std::vector<mailbox>(threads);
  std::atomic<int> faults{0};
  std::atomic<int> shortages{0}, refused_handles{0}, handed_over{0};
};

template <class Policies>
class worker {
 public:
  worker(site<Policies>& shared, std::size_t number, std::uint64_t seed)
      : site_(shared), number_(number), random_(seed * threads + number) {}

  void run() {
    for (int i = 0; i < calls_of_a_thread; ++i) {
      if (random_.one_in(50)) change_handle();
      const auto what = random_.between(0, 9);
      if (what < 4) allocate();
      if (what >= 4 && what < 8) release();
      if (what == 8) hand_over();
      if (what == 9) look();
    }
    while (!held_.empty()) release();
  }
  /// After all have run: what was still in the mail.
  void finish() {
    receive();
    while (!held_.empty()) release();
    handle_.reset();
  }

 private:
  using pool_type = pave::block_pool<Policies>;
  template <class Pool, class = void>
  struct handle_of {
    using type = int;
  };
  template <class Pool>
  struct handle_of<Pool, std::void_t<typename Pool::local_handle>> {
    using type = typename Pool::local_handle;
  };
  using handle_type = typename handle_of<pool_type>::type;
  static constexpr bool has_handles = !std::is_same_v<handle_type, int>;

  void expect(bool holds) {
    if (!holds) site_.faults += 1;
  }
  /// Calls the handle if there is one, and else the pool.
  template <class Call>
  auto call(Call made) {
    if constexpr (has_handles) {
      if (handle_) return made(*handle_);
    }
    return made(site_.pool);
  }

  void change_handle() {
    if constexpr (has_handles) {
      handle_.reset();
      if (random_.one_in(3)) return;
      auto opened = site_.pool.local();
      expect(opened.has_value() || opened.code() == pave::errc::table_full);
      if (opened) {
        handle_.emplace(std::move(*opened));
      } else {
        site_.refused_handles += 1;
      }
    }
  }

  void allocate() {
    std::vector<pave::block_id> out(random_.index(random_.one_in(8) ? 40 : 10));
    const auto given = call([&](auto& caller) { return caller.allocate(out); });
    if (!given) {
      expect(given.code() == pave::errc::shortage && given.error().missing > 0 && given.error().missing <= out.size());
      site_.shortages += 1;
      return;
    }
    for (const pave::block_id block : out) {
      const std::uint64_t stamp = (std::uint64_t{number_} << 32U) + ++stamps_;
      site_.device[block.index()] = stamp;
      held_.push_back({block, stamp});
    }
  }
  void release() {
    receive();
    std::vector<pave::block_id> blocks;
    for (std::size_t left = random_.index(12); left > 0 && !held_.empty(); --left) {
      std::swap(held_[random_.index(held_.size())], held_.back());
      expect(site_.device[held_.back().block.index()] == held_.back().stamp);
      blocks.push_back(held_.back().block);
      held_.pop_back();
    }
    expect(call([&](auto& caller) { return caller.release(blocks); }).has_value());
  }
  /// Another thread becomes a holder of one block, and may be its last one.
  void hand_over() {
    if (held_.empty()) return;
    const stamped& one = held_[random_.index(held_.size())];
    expect(call([&](auto& caller) { return caller.share({&one.block, 1}); }).has_value());
    expect(site_.pool.holders(one.block) >= 2);
    site_.mail[(number_ + 1) % threads].put(one);
    site_.handed_over += 1;
  }
  void receive() {
    for (const stamped& one : site_.mail[number_].take_all()) held_.push_back(one);
  }
  void look() {
    expect(site_.pool.available() >= 0 && site_.pool.available() <= capacity);
    expect(site_.pool.held() >= 0);
    if (held_.empty()) return;
    const stamped& one = held_[random_.index(held_.size())];
    expect(site_.pool.holders(one.block) >= 1);
    expect(site_.device[one.block.index()] == one.stamp);
  }

  site<Policies>& site_;
  std::size_t number_;
  random_source random_;
  std::optional<handle_type> handle_;
  std::vector<stamped> held_;
  std::uint64_t stamps_ = 0;
};

}  // namespace

TEMPLATE_TEST_CASE("block_pool: threads that share one never get each other's blocks, and lose none",
                   "[pool][threads]",
                   per_thread_policies,
                   mutex_policies) {
  pave_tests::for_each_seed(4, [](std::uint64_t seed) {
    site<TestType> shared;
    std::vector<worker<TestType>> workers;
    for (std::size_t i = 0; i < threads; ++i) workers.emplace_back(shared, i, seed);
    std::vector<std::thread> running;
    running.reserve(threads);
    for (auto& one : workers) running.emplace_back([&one] { one.run(); });
    for (std::thread& one : running) one.join();
    for (auto& one : workers) one.finish();

    REQUIRE(shared.faults == 0);
    CHECK(shared.shortages > 0);
    CHECK(shared.handed_over > 0);
    pave_tests::check_conservation(shared.pool);
    REQUIRE(shared.pool.available() == capacity);
    auto all = pave_tests::values(pave_tests::take(shared.pool, capacity));
    std::sort(all.begin(), all.end());
    REQUIRE(all == pave_tests::counting(0, capacity));
  });
}

TEST_CASE("block_pool: of two threads that release the same block at once exactly one does", "[pool][threads]") {
  auto pool = pave::block_pool<per_thread_policies>::create({8, 0, 0, 2}).value();
  std::vector<pave::block_id> blocks(8);
  for (int round = 0; round < 500; ++round) {
    pool.allocate(blocks).value();
    std::atomic<int> ready{0}, released{0};
    const auto release_each = [&] {
      auto handle = pool.local().value();
      ready += 1;
      while (ready < 2) std::this_thread::yield();
      for (const pave::block_id block : blocks) released += handle.release({&block, 1}) ? 1 : 0;
    };
    std::thread other(release_each);
    release_each();
    other.join();
    REQUIRE(released == 8);
    REQUIRE(pool.available() == 8);
  }
}

TEST_CASE("block_pool: of two threads that want the last blocks one gets them", "[pool][threads]") {
  auto pool = pave::block_pool<per_thread_policies>::create({6, 0, 0, 3}).value();
  auto idle = pool.local().value();
  std::vector<pave::block_id> blocks(6);
  for (int round = 0; round < 500; ++round) {
    idle.allocate(blocks).value();
    idle.release(blocks).value();  // they lie in the account of a third one
    std::atomic<int> ready{0}, got{0};
    std::vector<pave::block_id> four(4);
    const auto want_four = [&] {
      auto handle = pool.local().value();
      std::vector<pave::block_id> out(4);
      ready += 1;
      while (ready < 2) std::this_thread::yield();
      if (!handle.allocate(out)) return;
      four = out;
      got += 1;
    };
    std::thread other(want_four);
    want_four();
    other.join();
    REQUIRE(got == 1);
    pool.release(four).value();
    REQUIRE(pool.available() == 6);
  }
}
