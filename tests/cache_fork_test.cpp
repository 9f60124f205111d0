// SPDX-License-Identifier: Apache-2.0
// A sequence that begins as another one does: what it shares, and who gets a copy when it writes.
#include "cache_fixture.hpp"
#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/cache.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace {

using pave::errc;
using pave::sequence_state;
using pave_tests::small;
using fixture = pave_tests::cache_fixture<>;

pave::step_id begin(fixture& f) { return f.step = f.cache.begin_step().value(); }
pave::sequence_id fork(fixture& f, pave::sequence_id parent, std::int64_t rank = 0) {
  const std::int64_t before = f.available();
  const pave::sequence_id id = f.cache.fork(parent, rank).value();
  REQUIRE(f.available() == before);
  pave_tests::check_conservation(f.cache.pool());
  return id;
}
bool is_copy(const std::optional<pave::block_copy>& copy, pave::block_id from, pave::block_id to, std::int64_t tokens) {
  return copy && copy->from == from && copy->to == to && copy->tokens == tokens;
}
std::vector<std::uint32_t> holders(const fixture& f, const std::vector<pave::block_id>& blocks) {
  std::vector<std::uint32_t> counts;
  for (const pave::block_id block : blocks) counts.push_back(f.cache.pool().holders(block));
  return counts;
}

}  // namespace

TEST_CASE("fork: of a running sequence shares its blocks, and runs on from where that one stands", "[cache][fork]") {
  fixture f(small());
  const pave::sequence_id parent = f.running(0, 10);
  const pave::sequence_id child = fork(f, parent, 3);
  REQUIRE(child != parent);
  REQUIRE(f.table(child) == f.table(parent));
  REQUIRE(holders(f, f.table(child)) == std::vector<std::uint32_t>{2, 2, 2});
  REQUIRE(f.available() == 13);
  REQUIRE(f.state(child) == sequence_state::running);
  REQUIRE(f.cache.computed(child).value() == 10);
  REQUIRE(f.cache.progress(child)->scheduled == 10);
  REQUIRE(f.cache.remaining(child).value() == 1);
  REQUIRE(f.cache.gap(child)->empty());
  REQUIRE(f.cache.snapshot().running == 2);
  REQUIRE(f.grow(child, 1)->tokens == pave::token_range{10, 11});
  REQUIRE(f.grow(parent, 2)->tokens == pave::token_range{10, 12});
  f.next_step();
  REQUIRE(f.cache.computed(child).value() == 11);
  REQUIRE(f.cache.computed(parent).value() == 12);
}

TEST_CASE("fork: of a sequence that waits waits, too, and each comes in with blocks of its own", "[cache][fork]") {
  fixture f(small());
  const pave::sequence_id parent = f.admit(1, 9);
  const pave::sequence_id child = fork(f, parent, 0);
  REQUIRE(f.state(child) == sequence_state::waiting);
  REQUIRE(f.held(child) == 0);
  REQUIRE(f.cache.progress(child)->goal == 9);
  REQUIRE(f.cache.snapshot().waiting == 2);
  f.next_step();
  const pave::restore first = f.restore().value();
  REQUIRE(first.sequence == child);
  REQUIRE(first.tokens == pave::token_range{0, 9});
  REQUIRE_FALSE(first.resumed);
  REQUIRE(f.restore()->sequence == parent);
  REQUIRE(f.available() == 10);
}

TEST_CASE("fork: of a parked sequence has its gap, and each gets it back for itself", "[cache][fork]") {
  fixture f(small());
  const pave::sequence_id parent = f.parked(0, 14, 2);
  REQUIRE(f.cache.snapshot().tokens_lost == 6);
  const pave::sequence_id child = fork(f, parent);
  REQUIRE(f.state(child) == sequence_state::parked);
  REQUIRE(f.table(child) == f.table(parent));
  REQUIRE(f.cache.gap(child).value() == pave::token_range{8, 14});
  REQUIRE(f.cache.computed(child).value() == 8);
  REQUIRE(f.cache.snapshot().tokens_lost == 12);
  for (const pave::sequence_id id : {parent, child}) {
    const pave::restore back = f.restore().value();
    REQUIRE(back.sequence == id);
    REQUIRE(back.resumed);
    REQUIRE(back.tokens == pave::token_range{8, 15});
    REQUIRE(back.blocks == pave::block_range{2, 4});
    REQUIRE_FALSE(back.copy);
  }
  REQUIRE(f.cache.snapshot().tokens_restored == 12);
  REQUIRE(f.available() == 10);
}

