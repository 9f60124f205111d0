// SPDX-License-Identifier: Apache-2.0
// Two sequences in a pool that is too small for both: one loses just what is missing, and gets just that back.
#include <pave/pave.hpp>

#include <algorithm>
#include <cstdio>

namespace {

/// Stands for an engine: it prints what it is told to do.
struct toy_engine {
  /// Puts a decode, or a prefill over what is there already, into the step.
  /// @param yields the next token is to be sampled
  static pave::token_count run(pave::sequence_id sequence, pave::token_range tokens, bool yields) {
    std::printf("sequence %u: compute [%d, %d)%s\n", static_cast<unsigned>(sequence.slot),
                static_cast<int>(tokens.first.value()), static_cast<int>(tokens.last.value()),
                yields ? ", and give a token" : "");
    return tokens.size();
  }
  static void stop(const pave::cut& cut) {
    std::printf("sequence %u: stop, %d block(s) go to a more important one\n", static_cast<unsigned>(cut.sequence.slot),
                static_cast<int>(cut.freed.value()));
  }
};

}  // namespace

int main() {
  toy_engine engine;
  // [quickstart]
  auto cache = pave::kv_cache<>::create({/*blocks*/ 8, /*tokens each*/ 16}).value();  // no other call allocates
  pave::cut room[2];
  pave::cut_list cuts(room);  // whom to stop, and what they lost
  const pave::sequence_id ids[] = {*cache.admit(/*rank*/ 1, /*prompt*/ 60), *cache.admit(2, 60)};
  for (int i = 0; i < 40; ++i) {
    const pave::step_id step = *cache.begin_step();
    pave::token_count budget = 2048;
    for (const pave::sequence_id id : ids) {  // by rank; one that waits says so, and is passed over
      auto grown = cache.grow_or_reclaim(id, std::min(*cache.remaining(id), budget), cuts);
      for (const pave::cut& cut : cuts.used()) engine.stop(cut);
      if (grown) budget -= engine.run(id, grown->tokens, grown->yields);  // yields: its next token comes out
    }
    while (auto next = cache.next_restore(budget, cuts)) {
      budget -= engine.run(next->sequence, next->tokens, next->yields);
    }
    cache.complete(step).value();  // the engine has run it
  }
  // [quickstart end]
  cache.finish(ids[0]).value();
  const pave::step_id step = *cache.begin_step();
  while (auto next = cache.next_restore(2048, cuts)) engine.run(next->sequence, next->tokens, next->yields);
  cache.complete(step).value();
  const pave::cache_snapshot now = cache.snapshot();
  std::printf("%d tokens lost, %d computed again\n", static_cast<int>(now.tokens_lost.value()),
              static_cast<int>(now.tokens_restored.value()));
  return now.tokens_lost == now.tokens_restored ? 0 : 1;
}
