// SPDX-License-Identifier: Apache-2.0
// pave-bench: prefixes of 4,096 tokens in blocks of 16, found, registered and forgotten in a pool that is full of them,
// beside what engines do.
#include "baselines/prefix_map.hpp"
#include "support/indexed_pool.hpp"
#include "support/random.hpp"

#include <pave/block_hash.hpp>
#include <pave/span.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

constexpr std::size_t blocks_of_a_prefix = 256;
constexpr std::size_t tokens_of_a_block = 16;
using prefix = std::vector<pave::block_hash>;

std::size_t blocks_in(const benchmark::State& state) { return static_cast<std::size_t>(state.range(0)); }

prefix random_prefix(bench::random_source& random) {
  prefix hashes(blocks_of_a_prefix);
  for (pave::block_hash& hash : hashes) {
    hash.low = std::uint64_t{random.word()} << 32U | random.word();
    hash.high = std::uint64_t{random.word()} << 32U | random.word();
  }
  return hashes;
}

/// A pool whose blocks are all free, and each has a content that is known.
template <class Pool>
struct full_pool {
  explicit full_pool(std::size_t blocks) : pool(blocks), held(blocks_of_a_prefix) {
    for (std::size_t i = 0; i < blocks / blocks_of_a_prefix; ++i) {
      known.push_back(random_prefix(random));
      static_cast<void>(pool.allocate(known.back(), held));
      pool.release(held);
    }
  }

  bench::random_source random{7};
  std::vector<prefix> known;
  Pool pool;
  std::vector<typename Pool::handle> held;
};

/// A request begins as an earlier one did, and ends.
template <class Pool>
void find(benchmark::State& state) {
  full_pool<Pool> full(blocks_in(state));
  for (auto _ : state) {
    const prefix& wanted = full.known[bench::index_below(full.known.size(), full.random.word())];
    const std::size_t found = full.pool.acquire(wanted, full.held);
    if (found != blocks_of_a_prefix) return state.SkipWithError("a prefix is not found");
    full.pool.release(full.held);
  }
}

/// A request begins as no other one did: it takes blocks whose content is forgotten, and they are known by its own.
template <class Pool>
void replace(benchmark::State& state) {
  full_pool<Pool> full(blocks_in(state));
  std::vector<prefix> fresh;
  for (std::size_t i = 0; i < 2 * full.known.size(); ++i) fresh.push_back(random_prefix(full.random));
  std::size_t next = 0;
  for (auto _ : state) {
    if (!full.pool.allocate(fresh[next], full.held)) return state.SkipWithError("no room");
    full.pool.release(full.held);
    next = next + 1 == fresh.size() ? 0 : next + 1;
  }
}

void hash(benchmark::State& state) {
  std::vector<std::int32_t> prompt(blocks_of_a_prefix * tokens_of_a_block);
  bench::random_source random(3);
  for (std::int32_t& token : prompt) token = static_cast<std::int32_t>(random.word() % 128000);
  prefix hashes(blocks_of_a_prefix);
  for (auto _ : state) {
    benchmark::DoNotOptimize(pave::block_hasher().hash_blocks({}, prompt, tokens_of_a_block, hashes));
    benchmark::ClobberMemory();
  }
}

}  // namespace

BENCHMARK_TEMPLATE(find, bench::indexed_pool)->Name("BM_prefix_find/prefix_index")->ArgName("blocks")->Arg(1 << 16);
BENCHMARK_TEMPLATE(find, bench::prefix_map)->Name("BM_prefix_find/unordered_map")->ArgName("blocks")->Arg(1 << 16);
BENCHMARK_TEMPLATE(replace, bench::indexed_pool)
    ->Name("BM_prefix_replace/prefix_index")
    ->ArgName("blocks")
    ->Arg(1 << 16);
BENCHMARK_TEMPLATE(replace, bench::prefix_map)
    ->Name("BM_prefix_replace/unordered_map")
    ->ArgName("blocks")
    ->Arg(1 << 16);
BENCHMARK(hash)->Name("BM_prefix_hash/tokens:4096");
