// SPDX-License-Identifier: Apache-2.0
// Blocks run short among sequences that share some: what a cut gains, who lets go, and what a copy costs.
#include "cache_fence_fixture.hpp"
#include "cache_fixture.hpp"
#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/cache.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace {

using pave::errc;
using pave::sequence_state;
using pave_tests::small;
using fixture = pave_tests::cache_fixture<>;

struct whole_policies : pave::cache_policies {
  struct planner : pave::planner_policies {
    using demand = pave::whole_sequence;
  };
};

template <class Fixture>
pave::sequence_id fork(Fixture& f, pave::sequence_id parent, std::int64_t rank) {
  return f.cache.fork(parent, rank).value();
}
template <class Fixture>
bool is_cut(const Fixture& f, std::size_t at, pave::sequence_id id, pave::block_range blocks, std::int64_t freed) {
  pave_tests::check_conservation(f.cache.pool());
  const pave::span<const pave::cut> cuts = f.cuts.used();
  return at < cuts.size() && cuts[at].sequence == id && cuts[at].blocks == blocks && cuts[at].freed == freed;
}

}  // namespace

TEST_CASE("kv_cache: blocks that two victims share come free when both let go", "[cache][fork]") {
  fixture f(small(6));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id parent = f.running(1, 16);
  const pave::sequence_id child = fork(f, parent, 2);
  REQUIRE(f.available() == 0);
  REQUIRE(f.grow(first, 5)->blocks == pave::block_range{2, 4});
  REQUIRE(f.cuts.used().size() == 2);
  // The one that is asked last gains; the other one has to let go of the same blocks.
  REQUIRE(is_cut(f, 0, parent, {2, 4}, 0));
  REQUIRE(is_cut(f, 1, child, {2, 4}, 2));
  REQUIRE(f.available() == 0);
  REQUIRE(f.state(parent) == sequence_state::parked);
  REQUIRE(f.state(child) == sequence_state::parked);
  REQUIRE(f.table(child) == f.table(parent));
}

TEST_CASE("kv_cache: the last blocks of a pool whose first one is not 0 come free as any others", "[cache][fork]") {
  pave::kv_cache_options options = small(6);
  options.first_block = GENERATE(1, 2000);
  fixture f(options);
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id parent = f.running(1, 16);
  const pave::sequence_id child = fork(f, parent, 2);
  REQUIRE(pave::block_count(f.table(child)[3].value()) == options.first_block + 5);
  REQUIRE(f.grow(first, 8)->blocks == pave::block_range{2, 4});
  REQUIRE(f.cuts.used()[0].freed + f.cuts.used()[1].freed == 2);
  REQUIRE(f.held(child) == 2);
  REQUIRE(f.available() == 0);
}

TEST_CASE("kv_cache: blocks that a victim shares with one that is not cut gain nothing, and stay", "[cache][fork]") {
  fixture f(small(6));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id parent = f.running(-1, 16);
  const pave::sequence_id child = fork(f, parent, 2);
  SECTION("shortage") {
    REQUIRE(f.cache.plan_cuts(first, 1, f.cuts).error().missing == 1);
    REQUIRE(f.grow(first, 5).error().missing == 2);
    REQUIRE(f.cuts.used().empty());
    REQUIRE(f.state(child) == sequence_state::running);
    REQUIRE(f.held(child) == 4);
  }
  SECTION("until the other one matters less, too") {
    REQUIRE(f.cache.set_rank(parent, 1).has_value());
    REQUIRE(f.grow(first, 1).has_value());
    REQUIRE(f.cuts.used().size() == 2);
  }
  SECTION("until the other one has ended") {
    REQUIRE(f.cache.finish(parent).has_value());
    REQUIRE(f.available() == 0);
    REQUIRE(f.grow(first, 5).has_value());
    REQUIRE(f.cuts.used().size() == 1);
    REQUIRE(is_cut(f, 0, child, {2, 4}, 2));
  }
}

