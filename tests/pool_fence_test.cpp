// SPDX-License-Identifier: Apache-2.0
// A pool whose released blocks wait for the steps that used them: never too short, and in the end all of them come.
#include "model/random.hpp"
#include "support/catch.hpp"
#include "support/keeping.hpp"
#include "support/laws.hpp"

#include <pave/pool.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace {

using pave::block_id;
using pave::content;
using pave::errc;
using pave_tests::check_conservation;
using pave_tests::drain;
using pave_tests::expect;
using pave_tests::pool_of;
using pave_tests::random_source;
using pave_tests::take;

struct waiting : pave::pool_policies {
  using fence = pave::after_step;
};
struct waiting_keeping : pave_tests::keeping<> {
  using fence = pave::after_step;
};
using waiting_pool = pave::block_pool<waiting>;
using keeping_pool = pave::block_pool<waiting_keeping>;

/// A pool of an engine that is at this step, all its blocks held.
template <class Pool = waiting_pool>
Pool held_pool(std::int64_t blocks, std::int64_t done = 0) {
  Pool pool = pool_of<Pool>(blocks);
  pool.complete_through(done);
  static_cast<void>(take(pool, static_cast<std::size_t>(blocks)));
  return pool;
}
template <class Pool>
void release(Pool& pool, block_id block, pave::step_id last_use, content left = content::worth_keeping) {
  REQUIRE(pool.release({&block, 1}, last_use, left));
}

}  // namespace

TEST_CASE("after_step: what is worthless goes out first, then what is not, each in the order of its release",
          "[pool]") {
  auto pool = held_pool<keeping_pool>(8);
  release(pool, 3, 2);
  release(pool, 0, 1, content::worth_keeping);
  release(pool, 6, 2, content::worthless);
  release(pool, 1, 1, content::worthless);
  release(pool, 5, 1, content::worth_keeping);
  release(pool, 2, 1, content::worthless);
  SECTION("a step after the other") {
    REQUIRE(pool.complete(1));
    CHECK(pool.available().value() == 4);
    REQUIRE(pool.complete(2));
  }
  SECTION("the last one first") {
    REQUIRE(pool.complete(2));
    CHECK(pool.available().value() == 0);
    REQUIRE(pool.complete(1));
  }
  SECTION("all at once") { pool.complete_through(2); }
  // A queue, with the latest of the worthless ones first.
  CHECK(drain(pool) == std::vector<std::int32_t>{6, 2, 1, 0, 5, 3});
}

TEST_CASE("after_step: content comes back from a block on its way, once it is there, and was worth keeping", "[pool]") {
  auto pool = held_pool<keeping_pool>(3);
  const auto notes = pave_tests::contents(pool, {0, 1, 2});
  release(pool, 0, 4);
  release(pool, 1, 4, content::worthless);
  for (const std::size_t block : {0U, 1U}) {
    CHECK_FALSE(pool.is_kept(notes[block]));
    CHECK(pool.acquire({&notes[block], 1}, {}).code() == errc::stale);
  }
  const pave::kept_block both[] = {notes[2], notes[0]};
  CHECK(pool.acquire(both, {}).code() == errc::stale);
  CHECK(pool.holders(2) == 1);
  CHECK(pool.fenced().value() == 2);
  pool.complete_through(4);
  CHECK(pool.is_kept(notes[0]));
  CHECK_FALSE(pool.is_kept(notes[1]));
  REQUIRE(pool.acquire(both, {}));
  CHECK(pool.content_of(0).value() == notes[0]);
  CHECK(pool.available().value() == 1);
}

TEST_CASE("after_step: content that is forgotten while its block is on its way does not come back", "[pool]") {
  auto pool = held_pool<keeping_pool>(2);
  const auto notes = pave_tests::contents(pool, {0, 1});
  release(pool, 0, 1);
  pool.forget_content();
  release(pool, 1, 1);
  pool.complete_through(1);
  CHECK_FALSE(pool.is_kept(notes[0]));
  CHECK(pool.is_kept(notes[1]));
}

TEST_CASE("after_step: the fence of a shared block is the latest of all its holders'", "[pool]") {
  std::vector<std::int64_t> steps{3, 5, 7};
  do {
    auto pool = held_pool(1);
    REQUIRE(pool.share(std::vector<block_id>{0, 0}));
    for (const std::int64_t step : steps) release(pool, 0, step);
    CHECK(pool.arriving(6).value() == 0);
    CHECK(pool.arriving(7).value() == 1);
    pool.complete_through(6);
    CHECK(pool.available().value() == 0);
    REQUIRE(pool.complete(7));
    CHECK(pool.available().value() == 1);
  } while (std::next_permutation(steps.begin(), steps.end()));
}

