// SPDX-License-Identifier: Apache-2.0
// A kv_cache whose pool grows and shrinks while sequences hold its blocks.
#include "cache_fence_fixture.hpp"
#include "cache_fixture.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <cstdint>
#include <vector>

namespace {

using pave::errc;
using pave::sequence_state;
using pave_tests::small;
using fixture = pave_tests::cache_fixture<>;

struct lowest_policies : pave::cache_policies {
  struct pool : pave::pool_policies {
    using free_list = pave::lowest_first;
  };
};
/// Its blocks go out by their numbers, so that it is known who has those that leave.
using ordered_fixture = pave_tests::cache_fixture<lowest_policies>;

std::vector<pave::block_id> numbered(std::int32_t first, std::int32_t last) {
  std::vector<pave::block_id> blocks;
  for (; first < last; ++first) blocks.emplace_back(first);
  return blocks;
}
struct size_now {
  std::int64_t capacity, leaving, available;

  friend bool operator==(const size_now& a, const size_now& b) {
    return a.capacity == b.capacity && a.leaving == b.leaving && a.available == b.available;
  }
};
template <class Fixture>
size_now size_of(const Fixture& f) {
  const pave::cache_snapshot now = f.cache.snapshot();
  REQUIRE(now.available + now.fenced + now.held == now.capacity);
  return {now.capacity.value(), f.cache.pool().leaving().value(), now.available.value()};
}

}  // namespace

TEST_CASE("resize: more blocks are available at once, so that a shortage goes away", "[cache][resize]") {
  fixture f(small(4));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id last = f.running(1, 8);
  REQUIRE(f.grow(last, 5).error().missing == 2);
  REQUIRE(f.restore().error().missing == 2);
  REQUIRE(f.cache.resize(5).has_value());
  REQUIRE(size_of(f) == size_now{5, 0, 1});
  REQUIRE(f.restore().error().missing == 1);
  REQUIRE(f.cache.resize(6).has_value());
  REQUIRE(f.restore()->blocks == pave::block_range{2, 4});
  REQUIRE(f.cuts.used().empty());
  REQUIRE(f.held(first) == 2);
  REQUIRE(size_of(f) == size_now{6, 0, 0});
}

TEST_CASE("resize: no sequence can hold more than at create, however large the pool becomes", "[cache][resize]") {
  fixture f(small(4));
  REQUIRE(f.cache.resize(8).has_value());
  const auto refused = f.cache.admit(0, 17);
  REQUIRE(refused.code() == errc::never_fits);
  REQUIRE(refused.error().missing == 1);
  static_cast<void>(f.running(0, 16));
  static_cast<void>(f.running(1, 16));
  REQUIRE(size_of(f) == size_now{8, 0, 0});
}

TEST_CASE("resize: free blocks leave at once, and held ones as they come free", "[cache][resize]") {
  ordered_fixture f(small(8));
  const pave::sequence_id stays = f.running(0, 8);
  const pave::sequence_id goes = f.running(1, 16);
  REQUIRE(f.table(goes) == numbered(2, 6));
  REQUIRE(f.cache.resize(3).has_value());
  REQUIRE(size_of(f) == size_now{6, 3, 0});
  REQUIRE(f.cache.truncate(goes, 12).has_value());
  REQUIRE(size_of(f) == size_now{5, 2, 0});
  REQUIRE(f.cache.finish(goes).has_value());
  REQUIRE(size_of(f) == size_now{3, 0, 1});
  REQUIRE(f.grow(stays, 4)->blocks == pave::block_range{2, 3});
  REQUIRE(f.table(stays) == numbered(0, 3));
}

