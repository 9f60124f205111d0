// SPDX-License-Identifier: Apache-2.0
// Who takes tokens back, and writes others in their place, while a step in flight of one that let go still uses these.
#include "cache_fence_fixture.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <cstdint>
#include <optional>

namespace {

using pave::sequence_state;
using pave_tests::small_with_steps;
using fixture = pave_tests::fence_fixture<>;

bool is_copy(const std::optional<pave::block_copy>& copy, pave::block_id from, pave::block_id to, std::int64_t tokens) {
  return copy && copy->from == from && copy->to == to && copy->tokens == tokens;
}

/// Launches a step that writes the third token of a sequence, of which a fork then shares one block of four.
template <class Fixture = fixture>
struct forked : Fixture {
  explicit forked(std::int64_t blocks = 8) : Fixture(small_with_steps(blocks)) {
    parent = this->running(1, 2);
    REQUIRE(this->grow(parent, 1)->tokens == pave::token_range{2, 3});
    in_flight = this->step;
    this->begin();
    child = this->cache.fork(parent, 0).value();
    block = this->table(child)[0];
  }
  pave::sequence_id parent, child;
  pave::step_id in_flight;
  pave::block_id block;
};

}  // namespace

TEST_CASE("truncate: a fork does not rewrite what a step in flight of the other one, which ended, still writes",
          "[cache][fence][fork]") {
  forked<> f;
  const bool is_taken_back_first = GENERATE(false, true);
  if (is_taken_back_first) REQUIRE(f.cache.truncate(f.child, 2).has_value());
  f.abort(f.parent);
  if (!is_taken_back_first) REQUIRE(f.cache.truncate(f.child, 2).has_value());
  REQUIRE(f.cache.pool().holders(f.block) == 1);
  SECTION("but gets a copy, once") {
    const pave::growth grown = f.grow(f.child, 1).value();
    REQUIRE(grown.tokens == pave::token_range{2, 3});
    REQUIRE(is_copy(grown.copy, f.block, f.table(f.child)[0], 2));
    REQUIRE(f.fenced() == 1);
    REQUIRE_FALSE(f.grow(f.child, 1)->copy);
  }
  SECTION("but gets one, too, where it was stopped meanwhile, and what it wrote was not run") {
    REQUIRE(f.grow(f.child, 1)->copy);
    const pave::block_id own = f.table(f.child)[0];
    REQUIRE(f.cache.park(f.child).has_value());
    const pave::restore back = f.restore().value();
    REQUIRE(back.tokens == pave::token_range{2, 3});
    REQUIRE_FALSE(back.copy);
    REQUIRE(f.table(f.child)[0] == own);
  }
  SECTION("but where it waits, it comes in with a copy") {
    REQUIRE(f.cache.park(f.child).has_value());
    const pave::restore back = f.restore().value();
    REQUIRE(is_copy(back.copy, f.block, f.table(f.child)[0], 2));
  }
  SECTION("but a fork of it gets a copy, too") {
    const pave::sequence_id grandchild = f.cache.fork(f.child, 0).value();
    REQUIRE(f.grow(grandchild, 1)->copy);
    REQUIRE(f.grow(f.child, 1)->copy);
    REQUIRE(f.fenced() == 1);
  }
  SECTION("until that step is done") {
    f.complete(f.in_flight);
    REQUIRE_FALSE(f.grow(f.child, 1)->copy);
    REQUIRE(f.table(f.child)[0] == f.block);
  }
}

TEST_CASE("truncate: a fork does not rewrite what a step in flight of the other one writes, which gave it up",
          "[cache][fence][fork]") {
  forked<> f;
  REQUIRE(f.cache.truncate(f.child, 2).has_value());
  REQUIRE(f.cache.truncate(f.parent, 0).has_value());
  REQUIRE(f.held(f.parent) == 0);
  REQUIRE(f.grow(f.child, 1)->copy);
}

TEST_CASE("fork: what the other one has in flight is no matter where nothing was taken back", "[cache][fence][fork]") {
  forked<> f;
  if (GENERATE(false, true)) REQUIRE(f.cache.truncate(f.child, 3).has_value());  // which it has
  f.abort(f.parent);
  const pave::growth grown = f.grow(f.child, 1).value();
  REQUIRE(grown.tokens == pave::token_range{3, 4});
  REQUIRE_FALSE(grown.copy);
  REQUIRE(f.table(f.child)[0] == f.block);
}

TEST_CASE("truncate: on one stream a fork rewrites what the other one has in flight", "[cache][fork]") {
  forked<pave_tests::fence_fixture<pave::cache_policies>> f;
  f.abort(f.parent);
  REQUIRE(f.cache.truncate(f.child, 2).has_value());
  REQUIRE_FALSE(f.grow(f.child, 1)->copy);
  REQUIRE(f.table(f.child)[0] == f.block);
}

TEST_CASE("truncate: what a sequence has in flight itself it rewrites", "[cache][fence]") {
  fixture f(small_with_steps(4));
  const pave::sequence_id id = f.running(0, 2);
  const pave::block_id block = f.table(id)[0];
  for (std::int64_t drafts = 0; drafts < 2; ++drafts) {
    REQUIRE_FALSE(f.grow(id, 2)->copy);
    f.begin();
    REQUIRE(f.cache.truncate(id, 2).has_value());
    REQUIRE(f.held(id) == 1);
    REQUIRE(f.cache.gap(id)->empty());
    REQUIRE_FALSE(f.grow(id, 1)->copy);
    REQUIRE(f.cache.truncate(id, 2).has_value());
  }
  REQUIRE(f.table(id)[0] == block);
  REQUIRE(f.fenced() == 0);
}

