// SPDX-License-Identifier: Apache-2.0
// group_cache: what its calls give, refuse and say, over full attention, windows and states.
#include "support/catch.hpp"
#include "support/keeping.hpp"

#include <pave/group_cache.hpp>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace {

using pave::errc;
using pave::token_range;

constexpr pave::kv_group full{2};
constexpr pave::kv_group window{2, 4};
constexpr pave::kv_group state{2, 0, 4};

struct index_policies : pave::group_cache_policies {
  using pool = pave_tests::keeping<>;
  using prefix_index = pave::prefix_index;
};

template <class Policies = pave::group_cache_policies>
pave::group_cache<Policies> cache_of(const std::vector<pave::group_pool_options>& groups,
                                     pave::group_cache_options options = {}) {
  return pave::group_cache<Policies>::create(options, groups).value();
}

/// A sequence comes in and computes its prompt, all of which fits.
template <class Cache>
pave::sequence_id run_prompt(Cache& cache, std::int64_t rank, std::int64_t tokens) {
  const pave::sequence_id id = cache.admit(rank, tokens).value();
  const pave::step_id step = cache.begin_step().value();
  REQUIRE(cache.next_restore(tokens)->tokens == token_range{0, tokens});
  cache.complete(step).value();
  return id;
}
/// It computes some tokens more, in one step.
template <class Cache>
pave::result<pave::group_growth> grow(Cache& cache, pave::sequence_id id, std::int64_t tokens) {
  const pave::step_id step = cache.begin_step().value();
  auto grown = cache.grow_or_reclaim(id, tokens);
  cache.complete(step).value();
  return grown;
}
template <class Cache>
std::vector<bool> held(const Cache& cache, pave::sequence_id id, std::size_t group) {
  std::vector<bool> there;
  for (const auto block : cache.block_table(id, group).value()) there.push_back(block != typename Cache::id_type{});
  return there;
}
template <class Cache>
std::int32_t last_block(const Cache& cache, pave::sequence_id id, std::size_t group) {
  const auto table = cache.block_table(id, group).value();
  return table[table.size() - 1].value();
}
std::vector<pave::block_hash> hashes_of(std::int64_t blocks, std::uint64_t salt = 1) {
  std::vector<pave::block_hash> hashes;
  for (std::int64_t i = 0; i < blocks; ++i) hashes.push_back({static_cast<std::uint64_t>(i), salt});
  return hashes;
}

}  // namespace

TEST_CASE("group_cache: a window needs no more blocks however long a sequence gets", "[group_cache]") {
  auto cache = cache_of({{window, 4}});
  const pave::sequence_id id = run_prompt(cache, 0, 3);
  for (int i = 0; i < 100; ++i) {
    const auto grown = grow(cache, id, 1);
    REQUIRE(grown);
    CHECK(grown->cuts.empty());
    CHECK(grown->yields);
  }
  CHECK(cache.progress(id)->computed == 103);
  CHECK(cache.pool(0).held() <= 4);
  CHECK(cache.snapshot().tokens_lost == 0);
}

TEST_CASE("group_cache: what windows left behind goes before anybody is stopped, whoever has it", "[group_cache]") {
  auto cache = cache_of({{window, 8}});
  const pave::sequence_id important = run_prompt(cache, 0, 12);  // six blocks, of which four are left behind
  const pave::sequence_id other = run_prompt(cache, 9, 4);
  REQUIRE(cache.pool(0).available() == 0);
  const auto grown = grow(cache, other, 4);
  REQUIRE(grown);
  CHECK(grown->cuts.empty());
  CHECK(held(cache, important, 0) == std::vector<bool>{false, false, true, true, true, true});
  CHECK(cache.progress(important)->state == pave::sequence_state::running);
}

