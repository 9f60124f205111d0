// SPDX-License-Identifier: Apache-2.0
// What each member of a kv_cache does for one sequence, and how it refuses.
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

}  // namespace

TEST_CASE("admit: a sequence waits, without blocks, until it is let in", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.admit(0, 9);
  REQUIRE(f.state(id) == sequence_state::waiting);
  REQUIRE(f.held(id) == 0);
  REQUIRE(f.cache.computed(id).value() == 0);
  REQUIRE(f.cache.progress(id)->goal == 9);
  REQUIRE(f.cache.gap(id)->empty());
  REQUIRE(f.available() == 16);
}

TEST_CASE("admit: what can never fit is refused once, with the blocks beyond the capacity", "[cache]") {
  fixture f(small());
  REQUIRE(f.cache.admit(0, 64).has_value());
  const auto refused = f.cache.admit(0, 65);
  REQUIRE(refused.code() == errc::never_fits);
  REQUIRE(refused.error().missing == 1);
  REQUIRE(f.cache.admit(0, 1, 73).code() == errc::never_fits);
  REQUIRE(f.cache.admit(0, 1, 73).error().missing == 3);
  REQUIRE(f.cache.snapshot().waiting == 1);
}

TEST_CASE("admit: the capacity counts, not what others hold today", "[cache]") {
  fixture f(small());
  static_cast<void>(f.running(0, 64));
  REQUIRE(f.available() == 0);
  REQUIRE(f.cache.admit(1, 64).has_value());
}

TEST_CASE("admit: a sequence that is wider than the table never fits, and without a slot the table is full",
          "[cache]") {
  pave::kv_cache_options options = small();
  options.blocks_per_sequence = 4;
  options.sequences = 2;
  fixture f(options);
  const auto wide = f.cache.admit(0, 21);
  REQUIRE(wide.code() == errc::never_fits);
  REQUIRE(wide.error().missing == 2);
  const pave::sequence_id first = f.admit(0, 16);
  static_cast<void>(f.admit(0, 1));
  REQUIRE(f.cache.admit(0, 1).code() == errc::table_full);
  REQUIRE(f.cache.finish(first).has_value());
  REQUIRE(f.cache.admit(0, 1).has_value());
}

TEST_CASE("admit: no tokens, or a negative number of them, is no sequence", "[cache]") {
  fixture f(small());
  REQUIRE(f.cache.admit(0, 0).code() == errc::invalid_argument);
  REQUIRE(f.cache.admit(0, -1).code() == errc::invalid_argument);
  REQUIRE(f.cache.admit(0, 1, -1).code() == errc::invalid_argument);
}

TEST_CASE("finish and abort: in every state all blocks come free, and the id is stale", "[cache]") {
  fixture f(small());
  const auto at = GENERATE(sequence_state::waiting, sequence_state::running, sequence_state::parked);
  const bool aborts = GENERATE(false, true);
  const pave::sequence_id id = at == sequence_state::waiting   ? f.admit(0, 10)
                               : at == sequence_state::running ? f.running(0, 10)
                                                               : f.parked(0, 10, 2);
  REQUIRE(f.state(id) == at);
  REQUIRE((aborts ? f.cache.abort(id) : f.cache.finish(id)).has_value());
  REQUIRE(f.available() == 16);
  const pave::cache_snapshot now = f.cache.snapshot();
  REQUIRE(now.running + now.parked + now.waiting == 0);
  REQUIRE(f.cache.finish(id).code() == errc::stale);
}

TEST_CASE("stale: no member takes an id that has ended, nor one that was never given out", "[cache]") {
  fixture f(small());
  const pave::sequence_id ended = f.running(0, 10);
  REQUIRE(f.cache.finish(ended).has_value());
  const pave::sequence_id heir = f.admit(0, 10);
  REQUIRE(heir.slot == ended.slot);
  REQUIRE(heir != ended);
  const pave::sequence_id forged[] = {ended, {}, {3, 1}, {8, 1}, {0xffffffff, 1}, {heir.slot, heir.generation + 1}};
  for (const pave::sequence_id id : forged) {
    REQUIRE(f.cache.finish(id).code() == errc::stale);
    REQUIRE(f.cache.abort(id).code() == errc::stale);
    REQUIRE(f.cache.set_rank(id, 1).code() == errc::stale);
    REQUIRE(f.cache.park(id).code() == errc::stale);
    REQUIRE(f.cache.truncate(id, 0).code() == errc::stale);
    REQUIRE(f.cache.offer_prefix(id, {}).code() == errc::stale);
    REQUIRE(f.grow(id, 1).code() == errc::stale);
    REQUIRE(f.cache.plan_cuts(id, 1, f.cuts).code() == errc::stale);
    REQUIRE(f.cache.block_table(id).code() == errc::stale);
    REQUIRE(f.cache.computed(id).code() == errc::stale);
    REQUIRE(f.cache.progress(id).code() == errc::stale);
    REQUIRE(f.cache.gap(id).code() == errc::stale);
  }
  REQUIRE(f.state(heir) == sequence_state::waiting);
}