TEST_CASE("resize: what never fits is measured by the new size, even while blocks still have to leave",
          "[cache][resize]") {
  ordered_fixture f(small(8));
  const pave::sequence_id id = f.running(0, 24);
  REQUIRE(f.cache.resize(4).has_value());
  REQUIRE(size_of(f) == size_now{6, 2, 0});
  REQUIRE(f.cache.admit(1, 17).error().missing == 1);
  REQUIRE(f.cache.admit(1, 17).code() == errc::never_fits);
  REQUIRE(f.cache.admit(1, 1, 32).error().missing == 4);
  REQUIRE(f.cache.admit(1, 16).has_value());
  const auto refused = f.grow(id, 1);
  REQUIRE(refused.code() == errc::never_fits);
  REQUIRE(refused.error().missing == 3);
  REQUIRE(f.state(id) == sequence_state::running);
  REQUIRE(f.held(id) == 6);
  REQUIRE(f.grow(id, 0).has_value());
  REQUIRE(f.cache.resize(8).has_value());
  REQUIRE(f.grow(id, 1)->blocks == pave::block_range{6, 7});
}

TEST_CASE("next_restore: one that waits and can never come in since the pool shrank is not waited for",
          "[cache][resize]") {
  ordered_fixture f(small(8));
  const bool is_parked = GENERATE(false, true);
  const pave::sequence_id large = is_parked ? f.parked(0, 20, 1) : f.admit(0, 21);
  const pave::sequence_id little = f.admit(1, 4);
  f.next_step();
  REQUIRE(f.cache.resize(5).has_value());
  const auto refused = f.restore();
  REQUIRE(refused.code() == errc::never_fits);
  REQUIRE(refused.error().missing == 1);
  REQUIRE(f.cuts.used().empty());
  REQUIRE(f.state(large) != sequence_state::running);
  SECTION("but ended") {
    REQUIRE(f.cache.finish(large).has_value());
    REQUIRE(f.restore()->sequence == little);
  }
  SECTION("or shortened") {
    REQUIRE(f.cache.truncate(large, 16).has_value());
    REQUIRE(f.restore()->sequence == large);
  }
  SECTION("or put behind others") {
    REQUIRE(f.cache.set_rank(large, 2).has_value());
    REQUIRE(f.restore()->sequence == little);
    REQUIRE(f.restore().code() == errc::never_fits);
  }
  SECTION("or it comes in when the pool grows again") {
    REQUIRE(f.cache.resize(6).has_value());
    REQUIRE(f.restore()->sequence == large);
  }
}

TEST_CASE("next_restore: one that needs no more blocks comes in, even if it holds more than the pool is to have",
          "[cache][resize]") {
  ordered_fixture f(small(8));
  const pave::sequence_id large = f.running(0, 22);
  const pave::sequence_id most = f.running(-1, 8);
  REQUIRE(f.grow(large, 3).error().missing == 1);
  REQUIRE(f.cache.truncate(large, 23).has_value());
  REQUIRE(f.cache.resize(4).has_value());
  REQUIRE(f.restore()->tokens == pave::token_range{22, 23});
  REQUIRE(f.held(large) == 6);
  REQUIRE(f.held(most) == 2);
}

TEST_CASE("resize: blocks that would leave gain nothing when they are cut", "[cache][resize]") {
  ordered_fixture f(small(9));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id other = f.running(1, 8);
  const pave::sequence_id last = f.running(2, 20);
  REQUIRE(f.table(last) == numbered(4, 9));
  REQUIRE(f.cache.resize(7).has_value());
  REQUIRE(size_of(f) == size_now{9, 2, 0});
  const pave::plan planned = f.cache.plan_cuts(first, 1, f.cuts).value();
  REQUIRE(planned.freed == 1);
  REQUIRE(planned.given_up == 2);
  REQUIRE(f.grow(first, 1)->blocks == pave::block_range{2, 3});
  REQUIRE(f.cuts.used().size() == 1);
  REQUIRE(f.cuts.used()[0].sequence == last);
  REQUIRE(f.cuts.used()[0].blocks == pave::block_range{2, 5});
  REQUIRE(f.cuts.used()[0].freed == 1);
  REQUIRE(f.table(first)[2] == pave::block_id{6});
  REQUIRE(size_of(f) == size_now{7, 0, 0});
  REQUIRE(f.held(other) == 2);
  REQUIRE(f.grow(first, 4)->blocks == pave::block_range{3, 4});
  REQUIRE(f.cuts.used()[0].blocks == pave::block_range{1, 2});
}