TEST_CASE("fork: what the open step wrote of the other one is not rewritten while a later step reads it",
          "[cache][fence][fork]") {
  fixture f(small_with_steps(8));
  const pave::sequence_id parent = f.running(1, 2);
  REQUIRE(f.grow(parent, 2).has_value());
  const pave::step_id writes = f.step;
  const pave::sequence_id child = f.cache.fork(parent, 0).value();  // shares two tokens
  f.begin();
  REQUIRE(f.grow(parent, 1)->blocks == pave::block_range{1, 2});  // and reads the first block
  const pave::step_id reads = f.step;
  f.begin();
  f.complete(writes);
  f.abort(parent);
  const bool is_done = GENERATE(false, true);
  if (is_done) f.complete(reads);
  REQUIRE(f.grow(child, 1)->copy.has_value() != is_done);
}

TEST_CASE("fork: what was withdrawn from the open step is nothing that a fork would rewrite", "[cache][fence][fork]") {
  fixture f(small_with_steps(8));
  const pave::sequence_id parent = f.running(1, 2);
  REQUIRE(f.grow(parent, 2).has_value());
  const pave::sequence_id child = f.cache.fork(parent, 0).value();
  REQUIRE(f.cache.park(parent).has_value());
  f.abort(parent);
  REQUIRE_FALSE(f.grow(child, 1)->copy);
}

TEST_CASE("truncate: a block that a transfer in flight has let go of is not rewritten", "[cache][fence][pin]") {
  fixture f(small_with_steps(4));
  const pave::sequence_id id = f.running(0, 3);
  const pave::block_id block = f.table(id)[0];
  const bool is_pinned = GENERATE(false, true);
  if (is_pinned) {
    const pave::pin_token token = f.cache.pool().pin({&block, 1}).value();
    REQUIRE(f.cache.pool().unpin(token, f.step).has_value());
  } else {
    REQUIRE(f.cache.pool().share({&block, 1}).has_value());
    REQUIRE(f.cache.pool().release({&block, 1}, f.step).has_value());
  }
  REQUIRE(f.cache.pool().holders(block) == 1);
  const pave::step_id in_flight = f.step;
  f.begin();
  SECTION("but given up, and its tokens come back") {
    REQUIRE(f.cache.truncate(id, 2).has_value());
    REQUIRE(f.held(id) == 0);
    REQUIRE(f.fenced() == 1);
    REQUIRE(f.grow(id, 2)->tokens == pave::token_range{0, 2});
    REQUIRE(f.table(id)[0] != block);
  }
  SECTION("until that step is done") {
    f.complete(in_flight);
    REQUIRE(f.cache.truncate(id, 2).has_value());
    REQUIRE(f.grow(id, 1)->tokens == pave::token_range{2, 3});
    REQUIRE(f.table(id)[0] == block);
  }
  SECTION("but written on") {
    REQUIRE(f.cache.truncate(id, 3).has_value());  // which takes nothing back
    REQUIRE(f.grow(id, 1)->tokens == pave::token_range{3, 4});
    REQUIRE(f.table(id)[0] == block);
  }
}

TEST_CASE("truncate: a fork gets a copy of what a transfer in flight has let go of since", "[cache][fence][pin]") {
  fixture f(small_with_steps(4));
  const pave::sequence_id parent = f.running(0, 3);
  const pave::sequence_id id = f.cache.fork(parent, 0).value();
  f.finish(parent);
  const pave::block_id block = f.table(id)[0];
  const pave::pin_token token = f.cache.pool().pin({&block, 1}).value();
  REQUIRE(f.cache.truncate(id, 2).has_value());
  const pave::step_id in_flight = f.step;
  f.begin();
  REQUIRE(f.cache.pool().unpin(token, in_flight).has_value());
  const pave::growth grown = f.grow(id, 1).value();
  REQUIRE(is_copy(grown.copy, block, f.table(id)[0], 2));
}

TEST_CASE("truncate: where no block is left for the copy, others are cut for one, or it waits",
          "[cache][fence][fork]") {
  forked<> f(2);
  REQUIRE(f.cache.truncate(f.child, 2).has_value());
  SECTION("another one's, as long as the other holder's step is in flight") {
    const pave::sequence_id third = f.admit(2, 4);
    REQUIRE(f.restore()->sequence == third);
    REQUIRE(f.grow(f.child, 1)->copy);
    REQUIRE(f.only_cut(third, {0, 1}, false));
    REQUIRE(f.held(f.parent) == 1);
  }
  SECTION("the other holder's use of it, once its step is done") {
    static_cast<void>(f.take_outside(1));
    REQUIRE(f.grow(f.child, 1).code() == pave::errc::shortage);
    REQUIRE(f.held(f.parent) == 1);
    REQUIRE(f.state(f.child) == sequence_state::parked);
    REQUIRE(f.cache.park(f.parent).has_value());
    REQUIRE(f.restore().code() == pave::errc::shortage);
    f.complete(f.in_flight);
    const pave::restore back = f.restore().value();
    REQUIRE(back.sequence == f.child);
    REQUIRE_FALSE(back.copy);
    REQUIRE(f.table(f.child)[0] == f.block);
    REQUIRE(f.held(f.parent) == 0);
  }
}
