// SPDX-License-Identifier: Apache-2.0
// Shared blocks that were counted as gained (OpenVINO GenAI), where the sibling is a fork.
#include "cases/fence_scene.hpp"
#include "cases/scene.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <cstdint>

namespace {

/// A requester of one block, a victim whose blocks are all shared with a sibling that matters more than the requester.
template <class Policies>
struct forked_tail : pave_tests::scene<Policies> {
  forked_tail(std::int64_t shared, std::int64_t spare) : pave_tests::scene<Policies>(1 + shared + spare, 16) {
    requester = this->run(1, 16);
    sibling = this->run(0, shared * 16);
    const auto forked = this->cache.fork(sibling, 2);
    REQUIRE(forked);
    victim = *forked;
    this->open();
  }
  pave::sequence_id requester, sibling, victim;
};

}  // namespace

TEMPLATE_TEST_CASE("case 12: a victim whose tail is shared with a fork gives nothing, and keeps it (OpenVINO GenAI)",
                   "[cases]",
                   pave::cache_policies,
                   pave_tests::whole_policies,
                   pave_tests::after_step_policies) {
  const std::int64_t shared = GENERATE(1, 8, 13);
  forked_tail<TestType> s(shared, 0);
  CHECK(s.available() == 0);
  const auto before = pave_tests::look(s.cache, {s.requester, s.sibling, s.victim});
  const auto planned = s.cache.plan_cuts(s.requester, shared, s.cuts);
  CHECK(planned.code() == pave::errc::shortage);
  CHECK(planned.error().missing.value() == shared);
  CHECK(pave_tests::look(s.cache, {s.requester, s.sibling, s.victim}) == before);
  CHECK(s.cache.grow_or_reclaim(s.requester, 1, s.cuts).error().missing.value() == 1);
  CHECK(s.held(s.victim) == shared);
  CHECK(s.state(s.victim) == pave::sequence_state::running);
  pave_tests::check_conservation(s.cache.pool());
}

TEST_CASE(
    "case 12: with a tail of 8 shared with a fork, a shortage of 8 is met by the victim's own blocks, or another's",
    "[cases]") {
  const std::int64_t own = GENERATE(0, 3, 8, 10);
  forked_tail<pave::cache_policies> s(8, 8 + own);
  REQUIRE(s.cache.grow_or_reclaim(s.victim, own * 16, s.cuts));
  const auto other = s.admit(1, 8 * 16);
  REQUIRE(s.cache.next_restore(8 * 16, s.cuts)->sequence == other);
  REQUIRE(s.available() == 0);
  REQUIRE(s.cache.grow_or_reclaim(s.requester, 8 * 16, s.cuts));
  pave_tests::check_conservation(s.cache.pool());
  CHECK(s.available() == 0);
  CHECK(s.held(s.victim) == 8 + own - (own < 8 ? own : 8));
  CHECK(s.held(other) == (own < 8 ? own : 8));
  CHECK(s.held(s.sibling) == 8);
  for (const pave::cut& c : s.cuts.used()) CHECK(c.freed == c.blocks.size());
}

TEST_CASE("case 12: blocks shared with a fork that may be cut, too, are gained once, by cutting both (OpenVINO GenAI)",
          "[cases]") {
  const std::int64_t shortage = GENERATE(1, 5, 8);
  forked_tail<pave::cache_policies> s(8, 0);
  REQUIRE(s.cache.set_rank(s.sibling, 3));
  const auto planned = s.cache.plan_cuts(s.requester, shortage, s.cuts);
  REQUIRE(planned);
  CHECK(planned->freed.value() == shortage);
  CHECK(planned->given_up.value() == shortage);
  CHECK(s.cache.commit(s.requester, s.cuts.used())->value() == shortage);
  CHECK(s.available() == shortage);
  CHECK(s.held(s.victim) == 8 - shortage);
  CHECK(s.table(s.victim) == s.table(s.sibling));
}

TEST_CASE("case 12: with a fence, blocks of two forks come free with the later of their steps (OpenVINO GenAI)",
          "[cases]") {
  pave_tests::fence_scene s(1 + 4, 16);
  const auto requester = s.run(0, 16);
  const auto parent = s.run(1, 4 * 16 - 2);
  const auto child = s.cache.fork(parent, 2);
  REQUIRE(child);
  REQUIRE(s.cache.truncate(*child, 3 * 16));
  REQUIRE(s.cache.truncate(parent, 3 * 16));
  const pave::step_id first = s.begin();
  REQUIRE(s.grow(parent, 1));
  const pave::step_id second = s.begin();
  s.begin();
  const auto refused = s.grow(requester, 2 * 16);
  CHECK(refused.error().missing.value() == 2);
  CHECK(refused.error().by == first);
  CHECK(s.fenced() == 2);
  s.complete(second);
  CHECK(s.fenced() == 2);
  s.complete(first);
  CHECK(s.restore()->sequence == requester);
  CHECK(s.available() == 0);
}