TEST_CASE("group_cache: a cut takes blocks of all groups beyond one position, and what is left behind lets it be short",
          "[group_cache]") {
  auto cache = cache_of({{full, 10}, {window, 16}});
  const pave::sequence_id victim = run_prompt(cache, 9, 16);
  const pave::sequence_id asks = run_prompt(cache, 0, 4);
  const auto grown = grow(cache, asks, 2);
  REQUIRE(grown);
  REQUIRE(grown->cuts.size() == 1);
  CHECK(grown->cuts[0].sequence == victim);
  CHECK(grown->cuts[0].kept == 14);
  CHECK_FALSE(grown->cuts[0].was_parked);
  CHECK(held(cache, victim, 0).size() == 7);
  CHECK(held(cache, victim, 1).size() == 7);
  CHECK(cache.gap(victim).value() == token_range{14, 16});
  CHECK(cache.snapshot().parked == 1);

  cache.finish(asks).value();
  cache.begin_step().value();
  const auto back = cache.next_restore(100);
  REQUIRE(back);
  CHECK(back->sequence == victim);
  CHECK(back->resumed);
  CHECK(back->tokens == token_range{14, 17});
}

TEST_CASE("group_cache: where a window's blocks went a cut has to take all", "[group_cache]") {
  auto cache = cache_of({{full, 8}, {window, 4}});
  const pave::sequence_id asks = run_prompt(cache, 0, 2);
  const pave::sequence_id victim = run_prompt(cache, 9, 2);
  for (int done = 2; done < 12; done += 2) {  // in chunks, so that each takes what the ones before left behind
    REQUIRE(grow(cache, victim, 2));
  }
  CHECK(held(cache, victim, 1) == std::vector<bool>{false, false, false, true, true, true});
  const auto grown = grow(cache, asks, 4);
  REQUIRE(grown);
  REQUIRE(grown->cuts.size() == 1);
  CHECK(grown->cuts[0].kept == 0);
  CHECK(held(cache, victim, 1).empty());
  CHECK(cache.gap(victim).value() == token_range{0, 12});
}

TEST_CASE("group_cache: a state is kept at its checkpoints, and a cut goes back to one", "[group_cache]") {
  auto cache = cache_of({{full, 10}, {state, 8}});
  const pave::sequence_id victim = run_prompt(cache, 9, 15);
  CHECK(held(cache, victim, 1) == std::vector<bool>{false, true, false, true, false, true, false, true});
  const pave::sequence_id asks = run_prompt(cache, 0, 4);
  const auto grown = grow(cache, asks, 1);
  REQUIRE(grown);
  REQUIRE(grown->cuts.size() == 1);
  CHECK(grown->cuts[0].kept == 12);
  CHECK(held(cache, victim, 1) == std::vector<bool>{false, true, false, true, false, true});
}

TEST_CASE("group_cache: a state that moves on leaves nothing but its checkpoints", "[group_cache]") {
  auto cache = cache_of({{state, 8}});
  const pave::sequence_id id = run_prompt(cache, 0, 1);
  for (int i = 1; i < 13; ++i) REQUIRE(grow(cache, id, 1));
  CHECK(held(cache, id, 0) == std::vector<bool>{false, true, false, true, false, true, true});
}

TEST_CASE("group_cache: a chunk passes no more checkpoints than there are blocks for", "[group_cache]") {
  auto cache = cache_of({{state, 3}});
  const pave::sequence_id id = cache.admit(0, 60).value();
  pave::step_id step = cache.begin_step().value();
  CHECK(cache.next_restore(60)->tokens == token_range{0, 12});
  cache.complete(step).value();
  CHECK(grow(cache, id, 60)->tokens == token_range{12, 20});  // while it begins it has the state at 12, too
  CHECK(grow(cache, id, 1)->tokens == token_range{20, 21});
  CHECK(grow(cache, id, 60)->tokens == token_range{21, 28});
}

TEST_CASE("group_cache: what was set aside for tokens that are found is given up, and was room for others",
          "[group_cache]") {
  struct policies : index_policies {
    struct tracker : pave::tracker_policies {
      using resume_gate = pave::first_chunk;
    };
  };
  constexpr pave::kv_group states{1, 0, 1};
  auto cache = cache_of<policies>({{full, 10}, {states, 20}});
  const auto say = [&](pave::sequence_id id) {
    cache.set_hashes(id, 0, 0, hashes_of(7)).value();
    cache.set_hashes(id, 1, 0, hashes_of(15, 2)).value();
  };
  const pave::sequence_id first = cache.admit(0, 15).value();
  say(first);
  pave::step_id step = cache.begin_step().value();
  REQUIRE(cache.next_restore(15));
  cache.complete(step).value();
  cache.finish(first).value();

  const pave::sequence_id second = cache.admit(0, 15).value();
  step = cache.begin_step().value();
  REQUIRE(cache.next_restore(4)->found.empty());
  cache.park(second).value();  // it holds two blocks of a group, and four states, without content
  say(second);
  std::vector<pave::block_id> others(2);
  cache.pool(0).allocate(others).value();  // of the ten two are its own, and six have what it will find
  const auto came = cache.next_restore(15);
  REQUIRE(came);
  CHECK(came->found == token_range{0, 12});
  CHECK(cache.pool(0).available() == 0);
  CHECK(held(cache, second, 1) == std::vector<bool>{false, false, false, false, false, false, false, false, false,
                                                    false, false, true, true, true, true});
}

