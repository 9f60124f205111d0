// SPDX-License-Identifier: Apache-2.0
// Needs counted in the wrong unit (SGLang 4602, 4913, 6671), or over-counted at a partly filled last block
// (inference-sim 492).
#include "cases/scene.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>
#include <pave/layout.hpp>

#include <cstdint>

namespace {

template <class Policies>
std::int64_t new_blocks(std::int64_t each, std::int64_t have, std::int64_t more) {
  pave_tests::scene<Policies> s(8, each);
  const auto id = s.run(1, have);
  s.open();
  const std::int64_t before = s.held(id);
  const auto grown = s.cache.grow_or_reclaim(id, more, s.cuts);
  REQUIRE(grown);
  CHECK(grown->tokens == pave::token_range{have, have + more});
  CHECK(grown->blocks.first.value() == before);
  CHECK(s.held(id) == grown->blocks.last.value());
  pave_tests::check_conservation(s.cache.pool());
  return grown->blocks.size().value();
}

}  // namespace

TEMPLATE_TEST_CASE("case 06: the next token needs a block only where the last one is full (SGLang 4602, 4913, 6671)",
                   "[cases]",
                   pave::cache_policies,
                   pave_tests::whole_policies) {
  CHECK(new_blocks<TestType>(64, 63, 1) == 0);
  CHECK(new_blocks<TestType>(64, 64, 1) == 1);
  CHECK(new_blocks<TestType>(64, 128, 1) == 1);
  const std::int64_t each = GENERATE(1, 2, 3, 16, 64);
  CAPTURE(each);
  for (std::int64_t have = 1; have <= 3 * each; ++have) {
    CHECK(new_blocks<TestType>(each, have, 1) == (have % each == 0 ? 1 : 0));
  }
}

TEMPLATE_TEST_CASE("case 15: room in the last block is used first (inference-sim 492)",
                   "[cases]",
                   pave::cache_policies,
                   pave_tests::whole_policies) {
  CHECK(new_blocks<TestType>(16, 20, 10) == 0);
  CHECK(new_blocks<TestType>(16, 20, 12) == 0);
  CHECK(new_blocks<TestType>(16, 20, 13) == 1);
  const std::int64_t each = GENERATE(1, 2, 7, 16);
  CAPTURE(each);
  for (std::int64_t have = 1; have <= 2 * each + 1; ++have) {
    for (std::int64_t more = 0; more <= 2 * each; ++more) {
      const std::int64_t expected = (have + more + each - 1) / each - (have + each - 1) / each;
      if (new_blocks<TestType>(each, have, more) != expected) {
        CAPTURE(have, more);
        CHECK(new_blocks<TestType>(each, have, more) == expected);
      }
    }
  }
}

TEMPLATE_TEST_CASE("case 15: in a full pool, what fits the last block preempts nobody (inference-sim 492)",
                   "[cases]",
                   pave::cache_policies,
                   pave_tests::whole_policies) {
  const std::int64_t each = GENERATE(2, 16, 64);
  pave_tests::scene<TestType> s(5, each);
  const auto other = s.run(2, 3 * each);
  const auto id = s.run(1, each + 1);
  REQUIRE(s.available() == 0);
  s.open();
  for (std::int64_t have = each + 1; have < 2 * each; ++have) {
    REQUIRE(s.cache.grow_or_reclaim(id, 1, s.cuts));
    CHECK(s.cuts.used().empty());
  }
  CHECK(s.held(other) == 3);
  CHECK(s.state(other) == pave::sequence_state::running);
  REQUIRE(s.cache.grow_or_reclaim(id, 1, s.cuts));
  CHECK(s.cuts.used().size() == 1);
}
