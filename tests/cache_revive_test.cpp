// SPDX-License-Identifier: Apache-2.0
// What a cut sequence of a kv_cache finds again, where free blocks keep their content.
#include "cache_fixture.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

using pave::errc;
using pave::token_range;
using pave_tests::small;
using fixture = pave_tests::cache_fixture<pave_tests::keep_policies>;

/// As it is after so many blocks have gone to others and come back: what was in the free ones is gone.
void overwrite_all_free(fixture& f) {
  const std::vector<pave::block_id> all = f.take_outside(static_cast<std::size_t>(f.available()));
  REQUIRE(f.cache.pool().release(all).has_value());
}

}  // namespace

TEST_CASE("next_restore: what nobody took is found, and only what was in no full block is computed again", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.running(0, 14);
  const std::vector<pave::block_id> before = f.table(id);
  f.take(id, 3);
  REQUIRE(f.available() == 15);
  const pave::restore back = f.restore().value();
  REQUIRE(back.found == token_range{4, 12});
  REQUIRE(back.tokens == token_range{12, 15});
  REQUIRE(back.blocks == pave::block_range{1, 4});
  REQUIRE(back.resumed);
  const std::vector<pave::block_id> after = f.table(id);
  REQUIRE(std::vector<pave::block_id>(after.begin(), after.begin() + 3) ==
          std::vector<pave::block_id>(before.begin(), before.begin() + 3));
  REQUIRE(f.available() == 12);
  REQUIRE(f.cache.computed(id).value() == 12);
  const pave::cache_snapshot now = f.cache.snapshot();
  REQUIRE(now.tokens_lost == 10);
  REQUIRE(now.tokens_revived == 8);
  REQUIRE(now.tokens_restored == 2);
  REQUIRE(now.tokens_cached == 0);
}

TEST_CASE("next_restore: a sequence that lost all its blocks finds all of them", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.running(0, 16);
  const std::vector<pave::block_id> before = f.table(id);
  f.take(id, 4);
  REQUIRE(f.cache.computed(id).value() == 0);
  const pave::restore back = f.restore().value();
  REQUIRE(back.found == token_range{0, 16});
  REQUIRE(back.tokens == token_range{16, 17});
  const std::vector<pave::block_id> after = f.table(id);
  REQUIRE(std::vector<pave::block_id>(after.begin(), after.begin() + 4) == before);
  REQUIRE(f.cache.snapshot().tokens_restored == 0);
  REQUIRE(f.cache.snapshot().tokens_revived == 16);
}

TEST_CASE("next_restore: where content is not kept, nothing is found", "[cache]") {
  pave_tests::cache_fixture<> f(small());
  const pave::sequence_id id = f.running(0, 16);
  f.take(id, 3);
  const pave::restore back = f.restore().value();
  REQUIRE(back.found == token_range{4, 4});
  REQUIRE(back.tokens == token_range{4, 17});
  REQUIRE(f.cache.snapshot().tokens_revived == 0);
}

TEST_CASE("next_restore: nothing is found behind the first lost block that was reused", "[cache]") {
  fixture f(small(4));
  const pave::sequence_id id = f.running(0, 16);
  const std::vector<pave::block_id> table = f.table(id);
  const std::vector<pave::block_id> shared = f.share(id, {2, 3});  // so that it is the first lost block that goes out
  f.take(id, 3, 1);
  REQUIRE(f.take_outside(1)[0] == table[1]);
  REQUIRE(f.cache.pool().release(std::vector<pave::block_id>{table[1]}).has_value());
  REQUIRE(f.cache.pool().release(shared).has_value());
  const pave::restore back = f.restore(8).value();
  REQUIRE(back.found.empty());
  REQUIRE(back.tokens == token_range{4, 12});
  REQUIRE(f.cache.snapshot().tokens_restored == 8);
}

