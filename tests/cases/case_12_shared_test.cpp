// SPDX-License-Identifier: Apache-2.0
// Shared blocks that were counted as gained (OpenVINO GenAI).
#include "cases/scene.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

template <class Scene>
std::vector<pave::block_id> share_tail(Scene& s, pave::sequence_id id, std::int64_t blocks) {
  const auto table = *s.cache.block_table(id);
  const pave::span<const pave::block_id> end =
      table.subspan(table.size() - static_cast<std::size_t>(blocks), static_cast<std::size_t>(blocks));
  REQUIRE(s.cache.pool().share(end));
  return {end.begin(), end.end()};
}

}  // namespace

TEMPLATE_TEST_CASE("case 12: a victim whose blocks are all shared gives nothing, and keeps them (OpenVINO GenAI)",
                   "[cases]",
                   pave::cache_policies,
                   pave_tests::whole_policies) {
  const std::int64_t shared = GENERATE(1, 8, 13);
  const std::int64_t each = GENERATE(1, 16);
  CAPTURE(shared, each);
  pave_tests::scene<TestType> s(shared + 1, each);
  const auto requester = s.run(1, each);
  const auto victim = s.run(2, shared * each);
  share_tail(s, victim, shared);
  const auto before = pave_tests::look(s.cache, {requester, victim});
  const auto planned = s.cache.plan_cuts(requester, shared, s.cuts);
  CHECK(planned.code() == pave::errc::shortage);
  CHECK(planned.error().missing.value() == shared);
  CHECK(s.cuts.used().empty());
  CHECK(pave_tests::look(s.cache, {requester, victim}) == before);
  s.open();
  CHECK(s.cache.grow_or_reclaim(requester, 1, s.cuts).error().missing.value() == 1);
  CHECK(s.held(victim) == shared);
  CHECK(s.state(victim) == pave::sequence_state::running);
}

TEST_CASE("case 12: another victim gives what a shared tail does not (OpenVINO GenAI)", "[cases]") {
  const std::int64_t shortage = GENERATE(1, 5, 8);
  pave_tests::scene<> s(1 + 8 + 10, 16);
  const auto requester = s.run(1, 16);
  const auto other = s.run(2, 10 * 16);
  const auto victim = s.run(3, 8 * 16);
  share_tail(s, victim, 8);
  const auto planned = s.cache.plan_cuts(requester, shortage, s.cuts);
  REQUIRE(planned);
  REQUIRE(s.cuts.used().size() == 1);
  CHECK(s.cuts.used()[0].sequence == other);
  CHECK(planned->given_up.value() == 0);
  CHECK(s.cache.commit(requester, s.cuts.used())->value() == shortage);
  CHECK(s.held(victim) == 8);
  CHECK(s.available() == shortage);
}

TEST_CASE(
    "case 12: blocks before a shared tail are gained, what goes without gain is reported, and the sibling keeps its "
    "own "
    "(OpenVINO GenAI)",
    "[cases]") {
  const std::int64_t shared = GENERATE(0, 1, 8);
  const std::int64_t shortage = GENERATE(1, 3, 8);
  const std::int64_t each = GENERATE(1, 16);
  CAPTURE(shared, shortage, each);
  pave_tests::scene<> s(1 + 8 + shared, each);
  const auto requester = s.run(1, each);
  const auto victim = s.run(2, (8 + shared) * each);
  const auto siblings = share_tail(s, victim, shared);
  const auto planned = s.cache.plan_cuts(requester, shortage, s.cuts);
  REQUIRE(planned);
  CHECK(planned->freed.value() == shortage);
  CHECK(planned->given_up.value() == shared);
  CHECK(s.cache.commit(requester, s.cuts.used())->value() == shortage);
  CHECK(s.available() == shortage);
  CHECK(s.held(victim) == 8 - shortage);
  for (const pave::block_id block : siblings) CHECK(s.cache.pool().holders(block) == 1);
  pave_tests::check_conservation(s.cache.pool());
  REQUIRE(s.cache.pool().release(siblings));
  CHECK(s.available() == shortage + shared);
}

TEST_CASE("case 12: a shared prefix is kept while the private end is enough (OpenVINO GenAI)", "[cases]") {
  pave_tests::scene<> s(9, 16);
  const auto requester = s.run(1, 16);
  const auto victim = s.run(2, 8 * 16);
  const auto table = *s.cache.block_table(victim);
  REQUIRE(s.cache.pool().share(table.first(5)));
  const auto planned = s.cache.plan_cuts(requester, 3, s.cuts);
  REQUIRE(planned);
  CHECK(planned->given_up.value() == 0);
  REQUIRE(s.cache.commit(requester, s.cuts.used()));
  CHECK(s.held(victim) == 5);
  CHECK(s.cache.plan_cuts(requester, 1, s.cuts).error().missing.value() == 1);
}

TEST_CASE("case 12: the baseline does not count shared blocks as gained either (OpenVINO GenAI)", "[cases]") {
  pave_tests::scene<pave_tests::whole_policies> s(1 + 4 + 6, 16);
  const auto requester = s.run(1, 16);
  const auto other = s.run(2, 4 * 16);
  const auto victim = s.run(3, 6 * 16);
  share_tail(s, victim, 4);
  const auto planned = s.cache.plan_cuts(requester, 3, s.cuts);
  REQUIRE(planned);
  CHECK(planned->freed.value() == 2 + 4);
  CHECK(planned->given_up.value() == 4);
  CHECK(planned->over_evicted().value() == 3);
  CHECK(s.cache.commit(requester, s.cuts.used())->value() == 6);
  CHECK(s.available() == 6);
  CHECK(s.held(other) == 0);
  CHECK(s.held(victim) == 0);
}