TEST_CASE("group_cache: a sequence that is set back goes on where all groups let it", "[group_cache]") {
  auto cache = cache_of({{full, 20}, {state, 20}});
  const pave::sequence_id id = run_prompt(cache, 0, 15);
  cache.truncate(id, 14).value();  // the state has moved on, and is there at 12
  CHECK(cache.progress(id)->scheduled == 12);
  CHECK(cache.progress(id)->goal == 15);  // with the token that the engine has in place of the one taken back
  CHECK(cache.gap(id).value() == token_range{12, 14});
  CHECK(grow(cache, id, 3)->yields);
  cache.truncate(id, 8).value();
  CHECK(cache.progress(id)->scheduled == 8);
  CHECK(cache.truncate(id, 100).code() == errc::invalid_argument);
  CHECK(cache.truncate(id, -1).code() == errc::invalid_argument);

  // Of the open step, as much is computed as there is a block for the state of.
  cache.begin_step().value();
  REQUIRE(cache.grow_or_reclaim(id, 5)->tokens == token_range{8, 13});
  cache.truncate(id, 9).value();
  CHECK(cache.progress(id)->scheduled == 8);
  REQUIRE(cache.grow_or_reclaim(id, 5)->tokens == token_range{8, 13});
  cache.truncate(id, 12).value();
  CHECK(cache.progress(id)->scheduled == 12);
}

TEST_CASE("group_cache: a sequence takes up where every group has what is needed", "[group_cache]") {
  auto cache = cache_of<index_policies>({{full, 20}, {window, 20}, {state, 20}});
  const auto say = [&](pave::sequence_id id, std::int64_t blocks) {
    for (std::size_t g = 0; g < cache.groups(); ++g) cache.set_hashes(id, g, 0, hashes_of(blocks)).value();
  };
  const pave::sequence_id first = cache.admit(0, 15).value();
  say(first, 7);
  pave::step_id step = cache.begin_step().value();
  REQUIRE(cache.next_restore(15));
  cache.complete(step).value();

  const pave::sequence_id second = cache.admit(1, 15).value();
  say(second, 7);
  step = cache.begin_step().value();
  const auto came = cache.next_restore(15);
  REQUIRE(came);
  CHECK(came->found == token_range{0, 12});  // at 14 there is no state
  CHECK(came->tokens == token_range{12, 15});
  CHECK(held(cache, second, 0).size() == 8);
  CHECK(held(cache, second, 1) == std::vector<bool>{false, false, false, false, true, true, true, true});
  CHECK(held(cache, second, 2) == std::vector<bool>{false, false, false, false, false, true, false, true});
  CHECK(cache.snapshot().tokens_cached == 12);
  cache.complete(step).value();

  // One group that has less decides.
  cache.finish(first).value();
  cache.finish(second).value();
  const pave::sequence_id third = cache.admit(2, 15).value();
  cache.set_hashes(third, 0, 0, hashes_of(7)).value();
  cache.set_hashes(third, 1, 0, hashes_of(5)).value();
  cache.set_hashes(third, 2, 0, hashes_of(7)).value();
  step = cache.begin_step().value();
  CHECK(cache.next_restore(15)->found == token_range{0, 8});
  cache.complete(step).value();
}

