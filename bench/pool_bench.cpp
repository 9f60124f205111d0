// SPDX-License-Identifier: Apache-2.0
// pave-bench: block_pool, with each of its policies, beside what engines do.
#include "baselines/linked_queue.hpp"
#include "baselines/list_of_shared_ptr.hpp"
#include "baselines/stack_of_pointers.hpp"
#include "support/pave_pool.hpp"
#include "support/random.hpp"
#include "support/scrambled_pool.hpp"
#include "support/thread_benchmarks.hpp"

#include <pave/policy/from_slabs.hpp>
#include <pave/pool.hpp>
#include <pave/slab_source.hpp>
#include <pave/span.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <typeindex>
#include <typeinfo>
#include <vector>

namespace {

struct queue_policies : pave::pool_policies {
  using free_list = pave::least_recently_released;
};
struct keep_policies : queue_policies {
  using retention = pave::keep;
};
struct lowest_policies : pave::pool_policies {
  using free_list = pave::lowest_first;
};
struct exclusive_policies : pave::pool_policies {
  using sharing = pave::exclusive;
};
struct after_step_policies : pave::pool_policies {
  using fence = pave::after_step;
};
struct mutex_policies : pave::pool_policies {
  using lock = pave::mutex;
};
struct slab_policies : pave::pool_policies {
  using free_list = pave::from_slabs;
};

/// A pool of blocks in slabs of 64, with all of the memory to itself.
class pool_of_slabs {
 public:
  using handle = pave::block_id;

  explicit pool_of_slabs(std::size_t blocks)
      : source_(pave::slab_source::create(blocks / 64, 64).value()),
        pool_(pave::block_pool<slab_policies>::create({}, pave::from_slabs(source_, 1)).value()) {}

  bool allocate(pave::span<handle> out) noexcept { return pool_.allocate(out).has_value(); }
  bool release(pave::span<handle> blocks) noexcept { return pool_.release(blocks).has_value(); }

 private:
  pave::slab_source source_;
  pave::block_pool<slab_policies> pool_;
};

/// The pool that is being measured. Repetitions of one benchmark, and its batches, go on with the same one: at 2^24
/// blocks the set-up takes far longer than what is timed.
class stage {
 public:
  template <class Pool>
  bench::scrambled_pool<Pool>& set(std::size_t blocks) {
    if (type_ != typeid(Pool) || blocks_ != blocks) {
      pool_.reset();
      pool_ = std::make_shared<bench::scrambled_pool<Pool>>(blocks);
      type_ = typeid(Pool);
      blocks_ = blocks;
    }
    return *static_cast<bench::scrambled_pool<Pool>*>(pool_.get());
  }

 private:
  std::shared_ptr<void> pool_;
  std::type_index type_ = typeid(void);
  std::size_t blocks_ = 0;
};

/// Which allocation goes next: so many that not all of them stay in the caches, and read in order, which costs next to
/// nothing.
std::vector<std::uint32_t> random_choices() {
  std::vector<std::uint32_t> choices(std::size_t{1} << 22U);
  bench::random_source random(2);
  for (std::uint32_t& choice : choices) choice = random.word();
  return choices;
}

/// An engine has just read the block table of a request that it ends, so that the row is warm; what the pool has to
/// look up for it is not.
template <class Handle>
void prefetch(pave::span<Handle> row) noexcept {
#if defined(__GNUC__)
  const auto* end = reinterpret_cast<const char*>(row.end());
  for (const auto* at = reinterpret_cast<const char*>(row.begin()); at < end; at += 64) __builtin_prefetch(at, 1);
#else
  static_cast<void>(row);
#endif
}

/// The pattern "churn": of a pool that is nine tenths held, in scrambled allocations of `batch` blocks, one that was
/// made at any time before is released, and another takes its place. The time is that of the pair.
template <class Pool>
void churn(benchmark::State& state, stage& stage, const std::vector<std::uint32_t>& choices) {
  const auto batch = static_cast<std::size_t>(state.range(1));
  bench::scrambled_pool<Pool>& scrambled = stage.set<Pool>(static_cast<std::size_t>(state.range(0)));
  Pool& pool = scrambled.pool();
  const std::size_t rows = scrambled.rows(batch);
  constexpr std::size_t ahead = 8;
  std::size_t at = 0;
  bool done = true;
  for (auto _ : state) {
    const auto row = scrambled.row(bench::index_below(rows, choices[at % choices.size()]), batch);
    prefetch(scrambled.row(bench::index_below(rows, choices[(at + ahead) % choices.size()]), batch));
    ++at;
    done = pool.release(row) && pool.allocate(row) && done;
    benchmark::ClobberMemory();
  }
  if (!done) state.SkipWithError("a call was refused");
}

class table {
 public:
  /// Adds a pool to the comparison, in every size.
  template <class Pool>
  void add(const std::string& name, std::int64_t blocks) {
    for (const std::int64_t batch : {1, 64}) {
      benchmark::RegisterBenchmark(("BM_pool_churn/" + name).c_str(),
                                   [this](benchmark::State& state) { churn<Pool>(state, stage_, choices_); })
          ->ArgNames({"blocks", "batch"})
          ->Args({blocks, batch});
    }
  }

 private:
  stage stage_;
  std::vector<std::uint32_t> choices_ = random_choices();
};

}  // namespace

int main(int argc, char** argv) {
  table table;
  for (const std::int64_t blocks : {std::int64_t{1} << 16, std::int64_t{1} << 20, std::int64_t{1} << 24}) {
    table.add<bench::pave_pool<pave::pool_policies>>("block_pool", blocks);
    table.add<bench::pave_pool<queue_policies>>("block_pool+least_recently_released", blocks);
    table.add<bench::pave_pool<keep_policies>>("block_pool+keep", blocks);
    table.add<bench::pave_pool<lowest_policies>>("block_pool+lowest_first", blocks);
    table.add<pool_of_slabs>("block_pool+from_slabs", blocks);
    table.add<bench::pave_pool<exclusive_policies>>("block_pool+exclusive", blocks);
    table.add<bench::pave_pool<after_step_policies>>("block_pool+after_step", blocks);
    table.add<bench::pave_pool<mutex_policies>>("block_pool+mutex", blocks);
    table.add<bench::list_of_shared_ptr>("list_of_shared_ptr", blocks);
    table.add<bench::stack_of_pointers>("stack_of_pointers", blocks);
    table.add<bench::linked_queue>("linked_queue", blocks);
  }
  bench::add_thread_benchmarks();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