TEST_CASE("next_restore: of a gap whose middle was reused, the part before it is found", "[cache]") {
  fixture f(small(6));
  const pave::sequence_id id = f.running(0, 16);
  const std::vector<pave::block_id> table = f.table(id);
  static_cast<void>(f.share(id, {1, 3}));
  f.take(id, 4, 2);
  const std::vector<pave::block_id> taken = f.take_outside(3);  // two that were never used, and one of its own
  REQUIRE(taken[2] == table[2]);
  REQUIRE(f.cache.pool().release(taken).has_value());
  const pave::restore back = f.restore().value();
  REQUIRE(back.found == token_range{0, 8});
  REQUIRE(back.tokens == token_range{8, 17});
  REQUIRE(f.table(id)[0] == table[0]);
  REQUIRE(f.table(id)[1] == table[1]);
  REQUIRE(f.table(id)[3] != table[3]);
  REQUIRE(f.cache.pool().holders(table[1]) == 2);
}

TEST_CASE("next_restore: what is cut goes out again from its end, so that its front is found longest", "[cache]") {
  fixture f(small(4));
  const pave::sequence_id id = f.running(0, 16);
  const std::vector<pave::block_id> table = f.table(id);
  f.take(id, 3);
  const std::size_t reused = static_cast<std::size_t>(GENERATE(0, 1, 2, 3));
  const std::vector<pave::block_id> taken = f.take_outside(reused);
  for (std::size_t i = 0; i < reused; ++i) REQUIRE(taken[i] == table[3 - i]);
  REQUIRE(f.cache.pool().release(taken).has_value());
  const pave::restore back = f.restore().value();
  const std::size_t found = reused == 0 ? 2 : 3 - reused;  // its last block has the token that is left to compute
  REQUIRE(back.found == token_range{4, 4 + 4 * found});
  REQUIRE(back.tokens == token_range{4 + 4 * found, 16});
}

TEST_CASE("next_restore: blocks that are not full go out before those that could be found again", "[cache]") {
  fixture f(small(4));
  const pave::sequence_id full = f.running(1, 8);
  const pave::sequence_id partly = f.running(2, 5);
  const std::vector<pave::block_id> table = f.table(partly);
  f.take(full, 2);
  f.take(partly, 2);
  REQUIRE(f.take_outside(1)[0] == table[1]);
  const pave::restore back = f.restore().value();
  REQUIRE(back.sequence == full);
  REQUIRE(back.found == token_range{0, 8});
}

TEST_CASE("next_restore: a sequence that is cut twice finds both parts", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.running(0, 19);
  f.take(id, 2);
  f.take(id, 2);
  REQUIRE(f.held(id) == 1);
  const pave::restore back = f.restore().value();
  REQUIRE(back.found == token_range{4, 16});
  REQUIRE(back.tokens == token_range{16, 20});
  REQUIRE(f.cache.snapshot().tokens_revived == 12);
}

TEST_CASE("next_restore: cut in the middle of its restore, a sequence finds what was full by then", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.parked(0, 20, 1);
  overwrite_all_free(f);
  REQUIRE(f.restore(7)->tokens == token_range{4, 11});
  f.next_step();
  REQUIRE(f.held(id) == 6);
  f.take(id, 5);
  const pave::restore back = f.restore().value();
  REQUIRE(back.found == token_range{4, 8});
  REQUIRE(back.tokens == token_range{8, 21});
  const pave::cache_snapshot now = f.cache.snapshot();
  REQUIRE(now.tokens_lost == 16 + 7);
  REQUIRE(now.tokens_revived == 4);
  REQUIRE(now.tokens_restored == 7 + 12);
}

TEST_CASE("next_restore: a restore that is cut before it ran loses what it found, and finds it again", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.parked(0, 16, 1);
  REQUIRE(f.restore(3)->found == token_range{4, 16});
  f.take(id, f.held(id) - 2);
  pave::cache_snapshot now = f.cache.snapshot();
  REQUIRE(f.cache.computed(id).value() == 8);
  REQUIRE(f.cache.gap(id).value() == token_range{8, 16});
  REQUIRE(now.tokens_lost == 12 + 8);
  REQUIRE(now.tokens_revived == 12);
  REQUIRE(f.restore()->found == token_range{8, 16});
  now = f.cache.snapshot();
  REQUIRE(now.tokens_lost == now.tokens_revived);
}

