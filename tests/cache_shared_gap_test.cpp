// SPDX-License-Identifier: Apache-2.0
// A gap that several sequences share comes back once, and is shared again.
#include "cache_fixture.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

using pave::errc;
using pave::token_range;
using pave_tests::cache_fixture;
using pave_tests::small;

struct keep_index_policies : pave_tests::keep_policies {
  using prefix_index = pave::prefix_index;
};

/// Three that begin with the same 16 tokens, ranks 1, 2 and 3, and lost all but the first 4 of them.
template <class Policies>
struct family {
  explicit family(std::int64_t blocks = 16) : f(small(blocks)) {
    of[0] = f.running(1, 18);
    of[1] = f.cache.fork(of[0], 2).value();
    of[2] = f.cache.fork(of[0], 3).value();
    for (const pave::sequence_id id : of) {
      REQUIRE(f.grow(id, 1));
      f.next_step();
    }
    const pave::sequence_id requester = f.cache.admit(0, 4).value();
    const pave::plan planned = f.cache.plan_cuts(requester, 6, f.cuts).value();
    REQUIRE(planned.freed == 6);
    REQUIRE(f.cuts.used().size() == 3);
    REQUIRE(f.cache.commit(requester, f.cuts.used()));
    REQUIRE(f.cache.finish(requester));
    for (const pave::sequence_id id : of) REQUIRE(f.held(id) == 1);
    // Nothing that was lost is there any more.
    const auto outside = f.take_outside(static_cast<std::size_t>(f.available()));
    REQUIRE(f.cache.pool().release(outside));
  }
  [[nodiscard]] std::int64_t lost() const { return f.cache.snapshot().tokens_lost.value(); }

  cache_fixture<Policies> f;
  std::array<pave::sequence_id, 3> of;
};

}  // namespace

TEMPLATE_TEST_CASE("a shared gap: the first that comes in computes it, and the others find it",
                   "[cache][fork]",
                   pave::cache_policies,
                   pave_tests::fence_policies,
                   pave_tests::keep_policies,
                   pave_tests::keep_and_fence_policies,
                   keep_index_policies) {
  family<TestType> t;
  auto& f = t.f;
  REQUIRE(t.lost() == 3 * 15);
  const pave::restore first = f.restore().value();
  REQUIRE(first.sequence == t.of[0]);
  REQUIRE(first.found.empty());
  REQUIRE(first.tokens == token_range{4, 20});
  // The second would find it in the same step, if it were there: it waits, and so do all after it.
  REQUIRE(f.restore().code() == errc::busy);
  REQUIRE(f.state(t.of[1]) == pave::sequence_state::parked);
  f.next_step();
  for (const std::size_t one : {1U, 2U}) {
    const pave::restore in = f.restore().value();
    REQUIRE(in.sequence == t.of[one]);
    REQUIRE(in.found == token_range{4, 16});
    REQUIRE(in.tokens == token_range{16, 20});
    REQUIRE(in.taken == 1);
    for (std::size_t i = 0; i < 4; ++i) REQUIRE(f.table(t.of[one])[i] == f.table(t.of[0])[i]);
  }
  f.next_step();
  const pave::cache_snapshot now = f.cache.snapshot();
  REQUIRE(now.held == 4 + 3);
  REQUIRE(now.tokens_lost == now.tokens_restored + now.tokens_revived);
  REQUIRE(now.tokens_revived == 2 * 12);
  REQUIRE(now.tokens_cached == 0);
}

TEMPLATE_TEST_CASE("a shared gap: it comes back in chunks, and the others wait for its end",
                   "[cache][fork]",
                   pave::cache_policies,
                   keep_index_policies) {
  family<TestType> t;
  auto& f = t.f;
  REQUIRE(f.restore(5)->tokens == token_range{4, 9});
  for (int step = 0; step < 2; ++step) {
    f.next_step();
    REQUIRE(f.restore().code() == errc::busy);
    REQUIRE(f.grow(t.of[0], 5));
  }
  f.next_step();
  REQUIRE(f.restore()->found == token_range{4, 16});
}