TEST_CASE("truncate: rejected drafts go, with the blocks that they alone had, and do not come back as a gap",
          "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.running(0, 7);
  REQUIRE(f.grow(id, 6)->tokens == pave::token_range{7, 13});
  REQUIRE(f.held(id) == 4);
  const std::vector<pave::block_id> before = f.table(id);
  REQUIRE(f.cache.truncate(id, 8).has_value());
  REQUIRE(f.table(id) == std::vector<pave::block_id>(before.begin(), before.begin() + 2));
  REQUIRE(f.available() == 14);
  REQUIRE(f.cache.gap(id)->empty());
  f.next_step();
  REQUIRE(f.cache.computed(id).value() == 8);
  REQUIRE(f.grow(id, 1)->tokens == pave::token_range{8, 9});
}

TEST_CASE("truncate: a shortened prompt waits for less", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.admit(0, 40);
  REQUIRE(f.cache.truncate(id, 5).has_value());
  f.next_step();
  REQUIRE(f.restore()->tokens == pave::token_range{0, 5});
  REQUIRE(f.held(id) == 2);
}

TEST_CASE("truncate: what a parked sequence lost beyond the new length does not come back", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.parked(0, 16, 2);
  REQUIRE(f.cache.gap(id).value() == pave::token_range{8, 16});
  REQUIRE(f.cache.truncate(id, 10).has_value());
  REQUIRE(f.cache.gap(id).value() == pave::token_range{8, 10});
  REQUIRE(f.restore()->tokens == pave::token_range{8, 10});
}

TEST_CASE("truncate: of a parked sequence, what is known is the goal, however often it is cut after that", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.parked(0, 16, 2);
  REQUIRE(f.cache.truncate(id, 10).has_value());
  const std::int64_t more = GENERATE(0, 1, 2);
  const pave::sequence_id first = f.admit(-1, 1);
  if (more > 0) {
    REQUIRE(f.cache.plan_cuts(first, more, f.cuts).has_value());
    REQUIRE(f.cache.commit(first, f.cuts.used()).has_value());
  }
  REQUIRE(f.cache.finish(first).has_value());
  REQUIRE(f.cache.progress(id)->goal == 10);
  const pave::restore back = f.restore().value();
  REQUIRE(back.tokens == pave::token_range{8 - 4 * more, 10});
  REQUIRE(back.yields);
  f.next_step();
  REQUIRE(f.grow(id, 1)->tokens == pave::token_range{10, 11});
}

TEST_CASE("kv_cache: a sequence that fills a row yields its last token once, cut or not", "[cache]") {
  fixture f(small(4));
  const pave::sequence_id id = f.running(0, 15);
  REQUIRE(f.grow(id, 1)->yields);
  SECTION("where the step is run") {
    f.next_step();
    REQUIRE(f.grow(id, 1).code() == errc::never_fits);
    const pave::sequence_id first = f.admit(-1, 1);
    REQUIRE(f.cache.plan_cuts(first, 2, f.cuts).has_value());
    REQUIRE(f.cache.commit(first, f.cuts.used()).has_value());
    REQUIRE(f.cache.finish(first).has_value());
    const pave::restore back = f.restore().value();
    REQUIRE(back.tokens == pave::token_range{8, 16});
    REQUIRE_FALSE(back.yields);
  }
  SECTION("where the step is not run, the next one that computes it does") {
    REQUIRE(f.cache.park(id).has_value());
    REQUIRE(f.restore()->yields);
  }
}

