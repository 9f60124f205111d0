// SPDX-License-Identifier: Apache-2.0
// Acquire: blocks by their content and fresh ones in one call, all or nothing.
#include "model/random.hpp"
#include "support/at_most.hpp"
#include "support/catch.hpp"
#include "support/keeping.hpp"
#include "support/laws.hpp"

#include <pave/pool.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using pave::block_id;
using pave::content;
using pave::errc;
using pave::kept_block;
using pave_tests::at_most;
using pave_tests::basic_keeping_pool;
using pave_tests::check_conservation;
using pave_tests::contents;
using pave_tests::counting;
using pave_tests::drain;
using pave_tests::expect;
using pave_tests::face;
using pave_tests::fill_and_release;
using pave_tests::keeping_pool;
using pave_tests::pool_of;
using pave_tests::take;
using pave_tests::values;

/// Six blocks in a mixed order, some of them held, and the content of each. 0 and 1 are held, by one and by two; of the
/// free ones 4 goes out first, and what was in it is gone; then 5, 2, 3.
template <class Pool>
struct scene {
  Pool pool = pool_of<Pool>(6);
  std::vector<kept_block> notes;

  scene() {
    const auto all = take(pool, 6);
    notes = contents(pool, all);
    const block_id free[] = {5, 2, 3, 4};
    REQUIRE(pool.release({free, 3}));
    REQUIRE(pool.release({free + 3, 1}, {}, content::worthless));
    REQUIRE(pool.share({all.data() + 1, 1}));
  }
};

/// Acquires on a scene what must be refused, and sees that nothing else became of it, down to the order of the blocks.
template <class Pool = keeping_pool>
pave::error refused(const std::vector<kept_block>& revive, std::size_t fresh) {
  scene<Pool> asked;
  scene<Pool> twin;
  const auto before = face(asked.pool, asked.notes);
  expect(before == face(twin.pool, twin.notes), "the same calls give the same pool");
  std::vector<block_id> out(fresh, 1234);
  const auto got = asked.pool.acquire(revive, out);
  expect(!got.has_value(), "it is refused");
  expect(out == std::vector<block_id>(fresh, 1234), "no block was named");
  expect(face(asked.pool, asked.notes) == before, "nothing that can be seen has changed");
  expect(drain(asked.pool) == drain(twin.pool), "nor has the order of the blocks");
  return got.error();
}

}  // namespace

TEST_CASE("block_pool: a free block is revived by its content, and has one holder", "[pool]") {
  auto pool = pool_of<keeping_pool>(5);
  const auto notes = fill_and_release(pool);
  const kept_block two[] = {notes[3], notes[1]};
  REQUIRE(pool.acquire(two, {}));
  CHECK(pave_tests::all_holders(pool) == std::vector<std::uint32_t>{0, 1, 0, 1, 0});
  CHECK(pool.available().value() == 3);
  CHECK(pool.held().value() == 2);
  CHECK(pool.content_of(3).value() == notes[3]);
  CHECK(pool.content_of(1).value() == notes[1]);
  for (const kept_block& note : notes) CHECK(pool.is_kept(note));
  check_conservation(pool);
  CHECK(drain(pool) == std::vector<std::int32_t>{0, 2, 4});
}

TEST_CASE("block_pool: a block is revived again and again, and goes to the back of the queue each time", "[pool]") {
  auto pool = pool_of<keeping_pool>(3);
  const auto notes = fill_and_release(pool);
  for (int i = 0; i < 5; ++i) {
    REQUIRE(pool.acquire({notes.data(), 1}, {}));
    CHECK(pool.content_of(0).value() == notes[0]);
    const block_id zero = 0;
    REQUIRE(pool.release({&zero, 1}));
  }
  CHECK(drain(pool) == std::vector<std::int32_t>{1, 2, 0});
}

