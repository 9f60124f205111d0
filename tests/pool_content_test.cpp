// SPDX-License-Identifier: Apache-2.0
// What a pool says of the content of its blocks: how long it is kept, and what ends it.
#include "support/catch.hpp"
#include "support/keeping.hpp"
#include "support/laws.hpp"

#include <pave/pool.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace {

using pave::block_id;
using pave::content;
using pave::errc;
using pave::kept_block;
using pave_tests::check_conservation;
using pave_tests::contents;
using pave_tests::counting;
using pave_tests::drain;
using pave_tests::face;
using pave_tests::fill_and_release;
using pave_tests::keeping_pool;
using pave_tests::pool_of;
using pave_tests::take;
using pave_tests::values;

static_assert(!pave::block_pool<>::keeps_content);
static_assert(keeping_pool::keeps_content);

static_assert(noexcept(std::declval<keeping_pool&>().acquire({}, {})));
static_assert(noexcept(std::declval<keeping_pool&>().content_of(0)));
static_assert(noexcept(std::declval<keeping_pool&>().is_kept({})));
static_assert(noexcept(std::declval<keeping_pool&>().overwrite(0)));
static_assert(noexcept(std::declval<keeping_pool&>().forget_content()));

}  // namespace

TEST_CASE("block_pool: the content of a block that is free or out of range cannot be asked for", "[pool]") {
  auto pool = pool_of<keeping_pool>(3);
  const auto held = take(pool, 2);
  for (const block_id block : held) {
    REQUIRE(pool.content_of(block));
    CHECK(pool.content_of(block)->block == block);
    CHECK(pool.content_of(block)->generation != 0);
  }
  for (const block_id block : {block_id(2), block_id(3), block_id(4), block_id(), block_id(-1),
                               block_id((std::numeric_limits<std::int32_t>::max)())}) {
    CHECK(pool.content_of(block).code() == errc::not_held);
  }
  REQUIRE(pool.release(held));
  CHECK(pool.content_of(held[0]).code() == errc::not_held);
  CHECK(pool.is_kept({held[0], 1}));
}

TEST_CASE("block_pool: content is kept while its block is held, and free until the block is reused", "[pool]") {
  auto pool = pool_of<keeping_pool>(4);
  const auto held = take(pool, 2);
  const auto notes = contents(pool, held);
  REQUIRE(pool.share({held.data(), 1}));
  CHECK(pool.is_kept(notes[0]));
  REQUIRE(pool.release(held));
  CHECK(pool.is_kept(notes[0]));
  CHECK(pool.is_kept(notes[1]));
  REQUIRE(pool.release({held.data(), 1}));
  CHECK(pool.is_kept(notes[0]));
  CHECK(pool.available().value() == 4);

  CHECK(values(take(pool, 3)) == std::vector<std::int32_t>{2, 3, 1});
  CHECK(pool.is_kept(notes[0]));
  CHECK_FALSE(pool.is_kept(notes[1]));
  const kept_block next = pool.content_of(1).value();
  CHECK(next != notes[1]);
  CHECK(pool.is_kept(next));
  check_conservation(pool);
}

TEST_CASE("block_pool: no content that nobody was told of is kept", "[pool]") {
  auto pool = pool_of<keeping_pool>(3);
  const auto held = take(pool, 2);
  const kept_block known = pool.content_of(held[0]).value();
  CHECK_FALSE(pool.is_kept({}));
  for (const block_id block :
       {block_id(), block_id(-1), block_id(3), block_id(4), block_id((std::numeric_limits<std::int32_t>::max)())}) {
    CHECK_FALSE(pool.is_kept({block, 0}));
    CHECK_FALSE(pool.is_kept({block, 1}));
    CHECK_FALSE(pool.is_kept({block, known.generation}));
    const kept_block forged{block, known.generation};
    CHECK(pool.acquire({&forged, 1}, {}).code() == errc::stale);
  }
  for (const block_id block : {block_id(0), block_id(1), block_id(2)}) CHECK_FALSE(pool.is_kept({block, 0}));
  for (const std::uint32_t more : {1U, 2U, 0x7fffffffU, 0x80000000U, 0xfffffffeU, 0xffffffffU}) {
    CHECK_FALSE(pool.is_kept({known.block, known.generation + more}));
  }
  // Block 2 was never given out.
  for (const std::uint32_t generation : {0U, 1U, 2U, 0xffffffffU}) CHECK_FALSE(pool.is_kept({2, generation}));
}