TEST_CASE("fork: what steps in flight compute of one counts for both, whichever of them is left", "[cache][fork]") {
  fixture f(small());
  const pave::sequence_id parent = f.running(0, 10);
  REQUIRE(f.grow(parent, 4)->tokens == pave::token_range{10, 14});
  const pave::step_id launched = f.step;
  begin(f);
  const pave::sequence_id child = fork(f, parent);
  REQUIRE(f.table(child) == f.table(parent));
  REQUIRE(f.cache.computed(child).value() == 10);
  REQUIRE(f.cache.progress(child)->scheduled == 14);
  SECTION("both") {
    REQUIRE(f.cache.complete(launched).has_value());
    REQUIRE(f.cache.computed(child).value() == 14);
    REQUIRE(f.cache.computed(parent).value() == 14);
  }
  SECTION("the fork") {
    REQUIRE(f.cache.finish(parent).has_value());
    REQUIRE(f.cache.complete(launched).has_value());
    REQUIRE(f.cache.computed(child).value() == 14);
  }
  SECTION("the other one") {
    REQUIRE(f.cache.finish(child).has_value());
    REQUIRE(f.cache.complete(launched).has_value());
    REQUIRE(f.cache.computed(parent).value() == 14);
  }
  SECTION("as far as it is not taken back") {
    REQUIRE(f.cache.truncate(child, 12).has_value());
    REQUIRE(f.cache.complete(launched).has_value());
    REQUIRE(f.cache.computed(child).value() == 12);
    REQUIRE(f.cache.computed(parent).value() == 14);
  }
  SECTION("as far as they are not cut") {
    const pave::sequence_id requester = f.admit(-1, 1);
    const std::array<pave::cut, 2> cuts{{{parent, {3, 4}, 0, false}, {child, {3, 4}, 1, false}}};
    REQUIRE(f.cache.commit(requester, cuts).value() == 1);
    REQUIRE(f.cache.complete(launched).has_value());
    for (const pave::sequence_id id : {parent, child}) {
      REQUIRE(f.cache.computed(id).value() == 12);
      REQUIRE(f.cache.gap(id).value() == pave::token_range{12, 14});
    }
  }
}

TEST_CASE("fork: two steps in flight, done in any order, count for a fork as for the other one", "[cache][fork]") {
  fixture f(pave_tests::small_with_steps(16));
  const pave::sequence_id parent = f.running(0, 4);
  REQUIRE(f.grow(parent, 1).has_value());
  const pave::step_id first = f.step;
  const pave::step_id second = begin(f);
  REQUIRE(f.grow(parent, 1).has_value());
  const bool is_open = GENERATE(false, true);
  if (is_open) begin(f);
  REQUIRE(f.cache.complete(second).has_value());
  const pave::sequence_id child = fork(f, parent);
  REQUIRE(f.cache.progress(child)->scheduled == 6);
  REQUIRE(f.cache.computed(child).value() == 4);
  REQUIRE(f.cache.complete(first).has_value());
  REQUIRE(f.cache.computed(child).value() == 6);
  REQUIRE(f.cache.computed(parent).value() == 6);
}

