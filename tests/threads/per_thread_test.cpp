// SPDX-License-Identifier: Apache-2.0
// A per_thread pool and its handles, called by one thread: the answers are those of every other pool.
#include "model/random.hpp"
#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/pool.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using pave::block_id;
using pave::errc;
using pave_tests::all_holders;
using pave_tests::check_conservation;
using pave_tests::take;

struct per_thread_policies : pave::pool_policies {
  using lock = pave::per_thread;
};
using pool_type = pave::block_pool<per_thread_policies>;
using handle_type = pool_type::local_handle;

pool_type pool_of(std::size_t blocks, std::size_t threads = 4) {
  return pool_type::create({blocks, 0, 0, threads}).value();
}

std::vector<std::int32_t> sorted(std::vector<std::int32_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

void check_empty(pool_type& pool) {
  CHECK(pool.capacity() == 0);
  CHECK(pool.available() == 0);
  CHECK(pool.held() == 0);
  CHECK(pool.fenced() == 0);
  CHECK(pool.holders(0) == 0);
  CHECK(pool.local().code() == errc::table_full);
  std::vector<block_id> one{block_id(77)};
  CHECK(pool.allocate(one).code() == errc::never_fits);
  CHECK(pool.allocate(one).error().missing == 1);
  CHECK(one[0].value() == 77);
  CHECK(pool.share(one).code() == errc::not_held);
  CHECK(pool.release(one).code() == errc::not_held);
  CHECK(pool.allocate({}));
  CHECK(pool.share({}));
  CHECK(pool.release({}));
}

/// Calls the pool for 0, and one of its handles for another number.
class callers {
 public:
  explicit callers(pool_type& pool, std::size_t handles) : pool_(pool) {
    while (handles_.size() < handles) handles_.push_back(pool.local().value());
  }
  template <class Call>
  auto call(std::size_t caller, Call made) {
    return caller == 0 ? made(pool_) : made(handles_[caller - 1]);
  }

 private:
  pool_type& pool_;
  std::vector<handle_type> handles_;
};

}  // namespace

TEST_CASE("per_thread: create refuses sizes and numbers of threads that are out of range", "[pool][threads]") {
  const std::int64_t blocks =
      GENERATE(std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 31, (std::numeric_limits<std::int64_t>::max)());
  CHECK(pool_type::create({blocks}).code() == errc::invalid_argument);
  CHECK(pool_type::create({8, 0, 0, 0}).code() == errc::invalid_argument);
  CHECK(pool_type::create({8, 0, 0, 65}).code() == errc::invalid_argument);
  CHECK(pool_type::create({8, 0, 0, 64}));
  CHECK(pool_type::create({1, 0, 0, 1}));
}

TEST_CASE("per_thread: a new pool has every block available, and gives each once", "[pool][threads]") {
  const std::size_t size = GENERATE(1U, 2U, 7U, 64U, 1000U), threads = GENERATE(1U, 3U, 64U);
  pool_type pool = pool_of(size, threads);
  CHECK(pool.capacity() == size);
  CHECK(pool.available() == size);
  CHECK(pool.held() == 0);
  CHECK(pool.fenced() == 0);
  check_conservation(pool);
  handle_type handle = pool.local().value();
  CHECK(sorted(pave_tests::values(take(handle, size))) == pave_tests::counting(0, size));
  CHECK(pool.available() == 0);
  check_conservation(pool);
}

TEST_CASE("per_thread: a default pool has no capacity, nor has one that is moved from", "[pool][threads]") {
  pool_type none;
  check_empty(none);
  pool_type pool = pool_of(5);
  const auto held = take(pool, 2);
  REQUIRE(pool.share({held.data(), 1}));
  pool_type moved = std::move(pool);
  check_empty(pool);  // NOLINT(bugprone-use-after-move)
  CHECK(moved.available() == 3);
  CHECK(moved.holders(held[0]) == 2);
  pool = std::move(moved);
  check_empty(moved);  // NOLINT(bugprone-use-after-move)
  REQUIRE(pool.local().value().release(held));
  CHECK(pool.available() == 4);
  check_conservation(pool);
  static_assert(!std::is_copy_constructible_v<pool_type> && std::is_nothrow_move_assignable_v<pool_type>);
  static_assert(!std::is_copy_constructible_v<handle_type> && std::is_nothrow_move_assignable_v<handle_type>);
}