TEST_CASE("block_pool: each time that a block is given out fresh, its content is another", "[pool]") {
  auto pool = pool_of<keeping_pool>(1);
  std::vector<kept_block> notes;
  for (int i = 0; i < 50; ++i) {
    const auto held = take(pool, 1);
    notes.push_back(pool.content_of(0).value());
    for (std::size_t older = 0; older + 1 < notes.size(); ++older) CHECK_FALSE(pool.is_kept(notes[older]));
    CHECK(pool.is_kept(notes.back()));
    REQUIRE(pool.release(held, {}, i % 2 == 0 ? content::worth_keeping : content::worthless));
    CHECK(pool.is_kept(notes.back()) == (i % 2 == 0));
  }
}

TEST_CASE("block_pool: what is free but kept is available like any other", "[pool]") {
  auto pool = pool_of<keeping_pool>(4);
  const auto notes = fill_and_release(pool);
  CHECK(pool.available().value() == 4);
  CHECK(pool.held().value() == 0);
  for (const kept_block& note : notes) {
    CHECK(pool.is_kept(note));
    CHECK(pool.holders(note.block) == 0);
  }
  CHECK(drain(pool) == counting(0, 4));
  for (const kept_block& note : notes) CHECK_FALSE(pool.is_kept(note));
}

TEST_CASE("block_pool: content that was left as worthless is not kept, and its blocks go out first", "[pool]") {
  auto pool = pool_of<keeping_pool>(6);
  const auto held = take(pool, 6);
  const auto notes = contents(pool, held);
  const block_id useful[] = {4, 1};
  const block_id useless[] = {3, 0, 5};
  REQUIRE(pool.release({useful, 1}));
  REQUIRE(pool.release(useless, {}, content::worthless));
  REQUIRE(pool.release({useful + 1, 1}, {}, content::worth_keeping));
  for (const std::size_t block : {3U, 0U, 5U}) {
    CHECK_FALSE(pool.is_kept(notes[block]));
    CHECK(pool.acquire({&notes[block], 1}, {}).code() == errc::stale);
  }
  for (const std::size_t block : {4U, 1U, 2U}) CHECK(pool.is_kept(notes[block]));
  check_conservation(pool);
  CHECK(drain(pool) == std::vector<std::int32_t>{5, 0, 3, 4, 1});
}

TEST_CASE("block_pool: the last holder says whether the content is worth keeping", "[pool]") {
  const bool last_keeps = GENERATE(true, false);
  auto pool = pool_of<keeping_pool>(3);
  const auto held = take(pool, 1);
  const kept_block note = pool.content_of(0).value();
  REQUIRE(pool.share(held));
  REQUIRE(pool.release(held, {}, last_keeps ? content::worthless : content::worth_keeping));
  CHECK(pool.is_kept(note));
  CHECK(pool.content_of(0).value() == note);
  REQUIRE(pool.release(held, {}, last_keeps ? content::worth_keeping : content::worthless));
  CHECK(pool.is_kept(note) == last_keeps);
  CHECK(drain(pool) == (last_keeps ? std::vector<std::int32_t>{1, 2, 0} : counting(0, 3)));
}

TEST_CASE("block_pool: one release of all holders of a block leaves its content once", "[pool]") {
  const content left = GENERATE(content::worth_keeping, content::worthless);
  auto pool = pool_of<keeping_pool>(3);
  const auto held = take(pool, 3);
  const auto notes = contents(pool, held);
  REQUIRE(pool.share({held.data() + 1, 1}));
  const block_id named[] = {1, 0, 1};
  REQUIRE(pool.release(named, {}, left));
  CHECK(pool.available().value() == 2);
  CHECK(pool.is_kept(notes[0]) == (left == content::worth_keeping));
  CHECK(pool.is_kept(notes[1]) == (left == content::worth_keeping));
  CHECK(pool.is_kept(notes[2]));
  check_conservation(pool);
  CHECK(drain(pool) ==
        (left == content::worthless ? std::vector<std::int32_t>{0, 1} : std::vector<std::int32_t>{1, 0}));
}