TEST_CASE("kv_cache: a victim's own blocks go before those that it shares", "[cache][fork]") {
  fixture f(small(8));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id parent = f.running(1, 8);
  const pave::sequence_id child = fork(f, parent, 2);
  REQUIRE(f.grow(child, 8).has_value());
  REQUIRE(f.grow(parent, 8).has_value());
  REQUIRE(f.available() == 0);
  REQUIRE(f.grow(first, 12)->blocks == pave::block_range{2, 5});
  REQUIRE(f.cuts.used().size() == 2);
  REQUIRE(is_cut(f, 0, child, {2, 4}, 2));
  REQUIRE(is_cut(f, 1, parent, {3, 4}, 1));
  REQUIRE(f.grow(first, 8)->blocks == pave::block_range{5, 7});
  REQUIRE(f.cuts.used().size() == 2);
  REQUIRE(is_cut(f, 0, parent, {1, 3}, 1));
  REQUIRE(is_cut(f, 1, child, {1, 2}, 1));
  REQUIRE(f.available() == 0);
}

TEST_CASE("kv_cache: where a less important one lets go of the block to be written, no copy is made", "[cache][fork]") {
  fixture f(small(2));
  const pave::sequence_id parent = f.running(0, 6);
  const pave::sequence_id child = fork(f, parent, 1);
  const std::vector<pave::block_id> shared = f.table(parent);
  const pave::growth grown = f.grow(parent, 1).value();
  REQUIRE_FALSE(grown.copy);
  REQUIRE(grown.tokens == pave::token_range{6, 7});
  REQUIRE(f.cuts.used().size() == 1);
  REQUIRE(is_cut(f, 0, child, {1, 2}, 0));
  REQUIRE(f.table(parent) == shared);
  REQUIRE(f.available() == 0);
  REQUIRE(f.held(child) == 1);
  REQUIRE(f.state(child) == sequence_state::parked);
  REQUIRE(f.cache.gap(child).value() == pave::token_range{4, 6});
}

TEST_CASE("kv_cache: a less important one that needs a copy does not take the block from a more important one",
          "[cache][fork]") {
  fixture f(small(2));
  const pave::sequence_id parent = f.running(0, 6);
  const pave::sequence_id child = fork(f, parent, 1);
  REQUIRE(f.grow(child, 1).error().missing == 1);
  REQUIRE(f.cuts.used().empty());
  REQUIRE(f.state(child) == sequence_state::parked);
  REQUIRE(f.table(child) == f.table(parent));
  SECTION("it comes in with a copy once a block is there") {
    REQUIRE(f.cache.resize(3).has_value());
    const std::vector<pave::block_id> shared = f.table(parent);
    const pave::restore back = f.restore().value();
    REQUIRE(back.sequence == child);
    REQUIRE(back.tokens == pave::token_range{6, 7});
    REQUIRE(back.blocks == pave::block_range{2, 2});
    REQUIRE(back.copy.has_value());
    REQUIRE(back.copy->from == shared[1]);
    REQUIRE(back.copy->to == f.table(child)[1]);
    REQUIRE(back.copy->tokens == 2);
    REQUIRE(back.taken == 1);
    REQUIRE(f.available() == 0);
  }
  SECTION("it comes in without one once the other has gone") {
    REQUIRE(f.cache.finish(parent).has_value());
    const pave::restore back = f.restore().value();
    REQUIRE_FALSE(back.copy);
    REQUIRE(back.taken == 0);
    REQUIRE(back.tokens == pave::token_range{6, 7});
  }
}

TEST_CASE("kv_cache: for a copy exactly one block is cut from the least important", "[cache][fork]") {
  fixture f(small(5));
  const pave::sequence_id parent = f.running(0, 6);
  const pave::sequence_id child = fork(f, parent, 1);
  const pave::sequence_id last = f.running(2, 12);
  REQUIRE(f.available() == 0);
  const pave::growth grown = f.grow(parent, 1).value();
  REQUIRE(grown.copy.has_value());
  REQUIRE(f.cuts.used().size() == 1);
  REQUIRE(is_cut(f, 0, last, {2, 3}, 1));
  REQUIRE(f.available() == 0);
  REQUIRE(f.held(child) == 2);
  REQUIRE(f.state(child) == sequence_state::running);
}

