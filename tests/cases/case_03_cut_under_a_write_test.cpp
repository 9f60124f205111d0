// SPDX-License-Identifier: Apache-2.0
// A block that was reused under a write in flight (vLLM 45357).
#include "cases/fence_scene.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

using pave_tests::fence_scene;

/// Fills what is left of the pool up to `blocks`, with a sequence whose step is in flight.
struct written : fence_scene {
  written(std::int64_t blocks, std::int64_t held, std::int64_t each) : fence_scene(blocks, each) {
    while (cache.begin_step()->value() < 5)
      static_cast<void>(cache.complete(cache.snapshot().running == 0 ? last() : 0));
    complete(5);
    id = run(0, held * each - 1);  // with step 6
    writes = begin();
    REQUIRE(grow(id, 1));
    begin();
  }
  /// A tail of the sequence is cut, for one that goes again.
  void cut_tail(std::int64_t blocks) {
    const auto requester = admit(-1, 1);
    REQUIRE(cache.plan_cuts(requester, blocks, cuts));
    REQUIRE(cuts.used().size() == 1);
    CHECK(*cache.commit(requester, cuts.used()) == blocks);
    finish(requester);
  }
  pave::result<void> allocate(std::int64_t blocks) {
    std::vector<pave::block_id> out(static_cast<std::size_t>(blocks));
    const auto done = cache.pool().allocate(out);
    pave_tests::check_conservation(cache.pool());
    if (done) given = out;
    return done;
  }

  pave::sequence_id id;
  pave::step_id writes;
  std::vector<pave::block_id> given;

 private:
  std::int64_t last() { return ++begun_; }
  std::int64_t begun_ = 0;
};

}  // namespace

TEST_CASE("case 03: two blocks cut under step 7 are not allocated before it is complete, and then they are",
          "[cases]") {
  written s(4, 4, 16);
  REQUIRE(s.writes == pave::step_id{7});
  const std::vector<std::int32_t> before = s.table(s.id);
  s.cut_tail(2);
  CHECK(s.allocate(2).code() == pave::errc::shortage);
  CHECK(s.allocate(2).error().missing.value() == 2);
  CHECK(s.allocate(1).code() == pave::errc::shortage);
  CHECK(s.fenced() == 2);
  CHECK(s.cache.pool().arriving(7).value() == 2);
  CHECK(s.cache.pool().arriving(6).value() == 0);
  s.complete(7);
  REQUIRE(s.allocate(2));
  std::vector<std::int32_t> given = pave_tests::values(s.given);
  std::sort(given.begin(), given.end());
  std::vector<std::int32_t> cut(before.begin() + 2, before.end());
  std::sort(cut.begin(), cut.end());
  CHECK(given == cut);
}

TEST_CASE("case 03: of what is cut only what is safe is allocated, for any sizes (vLLM 45357)", "[cases]") {
  const std::int64_t held = GENERATE(1, 2, 7);
  const std::int64_t spare = GENERATE(0, 1, 3);
  const std::int64_t each = GENERATE(2, 16);
  for (std::int64_t cut = 1; cut <= held; ++cut) {
    CAPTURE(held, spare, each, cut);
    written s(held + spare, held, each);
    s.cut_tail(cut);
    CHECK(s.allocate(spare + cut).error().missing.value() == cut);
    REQUIRE(s.allocate(spare));
    const std::vector<std::int32_t> there = pave_tests::values(s.given);
    s.complete(s.writes);
    REQUIRE(s.allocate(cut));
    for (const std::int32_t block : pave_tests::values(s.given))
      CHECK(std::count(there.begin(), there.end(), block) == 0);
    CHECK(s.available() == 0);
  }
}

TEST_CASE("case 03: later steps that are done first free nothing (vLLM 45357)", "[cases]") {
  written s(4, 4, 16);
  const pave::step_id later = s.begin();
  s.cut_tail(2);
  s.complete(later);
  CHECK(s.allocate(1).code() == pave::errc::shortage);
  s.complete(pave::step_id{later.value() - 1});
  CHECK(s.allocate(1).code() == pave::errc::shortage);
  s.complete(s.writes);
  CHECK(s.allocate(2));
}

TEST_CASE("case 03: a sequence that ends under its write gives nothing before it is done (vLLM 45357)", "[cases]") {
  const bool aborts = GENERATE(false, true);
  written s(4, 4, 16);
  if (aborts) {
    REQUIRE(s.cache.abort(s.id));
  } else {
    s.finish(s.id);
  }
  CHECK(s.allocate(1).code() == pave::errc::shortage);
  const auto next = s.admit(0, 1);
  CHECK(s.restore().error().arriving.value() == 1);
  CHECK(s.restore().error().by == s.writes);
  s.complete(s.writes);
  CHECK(s.restore()->sequence == next);
  CHECK(s.allocate(3));
}

TEST_CASE("case 03: a block that two sequences write under comes free with the later of their steps (vLLM 45357)",
          "[cases]") {
  written s(4, 4, 16);
  const auto child = s.cache.fork(s.id, 1);
  REQUIRE(child);
  s.complete(s.writes);
  REQUIRE(s.cache.truncate(*child, 49));
  const pave::step_id second{s.writes.value() + 1};
  REQUIRE(s.cache.truncate(s.id, 48));
  REQUIRE(s.grow(*child, 1));  // into the block that is now its own, in the step that is open
  s.begin();
  const bool parent_is_first = GENERATE(false, true);
  s.finish(parent_is_first ? s.id : *child);
  s.finish(parent_is_first ? *child : s.id);
  CHECK(s.allocate(1).code() == pave::errc::shortage);
  CHECK(s.fenced() == 4);
  s.complete(second);
  CHECK(s.allocate(4));
}

TEST_CASE("case 03: what a copy reads is not given out before its step is done (vLLM 45357)", "[cases]") {
  fence_scene s(3, 16);
  const auto parent = s.run(0, 20);
  const auto child = s.cache.fork(parent, 1);
  REQUIRE(child);
  const pave::step_id copies = s.begin();
  const auto grown = s.grow(*child, 1);
  REQUIRE(grown);
  REQUIRE(grown->copy);
  s.begin();
  s.finish(parent);
  CHECK(s.available() == 0);
  CHECK(s.fenced() == 1);
  CHECK(s.cache.pool().arriving(copies).value() == 1);
  SECTION("and what it writes neither, even where its sequence was cut before the step was launched") {
    s.finish(*child);
    CHECK(s.fenced() == 3);
  }
  s.complete(copies);
  CHECK(s.fenced() == 0);
}
