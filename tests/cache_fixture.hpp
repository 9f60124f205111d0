// SPDX-License-Identifier: Apache-2.0
// A small cache to play with, and short words for what its tests do again and again.
#ifndef PAVE_TESTS_CACHE_FIXTURE_HPP
#define PAVE_TESTS_CACHE_FIXTURE_HPP

#include "support/catch.hpp"
#include "support/keeping.hpp"

#include <pave/cache.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace pave_tests {

/// Sixteen blocks of four tokens, eight sequences, two steps in flight.
inline pave::kv_cache_options small() {
  pave::kv_cache_options options;
  options.blocks = 16;
  options.tokens_per_block = 4;
  options.sequences = 8;
  return options;
}
inline pave::kv_cache_options small(std::int64_t blocks) {
  pave::kv_cache_options options = small();
  options.blocks = blocks;
  return options;
}

/// The same, with four steps in flight.
inline pave::kv_cache_options small_with_steps(std::int64_t blocks) {
  pave::kv_cache_options options = small(blocks);
  options.steps_in_flight = 4;
  return options;
}

/// Free blocks keep what is in them, and go out again the later, the later they came free.
struct keep_policies : pave::cache_policies {
  using pool = keeping<>;
};
/// A released block is on its way until the last step that used it is done.
struct fence_policies : pave::cache_policies {
  struct pool : pave::pool_policies {
    using fence = pave::after_step;
  };
};
struct keep_and_fence_policies : pave::cache_policies {
  struct pool : keeping<> {
    using fence = pave::after_step;
  };
};

template <class Policies = pave::cache_policies>
struct cache_fixture {
  explicit cache_fixture(const pave::kv_cache_options& options)
      : cache(pave::kv_cache<Policies>::create(options).value()) {}

  pave::sequence_id admit(std::int64_t rank, std::int64_t tokens) { return cache.admit(rank, tokens).value(); }
  pave::result<pave::growth> grow(pave::sequence_id id, std::int64_t tokens) {
    return cache.grow_or_reclaim(id, tokens, cuts);
  }
  pave::result<pave::restore> restore(std::int64_t budget = 1000) { return cache.next_restore(budget, cuts); }
  /// Begins a step and completes the one before it, as an engine does that waits for each.
  void next_step() {
    if (step.value() != 0) static_cast<void>(cache.complete(step));
    step = cache.begin_step().value();
  }
  /// A sequence that runs, with all of its tokens computed. The open step is a new one.
  pave::sequence_id running(std::int64_t rank, std::int64_t tokens) {
    const pave::sequence_id id = admit(rank, tokens);
    next_step();
    REQUIRE(restore().value().sequence == id);
    next_step();
    REQUIRE(cache.computed(id).value() == tokens);
    return id;
  }
  /// A sequence that ran, and lost what is beyond its first `kept` blocks.
  pave::sequence_id parked(std::int64_t rank, std::int64_t tokens, std::int64_t kept) {
    const pave::sequence_id id = running(rank, tokens);
    take(id, held(id) - kept);
    return id;
  }
  /// Takes blocks from the end of a sequence.
  void take(pave::sequence_id id, std::int64_t blocks) { take(id, blocks, blocks); }
  /// @param freed how many of them nobody else holds
  void take(pave::sequence_id id, std::int64_t blocks, std::int64_t freed) {
    const bool waits = state(id) != pave::sequence_state::running;
    const std::array<pave::cut, 1> cut{{{id, {held(id) - blocks, held(id)}, freed, waits}}};
    // For one that matters more than all others, and goes again.
    const pave::sequence_id requester = cache.admit((std::numeric_limits<std::int64_t>::min)(), 1).value();
    REQUIRE(cache.commit(requester, cut).value() == freed);
    REQUIRE(cache.finish(requester).has_value());
  }
  /// What is in the first blocks of a sequence, as an engine's prefix cache notes it.
  [[nodiscard]] std::vector<pave::kept_block> content(pave::sequence_id id, std::size_t blocks) const {
    std::vector<pave::kept_block> noted;
    for (std::size_t i = 0; i < blocks; ++i) noted.push_back(cache.pool().content_of(table(id)[i]).value());
    return noted;
  }
  /// Somebody outside holds blocks of a sequence, too.
  std::vector<pave::block_id> share(pave::sequence_id id, const std::vector<std::size_t>& logical) {
    std::vector<pave::block_id> shared;
    for (const std::size_t at : logical) shared.push_back(table(id)[at]);
    REQUIRE(cache.pool().share(shared).has_value());
    return shared;
  }
  /// Somebody outside takes fresh blocks.
  std::vector<pave::block_id> take_outside(std::size_t blocks) {
    std::vector<pave::block_id> taken(blocks);
    REQUIRE(cache.pool().allocate(taken).has_value());
    return taken;
  }

  [[nodiscard]] std::int64_t held(pave::sequence_id id) const {
    return static_cast<std::int64_t>(cache.block_table(id).value().size());
  }
  [[nodiscard]] std::vector<pave::block_id> table(pave::sequence_id id) const {
    const pave::span<const pave::block_id> blocks = cache.block_table(id).value();
    return {blocks.begin(), blocks.end()};
  }
  [[nodiscard]] pave::sequence_state state(pave::sequence_id id) const { return cache.progress(id).value().state; }
  [[nodiscard]] std::int64_t available() const { return cache.pool().available().value(); }

  pave::kv_cache<Policies> cache;
  std::array<pave::cut, 8> room{};
  pave::cut_list cuts{room};
  pave::step_id step;
};

}  // namespace pave_tests

#endif