TEST_CASE("fork: what the open step computes is not shared, but scheduled again for the fork", "[cache][fork]") {
  fixture f(small());
  const pave::sequence_id parent = f.running(0, 7);
  REQUIRE(f.grow(parent, 5)->tokens == pave::token_range{7, 12});
  const pave::sequence_id child = fork(f, parent);
  REQUIRE(f.held(parent) == 3);
  REQUIRE(f.held(child) == 2);
  REQUIRE(f.cache.progress(child)->scheduled == 7);
  REQUIRE(f.cache.snapshot().tokens_lost == 0);
  const std::vector<pave::block_id> before = f.table(parent);
  const pave::growth grown = f.grow(child, 5).value();
  REQUIRE(grown.tokens == pave::token_range{7, 12});
  REQUIRE(grown.blocks == pave::block_range{2, 3});
  REQUIRE(is_copy(grown.copy, before[1], f.table(child)[1], 3));
  REQUIRE(f.table(parent) == before);
  f.next_step();
  REQUIRE(f.cache.computed(parent).value() == 12);
  REQUIRE(f.cache.computed(child).value() == 12);
  REQUIRE(f.available() == 16 - 3 - 2);
}

TEST_CASE("fork: of one that came in with the open step has what was there before", "[cache][fork]") {
  fixture f(small());
  const pave::sequence_id parent = f.admit(0, 10);
  begin(f);
  REQUIRE(f.restore(10).has_value());
  const pave::sequence_id child = fork(f, parent);
  REQUIRE(f.state(child) == sequence_state::running);
  REQUIRE(f.held(child) == 0);
  REQUIRE(f.cache.remaining(child).value() == 10);
  REQUIRE(f.grow(child, 10)->blocks == pave::block_range{0, 3});
  f.next_step();
  REQUIRE(f.cache.computed(child).value() == 10);
}

TEST_CASE("fork: who writes first into a partly filled block gets a copy of it, once", "[cache][fork]") {
  fixture f(small());
  const pave::sequence_id parent = f.running(0, 6);
  const pave::sequence_id child = fork(f, parent);
  const std::vector<pave::block_id> shared = f.table(parent);
  const bool child_is_first = GENERATE(false, true);
  const pave::sequence_id first = child_is_first ? child : parent;
  const pave::sequence_id second = child_is_first ? parent : child;
  const pave::growth grown = f.grow(first, 1).value();
  REQUIRE(grown.tokens == pave::token_range{6, 7});
  REQUIRE(grown.blocks == pave::block_range{2, 2});
  REQUIRE(f.table(first)[0] == shared[0]);
  REQUIRE(f.table(first)[1] != shared[1]);
  REQUIRE(is_copy(grown.copy, shared[1], f.table(first)[1], 2));
  REQUIRE(f.table(second) == shared);
  REQUIRE(holders(f, shared) == std::vector<std::uint32_t>{2, 1});
  REQUIRE(f.available() == 13);
  REQUIRE_FALSE(f.grow(first, 1)->copy);
  REQUIRE_FALSE(f.grow(second, 1)->copy);
  f.next_step();
  REQUIRE_FALSE(f.grow(first, 1)->copy);
  REQUIRE_FALSE(f.grow(second, 2)->copy);
  REQUIRE(f.table(second)[1] == shared[1]);
}

TEST_CASE("fork: a copy and new blocks come together", "[cache][fork]") {
  fixture f(small());
  const pave::sequence_id parent = f.running(0, 6);
  const pave::sequence_id child = fork(f, parent);
  const pave::growth grown = f.grow(child, 7).value();
  REQUIRE(grown.tokens == pave::token_range{6, 13});
  REQUIRE(grown.blocks == pave::block_range{2, 4});
  REQUIRE(is_copy(grown.copy, f.table(parent)[1], f.table(child)[1], 2));
  REQUIRE(f.available() == 16 - 2 - 3);
}