TEST_CASE("block_pool: a refused release leaves all content, also where it was to be worthless", "[pool]") {
  const block_id bad = GENERATE(block_id(2), block_id(3), block_id(4), block_id(), block_id(0));
  auto pool = pool_of<keeping_pool>(4);
  auto twin = pool_of<keeping_pool>(4);
  const auto all = fill_and_release(pool);
  CHECK(fill_and_release(twin) == all);
  REQUIRE(pool.acquire({all.data(), 2}, {}));
  REQUIRE(twin.acquire({all.data(), 2}, {}));
  const auto before = face(pool, all);
  for (std::size_t at = 0; at <= 2; ++at) {
    std::vector<block_id> named{0, 1};
    named.insert(named.begin() + static_cast<std::ptrdiff_t>(at), bad);
    CHECK(pool.release(named, 3, content::worthless).code() == errc::not_held);
    CHECK(face(pool, all) == before);
  }
  CHECK(drain(pool) == drain(twin));
}

TEST_CASE("block_pool: what its only holder overwrites cannot be asked for any more", "[pool]") {
  auto pool = pool_of<keeping_pool>(3);
  const auto held = take(pool, 2);
  const auto notes = contents(pool, held);
  REQUIRE(pool.overwrite(0));
  CHECK_FALSE(pool.is_kept(notes[0]));
  CHECK(pool.is_kept(notes[1]));
  CHECK(pool.acquire({notes.data(), 1}, {}).code() == errc::stale);
  CHECK(pool.holders(0) == 1);
  CHECK(pool.available().value() == 1);
  const kept_block now = pool.content_of(0).value();
  CHECK(now != notes[0]);
  CHECK(pool.is_kept(now));
  REQUIRE(pool.release(held));
  CHECK_FALSE(pool.is_kept(notes[0]));
  REQUIRE(pool.acquire({&now, 1}, {}));
  CHECK(pool.holders(0) == 1);
  CHECK(drain(pool) == std::vector<std::int32_t>{2, 1});
}

TEST_CASE("block_pool: what others hold too is not overwritten, nor what nobody holds", "[pool]") {
  auto pool = pool_of<keeping_pool>(3);
  const auto held = take(pool, 2);
  const auto notes = contents(pool, held);
  REQUIRE(pool.share({held.data(), 1}));
  CHECK(pool.overwrite(0).code() == errc::busy);
  CHECK(pool.is_kept(notes[0]));
  CHECK(pool.content_of(0).value() == notes[0]);
  CHECK(pool.holders(0) == 2);
  REQUIRE(pool.release({held.data(), 1}));
  REQUIRE(pool.overwrite(0));

  REQUIRE(pool.release({held.data() + 1, 1}));
  for (const block_id block : {block_id(1), block_id(2), block_id(3), block_id(), block_id(-1),
                               block_id((std::numeric_limits<std::int32_t>::max)())}) {
    CHECK(pool.overwrite(block).code() == errc::not_held);
  }
  CHECK(pool.is_kept(notes[1]));
}

TEST_CASE("block_pool: a pool can forget all content of free blocks, and none of held ones", "[pool]") {
  auto pool = pool_of<keeping_pool>(7);
  auto twin = pool_of<keeping_pool>(7);
  const auto release_some = [](keeping_pool& any) {
    const auto held = take(any, 6);  // block 6 never had content
    const auto notes = contents(any, held);
    const block_id free[] = {4, 0, 3};
    REQUIRE(any.release({free, 2}));
    REQUIRE(any.release({free + 2, 1}, {}, content::worthless));
    REQUIRE(any.share({held.data() + 2, 1}));
    return notes;
  };
  const auto notes = release_some(pool);
  CHECK(release_some(twin) == notes);
  pool.forget_content();
  for (const std::size_t block : {0U, 3U, 4U}) {
    CHECK_FALSE(pool.is_kept(notes[block]));
    CHECK(pool.acquire({&notes[block], 1}, {}).code() == errc::stale);
  }
  for (const std::size_t block : {1U, 2U, 5U}) {
    CHECK(pool.is_kept(notes[block]));
    CHECK(pool.content_of(block).value() == notes[block]);
  }
  CHECK(pave_tests::all_holders(pool) == pave_tests::all_holders(twin));
  CHECK(pool.available() == twin.available());
  check_conservation(pool);
  CHECK(drain(pool) == drain(twin));
  for (const std::size_t block : {0U, 3U, 4U}) CHECK_FALSE(pool.is_kept(notes[block]));
}

