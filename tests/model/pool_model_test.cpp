// SPDX-License-Identifier: Apache-2.0
// Random calls of a pool, good and bad, against a map of holders and a stack of free blocks.
#include "model/random.hpp"
#include "support/catch.hpp"

#include <pave/pool.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace {

using pave_tests::expect;
using pave_tests::random_source;

constexpr std::uint64_t rounds = 150;
constexpr int calls_of_a_round = 400;

/// What a pool is, said as plainly as can be.
struct pool_model {
  explicit pool_model(int blocks) : capacity(blocks) {
    for (int id = blocks; id > 0; --id) free.push_back(id - 1);
  }

  struct answer {
    pave::errc code = pave::errc::ok;
    std::int64_t missing = 0;
  };

  answer allocate(std::size_t count, std::vector<int>& out) {
    const auto wanted = static_cast<std::int64_t>(count);
    if (wanted > capacity) return {pave::errc::never_fits, wanted - capacity};
    if (count > free.size()) return {pave::errc::shortage, wanted - static_cast<std::int64_t>(free.size())};
    for (std::size_t i = 0; i < count; ++i) {
      out.push_back(free.back());
      free.pop_back();
      holders[out.back()] = 1;
    }
    return {};
  }
  answer share(const std::vector<int>& blocks) {
    for (const int block : blocks) {
      if (holders.count(block) == 0) return {pave::errc::not_held};
    }
    for (const int block : blocks) holders[block] += 1;
    return {};
  }
  answer release(const std::vector<int>& blocks) {
    for (const auto& [block, named] : times_named(blocks)) {
      if (holders.count(block) == 0 || holders[block] < named) return {pave::errc::not_held};
    }
    for (const int block : blocks) holders[block] -= 1;
    for (const int block : blocks) {
      if (holders.count(block) != 0 && holders[block] == 0) {
        holders.erase(block);
        free.push_back(block);
      }
    }
    return {};
  }
  static std::map<int, std::uint32_t> times_named(const std::vector<int>& blocks) {
    std::map<int, std::uint32_t> times;
    for (const int block : blocks) times[block] += 1;
    return times;
  }

  std::int64_t capacity;
  std::map<int, std::uint32_t> holders;  // of the blocks that have any
  std::vector<int> free;                 // the next one to go out is the last
};

std::vector<pave::block_id> ids(const std::vector<int>& blocks) { return {blocks.begin(), blocks.end()}; }

void expect_same(const pave::block_pool<>& pool, const pool_model& model) {
  expect(pool.capacity() == model.capacity, "the capacity never changes");
  expect(pool.available() == model.free.size(), "available counts the free blocks");
  expect(pool.held() == model.holders.size(), "held counts distinct blocks");
  expect(pool.fenced() == 0, "at_once fences nothing");
  expect(pool.available() + pool.fenced() + pool.held() == pool.capacity(), "law 1: conservation");
  for (int id = -2; id < model.capacity + 2; ++id) {
    const auto held = model.holders.find(id);
    expect(pool.holders(id) == (held == model.holders.end() ? 0 : held->second), "each block has its holders");
  }
}

/// A list to share or release: held blocks, some of them twice, and now and then one that is free or out of range.
std::vector<int> random_blocks(random_source& random, const pool_model& model) {
  std::vector<int> blocks;
  const std::int64_t size = random.one_in(20) ? 0 : random.between(1, 6);
  while (static_cast<std::int64_t>(blocks.size()) < size) {
    if (random.one_in(25) && !model.free.empty()) {
      blocks.push_back(model.free[random.index(model.free.size())]);
    } else if (random.one_in(50)) {
      blocks.push_back(
          static_cast<int>(random.one_in(2) ? model.capacity + random.between(0, 5) : -random.between(1, 5)));
    } else if (random.one_in(6) && !blocks.empty()) {
      blocks.push_back(blocks[random.index(blocks.size())]);
    } else if (!model.holders.empty()) {
      blocks.push_back(
          std::next(model.holders.begin(), random.between(0, static_cast<std::int64_t>(model.holders.size()) - 1))
              ->first);
    } else {
      break;
    }
  }
  return blocks;
}

/// One random call of `pool`, checked against `model`; and of `twin`, unless it is refused.
void random_call(random_source& random, pave::block_pool<>& pool, pave::block_pool<>& twin, pool_model& model) {
  pool_model::answer expected;
  pave::result<void> got;
  pave::result<void> of_twin;
  const std::int64_t kind = random.between(0, 9);
  if (kind < 4) {
    const auto count = static_cast<std::size_t>(random.between(0, random.one_in(8) ? model.capacity + 2 : 5));
    std::vector<int> expected_ids;
    expected = model.allocate(count, expected_ids);
    std::vector<pave::block_id> out(count);
    got = pool.allocate(out);
    if (expected.code != pave::errc::ok) expected_ids.assign(count, -1);
    expect(out == ids(expected_ids), "allocate gives the blocks that came free last, or leaves `out` as it was");
    std::vector<pave::block_id> twin_out(count);
    if (got) of_twin = twin.allocate(twin_out);
    expect(twin_out == out, "a refused call leaves no trace in the order of the blocks");
  } else {
    const std::vector<int> blocks = random_blocks(random, model);
    const bool shares = kind < 6;
    expected = shares ? model.share(blocks) : model.release(blocks);
    got = shares ? pool.share(ids(blocks)) : pool.release(ids(blocks), random.between(0, 9));
    if (got) of_twin = shares ? twin.share(ids(blocks)) : twin.release(ids(blocks));
  }
  expect(got.code() == expected.code, "the pool and the model give the same answer");
  expect(got.error().missing == expected.missing, "the pool and the model miss the same number of blocks");
  expect(of_twin.has_value(), "the same calls get the same answers");
}

void random_round(std::uint64_t seed) {
  random_source random(seed);
  const auto capacity = static_cast<int>(random.one_in(8) ? 1 : random.between(1, 40));
  pave::block_pool<> pool = pave::block_pool<>::create({capacity}).value();
  pave::block_pool<> twin = pave::block_pool<>::create({capacity}).value();
  pool_model model(capacity);
  expect_same(pool, model);
  for (int call = 0; call < calls_of_a_round; ++call) {
    random_call(random, pool, twin, model);
    expect_same(pool, model);
    expect_same(twin, model);
    if (random.one_in(50)) {
      pave::block_pool<> moved(std::move(pool));
      pool = std::move(moved);
    }
    if (random.one_in(10)) pool.complete(random.between(0, 20));
  }
}

}  // namespace

TEST_CASE("block_pool: any stream of calls, good and bad, does what a plain model does", "[pool][model]") {
  pave_tests::for_each_seed(rounds, random_round);
}
