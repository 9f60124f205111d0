// SPDX-License-Identifier: Apache-2.0
// Several threads over one block_pool: per_thread, with a handle each, beside a mutex around the pool.
#include "support/random.hpp"
#include "support/thread_benchmarks.hpp"

#include <pave/pool.hpp>
#include <pave/span.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

struct mutex_policies : pave::pool_policies {
  using lock = pave::mutex;
};
struct per_thread_policies : pave::pool_policies {
  using lock = pave::per_thread;
};
template <class Policies>
using pool_of = pave::block_pool<Policies>;

/// A thread's way into a pool: the pool itself, or its handle.
pool_of<mutex_policies>& way_into(pool_of<mutex_policies>& pool) noexcept { return pool; }
pool_of<per_thread_policies>::local_handle way_into(pool_of<per_thread_policies>& pool) noexcept {
  return pool.local().value();
}

/// As the pattern "churn" of one thread, each on the rows that it allocated itself: all threads together hold nine
/// tenths of the pool.
template <class Policies>
void churn(benchmark::State& state, pool_of<Policies>& pool) {
  const auto batch = static_cast<std::size_t>(state.range(1));
  const auto threads = static_cast<std::size_t>(state.threads());
  const std::size_t rows = static_cast<std::size_t>(state.range(0)) * 9 / 10 / threads / batch;
  auto&& way = way_into(pool);
  std::vector<pave::block_id> blocks(rows * batch);
  bool done = true;
  for (std::size_t row = 0; row < rows; ++row) {
    done = way.allocate({blocks.data() + row * batch, batch}).has_value() && done;
  }
  bench::random_source random(static_cast<std::uint64_t>(state.thread_index()) + 1);
  for (std::size_t i = blocks.size(); i > 1; --i) {
    std::swap(blocks[i - 1], blocks[bench::index_below(i, random.word())]);
  }
  for (auto _ : state) {
    const pave::span<pave::block_id> row{blocks.data() + bench::index_below(rows, random.word()) * batch, batch};
    done = way.release(row) && way.allocate(row) && done;
    benchmark::ClobberMemory();
  }
  done = way.release(blocks) && done;
  if (!done) state.SkipWithError("a call was refused");
  state.SetItemsProcessed(state.iterations());
}

template <class Policies>
void add(const std::string& name, std::int64_t blocks) {
  const auto pool = std::make_shared<pool_of<Policies>>(pool_of<Policies>::create({blocks}).value());
  for (const std::int64_t batch : {1, 64}) {
    benchmark::RegisterBenchmark(("BM_pool_churn_threads/" + name).c_str(),
                                 [pool](benchmark::State& state) { churn<Policies>(state, *pool); })
        ->ArgNames({"blocks", "batch"})
        ->Args({blocks, batch})
        ->UseRealTime()
        ->Threads(1)
        ->Threads(2);
  }
}

}  // namespace

void bench::add_thread_benchmarks() {
  constexpr std::int64_t blocks = std::int64_t{1} << 16U;
  add<per_thread_policies>("per_thread", blocks);
  add<mutex_policies>("mutex", blocks);
}
