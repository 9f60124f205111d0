// SPDX-License-Identifier: Apache-2.0
// Admission that looked at the first chunk only (vLLM 25538, 21809): thrash.
#include "cases/scene.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <algorithm>
#include <cstdint>

namespace {

using pave::errc;
using pave_tests::look;
using pave_tests::scene;

struct eager_tracker : pave::tracker_policies {
  using resume_gate = pave::first_chunk;
};
struct eager_policies : pave::cache_policies {
  using tracker = eager_tracker;
};

}  // namespace

TEST_CASE("case 01: a parked sequence comes in only when its whole gap fits, not its first chunk (vLLM 25538, 21809)",
          "[cases]") {
  const std::int64_t each = GENERATE(2, 16, 64);
  const std::int64_t pool = GENERATE(3, 10, 17);
  CAPTURE(each, pool);
  for (std::int64_t whole = 1; whole <= pool; ++whole) {
    for (std::int64_t kept = 0; kept < whole; ++kept) {
      for (std::int64_t held = 1; held <= pool - kept; ++held) {
        scene<> s(pool, each);
        const auto b = s.run(2, whole * each - 1);
        const auto a = s.admit(1, held * each);
        REQUIRE(s.cache.plan_cuts(a, whole - kept, s.cuts));
        REQUIRE(s.cache.commit(a, s.cuts.used()));
        const auto step = s.open();
        REQUIRE(s.cache.next_restore(held * each, s.cuts)->sequence == a);
        REQUIRE(s.cache.complete(step));
        REQUIRE(s.held(a) == held);
        REQUIRE(s.held(b) == kept);

        s.open();
        const auto before = look(s.cache, {a, b});
        const std::int64_t missing = (whole - kept) - (pool - held - kept);
        const auto in = s.cache.next_restore(1, s.cuts);
        pave_tests::check_conservation(s.cache.pool());
        if (missing > 0) {
          CHECK(in.code() == errc::shortage);
          CHECK(in.error().missing.value() == missing);
          CHECK(s.cuts.used().empty());
          CHECK(look(s.cache, {a, b}) == before);
        } else {
          REQUIRE(in);
          CHECK(in->sequence == b);
          CHECK(in->blocks == pave::block_range{kept, whole});
          CHECK(s.held(b) == whole);
          CHECK(s.held(a) == held);
        }
      }
    }
  }
}

TEST_CASE("case 01: pool 10, A holds 6, parked B needs 8: refused, nothing moves (vLLM 25538)", "[cases]") {
  scene<> s(10, 16);
  const auto b = s.run(2, 8 * 16 - 1);
  const auto a = s.admit(1, 6 * 16);
  REQUIRE(s.cache.plan_cuts(a, 8, s.cuts));
  REQUIRE(s.cache.commit(a, s.cuts.used()));
  const auto step = s.open();
  REQUIRE(s.cache.next_restore(1000, s.cuts));
  REQUIRE(s.cache.complete(step));
  s.open();
  const auto before = look(s.cache, {a, b});
  for (int again = 0; again < 3; ++again) {
    const auto in = s.cache.next_restore(16, s.cuts);
    CHECK(in.code() == errc::shortage);
    CHECK(in.error().missing.value() == 4);
    CHECK(look(s.cache, {a, b}) == before);
  }
}

TEST_CASE("case 01: a new sequence waits for its whole prompt, too, and nobody behind it comes in first (vLLM 21809)",
          "[cases]") {
  const std::int64_t each = GENERATE(2, 16);
  scene<> s(10, each);
  const auto a = s.run(1, 6 * each);
  const auto b = s.admit(2, 8 * each);
  const auto c = s.admit(3, each);
  s.open();
  const auto before = look(s.cache, {a, b, c});
  CHECK(s.cache.next_restore(each, s.cuts).error().missing.value() == 4);
  CHECK(look(s.cache, {a, b, c}) == before);
  REQUIRE(s.cache.finish(a));
  CHECK(s.cache.next_restore(each, s.cuts)->sequence == b);
  CHECK(s.cache.next_restore(each, s.cuts)->sequence == c);
}

TEST_CASE("case 01: with the gate first_chunk it comes in early, which is what the default avoids (vLLM 25538)",
          "[cases]") {
  scene<eager_policies> s(10, 16);
  const auto a = s.run(1, 6 * 16);
  const auto b = s.admit(2, 8 * 16);
  s.open();
  const auto in = s.cache.next_restore(16, s.cuts);
  REQUIRE(in);
  CHECK(in->sequence == b);
  CHECK(s.held(b) == 1);
  CHECK(s.held(a) == 6);
}

TEST_CASE("case 01: a resumed sequence leaves the reserve, a new one need not, and alone none does (vLLM 25538)",
          "[cases]") {
  const std::int64_t reserve = GENERATE(0, 1, 2, 3);
  CAPTURE(reserve);
  scene<> s(10, 16, reserve);
  const auto b = s.run(2, 4 * 16 - 1);
  const auto a = s.admit(1, 4 * 16);
  REQUIRE(s.cache.plan_cuts(a, 4, s.cuts));
  REQUIRE(s.cache.commit(a, s.cuts.used()));
  const auto step = s.open();
  REQUIRE(s.cache.next_restore(1000, s.cuts)->sequence == a);
  REQUIRE(s.cache.complete(step));
  s.open();
  // 6 are available, 4 are needed.
  const auto in = s.cache.next_restore(1000, s.cuts);
  if (reserve <= 2) {
    REQUIRE(in);
    CHECK(in->sequence == b);
  } else {
    CHECK(in.code() == errc::shortage);
    CHECK(in.error().missing.value() == 1);
    REQUIRE(s.cache.finish(a));
    CHECK(s.cache.next_restore(1000, s.cuts)->sequence == b);
  }
  // A new one takes what is left.
  const auto c = s.admit(9, s.available() * 16);
  CHECK(s.cache.next_restore(1000, s.cuts)->sequence == c);
}
