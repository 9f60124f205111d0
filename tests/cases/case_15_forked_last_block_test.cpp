// SPDX-License-Identifier: Apache-2.0
// Needs counted wrong at a partly filled last block (SGLang 4602, 4913, 6671; inference-sim 492), where a fork shares
// it.
#include "cases/fence_scene.hpp"
#include "cases/scene.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <cstdint>

namespace {

struct need {
  std::int64_t blocks = 0;  // new entries of the table
  bool copies = false;
  std::int64_t taken = 0;  // from the pool
};

/// What one of two forks needs for its next tokens.
template <class Policies>
need need_of(std::int64_t each, std::int64_t have, std::int64_t more, bool parent_grows) {
  pave_tests::scene<Policies> s(12, each);
  const auto parent = s.run(1, have);
  const auto child = s.cache.fork(parent, 2);
  REQUIRE(child);
  s.open();
  const std::int64_t before = s.available();
  const auto grown = s.cache.grow_or_reclaim(parent_grows ? parent : *child, more, s.cuts);
  REQUIRE(grown);
  CHECK(s.cuts.used().empty());
  if (grown->copy) CHECK(grown->copy->tokens.value() == have % each);
  pave_tests::check_conservation(s.cache.pool());
  return {grown->blocks.size().value(), grown->copy.has_value(), before - s.available()};
}

}  // namespace

TEMPLATE_TEST_CASE("case 06: the next token of a fork needs a block or a copy, never both, and never neither",
                   "[cases]",
                   pave::cache_policies,
                   pave_tests::whole_policies,
                   pave_tests::after_step_policies) {
  const std::int64_t each = GENERATE(1, 2, 3, 16, 64);
  const bool parent_grows = GENERATE(false, true);
  CAPTURE(each, parent_grows);
  for (std::int64_t have = 1; have <= 3 * each; ++have) {
    const need next = need_of<TestType>(each, have, 1, parent_grows);
    CHECK(next.taken == 1);
    CHECK(next.blocks == (have % each == 0 ? 1 : 0));
    CHECK(next.copies == (have % each != 0));
  }
}

TEST_CASE("case 15: a copy is one block on top of what lies beyond the last one (inference-sim 492)", "[cases]") {
  const std::int64_t each = GENERATE(1, 2, 7, 16);
  for (std::int64_t have = 1; have <= 2 * each + 1; ++have) {
    for (std::int64_t more = 0; more <= 2 * each; ++more) {
      CAPTURE(each, have, more);
      const need next = need_of<pave::cache_policies>(each, have, more, false);
      const std::int64_t blocks = (have + more + each - 1) / each - (have + each - 1) / each;
      const bool copies = more > 0 && have % each != 0;
      CHECK(next.blocks == blocks);
      CHECK(next.copies == copies);
      CHECK(next.taken == blocks + (copies ? 1 : 0));
    }
  }
}

TEST_CASE("case 15: in a full pool a copy preempts one block's worth, and what fits the last block nobody", "[cases]") {
  const std::int64_t each = GENERATE(2, 16, 64);
  pave_tests::scene<> s(5, each);
  const auto other = s.run(3, 3 * each);
  const auto parent = s.run(1, each + 1);
  const auto child = s.cache.fork(parent, 2);
  REQUIRE(child);
  REQUIRE(s.available() == 0);
  s.open();
  const auto grown = s.cache.grow_or_reclaim(*child, 1, s.cuts);
  REQUIRE(grown);
  CHECK(grown->copy);
  REQUIRE(s.cuts.used().size() == 1);
  CHECK(s.cuts.used()[0].freed.value() == 1);
  CHECK(s.held(other) == 2);
  CHECK(s.available() == 0);
  for (std::int64_t have = each + 2; have < 2 * each; ++have) {
    for (const pave::sequence_id id : {parent, *child}) {
      REQUIRE(s.cache.grow_or_reclaim(id, 1, s.cuts));
      CHECK(s.cuts.used().empty());
    }
  }
  CHECK(s.held(other) == 2);
}

TEST_CASE("case 15: alone with its fork in a full pool, the more important one writes into what the other lets go",
          "[cases]") {
  const std::int64_t each = GENERATE(2, 16, 64);
  pave_tests::scene<> s(2, each);
  const auto parent = s.run(1, each + 1);
  const auto child = s.cache.fork(parent, 2);
  REQUIRE(child);
  s.open();
  const auto grown = s.cache.grow_or_reclaim(parent, 1, s.cuts);
  REQUIRE(grown);
  CHECK_FALSE(grown->copy);
  CHECK(s.available() == 0);
  CHECK(s.held(*child) == 1);
  CHECK(s.held(parent) == (each == 1 ? 3 : 2));
}