TEST_CASE("group_cache: hashes that name one block twice find nothing", "[group_cache]") {
  auto cache = cache_of<index_policies>({{full, 20}});
  const pave::sequence_id first = cache.admit(0, 5).value();
  cache.set_hashes(first, 0, 0, hashes_of(2)).value();
  pave::step_id step = cache.begin_step().value();
  REQUIRE(cache.next_restore(5));
  cache.complete(step).value();
  const pave::sequence_id second = cache.admit(0, 5).value();
  const std::vector<pave::block_hash> same{{0, 1}, {0, 1}};
  cache.set_hashes(second, 0, 0, same).value();
  step = cache.begin_step().value();
  CHECK(cache.next_restore(5)->found.empty());
  cache.complete(step).value();
}

TEST_CASE("group_cache: whoever writes next into a block that a fork shares gets a copy", "[group_cache]") {
  auto cache = cache_of({{full, 20}, {window, 20}, {state, 20}});
  const pave::sequence_id parent = run_prompt(cache, 0, 5);
  const pave::sequence_id child = cache.fork(parent, 1).value();
  CHECK(cache.progress(child)->scheduled == 5);
  const auto before =
      std::vector<std::int32_t>{last_block(cache, child, 0), last_block(cache, child, 1), last_block(cache, child, 2)};
  const auto grown = grow(cache, parent, 1);
  REQUIRE(grown);
  REQUIRE(grown->copies.size() == 3);
  for (std::size_t g = 0; g < 3; ++g) {
    CHECK(grown->copies[g].group == g);
    CHECK(grown->copies[g].from.value() == before[g]);
    CHECK(grown->copies[g].to.value() == last_block(cache, parent, g));
    CHECK(grown->copies[g].tokens == 1);
  }
  CHECK(grow(cache, child, 1)->copies.empty());

  const pave::step_id step = cache.begin_step().value();
  REQUIRE(cache.grow_or_reclaim(parent, 3));
  CHECK(cache.fork(parent, 1));  // at 6, where no state is rewritten
  REQUIRE(cache.grow_or_reclaim(child, 2)->tokens == token_range{6, 8});
  cache.complete(step).value();
  cache.begin_step().value();
  REQUIRE(cache.grow_or_reclaim(parent, 1));  // rewrites the state at 9
  CHECK(cache.fork(parent, 1).code() == errc::busy);
  CHECK(cache.fork(child, 1));
}

TEST_CASE("group_cache: a chunk is no longer than a window's pool can hold at once", "[group_cache]") {
  auto cache = cache_of({{full, 50}, {window, 4}});
  const pave::sequence_id id = cache.admit(0, 60).value();
  pave::step_id step = cache.begin_step().value();
  CHECK(cache.next_restore(60)->tokens == token_range{0, 8});
  cache.complete(step).value();
  std::int64_t done = 8;
  while (done < 60) {
    const auto grown = grow(cache, id, cache.remaining(id)->value());
    REQUIRE(grown);
    REQUIRE(grown->tokens.first == done);
    done = grown->tokens.last.value();
  }
  CHECK(cache.computed(id).value() == 60);
}

TEST_CASE("group_cache: a window or checkpoints beyond the longest sequence are as none", "[group_cache]") {
  constexpr std::int64_t most = (std::numeric_limits<std::int64_t>::max)();
  pave::group_cache_options options;
  options.longest = 40;
  auto cache = cache_of({{{2, most}, 20}, {{2, 0, most}, 4}, {{most >> 33U, 0, most}, 4}}, options);
  const pave::sequence_id id = run_prompt(cache, 0, 17);
  for (int i = 17; i < 40; ++i) REQUIRE(grow(cache, id, 1));
  CHECK(cache.pool(0).held() == 20);
  CHECK(cache.pool(1).held() <= 2);
  CHECK(cache.pool(2).held() == 1);
  CHECK(grow(cache, id, 1).code() == errc::never_fits);
}