TEST_CASE("resize: of a victim whose other blocks would all leave, the one that stays is taken", "[cache][resize]") {
  ordered_fixture f(small(6));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id last = f.running(1, 16);
  const bool is_forked = GENERATE(false, true);
  if (is_forked) REQUIRE(f.cache.fork(last, 2).has_value());
  REQUIRE(f.cache.resize(3).has_value());
  const pave::result<pave::growth> refused = f.grow(first, 5);
  REQUIRE(refused.code() == errc::never_fits);
  REQUIRE(f.grow(first, 4)->blocks == pave::block_range{2, 3});
  REQUIRE(f.cuts.used().size() == (is_forked ? 2U : 1U));
  REQUIRE(f.held(last) == 0);
  REQUIRE(size_of(f) == size_now{3, 0, 0});
}

TEST_CASE("commit: a plan is refused where the pool shrank since, so that it would free less", "[cache][resize]") {
  ordered_fixture f(small(8));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id last = f.running(1, 24);
  REQUIRE(f.cache.plan_cuts(first, 2, f.cuts)->freed == 2);
  REQUIRE(f.cache.resize(7).has_value());
  REQUIRE(f.cache.commit(first, f.cuts.used()).code() == errc::stale);
  REQUIRE(f.held(last) == 6);
  REQUIRE(f.cache.plan_cuts(first, 2, f.cuts)->given_up == 1);
  REQUIRE(f.cache.commit(first, f.cuts.used()).value() == 2);
  REQUIRE(size_of(f) == size_now{7, 0, 2});
}

TEST_CASE("resize: blocks that have not left yet stay when the pool grows again", "[cache][resize]") {
  ordered_fixture f(small(6));
  const pave::sequence_id id = f.running(0, 16);
  REQUIRE(f.cache.resize(2).has_value());
  REQUIRE(size_of(f) == size_now{4, 2, 0});
  REQUIRE(f.cache.resize(5).has_value());
  REQUIRE(size_of(f) == size_now{5, 0, 1});
  REQUIRE(f.cache.finish(id).has_value());
  REQUIRE(size_of(f) == size_now{5, 0, 5});
  REQUIRE(f.cache.resize(9).has_value());
  REQUIRE(size_of(f) == size_now{9, 0, 9});
}

TEST_CASE("resize: over many sizes, sequences that come and go always find just what the pool has", "[cache][resize]") {
  ordered_fixture f(small(6));
  for (const std::int64_t blocks : {3, 6, 1, 12, 5, 40, 2, 6}) {
    REQUIRE(f.cache.resize(blocks).has_value());
    REQUIRE(size_of(f) == size_now{blocks, 0, blocks});
    const std::int64_t most = blocks < 6 ? blocks : 6;
    const pave::sequence_id id = f.running(0, 4 * most);
    REQUIRE(f.table(id) == numbered(0, static_cast<std::int32_t>(most)));
    REQUIRE(f.cache.finish(id).has_value());
  }
}

TEST_CASE("resize: forks that hold new blocks are cut together", "[cache][resize]") {
  pave::kv_cache_options options = small(4);
  const std::int32_t first_block = GENERATE(0, 1, 2000);
  options.first_block = first_block;
  ordered_fixture f(options);
  const pave::sequence_id first = f.running(0, 16);
  REQUIRE(f.cache.resize(4000).has_value());
  static_cast<void>(f.take_outside(3992));
  const pave::sequence_id parent = f.running(1, 16);
  REQUIRE(f.table(parent) == numbered(first_block + 3996, first_block + 4000));
  const pave::sequence_id child = f.cache.fork(parent, 2).value();
  REQUIRE(f.cache.plan_cuts(first, 2, f.cuts)->freed == 2);
  REQUIRE(f.cuts.used().size() == 2);
  REQUIRE(f.cache.commit(first, f.cuts.used()).value() == 2);
  REQUIRE(f.held(child) == 2);
}

