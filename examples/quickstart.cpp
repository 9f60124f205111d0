// SPDX-License-Identifier: Apache-2.0
// Two sequences in a pool that is too small for both: one loses just what is missing, and gets just that back.
#include <pave/pave.hpp>

#include <cstdio>

namespace {

void print(const char* what, pave::sequence_id sequence, pave::token_range tokens) {
  std::printf("sequence %u: %s [%d, %d)\n", static_cast<unsigned>(sequence.slot), what,
              static_cast<int>(tokens.first.value()), static_cast<int>(tokens.last.value()));
}

/// Stands for an engine: it prints what it is told to do.
struct toy_engine {
  static void decode(pave::sequence_id sequence, pave::token_range tokens) { print("decode", sequence, tokens); }
  static void prefill(pave::sequence_id sequence, pave::token_range tokens) { print("prefill", sequence, tokens); }
  static void stop(const pave::cut& cut) {
    std::printf("sequence %u: stop, %d block(s) went to a more important one\n",
                static_cast<unsigned>(cut.sequence.slot), static_cast<int>(cut.freed.value()));
  }
};

}  // namespace

int main() {
  toy_engine engine;
  // [quickstart]
  pave::kv_cache_options options;
  options.blocks = 8;  // of 16 tokens: room for the two prompts, but not for all that follows
  auto cache = pave::kv_cache<>::create(options).value();  // the only call that allocates
  pave::cut room[2];
  pave::cut_list cuts(room);  // filled with whom to stop, and what they lost
  const pave::sequence_id ids[] = {*cache.admit(/*rank*/ 1, /*prompt*/ 60), *cache.admit(2, 60)};
  for (int i = 0; i < 40; ++i) {
    const pave::step_id step = *cache.begin_step();
    for (const pave::sequence_id id : ids) {  // by rank; one that waits is told so
      if (auto grown = cache.grow_or_reclaim(id, 1, cuts)) engine.decode(id, grown->tokens);
      for (const pave::cut& cut : cuts.used()) engine.stop(cut);
    }
    while (auto next = cache.next_restore(2048, cuts)) engine.prefill(next->sequence, next->tokens);  // new, or back
    cache.complete(step).value();  // the engine has run it
  }
  // [quickstart end]
  cache.finish(ids[0]).value();
  const pave::step_id step = *cache.begin_step();
  while (auto next = cache.next_restore(2048, cuts)) engine.prefill(next->sequence, next->tokens);
  cache.complete(step).value();
  const pave::cache_snapshot now = cache.snapshot();
  std::printf("%d tokens lost, %d computed again\n", static_cast<int>(now.tokens_lost.value()),
              static_cast<int>(now.tokens_restored.value()));
  return now.tokens_lost == now.tokens_restored ? 0 : 1;
}