TEST_CASE("group_cache: a sequence that can never end is refused before it begins", "[group_cache]") {
  pave::group_cache_options options;
  options.longest = 40;
  auto cache = cache_of({{full, 10}, {window, 3}}, options);
  CHECK(cache.admit(0, 21).error().code == errc::never_fits);
  CHECK(cache.admit(0, 21).error().missing == 1);
  CHECK(cache.admit(0, 5, 24).error().missing == 2);
  CHECK(cache_of({{window, 3}}, options).admit(0, 40));
  CHECK(cache_of({{window, 3}}, options).admit(0, 41).code() == errc::never_fits);
  CHECK(cache_of({{window, 2}}, options).admit(0, 4));
  CHECK(cache_of({{window, 2}}, options).admit(0, 5).error().missing == 1);
  CHECK(cache_of({{state, 2}}, options).admit(0, 40));
  CHECK(cache_of({{state, 1}}, options).admit(0, 2));
  CHECK(cache_of({{state, 1}}, options).admit(0, 3).error().missing == 1);

  const pave::sequence_id id = run_prompt(cache, 0, 4);
  for (int i = 0; i < 8; ++i) REQUIRE(grow(cache, id, 2));
  CHECK(grow(cache, id, 1).code() == errc::never_fits);
  CHECK(cache.progress(id)->state == pave::sequence_state::running);
}

TEST_CASE("group_cache: who asks in vain is parked and keeps its blocks", "[group_cache]") {
  auto cache = cache_of({{full, 4}, {window, 8}});
  run_prompt(cache, 0, 4);
  const pave::sequence_id id = run_prompt(cache, 1, 4);
  const auto grown = grow(cache, id, 1);
  CHECK(grown.code() == errc::shortage);
  CHECK(grown.error().missing == 1);
  CHECK(cache.progress(id)->state == pave::sequence_state::parked);
  CHECK(cache.pool(0).held() == 4);
  cache.begin_step().value();
  CHECK(cache.grow_or_reclaim(id, 1).code() == errc::waits);
  CHECK(cache.next_restore(1).code() == errc::shortage);
}

TEST_CASE("group_cache: wrong calls are told so, and nothing moves", "[group_cache]") {
  using cache_type = pave::group_cache<>;
  const auto refused = [](pave::group_cache_options options, std::vector<pave::group_pool_options> groups) {
    return cache_type::create(options, groups).code();
  };
  CHECK(refused({}, {}) == errc::invalid_argument);
  CHECK(refused({}, {{full, 0}}) == errc::invalid_argument);
  CHECK(refused({}, {{{0}, 4}}) == errc::invalid_argument);
  CHECK(refused({}, {{{2, 4, 4}, 4}}) == errc::invalid_argument);
  CHECK(refused({0}, {{full, 4}}) == errc::invalid_argument);
  CHECK(refused({8, 0}, {{full, 4}}) == errc::invalid_argument);
  CHECK(refused({8, 1, 0}, {{full, 4}}) == errc::invalid_argument);
  CHECK(refused({8, 1, 65}, {{full, 4}}) == errc::invalid_argument);
  CHECK(refused({}, {{full, 4, -1}}) == errc::invalid_argument);
  CHECK(refused({}, {{full, 4, 0, -1}}) == errc::invalid_argument);
  CHECK(refused({(std::int64_t{1} << 60U) + 1}, {{full, 4}}) == errc::invalid_argument);
  CHECK(refused({std::int64_t{1} << 60U, 1000}, {{full, 4}}) == errc::out_of_memory);

  cache_type none;
  CHECK(none.begin_step().code() == errc::no_step);
  CHECK(none.admit(0, 1).code() == errc::invalid_argument);
  CHECK(none.groups() == 0);

  pave::group_cache_options options;
  options.sequences = 1;
  auto cache = cache_of({{full, 4}}, options);
  CHECK(cache.admit(0, 0).code() == errc::invalid_argument);
  CHECK(cache.admit(0, 1, -1).code() == errc::invalid_argument);
  CHECK(cache.next_restore(1).code() == errc::no_step);
  cache.begin_step().value();
  CHECK(cache.next_restore(1).code() == errc::nothing_waits);
  const pave::sequence_id id = cache.admit(0, 2).value();
  CHECK(cache.admit(0, 1).code() == errc::table_full);
  CHECK(cache.fork(id, 0).code() == errc::table_full);
  CHECK(cache.next_restore(0).code() == errc::no_budget);
  CHECK(cache.next_restore(-1).code() == errc::invalid_argument);
  CHECK(cache.grow_or_reclaim(id, 1).code() == errc::waits);
  CHECK(cache.park(id).code() == errc::waits);
  REQUIRE(cache.next_restore(2));
  CHECK(cache.grow_or_reclaim(id, -1).code() == errc::invalid_argument);
  CHECK(cache.block_table(id, 1).code() == errc::invalid_argument);
  std::vector<std::uint32_t> scratch(4);
  const auto ignore = [](const pave::finding&) {};
  CHECK(cache.audit(1, pave::no_tables{}, scratch, ignore).code() == errc::invalid_argument);
  CHECK(cache.audit(0, pave::no_tables{}, {}, ignore).code() == errc::buffer_too_small);
  CHECK(cache.audit(0, pave::no_tables{}, scratch, ignore).value() == 0);
  CHECK(cache.resize(1, 4).code() == errc::invalid_argument);
  CHECK(cache.resize(0, 0).code() == errc::invalid_argument);
  CHECK(cache.resize(0, 5));
  CHECK(cache.pool(0).capacity() == 5);

  cache.abort(id).value();
  CHECK(cache.finish(id).code() == errc::stale);
  CHECK(cache.park(id).code() == errc::stale);
  CHECK(cache.fork(id, 0).code() == errc::stale);
  CHECK(cache.truncate(id, 0).code() == errc::stale);
  CHECK(cache.set_rank(id, 0).code() == errc::stale);
  CHECK(cache.set_slack(id, 0).code() == errc::stale);
  CHECK(cache.grow_or_reclaim(id, 1).code() == errc::stale);
  CHECK(cache.block_table(id, 0).code() == errc::stale);
  CHECK(cache.progress(id).code() == errc::stale);
  CHECK(cache.computed(id).code() == errc::stale);
  CHECK(cache.remaining(id).code() == errc::stale);
  CHECK(cache.gap(id).code() == errc::stale);
  CHECK(cache.complete(2).code() == errc::no_step);
  cache.complete(1).value();
  CHECK(cache.complete(1).code() == errc::stale);
}