TEST_CASE("kv_cache: a parked one lets go of the block to be written before one that runs is stopped",
          "[cache][fork]") {
  fixture f(small(5));
  const pave::sequence_id parent = f.running(0, 6);
  const pave::sequence_id child = fork(f, parent, 3);
  const pave::sequence_id last = f.running(2, 12);
  REQUIRE(f.grow(child, 3).error().missing == 2);
  const pave::growth grown = f.grow(parent, 1).value();
  REQUIRE_FALSE(grown.copy);
  REQUIRE(f.cuts.used().size() == 1);
  REQUIRE(is_cut(f, 0, child, {1, 2}, 0));
  REQUIRE(f.cuts.used()[0].was_parked);
  REQUIRE(f.state(last) == sequence_state::running);
  REQUIRE(f.held(last) == 3);
}

TEST_CASE("kv_cache: all others that hold the block to be written have to let go of it, or a copy is made",
          "[cache][fork]") {
  fixture f(small(4));
  const pave::sequence_id parent = f.running(0, 6);
  const pave::sequence_id child = fork(f, parent, 1);
  const std::int64_t rank = GENERATE(-1, 2);
  const pave::sequence_id other = fork(f, parent, rank);
  const pave::sequence_id last = f.running(3, 5);
  REQUIRE(f.available() == 0);
  SECTION("there is one to cut") {
    REQUIRE(f.grow(parent, 1)->copy.has_value());
    REQUIRE(is_cut(f, 0, last, {1, 2}, 1));
    REQUIRE(f.cuts.used().size() == 1);
  }
  SECTION("there is none") {
    REQUIRE(f.cache.set_rank(last, -2).has_value());
    const pave::result<pave::growth> grown = f.grow(parent, 1);
    REQUIRE(grown.has_value() == (rank == 2));
    if (grown) {
      REQUIRE_FALSE(grown->copy);
      REQUIRE(f.cuts.used().size() == 2);
      REQUIRE(f.held(child) == 1);
      REQUIRE(f.held(other) == 1);
    } else {
      REQUIRE(grown.error().missing == 1);
      REQUIRE(f.cuts.used().empty());
      REQUIRE(f.held(child) == 2);
    }
  }
}

TEST_CASE("kv_cache: a copy and blocks that are short come from as few cuts as can be", "[cache][fork]") {
  fixture f(small(5));
  const pave::sequence_id parent = f.running(0, 6);
  const pave::sequence_id child = fork(f, parent, 1);
  const pave::sequence_id last = f.running(2, 12);
  SECTION("one has enough for both") {
    const pave::growth grown = f.grow(parent, 3).value();
    REQUIRE(grown.copy.has_value());
    REQUIRE(grown.blocks == pave::block_range{2, 3});
    REQUIRE(f.cuts.used().size() == 1);
    REQUIRE(is_cut(f, 0, last, {1, 3}, 2));
    REQUIRE(f.held(child) == 2);
  }
  SECTION("one has enough for the blocks alone") {
    REQUIRE(f.cache.truncate(last, 4).has_value());
    REQUIRE(f.take_outside(2).size() == 2);
    const pave::growth grown = f.grow(parent, 3).value();
    REQUIRE_FALSE(grown.copy);
    REQUIRE(grown.blocks == pave::block_range{2, 3});
    REQUIRE(f.cuts.used().size() == 2);
    REQUIRE(is_cut(f, 0, last, {0, 1}, 1));
    REQUIRE(is_cut(f, 1, child, {1, 2}, 0));
  }
  REQUIRE(f.available() == 0);
}

TEST_CASE("kv_cache: with too little room for the cuts of all who share, nothing moves", "[cache][fork]") {
  fixture f(small(6));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id parent = f.running(1, 14);
  const pave::sequence_id child = fork(f, parent, 2);
  std::array<pave::cut, 1> one{};
  pave::cut_list little(one);
  REQUIRE(f.cache.grow_or_reclaim(first, 1, little).code() == errc::buffer_too_small);
  REQUIRE(little.used().empty());
  pave::cut_list none;
  REQUIRE(f.cache.grow_or_reclaim(parent, 1, none).code() == errc::buffer_too_small);
  for (const pave::sequence_id id : {first, parent, child}) REQUIRE(f.state(id) == sequence_state::running);
  REQUIRE(f.held(child) == 4);
  REQUIRE(f.cache.grow_or_reclaim(parent, 1, little).has_value());
  REQUIRE(f.held(child) == 3);
}