TEST_CASE("after_step: with many more steps than chains no block comes too early, and all come in the end", "[pool]") {
  pave_tests::for_each_seed(40, [](std::uint64_t seed) {
    random_source random(seed);
    constexpr std::int64_t blocks = 400;
    const std::int64_t start = std::int64_t{1} << random.between(0, 40);
    auto pool = held_pool(blocks, start);
    std::vector<std::int64_t> last_use(blocks);
    std::iota(last_use.begin(), last_use.end(), start + 1);  // a step each, 400 of them
    for (std::size_t i = last_use.size(); i > 1; --i) std::swap(last_use[i - 1], last_use[random.index(i)]);
    std::int64_t released = 0;
    std::int64_t done = start;
    while (pool.available() != blocks) {
      for (std::int64_t more = random.between(0, 200); more > 0 && released < blocks; --more, ++released)
        release(pool, released, last_use[static_cast<std::size_t>(released)],
                random.one_in(2) ? content::worthless : content::worth_keeping);
      expect(pool.arriving(done + 1000) == pool.fenced(), "none waits for ever");
      for (std::int64_t i = 1; i < 5; ++i) {
        const auto due = std::count_if(last_use.begin(), last_use.begin() + released,
                                       [&](std::int64_t step) { return step <= done + i; });
        expect(pool.available() + pool.arriving(done + i) <= due, "none arrives early");
      }
      done += random.between(1, 40);
      pool.complete_through(done);
      std::vector<block_id> all(static_cast<std::size_t>(pool.available().value()));
      REQUIRE(pool.allocate(all));
      for (const block_id block : all) expect(last_use[block.index()] <= done, "no block is given out early");
      REQUIRE(pool.release(all));
      expect(done <= start + 2000, "all come");
    }
    check_conservation(pool);
  });
}

TEST_CASE("after_step: up to 64 steps each block waits for its own step, and no longer", "[pool]") {
  auto pool = held_pool(130);
  for (std::int64_t block = 0; block < 128; ++block) release(pool, block, 64 - block % 64);
  for (std::int64_t step = 1; step <= 64; ++step) {
    CHECK(pool.arriving(step).value() == 2);
    CHECK(pool.available().value() == 2 * (step - 1));
    REQUIRE(pool.complete(step));
  }
  CHECK(pool.available().value() == 128);
}

TEST_CASE("after_step: with 65 steps, the latest two wait for the later one", "[pool]") {
  const bool latest_goes_first = GENERATE(true, false);
  const content left = GENERATE(content::worthless, content::worth_keeping);
  auto pool = held_pool(65);
  for (std::int64_t i = 0; i < 65; ++i) release(pool, i, latest_goes_first ? 65 - i : i + 1, left);
  for (std::int64_t step = 1; step <= 65; ++step) {
    // The 65th to come makes two of those that are there one: steps 64 and 65, or 63 and 64.
    const std::int64_t waits = latest_goes_first ? 64 : 63;
    CHECK(pool.available().value() == (step - 1 == waits ? waits - 1 : step - 1));
    REQUIRE(pool.complete(step));
  }
  CHECK(pool.available().value() == 65);
}

TEST_CASE("after_step: steps that are far ahead keep a block back, and no other for longer than they do", "[pool]") {
  const std::int64_t far = GENERATE(std::int64_t{1} << 29, (std::int64_t{1} << 29) - 1, std::int64_t{1} << 30,
                                    std::int64_t{1} << 31, std::int64_t{1} << 32, std::int64_t{1} << 40,
                                    std::int64_t{1} << 62, (std::numeric_limits<std::int64_t>::max)());
  const std::int64_t done = GENERATE(0, 5, (std::int64_t{1} << 29) + 3, (std::int64_t{1} << 31) - 1);
  CAPTURE(far, done);
  auto pool = held_pool(3, done);
  release(pool, 0, far);
  release(pool, 1, done + 2);
  release(pool, 2, done);
  std::int64_t now = done;
  for (const std::int64_t step : {done, done + 1, done + 2, far - 1, far}) {
    pool.complete_through(step);
    now = (std::max)(now, step);
    CAPTURE(step);
    CHECK(pool.available().value() == 1 + (now >= done + 2 ? 1 : 0) + (now >= far ? 1 : 0));
    const std::int64_t before_far = now < done + 2 && done + 2 < far ? 1 : 0;
    if (far > now) CHECK(pool.arriving(far - 1).value() == before_far);
  }
  pool.complete_through((std::max)(far, done + 2));
  CHECK(pool.available().value() == 3);
}

