// SPDX-License-Identifier: Apache-2.0
// pave-instructions: makes one hot call of block_pool many times, for instructions.py to count under valgrind.
#include "support/pave_pool.hpp"
#include "support/random.hpp"
#include "support/scrambled_pool.hpp"

#include <pave/pool.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#if defined(__GNUC__)
#define PAVE_BENCH_COUNTED extern "C" __attribute__((noinline))
#else
#define PAVE_BENCH_COUNTED extern "C"
#endif

namespace {

struct queue_policies : pave::pool_policies {
  using free_list = pave::least_recently_released;
};
struct keep_policies : queue_policies {
  using retention = pave::keep;
};

using stack_pool = pave::block_pool<pave::pool_policies>;
using queue_pool = pave::block_pool<queue_policies>;
using keep_pool = pave::block_pool<keep_policies>;
using row = pave::span<pave::block_id>;

constexpr std::size_t row_size = bench::scrambled_pool<bench::pave_pool<pave::pool_policies>>::most_in_a_row;

/// A reference that an engine's prefix cache has: what `content_of` said before the row was released.
std::array<pave::kept_block, row_size> kept_row(const keep_pool& pool, row blocks) {
  std::array<pave::kept_block, row_size> kept{};
  for (std::size_t i = 0; i < blocks.size(); ++i) kept[i] = pool.content_of(blocks[i]).value();
  return kept;
}

}  // namespace

// The counted calls: functions of their own, and of C's plain names, so that valgrind finds them.
PAVE_BENCH_COUNTED bool release_allocate(stack_pool& pool, row blocks) {
  return pool.release(blocks).has_value() && pool.allocate(blocks).has_value();
}
PAVE_BENCH_COUNTED bool share_release(stack_pool& pool, row blocks) {
  return pool.share(blocks).has_value() && pool.release(blocks).has_value();
}
PAVE_BENCH_COUNTED bool refused_allocate(stack_pool& pool, row blocks) {
  return pool.allocate(blocks).code() == pave::errc::shortage;
}
PAVE_BENCH_COUNTED bool refused_release(stack_pool& pool, row blocks) {
  return pool.release(blocks).code() == pave::errc::not_held;
}
PAVE_BENCH_COUNTED bool queue_release_allocate(queue_pool& pool, row blocks) {
  return pool.release(blocks).has_value() && pool.allocate(blocks).has_value();
}
PAVE_BENCH_COUNTED bool keep_release_allocate(keep_pool& pool, row blocks) {
  return pool.release(blocks).has_value() && pool.allocate(blocks).has_value();
}
PAVE_BENCH_COUNTED bool keep_release_revive(keep_pool& pool, row blocks, pave::span<const pave::kept_block> kept) {
  return pool.release(blocks).has_value() && pool.acquire(kept, {}).has_value();
}

namespace {

constexpr int calls = 2000;

/// @param call of (pool, row): a counted function, and what has to go before it
template <class Policies, class Call>
bool repeat(std::size_t batch, Call call) {
  bench::scrambled_pool<bench::pave_pool<Policies>> scrambled(std::size_t{1} << 16U);
  bench::random_source random(3);
  for (int i = 0; i < calls; ++i) {
    const row blocks = scrambled.row(bench::index_below(scrambled.rows(batch), random.word()), batch);
    if (!call(scrambled.pool().pave(), blocks)) return false;
  }
  return true;
}

bool one_is_free(stack_pool& pool, row blocks) {
  // The last of them is free already.
  const row last = blocks.subspan(blocks.size() - 1, 1);
  return pool.release(last).has_value() && refused_release(pool, blocks) && pool.allocate(last).has_value();
}

bool too_many(stack_pool& pool, row /*blocks*/) {
  static std::array<pave::block_id, (std::size_t{1} << 16U)> all;
  return refused_allocate(pool, all);
}

bool revived(keep_pool& pool, row blocks) {
  const auto kept = kept_row(pool, blocks);
  return keep_release_revive(pool, blocks, kept);
}

struct counted_call {
  const char* name;
  const char* function;  ///< whose instructions are counted
  bool (*run)();
};

using default_policies = pave::pool_policies;

constexpr counted_call counted_calls[] = {
    {"release_allocate_1", "release_allocate", [] { return repeat<default_policies>(1, release_allocate); }},
    {"release_allocate_64", "release_allocate", [] { return repeat<default_policies>(64, release_allocate); }},
    {"share_release_64", "share_release", [] { return repeat<default_policies>(64, share_release); }},
    {"refused_allocate", "refused_allocate", [] { return repeat<default_policies>(64, too_many); }},
    {"refused_release_64", "refused_release", [] { return repeat<default_policies>(64, one_is_free); }},
    {"queue_release_allocate_1", "queue_release_allocate",
     [] { return repeat<queue_policies>(1, queue_release_allocate); }},
    {"queue_release_allocate_64", "queue_release_allocate",
     [] { return repeat<queue_policies>(64, queue_release_allocate); }},
    {"keep_release_allocate_64", "keep_release_allocate",
     [] { return repeat<keep_policies>(64, keep_release_allocate); }},
    {"keep_release_revive_64", "keep_release_revive", [] { return repeat<keep_policies>(64, revived); }},
};

/// The compiler and the processor that the figures belong to.
void print_platform() {
#if defined(__x86_64__)
  const char* processor = "x86-64";
#elif defined(__aarch64__)
  const char* processor = "aarch64";
#else
  const char* processor = "other";
#endif
#if defined(__clang__)
  std::printf("clang++ %d.%d %s\n", __clang_major__, __clang_minor__, processor);
#elif defined(__GNUC__)
  std::printf("g++ %d.%d %s\n", __GNUC__, __GNUC_MINOR__, processor);
#else
  std::printf("other 0.0 %s\n", processor);
#endif
}

}  // namespace

/// Without an argument it prints the platform, the number of calls, and the names, each with the function that is to be
/// counted; with a name it makes those calls.
int main(int argc, char** argv) {
  if (argc < 2) {
    print_platform();
    std::printf("%d\n", calls);
    for (const counted_call& call : counted_calls) std::printf("%s %s\n", call.name, call.function);
    return EXIT_SUCCESS;
  }
  for (const counted_call& call : counted_calls) {
    if (std::strcmp(call.name, argv[1]) == 0) return call.run() ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  return EXIT_FAILURE;
}