TEST_CASE("block_pool: after it forgot, what is released keeps its content again", "[pool]") {
  auto pool = pool_of<keeping_pool>(2);
  static_cast<void>(fill_and_release(pool));
  pool.forget_content();
  pool.forget_content();
  const auto notes = fill_and_release(pool);
  for (const kept_block& note : notes) CHECK(pool.is_kept(note));
  REQUIRE(pool.acquire(notes, {}));
  check_conservation(pool);
}

TEST_CASE("block_pool: a pool that keeps no content says so, and does all else", "[pool]") {
  auto pool = pool_of<pave::block_pool<>>(3);
  const auto held = take(pool, 2);
  const kept_block note = pool.content_of(0).value();
  CHECK(note == kept_block{0, 0});
  CHECK_FALSE(pool.is_kept(note));
  CHECK_FALSE(pool.is_kept({0, 1}));
  CHECK_FALSE(pool.is_kept({}));
  CHECK(pool.content_of(2).code() == errc::not_held);
  CHECK(pool.content_of(block_id()).code() == errc::not_held);
  CHECK(pool.overwrite(0));
  CHECK(pool.overwrite(2).code() == errc::not_held);
  REQUIRE(pool.share({held.data(), 1}));
  CHECK(pool.overwrite(0).code() == errc::busy);
  pool.forget_content();
  CHECK(pool.holders(0) == 2);
  CHECK(pool.available().value() == 1);
  REQUIRE(pool.release({held.data(), 1}, {}, content::worthless));
  REQUIRE(pool.release(held, {}, content::worthless));
  CHECK(drain(pool) == std::vector<std::int32_t>{1, 0, 2});
}

TEST_CASE("block_pool: with a queue of free blocks, worthless ones go out first also where no content is kept",
          "[pool]") {
  struct queued : pave::pool_policies {
    using free_list = pave::least_recently_released;
  };
  auto pool = pool_of<pave::block_pool<queued>>(4);
  static_cast<void>(take(pool, 4));
  const block_id order[] = {2, 0, 3, 1};
  REQUIRE(pool.release({order, 1}));
  REQUIRE(pool.release({order + 1, 2}, {}, content::worthless));
  REQUIRE(pool.release({order + 3, 1}));
  CHECK(drain(pool) == std::vector<std::int32_t>{3, 0, 2, 1});
}

TEST_CASE("block_pool: a moved pool keeps its content, and a moved-from one has none", "[pool]") {
  auto pool = pool_of<keeping_pool>(4);
  const auto notes = fill_and_release(pool);
  REQUIRE(pool.acquire({notes.data() + 2, 1}, {}));
  const auto before = face(pool, notes);
  const auto check_empty = [&notes](keeping_pool& empty) {
    CHECK(empty.capacity().value() == 0);
    CHECK(empty.available().value() == 0);
    CHECK(empty.held().value() == 0);
    for (const kept_block& note : notes) {
      CHECK_FALSE(empty.is_kept(note));
      CHECK(empty.acquire({&note, 1}, {}).code() == errc::stale);
      CHECK(empty.content_of(note.block).code() == errc::not_held);
      CHECK(empty.overwrite(note.block).code() == errc::not_held);
    }
    CHECK_FALSE(empty.is_kept({}));
    empty.forget_content();
    CHECK(empty.acquire({}, {}));
    CHECK(empty.allocate({}));
    std::vector<block_id> one(1);
    CHECK(empty.acquire({}, one).code() == errc::never_fits);
    CHECK(empty.acquire({}, one).error().missing.value() == 1);
    CHECK(empty.acquire(notes, one).code() == errc::stale);
  };

  keeping_pool moved = std::move(pool);
  check_empty(pool);  // NOLINT(bugprone-use-after-move)
  CHECK(face(moved, notes) == before);
  auto assigned = pool_of<keeping_pool>(9);
  static_cast<void>(fill_and_release(assigned));
  assigned = std::move(moved);
  check_empty(moved);  // NOLINT(bugprone-use-after-move)
  CHECK(face(assigned, notes) == before);
  REQUIRE(assigned.acquire({notes.data(), 1}, {}));
  CHECK(drain(assigned) == std::vector<std::int32_t>{1, 3});

  keeping_pool never_made;
  check_empty(never_made);
}