TEST_CASE("fork: nobody gets a copy where nothing is written into a shared block", "[cache][fork]") {
  fixture f(small());
  SECTION("since the last block is full") {
    const pave::sequence_id parent = f.running(0, 8);
    const pave::sequence_id child = fork(f, parent);
    for (const pave::sequence_id id : {parent, child}) {
      const pave::growth grown = f.grow(id, 1).value();
      REQUIRE_FALSE(grown.copy);
      REQUIRE(grown.blocks == pave::block_range{2, 3});
    }
    REQUIRE(f.available() == 12);
  }
  SECTION("since nothing is computed") {
    const pave::sequence_id parent = f.running(0, 6);
    const pave::sequence_id child = fork(f, parent);
    REQUIRE_FALSE(f.grow(child, 0)->copy);
    REQUIRE(f.table(child) == f.table(parent));
  }
  SECTION("since the other one has ended") {
    const pave::sequence_id parent = f.running(0, 6);
    const pave::sequence_id child = fork(f, parent);
    const bool child_ends = GENERATE(false, true);
    REQUIRE(f.cache.finish(child_ends ? child : parent).has_value());
    REQUIRE_FALSE(f.grow(child_ends ? parent : child, 1)->copy);
    REQUIRE(f.available() == 14);
  }
  SECTION("since the other one was cut") {
    const pave::sequence_id parent = f.running(1, 6);
    const pave::sequence_id child = fork(f, parent);
    const std::vector<pave::block_id> others = f.take_outside(14);
    REQUIRE_FALSE(f.grow(child, 1)->copy);
    REQUIRE(f.cuts.used().size() == 1);
    REQUIRE(f.cuts.used()[0].sequence == parent);
    REQUIRE(f.cuts.used()[0].blocks == pave::block_range{1, 2});
    REQUIRE(f.cuts.used()[0].freed == 0);
    REQUIRE(f.cache.pool().release(others).has_value());
    // The other one gets a new block, and computes its tokens again.
    const pave::restore back = f.restore().value();
    REQUIRE_FALSE(back.copy);
    REQUIRE(back.tokens == pave::token_range{4, 7});
    REQUIRE(back.blocks == pave::block_range{1, 2});
  }
  SECTION("since the other one took the block's tokens back") {
    const pave::sequence_id parent = f.running(0, 6);
    const pave::sequence_id child = fork(f, parent);
    REQUIRE(f.cache.truncate(child, 4).has_value());
    REQUIRE_FALSE(f.grow(parent, 1)->copy);
    REQUIRE_FALSE(f.grow(child, 1)->copy);
  }
}

TEST_CASE("fork: of three that share a block two get a copy, and the last one writes into it", "[cache][fork]") {
  fixture f(small());
  const pave::sequence_id parent = f.running(0, 5);
  const pave::sequence_id child = fork(f, parent);
  const pave::sequence_id grandchild = fork(f, child);
  const std::vector<pave::block_id> shared = f.table(parent);
  REQUIRE(holders(f, shared) == std::vector<std::uint32_t>{3, 3});
  std::array<pave::sequence_id, 3> order{parent, child, grandchild};
  std::rotate(order.begin(), order.begin() + GENERATE(0, 1, 2), order.end());
  for (const pave::sequence_id id : {order[0], order[1]}) {
    const pave::growth grown = f.grow(id, 1).value();
    REQUIRE(is_copy(grown.copy, shared[1], f.table(id)[1], 1));
  }
  REQUIRE_FALSE(f.grow(order[2], 1)->copy);
  REQUIRE(f.table(order[2]) == shared);
  REQUIRE(f.table(order[0])[1] != f.table(order[1])[1]);
  REQUIRE(holders(f, shared) == std::vector<std::uint32_t>{3, 1});
  REQUIRE(f.available() == 16 - 4);
}

