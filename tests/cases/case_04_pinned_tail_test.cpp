// SPDX-License-Identifier: Apache-2.0
// An asynchronous store that read a block which had been reused (vLLM 52360, LMCache 4955).
#include "cases/fence_scene.hpp"
#include "cases/scene.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

/// The store begins to read the last blocks of a sequence.
template <class Scene>
pave::pin_token store(Scene& s, pave::sequence_id id, std::int64_t blocks) {
  const auto table = *s.cache.block_table(id);
  const auto size = static_cast<std::size_t>(blocks);
  const auto pin = s.cache.pool().pin(table.subspan(table.size() - size, size));
  REQUIRE(pin);
  pave_tests::check_conservation(s.cache.pool());
  return *pin;
}
/// Whether one of these blocks is in the table of a sequence.
template <class Scene>
bool has_one_of(const Scene& s, pave::sequence_id id, const std::vector<std::int32_t>& blocks) {
  const std::vector<std::int32_t> table = s.table(id);
  return std::find_first_of(table.begin(), table.end(), blocks.begin(), blocks.end()) != table.end();
}

}  // namespace

TEMPLATE_TEST_CASE("case 04: a pinned tail is not given out before the store is done (vLLM 52360, LMCache 4955)",
                   "[cases]",
                   pave::cache_policies,
                   pave_tests::whole_policies,
                   pave_tests::after_step_policies) {
  const std::int64_t pinned = GENERATE(1, 3, 6);
  const std::int64_t shortage = GENERATE(1, 2, 6);
  CAPTURE(pinned, shortage);
  pave_tests::scene<TestType> s(1 + 6, 16);
  const auto requester = s.run(1, 16);
  const auto victim = s.run(2, 6 * 16);
  const std::vector<std::int32_t> before = s.table(victim);
  const std::vector<std::int32_t> stored(before.end() - pinned, before.end());
  const pave::pin_token pin = store(s, victim, pinned);
  s.open();
  const auto grown = s.cache.grow_or_reclaim(requester, shortage * 16, s.cuts);
  pave_tests::check_conservation(s.cache.pool());
  CHECK(grown.has_value() == (pinned + shortage <= 6));
  CHECK_FALSE(has_one_of(s, requester, stored));
  if (grown) {
    CHECK(s.available() == (s.is_exact ? 0 : 6 - pinned - shortage));
    CHECK(s.held(victim) == (s.is_exact ? 6 - pinned - shortage : 0));
  } else if (s.is_exact) {
    CHECK(grown.error().missing.value() == shortage - (6 - pinned));
    CHECK(s.held(victim) == 6);
  }
  for (const std::int32_t block : stored) CHECK(s.cache.pool().holders(block) >= 1);
  const std::int64_t free = s.available();
  const std::int64_t held = s.held(victim);
  REQUIRE(s.cache.pool().unpin(pin));
  pave_tests::check_conservation(s.cache.pool());
  CHECK(s.available() == free + (held == 6 ? 0 : pinned));
}

TEST_CASE("case 04: where another victim has unpinned blocks, the pinned one is left alone (vLLM 52360, LMCache 4955)",
          "[cases]") {
  const std::int64_t shortage = GENERATE(1, 2, 4);
  pave_tests::scene<> s(1 + 4 + 4, 16);
  const auto requester = s.run(1, 16);
  const auto other = s.run(2, 4 * 16);
  const auto victim = s.run(3, 4 * 16);
  store(s, victim, 4);
  s.open();
  REQUIRE(s.cache.grow_or_reclaim(requester, shortage * 16, s.cuts));
  REQUIRE(s.cuts.used().size() == 1);
  CHECK(s.cuts.used()[0].sequence == other);
  CHECK(s.held(other) == 4 - shortage);
  CHECK(s.held(victim) == 4);
  CHECK(s.state(victim) == pave::sequence_state::running);
}

TEST_CASE("case 04: a sequence that ends during the store leaves its blocks to it (vLLM 52360, LMCache 4955)",
          "[cases]") {
  const bool aborts = GENERATE(false, true);
  pave_tests::scene<> s(6, 16);
  const auto id = s.run(1, 6 * 16);
  const pave::pin_token pin = store(s, id, 2);
  REQUIRE((aborts ? s.cache.abort(id) : s.cache.finish(id)));
  CHECK(s.available() == 4);
  const auto next = s.admit(1, 5 * 16);
  s.open();
  CHECK(s.cache.next_restore(100, s.cuts).error().missing.value() == 1);
  REQUIRE(s.cache.pool().unpin(pin));
  CHECK(s.cache.next_restore(100, s.cuts)->sequence == next);
  CHECK(s.cache.pool().unpin(pin).code() == pave::errc::stale);
}

TEST_CASE("case 04: with a fence, the store's own step is waited for, too (vLLM 52360, LMCache 4955)", "[cases]") {
  pave_tests::fence_scene s(3, 16);
  const auto id = s.run(1, 47);
  const pave::step_id written = s.begin();
  REQUIRE(s.grow(id, 1));
  const pave::step_id stored = s.begin();
  const pave::pin_token pin = store(s, id, 3);
  s.finish(id);
  CHECK(s.fenced() == 0);
  const bool pin_ends_first = GENERATE(false, true);
  if (pin_ends_first) REQUIRE(s.cache.pool().unpin(pin, stored));
  s.complete(written);
  CHECK(s.available() == 0);
  s.complete(stored);
  CHECK(s.available() == (pin_ends_first ? 3 : 0));
  if (!pin_ends_first) REQUIRE(s.cache.pool().unpin(pin, stored));
  CHECK(s.available() == 3);
}