TEST_CASE("after_step: a far step of one holder does not keep a block back once it is done", "[pool]") {
  constexpr std::int64_t far = std::int64_t{1} << 40;
  auto pool = held_pool(2);
  REQUIRE(pool.share(std::vector<block_id>{0}));
  release(pool, 0, far);
  pool.complete_through(far);
  release(pool, 0, far - 3);
  CHECK(pool.available().value() == 1);
  static_cast<void>(take(pool, 1));
  release(pool, 1, far + 7);
  release(pool, 0, far);
  CHECK(pool.available().value() == 1);
  CHECK(pool.fenced().value() == 1);
}

TEST_CASE("after_step: blocks that nobody used wait for nobody, however far the engine has come", "[pool]") {
  for (const int bits : {29, 30, 31, 32, 33, 40}) {
    const std::int64_t around = std::int64_t{1} << bits;
    for (const std::int64_t done : {around - 3, around - 1, around, around + 1, around + around / 2}) {
      auto pool = held_pool(3, done);
      release(pool, 0, done + 5);
      release(pool, 1, 0);
      release(pool, 2, done);
      CAPTURE(bits, done);
      CHECK(pool.available().value() == 2);
      CHECK(pool.arriving(done + 4).value() == 0);
      pool.complete_through(done + 5);
      CHECK(pool.available().value() == 3);
    }
  }
}

TEST_CASE("after_step: across every wrap of its notes, each block waits for just its own step", "[pool]") {
  for (const int bits : {29, 30, 31, 32, 33}) {
    const std::int64_t around = std::int64_t{1} << bits;
    auto pool = held_pool(5, around - 12);
    for (std::int64_t done = around - 12; done < around + 12; done += 4) {
      for (std::int64_t block = 0; block < 5; ++block) release(pool, block, done + block);
      std::int64_t available = 1;
      CHECK(pool.available().value() == available);
      for (std::int64_t step = done + 1; step <= done + 4; ++step) {
        CHECK(pool.arriving(step).value() == 1);
        pool.complete_through(step);
        CHECK(pool.available().value() == ++available);
      }
      static_cast<void>(take(pool, 5));
    }
  }
}

TEST_CASE("after_step: an old note of a holder that left long ago never lets a block go too early", "[pool]") {
  constexpr std::int64_t noted = 100;
  const std::int64_t power = std::int64_t{1} << GENERATE(28, 29, 30, 31, 32);
  const std::int64_t done = noted + GENERATE_COPY(power - 1, power, power + 1, 3 * power);
  CAPTURE(power, done);
  auto pool = held_pool(2);
  REQUIRE(pool.share(std::vector<block_id>{0}));
  release(pool, 0, noted);  // the other holder stays
  pool.complete_through(done);
  SECTION("the other holder used it since") {
    release(pool, 0, done + 2);
    pool.complete_through(done + 1);
    CHECK(pool.available().value() == 0);
    pool.complete_through(done + 2);
    CHECK(pool.available().value() == 1);
  }
  SECTION("it did not, and a step to come may look like the one that was noted") {
    release(pool, 1, done + (std::int64_t{1} << 29));
    release(pool, 0, noted + 1);
    CHECK(pool.arriving(done + (std::int64_t{1} << 29)) == pool.fenced());
    pool.complete_through(done + (std::int64_t{1} << 29));
    CHECK(pool.available().value() == 2);
  }
}

TEST_CASE("after_step: a note of a step that is done looks like none to come, however far another block waits",
          "[pool]") {
  constexpr std::int64_t far = std::int64_t{1} << 30;
  for (const std::int64_t since : {std::int64_t{0}, std::int64_t{1}, std::int64_t{50}, (std::int64_t{1} << 29) - 1}) {
    auto pool = held_pool(2, 100);
    REQUIRE(pool.share(std::vector<block_id>{0}));
    release(pool, 0, 101);
    pool.complete_through(101 + since);
    release(pool, 1, 101 + since + far);
    release(pool, 0, 100);
    CAPTURE(since);
    CHECK(pool.available().value() == 1);
    CHECK(pool.fenced().value() == 1);
  }
}