TEST_CASE("next_restore: who holds a partly filled block finds nothing behind it", "[cache]") {
  fixture f(small(5));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id id = f.running(1, 10);
  std::vector<pave::kept_block> content = f.content(id, 3);
  content.push_back(f.content(first, 1)[0]);
  REQUIRE(f.grow(id, 8).code() == errc::shortage);
  REQUIRE(f.cache.offer_prefix(id, content).has_value());
  REQUIRE(f.cache.finish(first).has_value());
  REQUIRE(f.restore()->found == token_range{10, 10});
}

TEST_CASE("next_restore: while a step in flight computes what a sequence has kept, nothing is found behind it",
          "[cache]") {
  fixture f(small());
  const pave::sequence_id ended = f.running(1, 12);
  const std::vector<pave::kept_block> content = f.content(ended, 3);
  REQUIRE(f.cache.finish(ended).has_value());
  const pave::sequence_id id = f.admit(1, 18);
  REQUIRE(f.restore(8)->tokens == token_range{0, 8});
  const pave::step_id launched = f.step;
  f.step = f.cache.begin_step().value();
  f.take(id, 3);
  REQUIRE(f.cache.progress(id)->scheduled == 8);
  REQUIRE(f.cache.offer_prefix(id, content).has_value());
  SECTION("not yet") { REQUIRE(f.restore()->tokens == token_range{8, 18}); }
  SECTION("but once it is done") {
    REQUIRE(f.cache.complete(launched).has_value());
    REQUIRE(f.restore()->found == token_range{8, 12});
  }
}

TEST_CASE("next_restore: tokens that a step in flight computes are not found", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.running(0, 8);
  REQUIRE(f.grow(id, 8).has_value());
  f.step = f.cache.begin_step().value();
  f.take(id, 4);
  REQUIRE(f.restore()->found == token_range{0, 8});
  REQUIRE(f.cache.snapshot().tokens_revived == 8);
  REQUIRE(f.cache.snapshot().tokens_restored == 8);
}

TEST_CASE("next_restore: free blocks that are found count against what is available", "[cache]") {
  fixture f(small(5));
  const pave::sequence_id id = f.parked(0, 16, 1);
  const std::vector<pave::block_id> outside = f.take_outside(1);  // one that was never used
  const pave::result<pave::restore> refused = f.restore();
  REQUIRE(refused.code() == errc::shortage);
  REQUIRE(refused.error().missing == 1);
  REQUIRE(f.held(id) == 1);
  REQUIRE(f.cache.pool().release(outside).has_value());
  REQUIRE(f.restore()->found == token_range{4, 16});
  REQUIRE(f.available() == 0);
}

TEST_CASE("next_restore: what others hold of a gap costs nothing", "[cache]") {
  fixture f(small(6));
  const pave::sequence_id id = f.running(0, 16);
  const std::vector<pave::block_id> shared = f.share(id, {2, 3});
  f.take(id, 3, 1);
  REQUIRE(f.available() == 3);
  const std::vector<pave::block_id> outside = f.take_outside(2);  // those that were never used
  REQUIRE(f.restore().error().missing == 1);
  REQUIRE(f.cache.pool().release({outside.data(), 1}).has_value());
  const pave::restore back = f.restore().value();
  REQUIRE(back.found == token_range{4, 16});
  REQUIRE(back.blocks == pave::block_range{1, 5});
  REQUIRE(f.available() == 0);
  for (const pave::block_id block : shared) REQUIRE(f.cache.pool().holders(block) == 2);
}

TEST_CASE("reset: no content is found again", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.running(0, 16);
  const pave::sequence_id stopped = f.parked(1, 12, 1);
  const std::vector<pave::kept_block> content = f.content(id, 4);
  f.cache.reset();
  for (const pave::kept_block& kept : content) REQUIRE_FALSE(f.cache.pool().is_kept(kept));
  SECTION("of a sequence's own") {
    REQUIRE(f.restore()->tokens == token_range{0, 17});
    REQUIRE(f.restore()->sequence == stopped);
  }
  SECTION("of what is offered") {
    REQUIRE(f.cache.offer_prefix(id, content).has_value());
    REQUIRE(f.restore()->found.empty());
    REQUIRE(f.restore()->found.empty());
  }
  REQUIRE(f.cache.snapshot().tokens_revived == 0);
  REQUIRE(f.cache.snapshot().tokens_cached == 0);
}