TEST_CASE("block_pool: a held block gets one holder more, whoever asks by its content", "[pool]") {
  auto pool = pool_of<keeping_pool>(3);
  const auto held = take(pool, 1);
  const auto notes = contents(pool, held);
  for (std::uint32_t holders = 2; holders < 6; ++holders) {
    REQUIRE(pool.acquire(notes, {}));
    CHECK(pool.holders(0) == holders);
    CHECK(pool.available().value() == 2);
    CHECK(pool.held().value() == 1);
    check_conservation(pool);
  }
  for (int i = 0; i < 5; ++i) REQUIRE(pool.release(held));
  CHECK(pool.release(held).code() == errc::not_held);
  CHECK(pool.is_kept(notes[0]));
  CHECK(drain(pool) == std::vector<std::int32_t>{1, 2, 0});
}

TEST_CASE("block_pool: a block that one acquire names twice gets two holders, free or held", "[pool]") {
  auto pool = pool_of<keeping_pool>(4);
  const auto notes = fill_and_release(pool);
  REQUIRE(pool.acquire({notes.data() + 2, 1}, {}));
  const kept_block named[] = {notes[0], notes[2], notes[0], notes[2], notes[0]};
  REQUIRE(pool.acquire(named, {}));
  CHECK(pave_tests::all_holders(pool) == std::vector<std::uint32_t>{3, 0, 3, 0});
  CHECK(pool.available().value() == 2);
  check_conservation(pool);
  const block_id zero[] = {0, 0, 0};
  REQUIRE(pool.release(zero));
  CHECK(pool.release({zero, 1}).code() == errc::not_held);
  CHECK(drain(pool) == std::vector<std::int32_t>{1, 3, 0});
}

TEST_CASE("block_pool: an acquire takes its fresh blocks in the order of allocate, and none that it revives",
          "[pool]") {
  // Every set of revived blocks, with every number of fresh ones that fits.
  for (std::size_t set = 0; set < 32; ++set) {
    std::vector<kept_block> revive;
    std::vector<std::int32_t> others;
    auto pool = pool_of<keeping_pool>(5);
    const auto notes = fill_and_release(pool);
    for (std::size_t block = 0; block < 5; ++block) {
      if ((set >> block) % 2 == 1) revive.insert(revive.begin(), notes[block]);
      if ((set >> block) % 2 == 0) others.push_back(static_cast<std::int32_t>(block));
    }
    for (std::size_t fresh = 0; fresh <= others.size(); ++fresh) {
      auto asked = pool_of<keeping_pool>(5);
      REQUIRE(fill_and_release(asked) == notes);
      std::vector<block_id> out(fresh);
      REQUIRE(asked.acquire(revive, out));
      CHECK(values(out) ==
            std::vector<std::int32_t>(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(fresh)));
      for (const kept_block& note : revive) CHECK(asked.content_of(note.block).value() == note);
      for (const block_id block : out) {
        CHECK(asked.holders(block) == 1);
        CHECK(asked.content_of(block).value() != notes[block.index()]);
      }
      CHECK(asked.available() == others.size() - fresh);
      check_conservation(asked);
    }
  }
}

TEST_CASE("block_pool: what was reused, overwritten, left as worthless or forgotten is stale", "[pool]") {
  auto pool = pool_of<keeping_pool>(5);
  const auto notes = fill_and_release(pool);
  const std::string how = GENERATE("reused and held", "reused and free", "overwritten", "worthless", "forgotten");
  CAPTURE(how);
  std::vector<block_id> zero(1);
  if (how == "forgotten") {
    pool.forget_content();
  } else if (how == "overwritten" || how == "worthless") {
    REQUIRE(pool.acquire({notes.data(), 1}, {}));
    zero[0] = 0;
    if (how == "overwritten") REQUIRE(pool.overwrite(0));
    REQUIRE(pool.release(zero, {}, how == "worthless" ? content::worthless : content::worth_keeping));
  } else {
    REQUIRE(pool.allocate(zero));
    REQUIRE(zero[0] == block_id(0));
    if (how == "reused and free") REQUIRE(pool.release(zero));
  }
  CHECK_FALSE(pool.is_kept(notes[0]));
  const auto before = face(pool, notes);
  std::vector<block_id> out(1, 1234);
  CHECK(pool.acquire({notes.data(), 1}, {}).code() == errc::stale);
  CHECK(pool.acquire({notes.data(), 1}, out).code() == errc::stale);
  CHECK(pool.acquire({notes.data(), 1}, out).error().missing.value() == 0);
  CHECK(out[0] == block_id(1234));
  CHECK(face(pool, notes) == before);
}