TEST_CASE("fork: in whatever order three that share blocks end, all blocks come free with the last", "[cache][fork]") {
  std::array<int, 3> order{0, 1, 2};
  do {
    for (const bool diverge : {false, true}) {
      fixture f(small());
      const pave::sequence_id parent = f.running(0, 10);
      const pave::sequence_id child = fork(f, parent);
      const pave::sequence_id grandchild = fork(f, child);
      const std::array<pave::sequence_id, 3> ids{parent, child, grandchild};
      for (const pave::sequence_id id : ids) {
        if (diverge) REQUIRE(f.grow(id, 3).has_value());
      }
      std::int64_t left = diverge ? 2 + 3 * 2 : 3;
      for (int at = 0; at < 3; ++at) {
        REQUIRE(f.available() == 16 - left);
        REQUIRE(f.cache.finish(ids[static_cast<std::size_t>(order[static_cast<std::size_t>(at)])]).has_value());
        pave_tests::check_conservation(f.cache.pool());
        if (diverge) left -= 2;
      }
      REQUIRE(f.available() == 16);
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("fork: where it shares fewer blocks than the other one holds, it finds nothing that was there long before",
          "[cache][fork]") {
  pave_tests::cache_fixture<pave_tests::keep_policies> f(small());
  const pave::sequence_id parent = f.parked(0, 12, 1);
  // Its two lost blocks are still to be found, but from here on its tokens are others.
  REQUIRE(f.cache.truncate(parent, 4).has_value());
  f.next_step();
  REQUIRE(f.restore()->tokens == pave::token_range{4, 5});
  REQUIRE(f.grow(parent, 7)->tokens == pave::token_range{5, 12});
  f.take(parent, 1);
  REQUIRE(f.held(parent) == 2);
  const pave::sequence_id child = f.cache.fork(parent, -1).value();
  REQUIRE(f.held(child) == 1);
  const pave::restore next = f.restore().value();
  REQUIRE(next.sequence == child);
  REQUIRE(next.found.empty());
  REQUIRE(next.tokens.first == 4);
}

TEST_CASE("fork: errors change nothing and say why", "[cache][fork]") {
  pave::kv_cache_options options = small();
  options.sequences = 2;
  fixture f(options);
  const pave::sequence_id parent = f.running(0, 6);
  const pave::sequence_id ended = f.admit(0, 1);
  REQUIRE(f.cache.finish(ended).has_value());
  for (const pave::sequence_id id : {ended, pave::sequence_id{}, pave::sequence_id{7, 1}}) {
    REQUIRE(f.cache.fork(id, 0).code() == errc::stale);
  }
  const pave::sequence_id child = fork(f, parent);
  REQUIRE(f.cache.fork(parent, 0).code() == errc::table_full);
  REQUIRE(f.cache.fork(ended, 0).code() == errc::stale);
  REQUIRE(holders(f, f.table(parent)) == std::vector<std::uint32_t>{2, 2});
  REQUIRE(f.cache.finish(child).has_value());
  REQUIRE(f.cache.fork(child, 0).code() == errc::stale);
  REQUIRE(fork(f, parent) != child);
}

TEST_CASE("fork: the rank counts, and among equals who came first", "[cache][fork]") {
  fixture f(small(6));
  const pave::sequence_id parent = f.running(0, 8);
  const pave::sequence_id child = fork(f, parent, 0);
  REQUIRE(f.grow(child, 4).has_value());
  REQUIRE(f.grow(parent, 12).has_value());
  REQUIRE(f.available() == 0);
  REQUIRE(f.grow(child, 1).error().missing == 1);  // nobody matters less
  REQUIRE(f.grow(parent, 1).has_value());
  REQUIRE(f.cuts.used().size() == 1);
  REQUIRE(f.cuts.used()[0].sequence == child);
  REQUIRE(f.cuts.used()[0].blocks == pave::block_range{2, 3});
}

TEST_CASE("fork: what one took back and the other one filled is found by whoever both are cut for", "[cache][fork]") {
  pave_tests::cache_fixture<pave_tests::keep_policies> f(small(5));
  const pave::sequence_id other = f.running(-2, 8);
  const pave::sequence_id parent = f.running(1, 12);
  const pave::sequence_id child = f.cache.fork(parent, 2).value();
  std::vector<pave::kept_block> known = f.content(other, 2);
  known.push_back(f.content(parent, 3)[2]);
  REQUIRE(f.cache.truncate(child, 10).has_value());
  REQUIRE(f.cache.park(child).has_value());
  REQUIRE(f.cache.park(parent).has_value());
  const pave::sequence_id comes = f.admit(-1, 14);
  REQUIRE(f.cache.offer_prefix(comes, known).has_value());
  const pave::restore restored = f.restore().value();
  REQUIRE(restored.sequence == comes);
  REQUIRE(restored.found == pave::token_range{0, 12});
  REQUIRE(f.cuts.used().size() == 2);
  REQUIRE(f.cuts.used()[1].sequence == child);
  REQUIRE(f.table(comes)[2] == known[2].block);
  pave_tests::check_conservation(f.cache.pool());
}