TEST_CASE("block_pool: a step is done once, steps are counted from 1, and the next 64 may be in flight", "[pool]") {
  const std::int64_t done = GENERATE(0, 7, std::int64_t{1} << 40);
  auto pool = held_pool(2, done);
  for (const std::int64_t step : {std::int64_t{0}, std::int64_t{-1}, (std::numeric_limits<std::int64_t>::min)()})
    CHECK(pool.complete(step).code() == errc::no_step);
  for (const std::int64_t step : {done + 65, done + 66, done + 1000, (std::numeric_limits<std::int64_t>::max)()})
    CHECK(pool.complete(step).code() == errc::busy);
  if (done > 0) CHECK(pool.complete(done).code() == errc::stale);
  release(pool, 0, done + 64);
  for (std::int64_t step = done + 64; step > done + 1; --step) {
    REQUIRE(pool.complete(step));
    CHECK(pool.complete(step).code() == errc::stale);
    CHECK(pool.available().value() == 0);
  }
  CHECK(pool.complete(done + 65).code() == errc::busy);
  REQUIRE(pool.complete(done + 1));
  CHECK(pool.available().value() == 1);
  CHECK(pool.complete(done + 64).code() == errc::stale);
  CHECK(pool.complete(done + 129).code() == errc::busy);
  CHECK(pool.complete(done + 128));
  CHECK(pool.complete(done + 65));
}

TEST_CASE("block_pool: what was done out of order stays so when the steps before it are said to be done", "[pool]") {
  for (std::int64_t through = -2; through <= 70; ++through) {
    auto pool = held_pool(64);
    for (std::int64_t block = 0; block < 64; ++block) release(pool, block, block + 1);
    for (const std::int64_t step : {3, 4, 6, 33, 64}) REQUIRE(pool.complete(step));
    CHECK(pool.available().value() == 0);
    pool.complete_through(through);
    std::int64_t done = (std::max)(std::int64_t{0}, through);
    for (const std::int64_t step : {3, 4, 6, 33, 64}) done += done + 1 == step ? 1 : 0;
    CAPTURE(through);
    CHECK(pool.available().value() == (std::min)(done, std::int64_t{64}));
    for (const std::int64_t step : {3, 4, 6, 33, 64}) CHECK(pool.complete(step).code() == errc::stale);
    pool.complete_through(through - 1);
    pool.complete_through(64);
    CHECK(pool.available().value() == 64);
  }
}

TEST_CASE("block_pool: an unpin under a fence waits for the transfer, and for whoever used the block before",
          "[pool]") {
  for (const std::int64_t copied : {2, 4}) {
    for (const std::int64_t used : {1, 3, 5}) {
      auto pool = held_pool(2);
      const std::vector<block_id> blocks{0, 1};
      const auto token = pool.pin(blocks).value();
      REQUIRE(pool.release(blocks, used));
      CHECK(pool.fenced().value() == 0);
      CHECK(pool.held().value() == 2);
      REQUIRE(pool.unpin(token, copied));
      CHECK(pool.fenced().value() == 2);
      const std::int64_t last = (std::max)(copied, used);
      CHECK(pool.arriving(last).value() == 2);
      CHECK(pool.arriving(last - 1).value() == 0);
      pool.complete_through(last - 1);
      CHECK(pool.available().value() == 0);
      CHECK(pool.unpin(token, 9).code() == errc::stale);
      REQUIRE(pool.complete(last));
      CHECK(pool.available().value() == 2);
    }
  }
}

TEST_CASE("block_pool: a moved pool keeps what is on its way, and how far the engine is", "[pool]") {
  auto pool = held_pool(3, 10);
  release(pool, 0, 12);
  release(pool, 1, 13);
  REQUIRE(pool.complete(12));
  auto moved = std::move(pool);
  CHECK(pool.fenced().value() == 0);  // NOLINT(bugprone-use-after-move)
  CHECK(pool.arriving(99).value() == 0);
  pool.complete_through(99);
  CHECK(pool.available().value() == 0);
  CHECK(moved.fenced().value() == 2);
  CHECK(moved.complete(12).code() == errc::stale);
  REQUIRE(moved.complete(11));
  CHECK(moved.available().value() == 1);
  auto assigned = held_pool(9, 70);
  assigned = std::move(moved);
  CHECK(assigned.fenced().value() == 1);
  REQUIRE(assigned.complete(13));
  CHECK(assigned.available().value() == 2);
  check_conservation(assigned);
}
