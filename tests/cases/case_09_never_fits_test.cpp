// SPDX-License-Identifier: Apache-2.0
// A request that could never fit, and was retried for ever (vLLM 52520, 56028, SGLang 19881).
#include "cases/scene.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <cstdint>
#include <limits>
#include <vector>

namespace {

using pave::errc;

}  // namespace

TEMPLATE_TEST_CASE(
    "case 09: what is larger than the pool is refused once, with the blocks beyond it (vLLM 52520, SGLang 19881)",
    "[cases]",
    pave::cache_policies,
    pave_tests::whole_policies) {
  const std::int64_t each = GENERATE(1, 16, 64);
  const std::int64_t pool = GENERATE(1, 8, 20);
  const bool is_busy = GENERATE(false, true);
  CAPTURE(each, pool, is_busy);
  pave_tests::scene<TestType> s(pool, each);
  if (is_busy) s.run(1, pool * each);
  for (std::int64_t beyond = 1; beyond <= 3; ++beyond) {
    const auto refused = s.cache.admit(5, (pool + beyond - 1) * each + 1);
    CHECK(refused.code() == errc::never_fits);
    CHECK(refused.error().missing.value() == beyond);
    const auto refused_later = s.cache.admit(5, 1, (pool + beyond - 1) * each + 1);
    CHECK(refused_later.code() == errc::never_fits);
    CHECK(refused_later.error().missing.value() == beyond);
  }
  CHECK(s.cache.admit(5, (std::numeric_limits<std::int64_t>::max)()).code() == errc::never_fits);
  CHECK(s.cache.snapshot().waiting == 0);
  s.open();
  CHECK(s.cache.next_restore(100, s.cuts).code() == errc::nothing_waits);
  // Capacity counts, not what is available today.
  CHECK(s.cache.admit(5, pool * each));
}

TEMPLATE_TEST_CASE("case 09: one that grows beyond the pool is told so, and nobody is cut for it (vLLM 56028)",
                   "[cases]",
                   pave::cache_policies,
                   pave_tests::whole_policies) {
  const std::int64_t each = GENERATE(1, 16);
  pave_tests::scene<TestType> s(8, each);
  const auto victim = s.run(2, 2 * each);
  const auto id = s.run(1, 5 * each);
  s.open();
  const auto before = pave_tests::look(s.cache, {id, victim});
  const auto refused = s.cache.grow_or_reclaim(id, 3 * each + 1, s.cuts);
  CHECK(refused.code() == errc::never_fits);
  CHECK(refused.error().missing.value() == 1);
  CHECK(s.cache.grow_or_reclaim(id, (std::numeric_limits<std::int64_t>::max)(), s.cuts).code() == errc::never_fits);
  CHECK(s.cuts.used().empty());
  CHECK(pave_tests::look(s.cache, {id, victim}) == before);
  CHECK(s.state(id) == pave::sequence_state::running);
  CHECK(s.cache.grow_or_reclaim(id, 3 * each, s.cuts));
}

TEST_CASE("case 09: a pin of today does not make a sequence one that never fits (vLLM 52520)", "[cases]") {
  pave_tests::scene<> s(8, 16);
  std::vector<pave::block_id> pinned(3);
  REQUIRE(s.cache.pool().allocate(pinned));
  const auto id = s.admit(1, 8 * 16);
  s.open();
  CHECK(s.cache.next_restore(16, s.cuts).code() == errc::shortage);
  CHECK(s.cache.next_restore(16, s.cuts).error().missing.value() == 3);
  REQUIRE(s.cache.pool().release(pinned));
  CHECK(s.cache.next_restore(16, s.cuts)->sequence == id);
}