TEST_CASE("resize: content of new blocks is found again, and of blocks that left it is not", "[cache][resize]") {
  pave_tests::cache_fixture<pave_tests::keep_policies> f(small(4));
  REQUIRE(f.cache.resize(6).has_value());
  const pave::sequence_id id = f.running(0, 16);
  REQUIRE(f.table(id)[0].value() >= 4);
  f.take(id, 4);
  const bool leave = GENERATE(false, true);
  if (leave) REQUIRE(f.cache.resize(4).has_value());
  REQUIRE(f.cache.resize(6).has_value());
  REQUIRE(f.restore()->found == pave::token_range{0, leave ? 0 : 12});
}

TEST_CASE("resize: no blocks, or more than an id can name, are refused and change nothing", "[cache][resize]") {
  fixture f(small(4));
  const pave::sequence_id id = f.running(0, 8);
  for (const std::int64_t blocks : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 31, std::int64_t{1} << 62}) {
    REQUIRE(f.cache.resize(blocks).code() == errc::invalid_argument);
    REQUIRE(size_of(f) == size_now{4, 0, 2});
  }
  REQUIRE(f.grow(id, 8).has_value());
}

TEST_CASE("resize: with a fence, blocks on their way leave when their step is done", "[cache][resize]") {
  struct policies : pave::cache_policies {
    struct pool : pave::pool_policies {
      using free_list = pave::lowest_first;
      using fence = pave::after_step;
    };
  };
  pave_tests::fence_fixture<policies> f(pave_tests::small_with_steps(6));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id last = f.running(1, 15);
  REQUIRE(f.table(last) == numbered(2, 6));
  REQUIRE(f.grow(last, 1).has_value());
  const pave::step_id in_flight = f.step;
  f.begin();
  SECTION("and are not promised to whom they were not cut for") {
    REQUIRE(f.cache.resize(5).has_value());
    REQUIRE(pave_tests::waits_for(f.grow(first, 1), 1, in_flight));
    REQUIRE(f.cuts.used()[0].blocks == pave::block_range{2, 4});
    REQUIRE(f.cuts.used()[0].freed == 1);
    REQUIRE(f.fenced() == 2);
    f.complete(in_flight);
    REQUIRE(size_of(f) == size_now{5, 0, 1});
    REQUIRE(f.restore()->sequence == first);
  }
  SECTION("and are cut for again where they were promised") {
    REQUIRE(pave_tests::waits_for(f.grow(first, 1), 1, in_flight));
    REQUIRE(f.cache.resize(5).has_value());
    REQUIRE(size_of(f) == size_now{6, 1, 0});
    f.complete(in_flight);
    REQUIRE(size_of(f) == size_now{5, 0, 0});
    REQUIRE(f.restore()->sequence == first);
    REQUIRE(f.only_cut(last, {2, 3}, true));
    REQUIRE(size_of(f) == size_now{5, 0, 0});
    REQUIRE(f.promised(first) == 0);
  }
}

TEST_CASE("resize: nobody is cut for blocks that are promised to another, and left before it came for them",
          "[cache][resize][fence]") {
  pave_tests::fence_fixture<> f(pave_tests::small_with_steps(7));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id second = f.running(1, 8);
  const pave::sequence_id third = f.running(2, 8);
  REQUIRE(f.cache.plan_cuts(first, 1, f.cuts).has_value());
  REQUIRE(*f.cache.commit(first, f.cuts.used()) == 1);
  REQUIRE(f.promised(first) == 1);
  REQUIRE(f.available() == 2);
  REQUIRE(f.cache.resize(5).has_value());
  REQUIRE(f.available() == 0);
  REQUIRE(f.promised(first) == 0);
  REQUIRE(f.grow(second, 1)->blocks == pave::block_range{2, 3});
  REQUIRE(f.only_cut(third, {0, 1}, true));
}