TEST_CASE("truncate: a last block that others hold, too, is let go, and its tokens become a gap", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.running(0, 14);
  const std::vector<pave::block_id> before = f.table(id);
  const std::vector<pave::block_id> shared = f.share(id, {2});
  REQUIRE(f.cache.truncate(id, 11).has_value());
  REQUIRE(f.table(id) == std::vector<pave::block_id>(before.begin(), before.begin() + 2));
  REQUIRE(f.cache.pool().holders(shared[0]) == 1);
  REQUIRE(f.state(id) == sequence_state::running);
  REQUIRE(f.cache.computed(id).value() == 8);
  REQUIRE(f.cache.gap(id).value() == pave::token_range{8, 11});
  REQUIRE(f.cache.remaining(id).value() == 4);  // and the one behind them, which was known
  REQUIRE(f.cache.snapshot().tokens_lost == 3);
  const pave::growth grown = f.grow(id, 4).value();
  REQUIRE(grown.tokens == pave::token_range{8, 12});
  REQUIRE(grown.yields);
  REQUIRE(grown.blocks == pave::block_range{2, 3});
  REQUIRE(f.table(id)[2] != shared[0]);
  REQUIRE(f.cache.snapshot().tokens_restored == 3);
  f.next_step();
  REQUIRE(f.cache.computed(id).value() == 12);
}

TEST_CASE("truncate: at the end of a block nothing is written into it, so that it stays, whoever holds it", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.running(0, 14);
  static_cast<void>(f.share(id, {1, 2, 3}));
  REQUIRE(f.cache.truncate(id, 8).has_value());
  REQUIRE(f.held(id) == 2);
  REQUIRE(f.cache.computed(id).value() == 8);
  REQUIRE(f.cache.gap(id)->empty());
  REQUIRE(f.cache.snapshot().tokens_lost == 0);
}

TEST_CASE("truncate: a parked sequence, too, lets go of a last block that others hold", "[cache]") {
  fixture f(small(4));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id id = f.running(1, 7);
  REQUIRE(f.grow(id, 4).code() == errc::shortage);
  const std::vector<pave::block_id> shared = f.share(id, {1});
  REQUIRE(f.cache.truncate(id, 6).has_value());
  REQUIRE(f.held(id) == 1);
  REQUIRE(f.state(id) == sequence_state::parked);
  REQUIRE(f.cache.gap(id).value() == pave::token_range{4, 6});
  REQUIRE(f.cache.finish(first).has_value());
  REQUIRE(f.restore()->tokens == pave::token_range{4, 7});
  REQUIRE(f.cache.pool().holders(shared[0]) == 1);
}

TEST_CASE("truncate: a negative length, or more than the sequence was to have, is refused", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.running(0, 7);
  REQUIRE(f.cache.truncate(id, -1).code() == errc::invalid_argument);
  REQUIRE(f.cache.truncate(id, 8).code() == errc::invalid_argument);
  REQUIRE(f.cache.progress(id)->scheduled == 7);
  REQUIRE(f.cache.truncate(id, 7).has_value());
  REQUIRE(f.cache.truncate(id, 0).has_value());
  REQUIRE(f.held(id) == 0);
  REQUIRE(f.state(id) == sequence_state::running);
  REQUIRE(f.grow(id, 3)->tokens == pave::token_range{0, 3});
}

TEST_CASE("park: a running sequence stops and keeps its blocks, and the open step does not run it", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.running(0, 6);
  REQUIRE(f.grow(id, 5)->tokens == pave::token_range{6, 11});
  const std::vector<pave::block_id> before = f.table(id);
  REQUIRE(f.cache.park(id).has_value());
  REQUIRE(f.state(id) == sequence_state::parked);
  REQUIRE(f.table(id) == before);
  REQUIRE(f.cache.progress(id)->scheduled == 6);
  REQUIRE(f.cache.gap(id)->empty());
  f.next_step();
  REQUIRE(f.cache.computed(id).value() == 6);
  const pave::cache_snapshot now = f.cache.snapshot();
  REQUIRE(now.tokens_lost == 0);
  REQUIRE(now.tokens_restored == 0);
}

TEST_CASE("park: what is launched still counts, and the next token is what the sequence comes in for", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.running(0, 6);
  REQUIRE(f.grow(id, 1).has_value());
  const pave::step_id launched = f.step;
  f.step = f.cache.begin_step().value();
  REQUIRE(f.grow(id, 1).has_value());
  REQUIRE(f.cache.park(id).has_value());
  REQUIRE(f.cache.complete(launched).has_value());
  REQUIRE(f.cache.computed(id).value() == 7);
  REQUIRE(f.cache.remaining(id).value() == 1);
  const pave::restore back = f.restore().value();
  REQUIRE(back.sequence == id);
  REQUIRE(back.resumed);
  REQUIRE(back.tokens == pave::token_range{7, 8});
  REQUIRE(back.blocks == pave::block_range{2, 2});
}