TEST_CASE("reset: a sequence does not even find what others hold of it", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.running(0, 16);
  const std::vector<pave::block_id> shared = f.share(id, {0, 1});
  f.cache.reset();
  REQUIRE(f.available() == 14);
  REQUIRE(f.restore()->tokens == token_range{0, 17});
  for (const pave::block_id block : shared) REQUIRE(f.cache.pool().holders(block) == 1);
}

TEST_CASE("truncate: what is taken back is not found again, and what is before it is", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.running(0, 16);
  const std::vector<pave::kept_block> content = f.content(id, 4);
  const auto kept = [&] {
    std::vector<bool> are_kept;
    for (const pave::kept_block& block : content) are_kept.push_back(f.cache.pool().is_kept(block));
    return are_kept;
  };
  SECTION("within a block that others do not hold: it is to be written anew") {
    REQUIRE(f.cache.truncate(id, 14).has_value());
    REQUIRE(f.held(id) == 4);
    REQUIRE(kept() == std::vector<bool>{true, true, true, false});
    REQUIRE(f.content(id, 4)[3].block == content[3].block);
    REQUIRE(f.cache.gap(id)->empty());
  }
  SECTION("at the end of a block") {
    REQUIRE(f.cache.truncate(id, 12).has_value());
    REQUIRE(kept() == std::vector<bool>{true, true, true, false});
    REQUIRE(f.cache.truncate(id, 12).has_value());
    REQUIRE(kept() == std::vector<bool>{true, true, true, false});
  }
  SECTION("blocks behind it") {
    REQUIRE(f.cache.truncate(id, 5).has_value());
    REQUIRE(kept() == std::vector<bool>{true, false, false, false});
  }
  SECTION("of a sequence that lost it") {
    f.take(id, 3);
    REQUIRE(f.cache.truncate(id, 10).has_value());
    REQUIRE(kept() == std::vector<bool>{true, true, true, true});
    REQUIRE(f.restore()->found == token_range{4, 8});
    f.next_step();
    REQUIRE(f.grow(id, 8).has_value());
    f.next_step();
    f.take(id, 4);
    REQUIRE(f.restore()->found == token_range{4, 16});
    REQUIRE(f.table(id)[2] != content[2].block);
  }
  SECTION("where the sequence ends then") {
    REQUIRE(f.cache.truncate(id, 6).has_value());
    REQUIRE(f.cache.finish(id).has_value());
    REQUIRE(kept() == std::vector<bool>{true, false, false, false});
  }
}

TEST_CASE("truncate: a block that others hold keeps its content for them", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.running(0, 16);
  const std::vector<pave::kept_block> content = f.content(id, 4);
  const std::vector<pave::block_id> shared = f.share(id, {1});
  REQUIRE(f.cache.truncate(id, 6).has_value());
  REQUIRE(f.held(id) == 1);
  REQUIRE(f.cache.gap(id).value() == token_range{4, 6});
  REQUIRE(f.cache.pool().is_kept(content[1]));
  REQUIRE(f.cache.pool().holders(content[1].block) == 1);
  REQUIRE(f.grow(id, 4)->blocks == pave::block_range{1, 2});
  REQUIRE(f.table(id)[1] != content[1].block);
  REQUIRE(f.cache.pool().is_kept(content[1]));
  REQUIRE(f.cache.snapshot().tokens_lost == 2);
  REQUIRE(f.cache.snapshot().tokens_restored == 2);
}

TEST_CASE("finish and abort: full blocks keep their content, others do not", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.running(0, 10);
  const std::vector<pave::kept_block> content = f.content(id, 3);
  REQUIRE((GENERATE(false, true) ? f.cache.abort(id) : f.cache.finish(id)).has_value());
  REQUIRE(f.available() == 16);
  REQUIRE(f.cache.pool().is_kept(content[0]));
  REQUIRE(f.cache.pool().is_kept(content[1]));
  REQUIRE_FALSE(f.cache.pool().is_kept(content[2]));
}

TEST_CASE("finish and abort: what a sequence noted is not found by the next one of its slot", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.parked(0, 16, 0);
  REQUIRE(f.cache.finish(id).has_value());
  const pave::sequence_id heir = f.admit(0, 16);
  REQUIRE(heir.slot == id.slot);
  REQUIRE(f.restore()->found.empty());
}