TEST_CASE("group_cache: hashes are refused that nothing can be found by", "[group_cache]") {
  pave::group_cache_options options;
  options.longest = 8;
  auto cache = cache_of<index_policies>({{full, 4}}, options);
  const pave::sequence_id id = cache.admit(0, 2).value();
  CHECK(cache.set_hashes(id, 1, 0, hashes_of(1)).code() == errc::invalid_argument);
  CHECK(cache.set_hashes(id, 0, -1, hashes_of(1)).code() == errc::invalid_argument);
  CHECK(cache.set_hashes(id, 0, 1, hashes_of(1)).code() == errc::invalid_argument);
  CHECK(cache.set_hashes(id, 0, 0, hashes_of(6)).error().missing == 2);
  CHECK(cache.set_hashes(id, 0, 0, hashes_of(4)));
  cache.finish(id).value();
  CHECK(cache.set_hashes(id, 0, 0, hashes_of(1)).code() == errc::stale);
}

TEST_CASE("group_cache: a moved cache goes on, and what it was moved from is empty", "[group_cache]") {
  auto cache = cache_of({{full, 8}, {state, 4}});
  const pave::sequence_id id = run_prompt(cache, 0, 3);
  auto moved = std::move(cache);
  CHECK(grow(moved, id, 1)->tokens == token_range{3, 4});
  CHECK(cache.groups() == 0);  // NOLINT(bugprone-use-after-move): it says that it is empty
  CHECK(cache.begin_step().code() == errc::no_step);
  CHECK(cache.progress(id).code() == errc::stale);
}

TEST_CASE("group_cache: after a reset all wait, and nothing is found", "[group_cache]") {
  auto cache = cache_of<index_policies>({{full, 8}, {window, 8}});
  const pave::sequence_id id = cache.admit(0, 5).value();
  for (std::size_t g = 0; g < 2; ++g) cache.set_hashes(id, g, 0, hashes_of(2)).value();
  pave::step_id step = cache.begin_step().value();
  REQUIRE(cache.next_restore(5));
  cache.complete(step).value();
  cache.reset();
  CHECK(cache.pool(0).held() == 0);
  step = cache.begin_step().value();
  const auto back = cache.next_restore(10);
  REQUIRE(back);
  CHECK(back->found.empty());
  CHECK(back->tokens == token_range{0, 6});
  CHECK(back->resumed);
}