TEST_CASE("park: the blocks of a sequence that was parked are the first that a shortage takes", "[cache]") {
  fixture f(small(4));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id parked = f.running(1, 4);
  const pave::sequence_id runs = f.running(2, 4);
  REQUIRE(f.cache.park(parked).has_value());
  REQUIRE(f.grow(first, 1).has_value());
  REQUIRE(f.cuts.used().size() == 1);
  REQUIRE(f.cuts.used()[0].sequence == parked);
  REQUIRE(f.cuts.used()[0].was_parked);
  REQUIRE(f.state(runs) == sequence_state::running);
}

TEST_CASE("park: a sequence as long as it can be comes in with nothing to compute", "[cache]") {
  pave::kv_cache_options options = small();
  options.blocks_per_sequence = 2;
  fixture f(options);
  const pave::sequence_id id = f.running(0, 8);
  REQUIRE(f.cache.park(id).has_value());
  REQUIRE(f.restore()->tokens == pave::token_range{8, 8});
  REQUIRE(f.state(id) == sequence_state::running);
  f.next_step();
  REQUIRE(f.cache.computed(id).value() == 8);
}

TEST_CASE("park: who waits already cannot be parked", "[cache]") {
  fixture f(small());
  const pave::sequence_id fresh = f.admit(0, 4);
  REQUIRE(f.cache.park(fresh).code() == errc::waits);
  REQUIRE(f.state(fresh) == sequence_state::waiting);
  const pave::sequence_id stopped = f.parked(-1, 10, 1);
  REQUIRE(f.cache.park(stopped).code() == errc::waits);
  REQUIRE(f.held(stopped) == 1);
}

TEST_CASE("grow_or_reclaim: blocks that are held are used up before a new one is taken", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.running(0, 6);
  const pave::growth within = f.grow(id, 2).value();
  REQUIRE(within.tokens == pave::token_range{6, 8});
  REQUIRE(within.blocks == pave::block_range{2, 2});
  const pave::growth beyond = f.grow(id, 5).value();
  REQUIRE(beyond.tokens == pave::token_range{8, 13});
  REQUIRE(beyond.blocks == pave::block_range{2, 4});
  REQUIRE(f.held(id) == 4);
  REQUIRE(f.cuts.used().empty());
}

TEST_CASE("remaining: the rest of a prompt or of a gap, and one for a sequence that decodes", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.admit(0, 10);
  REQUIRE(f.cache.remaining(id).value() == 10);
  f.next_step();
  REQUIRE(f.restore(4)->tokens == pave::token_range{0, 4});
  REQUIRE(f.cache.remaining(id).value() == 6);
  REQUIRE(f.grow(id, 6).has_value());
  REQUIRE(f.cache.remaining(id).value() == 1);
  f.next_step();
  REQUIRE(f.cache.remaining(id).value() == 1);
  REQUIRE(f.grow(id, 1).has_value());
  REQUIRE(f.cache.remaining(id).value() == 1);
  f.next_step();
  // It has 11 tokens, keeps 4, and is to compute 7 again and its next one.
  f.take(id, 2);
  REQUIRE(f.cache.remaining(id).value() == 8);
  REQUIRE(f.restore(5)->tokens == pave::token_range{4, 9});
  REQUIRE(f.cache.remaining(id).value() == 3);
  REQUIRE(f.cache.finish(id).has_value());
  REQUIRE(f.cache.remaining(id).code() == errc::stale);
}

TEST_CASE("yields: a step gives a token where it computes the last one that is known, of a prompt, a gap or a decode",
          "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.admit(0, 10);
  f.next_step();
  REQUIRE_FALSE(f.restore(4)->yields);
  f.next_step();
  REQUIRE_FALSE(f.grow(id, 0)->yields);
  REQUIRE_FALSE(f.grow(id, 5)->yields);
  f.next_step();
  REQUIRE(f.grow(id, 1)->yields);
  f.next_step();
  REQUIRE_FALSE(f.grow(id, 0)->yields);
  REQUIRE(f.grow(id, 1)->yields);
  f.next_step();
  f.take(id, 2);
  REQUIRE_FALSE(f.restore(7)->yields);  // its gap, but not its next token
  f.next_step();
  REQUIRE(f.grow(id, 1)->yields);
  const pave::sequence_id whole = f.admit(1, 6);
  REQUIRE(f.restore().value().sequence == whole);
  REQUIRE(f.cache.park(whole).has_value());
  REQUIRE(f.restore()->yields);
}