TEST_CASE("per_thread: as many handles are open as there may be threads, and each ends with its life",
          "[pool][threads]") {
  const std::size_t threads = GENERATE(1U, 3U, 63U, 64U);
  pool_type pool = pool_of(4, threads);
  std::vector<handle_type> handles;
  while (handles.size() < threads) handles.push_back(pool.local().value());
  CHECK(pool.local().code() == errc::table_full);
  handles.pop_back();
  {
    std::optional<handle_type> last(pool.local().value());
    CHECK(pool.local().code() == errc::table_full);
    handle_type moved(std::move(*last));
    last.reset();
    CHECK(pool.local().code() == errc::table_full);
    handles.erase(handles.begin(), handles.end() - static_cast<std::ptrdiff_t>(handles.empty() ? 0 : 1));
    if (!handles.empty()) handles.back() = std::move(moved);
  }
  handles.clear();
  while (handles.size() < threads) handles.push_back(pool.local().value());
}

TEST_CASE("per_thread: allocate gives all that was asked, wherever the blocks are, or none", "[pool][threads]") {
  const std::size_t idle = GENERATE(0U, 1U, 3U, 5U), taken = GENERATE(0U, 2U, 5U), caller = GENERATE(0U, 1U, 2U);
  for (std::size_t wanted = 0; wanted <= 8; ++wanted) {
    pool_type pool = pool_of(5);
    callers all(pool, 3);
    // What the third handle gave back lies in its account and on its stack.
    all.call(3, [&](auto& handle) { return handle.release(take(handle, idle)); }).value();
    all.call(2, [&](auto& handle) { return take(handle, taken); });
    std::vector<block_id> out(wanted, block_id(1234));
    const auto before = all_holders(pool);
    const auto given = all.call(caller, [&](auto& handle) { return handle.allocate(out); });
    check_conservation(pool);
    if (wanted <= 5 - taken) {
      REQUIRE(given);
      CHECK(pool.available() == 5 - taken - wanted);
      for (const block_id block : out) CHECK(pool.holders(block) == 1);
      continue;
    }
    const bool never = wanted > 5;
    CHECK(given.code() == (never ? errc::never_fits : errc::shortage));
    CHECK(given.error().missing == (never ? wanted - 5 : wanted - (5 - taken)));
    CHECK(all_holders(pool) == before);
    CHECK(std::all_of(out.begin(), out.end(), [](block_id block) { return block.value() == 1234; }));
  }
}

TEST_CASE("per_thread: a block comes back to the handle that took its neighbours, whoever releases it",
          "[pool][threads]") {
  pool_type pool = pool_of(1000);
  handle_type a = pool.local().value(), b = pool.local().value();
  const auto first = take(a, 10), second = take(b, 10);
  REQUIRE(b.release(first));
  REQUIRE(pool.release(second));
  CHECK(sorted(pave_tests::values(take(a, 10))) == sorted(pave_tests::values(first)));
  CHECK(sorted(pave_tests::values(take(b, 10))) == sorted(pave_tests::values(second)));
}

TEST_CASE("per_thread: blocks that are mixed over two handles come together again as they are released",
          "[pool][threads]") {
  // Nine tenths are held. One handle has had all of them, in any order; or they are new, and two have some of the same.
  const bool is_new = GENERATE(true, false);
  constexpr std::size_t size = 4096, of_each = size * 9 / 20, in_a_line = 16;
  pave_tests::random_source random(1);
  const auto shuffle = [&](std::vector<block_id>& blocks) {
    for (std::size_t i = blocks.size(); i > 1; --i) std::swap(blocks[i - 1], blocks[random.index(i)]);
  };
  pool_type pool = pool_of(size, 16);
  std::vector<handle_type> handles;
  while (handles.size() < 2) handles.push_back(pool.local().value());
  if (!is_new) {
    auto all = take(handles[0], size);
    shuffle(all);
    REQUIRE(handles[0].release(all));
  }
  std::vector<std::vector<block_id>> held(2, std::vector<block_id>(of_each));
  for (std::size_t i = 0; i < of_each; ++i) {
    for (const std::size_t k : {0U, 1U}) REQUIRE(handles[k].allocate({&held[k][i], 1}));
  }
  for (int turns = 0; turns < 20; ++turns) {
    for (auto& blocks : held) shuffle(blocks);
    for (std::size_t i = 0; i < of_each; ++i) {
      for (const std::size_t k : {0U, 1U}) {
        REQUIRE(handles[k].release({&held[k][i], 1}));
        REQUIRE(handles[k].allocate({&held[k][i], 1}));
      }
    }
  }
  std::vector<std::size_t> holder(size / in_a_line, 2);
  std::size_t mixed = 0;
  for (const std::size_t k : {0U, 1U}) {
    for (const block_id block : held[k]) {
      std::size_t& other = holder[block.index() / in_a_line];
      mixed += other == 1 - k ? 1U : 0U;
      other = k;
    }
  }
  CHECK(mixed == 0);
}

