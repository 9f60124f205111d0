// SPDX-License-Identifier: Apache-2.0
// The whole need evicted instead of the shortage (SGLang 32016), and victims dropped whole (OpenVINO GenAI).
#include "cases/scene.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <cstdint>

namespace {

/// A requester that needs `needs` blocks where `available` are, beside a victim that holds `victim` blocks.
template <class Policies>
struct shortfall {
  shortfall(std::int64_t needs, std::int64_t available, std::int64_t victim_blocks, std::int64_t each)
      : s(needs + 1 + available + victim_blocks, each), missing(needs - available), tokens(needs * each) {
    s.run(0, needs * each);  // more important than both, and never asked
    victim = s.run(2, victim_blocks * each);
    requester = s.run(1, each);
    REQUIRE(s.available() == available);
    s.open();
  }
  pave_tests::scene<Policies> s;
  std::int64_t missing;
  std::int64_t tokens;
  pave::sequence_id victim, requester;
};

void check_exact(std::int64_t needs, std::int64_t available, std::int64_t victim_blocks, std::int64_t each) {
  CAPTURE(needs, available, victim_blocks, each);
  shortfall<pave::cache_policies> f(needs, available, victim_blocks, each);
  const auto grown = f.s.cache.grow_or_reclaim(f.requester, f.tokens, f.s.cuts);
  pave_tests::check_conservation(f.s.cache.pool());
  if (f.missing > victim_blocks) {
    CHECK(grown.code() == pave::errc::shortage);
    CHECK(grown.error().missing.value() == f.missing - victim_blocks);
    CHECK(f.s.held(f.victim) == victim_blocks);
    return;
  }
  REQUIRE(grown);
  CHECK(grown->blocks.size().value() == needs);
  CHECK(f.s.held(f.victim) == victim_blocks - f.missing);
  CHECK(f.s.available() == 0);
  REQUIRE(f.s.cuts.used().size() == 1);
  CHECK(f.s.cuts.used()[0].freed.value() == f.missing);
  CHECK(f.s.cuts.used()[0].blocks == pave::block_range{victim_blocks - f.missing, victim_blocks});
  CHECK(f.s.cache.gap(f.victim)->size().value() == f.missing * each);
}

}  // namespace

TEST_CASE("case 10: needs 32, has 30: exactly 2 blocks are cut (SGLang 32016, OpenVINO GenAI)", "[cases]") {
  const std::int64_t each = GENERATE(1, 16, 32);
  check_exact(32, 30, 40, each);
  check_exact(32, 30, 32, each);
  check_exact(32, 30, 2, each);
  check_exact(32, 30, 1, each);
}

TEST_CASE("case 10: any need, with any available: exactly the difference is cut (SGLang 32016)", "[cases]") {
  for (std::int64_t needs = 1; needs <= 9; ++needs) {
    for (std::int64_t available = 0; available < needs; ++available) {
      for (const std::int64_t victim : {1, 2, 5, 9, 12}) check_exact(needs, available, victim, 4);
    }
  }
}

TEST_CASE("case 11: a victim that holds 30, a shortage of 2 out of 62: exactly 2 are cut (OpenVINO GenAI)", "[cases]") {
  const std::int64_t each = GENERATE(1, 16);
  check_exact(62, 60, 30, each);
  check_exact(62, 60, 62, each);  // held equals required
  check_exact(62, 60, 2, each);   // held equals the shortage
}

TEST_CASE("case 11: several small victims, and the last of them only in part (OpenVINO GenAI)", "[cases]") {
  const std::int64_t shortage = GENERATE(1, 2, 3, 4, 5, 6, 7);
  pave_tests::scene<> s(8, 16);
  const auto requester = s.run(1, 16);
  const auto second = s.run(2, 3 * 16);
  const auto third = s.run(3, 2 * 16);
  const auto fourth = s.run(4, 2 * 16);
  REQUIRE(s.available() == 0);
  const auto planned = s.cache.plan_cuts(requester, shortage, s.cuts);
  REQUIRE(planned);
  CHECK(planned->freed.value() == shortage);
  CHECK(planned->over_evicted().value() == 0);
  const auto freed = s.cache.commit(requester, s.cuts.used());
  REQUIRE(freed);
  CHECK(freed->value() == shortage);
  CHECK(s.available() == shortage);
  CHECK(s.held(fourth) == (shortage >= 2 ? 0 : 1));
  CHECK(s.held(third) == (shortage >= 4 ? 0 : shortage >= 2 ? 4 - shortage : 2));
  CHECK(s.held(second) == (shortage >= 4 ? 7 - shortage : 3));
  CHECK(s.state(second) == (shortage > 4 ? pave::sequence_state::parked : pave::sequence_state::running));
}

TEST_CASE("case 10, 11: the baseline drops victims whole, and says how much was too much (SGLang 32016)", "[cases]") {
  shortfall<pave_tests::whole_policies> f(32, 30, 40, 16);
  const auto planned = f.s.cache.plan_cuts(f.requester, 2, f.s.cuts);
  REQUIRE(planned);
  CHECK(planned->freed.value() == 40);
  CHECK(planned->over_evicted().value() == 38);
  REQUIRE(f.s.cache.grow_or_reclaim(f.requester, f.tokens, f.s.cuts));
  CHECK(f.s.cuts.used()[0].freed.value() == 40);
  CHECK(f.s.held(f.victim) == 0);
  CHECK(f.s.available() == 38);
}