TEST_CASE("grow_or_reclaim: no tokens is no growth", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.running(0, 8);
  const pave::growth none = f.grow(id, 0).value();
  REQUIRE(none.tokens == pave::token_range{8, 8});
  REQUIRE(none.blocks == pave::block_range{2, 2});
  f.next_step();
  REQUIRE(f.cache.computed(id).value() == 8);
}

TEST_CASE("grow_or_reclaim: errors change nothing and say why", "[cache]") {
  pave::kv_cache_options options = small();
  options.blocks_per_sequence = 6;
  fixture f(options);
  const pave::sequence_id id = f.running(0, 8);
  REQUIRE(f.grow(id, -1).code() == errc::invalid_argument);
  const auto too_wide = f.grow(id, 4 * 6 - 8 + 1);
  REQUIRE(too_wide.code() == errc::never_fits);
  REQUIRE(too_wide.error().missing == 1);
  const auto never = f.grow(id, 4 * 16 - 8 + 5);
  REQUIRE(never.code() == errc::never_fits);
  REQUIRE(never.error().missing == 12);
  REQUIRE(f.state(id) == sequence_state::running);
  REQUIRE(f.held(id) == 2);
  REQUIRE(f.cache.progress(id)->goal == 8);

  REQUIRE(f.grow(f.admit(0, 1), 1).code() == errc::waits);
  f.take(id, 1);
  REQUIRE(f.grow(id, 1).code() == errc::waits);
}

TEST_CASE("grow_or_reclaim: without an open step there is nothing to schedule in", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.running(0, 8);
  REQUIRE(f.cache.complete(f.step).has_value());
  REQUIRE(f.grow(id, 1).code() == errc::no_step);
  f.step = f.cache.begin_step().value();
  REQUIRE(f.grow(id, 1).has_value());
}

TEST_CASE("complete: a step that was never begun is none, and one that is complete is stale", "[cache]") {
  fixture f(small());
  REQUIRE(f.cache.complete(1).code() == errc::no_step);
  const pave::step_id first = f.cache.begin_step().value();
  REQUIRE(first == pave::step_id{1});
  REQUIRE(f.cache.complete(0).code() == errc::no_step);
  REQUIRE(f.cache.complete(-1).code() == errc::no_step);
  REQUIRE(f.cache.complete(2).code() == errc::no_step);
  REQUIRE(f.cache.complete(first).has_value());
  REQUIRE(f.cache.complete(first).code() == errc::stale);
}

TEST_CASE("reset: all sequences give up all blocks, also those outside the open step, and come back", "[cache]") {
  fixture f(small());
  const pave::sequence_id runs = f.running(0, 20);
  const pave::sequence_id stopped = f.parked(1, 12, 1);
  const pave::sequence_id fresh = f.admit(2, 4);
  REQUIRE(f.grow(runs, 1).has_value());
  f.cache.reset();
  REQUIRE(f.available() == 16);
  REQUIRE(f.state(runs) == sequence_state::parked);
  REQUIRE(f.state(fresh) == sequence_state::waiting);
  REQUIRE(f.cache.gap(runs).value() == pave::token_range{0, 20});
  REQUIRE(f.cache.gap(stopped).value() == pave::token_range{0, 12});
  REQUIRE(f.restore()->tokens == pave::token_range{0, 21});
  REQUIRE(f.restore()->tokens == pave::token_range{0, 13});
  REQUIRE(f.restore()->tokens == pave::token_range{0, 4});
}

TEST_CASE("snapshot: counts blocks, states, and tokens that were lost and came back", "[cache]") {
  fixture f(small());
  static_cast<void>(f.running(0, 5));
  const pave::sequence_id stopped = f.parked(1, 10, 1);
  static_cast<void>(f.admit(2, 1));
  pave::cache_snapshot now = f.cache.snapshot();
  REQUIRE(now.capacity == 16);
  REQUIRE(now.held == 3);
  REQUIRE(now.fenced == 0);
  REQUIRE(now.available == 13);
  REQUIRE(now.running == 1);
  REQUIRE(now.parked == 1);
  REQUIRE(now.waiting == 1);
  REQUIRE(now.tokens_lost == 6);
  REQUIRE(now.tokens_restored == 0);
  REQUIRE(now.tokens_revived == 0);
  REQUIRE(now.tokens_cached == 0);
  REQUIRE(f.restore(4)->tokens == pave::token_range{4, 8});
  REQUIRE(f.cache.snapshot().tokens_restored == 4);
  REQUIRE(f.grow(stopped, 3).has_value());
  now = f.cache.snapshot();
  REQUIRE(now.tokens_restored == 6);
  REQUIRE(now.parked == 0);
}