TEST_CASE("a shared gap: whoever waits for it computes it itself where the other one is gone", "[cache][fork]") {
  family<pave::cache_policies> t;
  auto& f = t.f;
  REQUIRE(f.restore());
  SECTION("ended") { REQUIRE(f.cache.abort(t.of[0])); }
  SECTION("parked behind it") {
    REQUIRE(f.cache.park(t.of[0]));
    REQUIRE(f.cache.set_rank(t.of[0], 9));
  }
  SECTION("cut") {
    f.take(t.of[0], 4);
    REQUIRE(f.cache.set_rank(t.of[0], 9));
  }
  const pave::restore in = f.restore().value();
  REQUIRE(in.sequence == t.of[1]);
  REQUIRE(in.found.empty());
  REQUIRE(in.tokens == token_range{4, 20});
}

TEST_CASE("a shared gap: what the other one computed of it before it parked is found where content is kept",
          "[cache][fork]") {
  family<pave_tests::keep_policies> t;
  auto& f = t.f;
  REQUIRE(f.restore(8));
  f.next_step();
  REQUIRE(f.cache.park(t.of[0]));
  REQUIRE(f.cache.set_rank(t.of[0], 9));
  const pave::restore in = f.restore().value();
  REQUIRE(in.found == token_range{4, 12});
  REQUIRE(in.tokens == token_range{12, 20});
}

TEST_CASE("a shared gap: what is found is not taken from whoever has it, though it matters less", "[cache][fork]") {
  // Eight blocks: the parked one holds five, three are used outside, and the one that comes in lacks one.
  family<pave_tests::keep_policies> t(8);
  auto& f = t.f;
  REQUIRE(f.cache.finish(t.of[2]));
  REQUIRE(f.restore());
  f.next_step();
  REQUIRE(f.cache.park(t.of[0]));
  REQUIRE(f.cache.set_rank(t.of[0], 9));
  static_cast<void>(f.take_outside(3));
  REQUIRE(f.available() == 0);
  const pave::restore in = f.restore().value();
  REQUIRE(in.sequence == t.of[1]);
  REQUIRE(f.cuts.used().size() == 1);
  REQUIRE(f.cuts.used()[0].sequence == t.of[0]);
  REQUIRE(f.cuts.used()[0].freed == 1);
  REQUIRE(in.found == token_range{4, 16});
  REQUIRE(f.held(t.of[0]) == 4);
  REQUIRE(f.cache.pool().holders(f.table(t.of[1])[3]) == 2);
}

TEST_CASE("a shared gap: tokens that were taken back have no part in it", "[cache][fork]") {
  family<pave::cache_policies> t;
  auto& f = t.f;
  const std::int64_t length = GENERATE(6, 8, 11);
  REQUIRE(f.cache.truncate(t.of[1], length));
  REQUIRE(f.restore());
  f.next_step();
  const pave::result<pave::restore> in = f.restore();
  // Of what stays the full blocks are shared still, but for the last token, which is left to compute.
  REQUIRE(in->found == token_range{4, length == 11 ? 8 : 4});
}

TEST_CASE("a shared gap: of a fork of a fork each shares what it had in common with each", "[cache][fork]") {
  cache_fixture<> f(small(40));
  const pave::sequence_id a = f.running(1, 8);
  const pave::sequence_id b = f.cache.fork(a, 2).value();
  REQUIRE(f.grow(a, 8));
  REQUIRE(f.grow(b, 9));
  f.next_step();
  const pave::sequence_id c = f.cache.fork(b, 3).value();
  REQUIRE(f.grow(b, 3));
  REQUIRE(f.grow(c, 3));
  f.next_step();
  f.cache.reset();
  std::vector<token_range> found;
  for (int i = 0; i < 3; ++i) {
    found.push_back(f.restore()->found);
    f.next_step();
  }
  REQUIRE(found[0] == token_range{0, 0});
  REQUIRE(found[1] == token_range{0, 8});   // of a
  REQUIRE(found[2] == token_range{0, 16});  // of b
  REQUIRE(f.table(c)[3] == f.table(b)[3]);
  REQUIRE(f.table(b)[1] == f.table(a)[1]);
  REQUIRE(f.table(b)[2] != f.table(a)[2]);
}
