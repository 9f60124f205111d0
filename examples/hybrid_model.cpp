// SPDX-License-Identifier: Apache-2.0
// A toy engine for a model whose layers keep different things: some all tokens, some a window, some a recurrent state.
#include <pave/group_cache.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr pave::kv_group full{/*tokens a block*/ 4};
constexpr pave::kv_group window{4, /*positions*/ 16};
constexpr pave::kv_group state{4, 0, /*one each*/ 16};

/// What a model would do with a step: here it says where each group's blocks are.
void run(const pave::group_cache<>& cache, pave::sequence_id id, pave::token_range tokens) {
  std::printf("  computes [%lld, %lld) of sequence %u;", static_cast<long long>(tokens.first.value()),
              static_cast<long long>(tokens.last.value()), id.slot);
  for (std::size_t group = 0; group < cache.groups(); ++group) {
    std::printf(group == 0 ? " blocks" : " |");
    for (const pave::block_id block : cache.block_table(id, group).value()) {
      block == pave::block_id{} ? std::printf(" -") : std::printf(" %d", block.value());
    }
  }
  std::printf("\n");
}

}  // namespace

int main() {
  const std::vector<pave::group_pool_options> groups{{full, /*blocks*/ 20}, {window, 16}, {state, 8}};
  auto created = pave::group_cache<>::create({/*longest sequence*/ 80}, groups);
  if (!created) {
    std::fprintf(stderr, "no cache: %s\n", pave::to_string(created.code()));
    return EXIT_FAILURE;
  }
  pave::group_cache<>& cache = *created;

  std::vector<pave::sequence_id> all;
  for (const std::int64_t rank : {0, 1}) all.push_back(cache.admit(rank, /*prompt*/ 30).value());
  std::int64_t left[] = {40, 12};  // tokens that each of them is to have

  for (int number = 1; left[0] > 0 || left[1] > 0; ++number) {
    std::printf("step %d\n", number);
    const pave::step_id step = cache.begin_step().value();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (left[i] == 0 || cache.progress(all[i])->state != pave::sequence_state::running) continue;
      const auto grown = cache.grow_or_reclaim(all[i], cache.remaining(all[i]).value());
      if (!grown) {
        std::printf("  sequence %u waits: %s\n", all[i].slot, pave::to_string(grown.code()));
        continue;
      }
      for (const pave::group_cut& cut : grown->cuts) {
        std::printf("  sequence %u stops, and keeps [0, %lld)\n", cut.sequence.slot,
                    static_cast<long long>(cut.kept.value()));
      }
      run(cache, all[i], grown->tokens);
      if (grown->yields) left[i] -= 1;
    }
    for (auto in = cache.next_restore(/*token budget*/ 64); in; in = cache.next_restore(64)) {
      run(cache, in->sequence, in->tokens);
      if (in->yields) left[in->sequence.slot] -= 1;
    }
    cache.complete(step).value();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (left[i] == 0 && cache.finish(all[i])) std::printf("  sequence %u is done\n", all[i].slot);
    }
  }
  const pave::group_cache_snapshot end = cache.snapshot();
  std::printf("tokens lost %lld, computed again %lld\n", static_cast<long long>(end.tokens_lost.value()),
              static_cast<long long>(end.tokens_restored.value()));
  return EXIT_SUCCESS;
}