TEST_CASE("per_thread: more blocks than an account holds come back whole", "[pool][threads]") {
  constexpr std::size_t size = 3000;
  pool_type pool = pool_of(size);
  handle_type a = pool.local().value(), b = pool.local().value();
  for (const std::size_t part : {1U, 200U, 255U, 256U, 257U, 2000U}) {
    REQUIRE(a.release(take(a, part)));
    REQUIRE(a.release(take(a, part)));
    CHECK(pool.available() == size);
    REQUIRE(b.release(take(b, size)));
    CHECK(pool.available() == size);
    check_conservation(pool);
  }
}

TEST_CASE("per_thread: a refused share or release changes nothing", "[pool][threads]") {
  pool_type pool = pool_of(4);
  handle_type handle = pool.local().value();
  const auto blocks = take(handle, 2);
  REQUIRE(handle.share({blocks.data(), 1}));
  const auto free = take(handle, 1);
  REQUIRE(handle.release(free));
  const block_id bad = GENERATE_COPY(block_id(free[0]), block_id(4), block_id(), block_id(-1),
                                     block_id((std::numeric_limits<int>::max)()));
  for (std::size_t at = 0; at < 4; ++at) {
    std::vector<block_id> named{blocks[0], blocks[1], blocks[0]};
    named.insert(named.begin() + static_cast<std::ptrdiff_t>(at), bad);
    const auto before = all_holders(pool);
    CHECK(handle.share(named).code() == errc::not_held);
    CHECK(handle.release(named).code() == errc::not_held);
    CHECK(pool.share(named).code() == errc::not_held);
    CHECK(pool.release(named).code() == errc::not_held);
    CHECK(all_holders(pool) == before);
    CHECK(pool.available() == 2);
    check_conservation(pool);
  }
  CHECK(handle.release({std::vector<block_id>(3, blocks[0]).data(), 3}).code() == errc::not_held);
  CHECK(pool.holders(blocks[0]) == 2);
}

TEST_CASE("per_thread: a block has 65,535 holders at most, and a share of more is undone", "[pool][threads]") {
  pool_type pool = pool_of(2);
  handle_type handle = pool.local().value();
  const auto blocks = take(handle, 2);
  REQUIRE(handle.share(std::vector<block_id>(65'533, blocks[0])));
  CHECK(handle.share(std::vector<block_id>{blocks[1], blocks[0], blocks[0]}).code() == errc::table_full);
  CHECK(pool.holders(blocks[0]) == 65'534);
  CHECK(pool.holders(blocks[1]) == 1);
  REQUIRE(handle.share({blocks.data(), 1}));
  CHECK(handle.share({blocks.data(), 1}).code() == errc::table_full);
  REQUIRE(handle.release(std::vector<block_id>(65'535, blocks[0])));
  CHECK(pool.available() == 1);
  check_conservation(pool);
}

TEST_CASE("per_thread: any stream of calls of the pool and its handles does what a plain count says",
          "[pool][threads][model]") {
  pave_tests::for_each_seed(100, [](std::uint64_t seed) {
    pave_tests::random_source random(seed);
    const std::size_t size = 1 + random.index(40);
    pool_type pool = pool_of(size, 3);
    callers all(pool, 3);
    std::vector<std::uint32_t> holders(size, 0);
    for (int i = 0; i < 400; ++i) {
      const std::size_t caller = random.index(4);
      std::vector<block_id> blocks(random.index(7));
      const auto free = static_cast<std::size_t>(std::count(holders.begin(), holders.end(), 0U));
      if (random.one_in(2)) {
        const auto given = all.call(caller, [&](auto& handle) { return handle.allocate(blocks); });
        REQUIRE(given.has_value() == (blocks.size() <= free));
        if (!given) REQUIRE(given.error().missing == blocks.size() - (blocks.size() > size ? size : free));
        for (const block_id block : blocks) {
          if (given) REQUIRE(holders[block.index()]++ == 0);
        }
      } else {
        for (block_id& block : blocks) block = random.index(random.one_in(20) ? size + 1 : size);
        const bool shares = random.one_in(3);
        auto expected = holders;
        bool good = true;
        for (const block_id block : blocks) {
          good = good && block.index() < size && expected[block.index()] > 0;
          if (good) expected[block.index()] += shares ? 1U : ~0U;
        }
        const auto done = all.call(caller, [&](auto& handle) {
          return shares ? handle.share(blocks) : handle.release(blocks, i, pave::content::worthless);
        });
        REQUIRE(done.code() == (good ? errc::ok : errc::not_held));
        if (good) holders = expected;
      }
      REQUIRE(all_holders(pool) == holders);
      REQUIRE(pool.available() == std::count(holders.begin(), holders.end(), 0U));
      REQUIRE(pool.held() + pool.available() == size);
    }
  });
}
