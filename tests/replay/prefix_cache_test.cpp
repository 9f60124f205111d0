// SPDX-License-Identifier: Apache-2.0
// The replay's prefix cache: which blocks of whom are the same, whatever the number of tokens in a block.
#include "simulation/prefix_cache.hpp"

#include "support/catch.hpp"
#include "traces/trace.hpp"

#include <pave/pool.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

struct caching_policies : pave::pool_policies {
  using free_list = pave::least_recently_released;
  using retention = pave::keep;
};
using pool_type = pave::block_pool<caching_policies>;

replay::request prompt_of(std::int64_t tokens, std::vector<std::int64_t> hashes) {
  replay::request r;
  r.prompt_tokens = tokens;
  r.output_tokens = 100;
  r.prefix_hashes = std::move(hashes);
  return r;
}

/// Three requests: the first two share 512 tokens, the third one shares nothing.
const std::vector<replay::request>& three_requests() {
  static const std::vector<replay::request> requests{prompt_of(1100, {1, 2, 3}), prompt_of(1100, {1, 4, 5}),
                                                     prompt_of(1100, {6, 7, 8})};
  return requests;
}

/// All full blocks of the prompt of request 0, and one block more, are computed.
struct filled_cache {
  explicit filled_cache(std::int64_t tokens_per_block)
      : blocks(static_cast<std::size_t>(1100 / tokens_per_block) + 1),
        pool(pool_type::create({static_cast<std::int64_t>(blocks.size()) + 1}).value()),
        prefixes(three_requests(), tokens_per_block, static_cast<std::int64_t>(blocks.size()) + 1) {
    pool.allocate(blocks).value();
    for (std::size_t i = 0; i < blocks.size(); ++i) prefixes.add(0, i, pool.content_of(blocks[i]).value());
  }

  std::vector<pave::block_id> blocks;
  pool_type pool;
  replay::prefix_cache prefixes;
};

}  // namespace

TEST_CASE("prefix_cache: a block is shared as far as the hash in which it ends is the same", "[replay]") {
  const auto tokens_per_block = GENERATE(1, 16, 48, 256, 500, 512, 513, 700, 1100);
  CAPTURE(tokens_per_block);
  filled_cache cache(tokens_per_block);
  const auto own = cache.prefixes.find(cache.pool, 0);
  CHECK(own.size() == cache.blocks.size());
  const auto shared = cache.prefixes.find(cache.pool, 1);
  REQUIRE(shared.size() == static_cast<std::size_t>(512 / tokens_per_block));
  for (std::size_t i = 0; i < shared.size(); ++i) CHECK(shared[i].block == cache.blocks[i]);
  CHECK(cache.prefixes.find(cache.pool, 2).empty());
}

TEST_CASE("prefix_cache: what was reused is not found, and ends what is found", "[replay]") {
  filled_cache cache(16);
  REQUIRE(cache.prefixes.find(cache.pool, 1).size() == 32);
  cache.pool.overwrite(cache.blocks[10]).value();
  CHECK(cache.prefixes.find(cache.pool, 1).size() == 10);
  CHECK(cache.prefixes.find(cache.pool, 0).size() == 10);
  cache.prefixes.add(1, 10, cache.pool.content_of(cache.blocks[10]).value());  // another one computes the same anew
  CHECK(cache.prefixes.find(cache.pool, 1).size() == 32);
  CHECK(cache.prefixes.find(cache.pool, 0).size() == cache.blocks.size());
}

TEST_CASE("prefix_cache: of two blocks with the same content the older is found, as long as it is there", "[replay]") {
  filled_cache cache(16);
  pave::block_id other;
  cache.pool.allocate({&other, 1}).value();
  cache.prefixes.add(1, 0, cache.pool.content_of(other).value());
  CHECK(cache.prefixes.find(cache.pool, 1)[0].block == cache.blocks[0]);
  cache.pool.overwrite(cache.blocks[0]).value();
  CHECK(cache.prefixes.find(cache.pool, 1)[0].block == other);
}

TEST_CASE("prefix_cache: a block with output tokens, or of a trace without hashes, is its request's own", "[replay]") {
  const std::vector<replay::request> requests{prompt_of(24, {}), prompt_of(24, {})};
  auto pool = pool_type::create({2}).value();
  replay::prefix_cache prefixes(requests, 16, 2);
  std::vector<pave::block_id> blocks(2);
  pool.allocate(blocks).value();
  for (std::size_t i = 0; i < 2; ++i) prefixes.add(0, i, pool.content_of(blocks[i]).value());
  CHECK(prefixes.find(pool, 0).size() == 2);
  CHECK(prefixes.find(pool, 1).empty());
  prefixes.forget(0);
  CHECK(prefixes.find(pool, 0).empty());
}