TEST_CASE("commit: a plan over shared blocks is refused where who shares them has changed", "[cache][fork]") {
  fixture f(small());
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id parent = f.running(1, 16);
  const pave::sequence_id child = fork(f, parent, 2);
  REQUIRE(f.cache.plan_cuts(first, 2, f.cuts)->given_up == 2);
  REQUIRE(f.cuts.used().size() == 2);
  SECTION("nothing has") {
    REQUIRE(f.cache.commit(first, f.cuts.used()).value() == 2);
    REQUIRE(f.held(parent) == 2);
    REQUIRE(f.held(child) == 2);
    return;
  }
  SECTION("there is one more") { static_cast<void>(fork(f, child, 3)); }
  SECTION("one has ended") { REQUIRE(f.cache.finish(parent).has_value()); }
  SECTION("one has taken tokens back") { REQUIRE(f.cache.truncate(child, 12).has_value()); }
  SECTION("one matters more than the requester") { REQUIRE(f.cache.set_rank(parent, -1).has_value()); }
  const std::int64_t before = f.available();
  REQUIRE(f.cache.commit(first, f.cuts.used()).code() == errc::stale);
  REQUIRE(f.available() == before);
}

TEST_CASE("commit: a plan is refused where a victim was forked since", "[cache][fork]") {
  fixture f(small());
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id parent = f.running(1, 16);
  REQUIRE(f.cache.plan_cuts(first, 2, f.cuts)->freed == 2);
  static_cast<void>(fork(f, parent, 2));
  REQUIRE(f.cache.commit(first, f.cuts.used()).code() == errc::stale);
  REQUIRE(f.held(parent) == 4);
}

TEST_CASE("kv_cache: with the baseline, forks give up all that they have, and what they share comes free once",
          "[cache][fork]") {
  pave_tests::cache_fixture<whole_policies> f(small(6));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id parent = f.running(1, 16);
  const pave::sequence_id child = fork(f, parent, 2);
  const pave::result<pave::plan> planned = f.cache.plan_cuts(first, 1, f.cuts);
  REQUIRE(planned->freed == 4);
  REQUIRE(planned->over_evicted() == 3);
  REQUIRE(planned->given_up == 4);
  REQUIRE(f.grow(first, 1).has_value());
  REQUIRE(f.held(parent) == 0);
  REQUIRE(f.held(child) == 0);
  REQUIRE(f.available() == 3);
}

TEST_CASE("commit: with the baseline, a cut that frees nothing is refused", "[cache][fork]") {
  pave_tests::cache_fixture<whole_policies> f(small(8));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id parent = f.running(1, 16);
  const pave::sequence_id child = fork(f, parent, 2);
  const std::array<pave::cut, 1> idle{{{child, {0, 4}, 0, false}}};
  REQUIRE(f.cache.commit(first, idle).code() == errc::stale);
  REQUIRE(f.held(child) == 4);
  REQUIRE(f.state(child) == sequence_state::running);
}

TEST_CASE("next_restore: with the baseline, too, a less important one lets go of the block to be written",
          "[cache][fork]") {
  struct policies : whole_policies {
    using pool = pave_tests::fence_policies::pool;
  };
  pave_tests::fence_fixture<policies> f(pave_tests::small_with_steps(5));
  const pave::sequence_id parent = f.running(0, 6);
  const pave::sequence_id victim = f.running(1, 11);
  REQUIRE(f.grow(victim, 1).has_value());
  const pave::step_id in_flight = f.step;
  f.begin();
  // It waits with what it has for all that the victim had, and is forked meanwhile.
  REQUIRE(pave_tests::waits_for(f.grow(parent, 14), 3, in_flight));
  REQUIRE(f.only_cut(victim, {0, 3}, false));
  const pave::sequence_id child = fork(f, parent, 2);
  f.finish(victim);
  f.complete(in_flight);
  // With a copy it would take four blocks, and there are three.
  const pave::restore next = f.restore().value();
  REQUIRE(next.sequence == parent);
  REQUIRE(next.blocks == pave::block_range{2, 5});
  REQUIRE_FALSE(next.copy);
  REQUIRE(f.cuts.used().size() == 1);
  REQUIRE(is_cut(f, 0, child, {0, 2}, 0));
  REQUIRE(f.state(child) == sequence_state::parked);
}
