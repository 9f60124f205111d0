// SPDX-License-Identifier: Apache-2.0
// Two that held half of the pool each, and waited for ever (vLLM 57104, 40968).
#include "cases/scene.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <cstdint>

namespace {

/// A and B fill the pool, each needs one block more, and both are parked; A is more important. (Of the baseline, A gave
/// up all that it had, and B went on.)
template <class Policies>
struct standoff {
  standoff(std::int64_t a_blocks, std::int64_t b_blocks, std::int64_t each) : s(a_blocks + b_blocks, each) {
    a = s.run(3, a_blocks * each);
    b = s.run(2, b_blocks * each);
    open = s.open();
    CHECK(s.cache.grow_or_reclaim(a, 1, s.cuts).code() == pave::errc::shortage);  // B is more important
    REQUIRE(s.cache.set_rank(b, 4));
    const auto grown = s.cache.grow_or_reclaim(b, 1, s.cuts);  // now A is
    if (pave_tests::scene<Policies>::is_exact) CHECK(grown.code() == pave::errc::shortage);
  }
  pave_tests::scene<Policies> s;
  pave::sequence_id a, b;
  pave::step_id open;
};

}  // namespace

TEST_CASE(
    "case 08: of two parked that hold all, the less important gives one block and the other resumes (vLLM 57104, "
    "40968)",
    "[cases]") {
  const std::int64_t each = GENERATE(1, 16, 64);
  const std::int64_t a_blocks = GENERATE(1, 2, 9, 256);
  const std::int64_t b_blocks = GENERATE(1, 3, 255);
  CAPTURE(each, a_blocks, b_blocks);
  standoff<pave::cache_policies> o(a_blocks, b_blocks, each);
  auto& s = o.s;
  REQUIRE(s.cache.snapshot().parked == 2);
  REQUIRE(s.held(o.a) == a_blocks);
  REQUIRE(s.held(o.b) == b_blocks);

  const auto in = s.cache.next_restore(each, s.cuts);
  REQUIRE(in);
  CHECK(in->sequence == o.a);
  CHECK(in->resumed);
  CHECK(in->tokens == pave::token_range{a_blocks * each, a_blocks * each + 1});
  REQUIRE(s.cuts.used().size() == 1);
  CHECK(s.cuts.used()[0].sequence == o.b);
  CHECK(s.cuts.used()[0].freed.value() == 1);
  CHECK(s.cuts.used()[0].was_parked);
  CHECK(s.held(o.b) == b_blocks - 1);
  CHECK(s.held(o.a) == a_blocks + 1);
  pave_tests::check_conservation(s.cache.pool());
  CHECK(s.cache.next_restore(each, s.cuts).code() == pave::errc::shortage);

  REQUIRE(s.cache.finish(o.a));
  const auto b_in = s.cache.next_restore(each + 1, s.cuts);
  REQUIRE(b_in);
  CHECK(b_in->sequence == o.b);
  CHECK(b_in->tokens == pave::token_range{(b_blocks - 1) * each, b_blocks * each + 1});
}

TEMPLATE_TEST_CASE("case 08: both of two halves come to their ends (vLLM 57104, 40968)",
                   "[cases]",
                   pave::cache_policies,
                   pave_tests::whole_policies) {
  const std::int64_t each = GENERATE(1, 4, 16);
  const std::int64_t half = GENERATE(2, 7);
  CAPTURE(each, half);
  standoff<TestType> o(half + 1, half, each);
  REQUIRE(o.s.cache.complete(o.open));
  pave_tests::small_engine<TestType> engine(o.s);
  engine.add(o.a, (half + 2) * each);
  engine.add(o.b, (half + 2) * each);
  CHECK(engine.run(1000) < 1000);
  CHECK(o.s.available() == 2 * half + 1);
}
