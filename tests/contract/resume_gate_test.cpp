// SPDX-License-Identifier: Apache-2.0
// The stock resume gates, and one of a user's in between, keep the contract.
#include "contract/resume_gate_contract.hpp"
#include "support/catch.hpp"

#include <pave/policy/resume_gate.hpp>

#include <array>
#include <cstdint>
#include <limits>

namespace {

/// A user's: half of what remains must fit, and only the chunk is taken.
struct half_gap {
  static constexpr pave::token_count must_fit(pave::token_count remaining, pave::token_count chunk) {
    const pave::token_count half = remaining.value() / 2;
    return half < chunk ? chunk : half;
  }
  static constexpr pave::token_count allocates(pave::token_count /*remaining*/, pave::token_count chunk) {
    return chunk;
  }
};

/// Gates of users who did not read the contract: they want more than a sequence can have, or less than a chunk.
template <std::int64_t MustFit, std::int64_t Allocates>
struct unreasonable {
  static constexpr pave::token_count must_fit(pave::token_count, pave::token_count) { return MustFit; }
  static constexpr pave::token_count allocates(pave::token_count, pave::token_count) { return Allocates; }
};
constexpr std::int64_t far = (std::numeric_limits<std::int64_t>::max)();

static_assert(!pave::is_resume_gate_v<int>);

}  // namespace

TEMPLATE_TEST_CASE("contract: a resume gate lets a sequence in, and it comes to its end",
                   "[contract][tracker]",
                   pave::whole_gap,
                   pave::first_chunk,
                   half_gap) {
  pave_tests::check_resume_gate<TestType>();
}

TEMPLATE_TEST_CASE("resume_gate: whatever a gate says, no row overflows, and all come in and to their end",
                   "[contract][tracker]",
                   (unreasonable<80, 80>),
                   (unreasonable<80, 0>),
                   (unreasonable<far, far>),
                   (unreasonable<far, -1>),
                   (unreasonable<-1, far>),
                   (unreasonable<-far, -far>)) {
  using cache_type = pave::kv_cache<pave_tests::cache_with_gate<TestType>>;
  pave::kv_cache_options options;
  options.blocks = 9;
  options.sequences = 2;
  options.blocks_per_sequence = 4;
  auto made = cache_type::create(options);
  REQUIRE(made);
  cache_type cache = std::move(*made);
  std::array<pave::cut, 2> room;
  pave::cut_list cuts(room);
  std::array<pave::sequence_id, 2> ids{*cache.admit(1, 64), *cache.admit(2, 64)};
  for (int steps = 0; steps < 200 && cache.snapshot().running + cache.snapshot().waiting > 0; ++steps) {
    const pave::step_id step = *cache.begin_step();
    for (const pave::sequence_id id : ids) {
      if (!cache.computed(id)) continue;
      if (cache.computed(id)->value() == 64) {
        REQUIRE(cache.finish(id));
      } else if (cache.progress(id)->state == pave::sequence_state::running) {
        REQUIRE(cache.grow_or_reclaim(id, 1, cuts));
      }
    }
    while (cache.next_restore(10, cuts)) {
    }
    for (const pave::sequence_id id : ids) {
      if (const auto table = cache.block_table(id); table) CHECK(table->size() <= 4);
    }
    pave_tests::check_conservation(cache.pool());
    REQUIRE(cache.complete(step));
  }
  CHECK(cache.snapshot().available == 9);
}