TEST_CASE("block_pool: one stale block among many refuses the whole acquire, and moves nothing", "[pool]") {
  const scene<keeping_pool> looked;
  const auto& notes = looked.notes;
  const kept_block bad =
      GENERATE_COPY(kept_block(notes[4]), kept_block{}, kept_block{-1, 1}, kept_block{6, 1}, kept_block{0, 0},
                    kept_block{2, 0}, kept_block{2, notes[2].generation + 1}, kept_block{1, notes[1].generation + 1});
  for (std::size_t at = 0; at <= 5; ++at) {
    std::vector<kept_block> revive{notes[2], notes[0], notes[5], notes[2], notes[1]};
    revive.insert(revive.begin() + static_cast<std::ptrdiff_t>(at), bad);
    for (const std::size_t fresh : {0U, 1U, 2U, 6U}) CHECK(refused(revive, fresh).code == errc::stale);
  }
}

TEST_CASE("block_pool: an acquire counts the fresh blocks that are missing once the others are taken", "[pool]") {
  const scene<keeping_pool> looked;
  const auto& notes = looked.notes;
  const std::vector<std::vector<kept_block>> lists{
      {},
      {notes[0]},
      {notes[1], notes[0], notes[1]},
      {notes[2]},
      {notes[3], notes[3], notes[3]},
      {notes[5], notes[0], notes[2]},
      {notes[2], notes[5], notes[3]},
      {notes[3], notes[0], notes[5], notes[3], notes[2], notes[1], notes[2]},
  };
  for (const auto& revive : lists) {
    std::int64_t free = 4;  // 4 is free as well, and cannot be revived
    std::vector<block_id> seen;
    for (const kept_block& note : revive) {
      const bool is_new = std::find(seen.begin(), seen.end(), note.block) == seen.end();
      if (is_new && note.block.value() > 1) --free;
      seen.push_back(note.block);
    }
    for (std::int64_t fresh = free + 1; fresh <= 6; ++fresh) {
      const pave::error why = refused(revive, static_cast<std::size_t>(fresh));
      const std::int64_t revived = 4 - free;
      const bool can_fit = fresh + revived <= 6;
      CHECK(why.code == (can_fit ? errc::shortage : errc::never_fits));
      CHECK(why.missing.value() == (can_fit ? fresh - free : fresh + revived - 6));
    }
    // Just what is left can be had.
    scene<keeping_pool> asked;
    std::vector<block_id> out(static_cast<std::size_t>(free));
    CHECK(asked.pool.acquire(revive, out));
    CHECK(asked.pool.available().value() == 0);
    check_conservation(asked.pool);
  }
}

TEST_CASE("block_pool: an acquire of more fresh blocks than there are can never fit", "[pool]") {
  const scene<keeping_pool> looked;
  const auto& notes = looked.notes;
  for (const std::size_t fresh : {7U, 8U, 100U}) {
    for (const auto& revive : {std::vector<kept_block>{}, {notes[0]}, {notes[2], notes[3]}}) {
      const pave::error why = refused(revive, fresh);
      CHECK(why.code == errc::never_fits);
      CHECK(why.missing == fresh - 6 + (revive.size() == 2 ? 2 : 0));  // the two are free, and are blocks besides
    }
    CHECK(refused({notes[4]}, fresh).code == errc::stale);
  }
}

TEST_CASE("block_pool: a block with all the holders that it may have refuses the whole acquire", "[pool]") {
  using pool_type = basic_keeping_pool<at_most<2>>;
  const scene<pool_type> looked;
  const auto& notes = looked.notes;
  const std::vector<std::vector<kept_block>> lists{
      {notes[1]},                                          // it has two already
      {notes[0], notes[0]},                                // it has one
      {notes[2], notes[2], notes[2]},                      // it is free
      {notes[3], notes[0], notes[5], notes[2], notes[1]},  // revived ones and shared ones before it
      {notes[2], notes[3], notes[0], notes[2], notes[3], notes[5], notes[2]},
      {notes[5], notes[2], notes[2], notes[0], notes[2], notes[3]},
  };
  for (const auto& revive : lists) {
    for (const std::size_t fresh : {0U, 1U, 4U, 6U}) {
      const pave::error why = refused<pool_type>(revive, fresh);
      CHECK(why.code == errc::table_full);
      CHECK(why.missing.value() == 0);
    }
  }
  scene<pool_type> asked;
  const kept_block most[] = {notes[2], notes[0], notes[2]};
  REQUIRE(asked.pool.acquire(most, {}));
  CHECK(asked.pool.holders(0) == 2);
  CHECK(asked.pool.holders(2) == 2);
}

TEST_CASE("block_pool: where no block may be shared, a free one is revived and a held one refuses", "[pool]") {
  using pool_type = basic_keeping_pool<at_most<1>>;
  auto pool = pool_of<pool_type>(3);
  const auto notes = fill_and_release(pool);
  const kept_block twice[] = {notes[1], notes[0], notes[1]};
  CHECK(pool.acquire(twice, {}).code() == errc::table_full);
  CHECK(pool.available().value() == 3);
  REQUIRE(pool.acquire({twice, 2}, {}));
  CHECK(pool.acquire({twice, 1}, {}).code() == errc::table_full);
  CHECK(pave_tests::all_holders(pool) == std::vector<std::uint32_t>{1, 1, 0});
  check_conservation(pool);
}

TEMPLATE_TEST_CASE("block_pool: an acquire that revives none is an allocate",
                   "[pool]",
                   pave::block_pool<>,
                   keeping_pool) {
  for (std::size_t taken = 0; taken <= 4; ++taken) {
    for (std::size_t wanted = 0; wanted <= 6; ++wanted) {
      auto pool = pool_of<TestType>(4);
      auto twin = pool_of<TestType>(4);
      static_cast<void>(fill_and_release(pool));
      static_cast<void>(fill_and_release(twin));
      static_cast<void>(take(pool, taken));
      static_cast<void>(take(twin, taken));
      std::vector<block_id> out(wanted, 1234);
      std::vector<block_id> twins(wanted, 1234);
      const auto got = pool.acquire({}, out);
      const auto expected = twin.allocate(twins);
      CHECK(got.code() == expected.code());
      CHECK(got.error().missing == expected.error().missing);
      CHECK(out == twins);
      CHECK(pave_tests::all_holders(pool) == pave_tests::all_holders(twin));
      CHECK(drain(pool) == drain(twin));
    }
  }
}

TEST_CASE("block_pool: for a pool that keeps no content, all content is stale", "[pool]") {
  auto pool = pool_of<pave::block_pool<>>(4);
  const auto held = take(pool, 2);
  const auto notes = contents(pool, held);
  std::vector<block_id> out(2, 1234);
  for (const kept_block& note : {notes[0], notes[1], kept_block{}, kept_block{0, 0}, kept_block{0, 1}, kept_block{2, 0},
                                 kept_block{2, 1}, kept_block{9, 1}}) {
    CHECK(pool.acquire({&note, 1}, {}).code() == errc::stale);
    CHECK(pool.acquire({&note, 1}, out).code() == errc::stale);
  }
  CHECK(out[0] == block_id(1234));
  CHECK(pool.available().value() == 2);
  CHECK(pave_tests::all_holders(pool) == std::vector<std::uint32_t>{1, 1, 0, 0});
  REQUIRE(pool.acquire({}, out));
  CHECK(values(out) == counting(2, 2));
}

TEST_CASE("block_pool: what lies free for the longest time loses its content first", "[pool]") {
  auto pool = pool_of<keeping_pool>(4);
  const auto notes = fill_and_release(pool);
  for (std::size_t lost = 1; lost <= 4; ++lost) {
    const auto fresh = take(pool, 1);
    for (std::size_t block = 0; block < 4; ++block) CHECK(pool.is_kept(notes[block]) == (block >= lost));
    CHECK(pool.is_kept(pool.content_of(fresh[0]).value()));
  }
}
