// SPDX-License-Identifier: Apache-2.0
// Who watches a pool hears of all that happens, once, and of nothing that does not.
#include "support/catch.hpp"
#include "support/keeping.hpp"
#include "support/laws.hpp"

#include <pave/cache.hpp>
#include <pave/policy/observer.hpp>
#include <pave/pool.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using pave::block_id;
using pave::counters;
using pave::errc;
using pave::event;
using pave::event_kind;
using pave::event_log;
using pave_tests::take;

template <class Observer>
struct watched : pave_tests::keeping<> {
  using fence = pave::after_step;
  using observer = Observer;
};

static_assert(!pave::is_observer_v<int>);

/// An event in words: kind, blocks and step.
std::string said(const event& what) {
  return std::string(pave::to_string(what.kind)) + " " + std::to_string(what.blocks.value()) + " at " +
         std::to_string(what.step.value());
}

/// A user's: it writes all down.
class diary {
 public:
  void notice(const event& what) { lines_.push_back(said(what)); }
  std::vector<std::string> read() { return std::exchange(lines_, {}); }

 private:
  std::vector<std::string> lines_;
};
using lines = std::vector<std::string>;

}  // namespace

TEST_CASE("observer: each call that does something is told, with its blocks and its step", "[pool][observer]") {
  diary book;
  pave::pool_options options;
  options.blocks = 6;
  options.pinned_blocks = 2;
  auto pool = pave::block_pool<watched<diary>>::create(options, book).value();
  CHECK(book.read().empty());
  const auto blocks = take(pool, 4);
  CHECK(book.read() == lines{"allocated 4 at 0"});
  REQUIRE(pool.share(std::vector<block_id>{0, 1, 0}));
  CHECK(book.read() == lines{"shared 3 at 0"});
  const auto token = pool.pin({blocks.data() + 2, 2}).value();
  CHECK(book.read() == lines{"pinned 2 at 0"});
  REQUIRE(pool.release(std::vector<block_id>{0, 1, 2, 3, 0}, 7));
  CHECK(book.read() == lines{"released 5 at 7"});
  REQUIRE(pool.release(std::vector<block_id>{0, 1}, 3));
  CHECK(book.read() == lines{"released 2 at 3", "freed 2 at 0"});
  REQUIRE(pool.unpin(token, 2));
  CHECK(book.read() == lines{"unpinned 2 at 2", "freed 2 at 0"});
  REQUIRE(pool.complete(2));
  pool.complete_through(6);
  CHECK(book.read().empty());
  REQUIRE(pool.complete(7));
  CHECK(book.read() == lines{"arrived 4 at 7"});
  const auto more = take(pool, 2);
  const auto notes = pave_tests::contents(pool, more);
  REQUIRE(pool.release(more, 0));
  CHECK(book.read() == lines{"allocated 2 at 0", "released 2 at 0", "freed 2 at 0"});
  std::vector<block_id> fresh(1);
  REQUIRE(pool.acquire(std::vector<pave::kept_block>{notes[1], notes[0], notes[1]}, fresh));
  CHECK(book.read() == lines{"revived 2 at 0", "shared 1 at 0", "allocated 1 at 0"});
  REQUIRE(pool.resize(9));
  REQUIRE(pool.resize(2));
  CHECK(book.read() == lines{"resized 9 at 0", "resized 2 at 0"});
}

TEST_CASE("observer: what is refused for want of blocks is told with what is missing, and no other refusal",
          "[pool][observer]") {
  diary book;
  pave::pool_options options;
  options.blocks = 3;
  options.pinned_blocks = 1;
  auto pool = pave::block_pool<watched<diary>>::create(options, book).value();
  const auto blocks = take(pool, 2);
  const auto notes = pave_tests::contents(pool, blocks);
  const auto token = pool.pin({blocks.data(), 1}).value();
  static_cast<void>(book.read());
  std::vector<block_id> out(3);
  CHECK(pool.allocate(out).code() == errc::shortage);
  CHECK(book.read() == lines{"refused 2 at 0"});
  CHECK(pool.acquire({notes.data(), 1}, {out.data(), 2}).code() == errc::shortage);
  CHECK(book.read() == lines{"refused 1 at 0"});
  out.resize(4);
  CHECK(pool.allocate(out).code() == errc::never_fits);
  CHECK(pool.acquire({}, out).code() == errc::never_fits);
  const pave::kept_block stale{0, 99};
  CHECK(pool.acquire({&stale, 1}, {}).code() == errc::stale);
  CHECK(pool.share(std::vector<block_id>{0, 2}).code() == errc::not_held);
  CHECK(pool.release(std::vector<block_id>{0, 0}).code() == errc::not_held);
  CHECK(pool.pin({blocks.data(), 1}).code() == errc::table_full);
  CHECK(pool.pin({}).code() == errc::invalid_argument);
  REQUIRE(pool.unpin(token));
  CHECK(pool.unpin(token).code() == errc::stale);
  CHECK(pool.complete(0).code() == errc::no_step);
  CHECK(pool.resize(0).code() == errc::invalid_argument);
  CHECK(book.read() == lines{"unpinned 1 at 0"});
}

TEST_CASE("observer: calls for nothing tell nothing", "[pool][observer]") {
  diary book;
  auto pool = pave::block_pool<watched<diary>>::create({3}, book).value();
  CHECK(pool.allocate({}));
  CHECK(pool.acquire({}, {}));
  CHECK(pool.share({}));
  CHECK(pool.release({}, 9));
  CHECK(pool.complete(1));
  pool.forget_content();
  CHECK(book.read().empty());
}

TEST_CASE("observer: a block that leaves a pool that shrinks was freed, or arrived, as any other", "[pool][observer]") {
  diary book;
  auto pool = pave::block_pool<watched<diary>>::create({4}, book).value();
  const auto blocks = take(pool, 4);
  REQUIRE(pool.resize(1));
  static_cast<void>(book.read());
  REQUIRE(pool.release({blocks.data() + 2, 2}));
  REQUIRE(pool.release({blocks.data(), 2}, 1));
  CHECK(book.read() == lines{"released 2 at 0", "freed 2 at 0", "released 2 at 1", "freed 2 at 0"});
  REQUIRE(pool.complete(1));
  CHECK(book.read() == lines{"arrived 2 at 1"});
}

TEST_CASE("observer: a moved pool is still watched, and one that was given none is watched by nobody",
          "[pool][observer]") {
  diary book;
  auto pool = pave::block_pool<watched<diary>>::create({3}, book).value();
  auto moved = std::move(pool);
  static_cast<void>(take(moved, 1));
  CHECK(book.read() == lines{"allocated 1 at 0"});

  auto alone = pave::block_pool<watched<diary>>::create({3}).value();
  const auto blocks = take(alone, 3);
  std::vector<block_id> out(1);
  CHECK(alone.allocate(out).code() == errc::shortage);
  REQUIRE(alone.release(blocks, 1));
  REQUIRE(alone.complete(1));
  CHECK(alone.available().value() == 3);
  CHECK(book.read().empty());
}

TEST_CASE("observer: one watches several pools", "[pool][observer]") {
  counters both;
  auto pool = pave::block_pool<watched<counters>>::create({3}, both).value();
  auto other = pave::block_pool<watched<counters>>::create({5}, both).value();
  static_cast<void>(take(pool, 2));
  static_cast<void>(take(other, 5));
  CHECK(both.events(event_kind::allocated) == 2);
  CHECK(both.blocks(event_kind::allocated).value() == 7);
}

TEST_CASE("observer: one watches the pool of a cache, named alone or behind the other policies", "[cache][observer]") {
  struct watched_cache : pave::cache_policies {
    struct pool : pave::pool_policies {
      using observer = diary;
    };
  };
  using cache_type = pave::kv_cache<watched_cache>;
  pave::kv_cache_options options;
  options.blocks = 4;
  diary book;
  pave::cut room[1];
  pave::cut_list cuts(room);
  const bool is_alone = GENERATE(true, false);
  auto made = is_alone ? cache_type::create(options, book) : cache_type::create(options, {}, {}, book);
  cache_type cache = std::move(made).value();
  REQUIRE(cache.admit(0, 17));
  REQUIRE(cache.begin_step());
  REQUIRE(cache.next_restore(17, cuts));
  CHECK(book.read() == lines{"allocated 2 at 0"});
}

TEST_CASE("counters: each kind is counted on its own, with its blocks", "[observer]") {
  counters all;
  for (std::size_t kind = 0; kind < pave::event_kinds; ++kind) {
    const auto which = static_cast<event_kind>(kind);
    CHECK(all.events(which) == 0);
    for (std::size_t i = 0; i <= kind; ++i) all.notice({which, 10 + i, 3});
  }
  for (std::size_t kind = 0; kind < pave::event_kinds; ++kind) {
    const auto which = static_cast<event_kind>(kind);
    CHECK(all.events(which) == kind + 1);
    CHECK(all.blocks(which) == (kind + 1) * 10 + (kind + 1) * kind / 2);
  }
}

TEST_CASE("event_log: it holds the latest events, the oldest of them first", "[observer]") {
  const std::size_t room = GENERATE(1U, 2U, 3U, 7U);
  event_log log;
  REQUIRE(log.reserve(room));
  for (std::size_t i = 1; i <= 20; ++i) {
    log.notice({event_kind::shared, i, 100 + i});
    CHECK(log.seen() == i);
    REQUIRE(log.size() == (i < room ? i : room));
    for (std::size_t at = 0; at < log.size(); ++at) {
      const std::size_t expected = i - log.size() + 1 + at;
      CHECK(said(log[at]) == "shared " + std::to_string(expected) + " at " + std::to_string(100 + expected));
    }
  }
}

TEST_CASE("event_log: without room it only counts", "[observer]") {
  event_log log;
  CHECK(log.size() == 0);
  for (int i = 0; i < 5; ++i) log.notice({event_kind::freed, 1, {}});
  CHECK(log.seen() == 5);
  CHECK(log.size() == 0);
}

TEST_CASE("event_log: it moves with what it holds, and one that is moved from is empty", "[observer]") {
  event_log log;
  REQUIRE(log.reserve(2));
  for (std::size_t i = 1; i <= 3; ++i) log.notice({event_kind::pinned, i, {}});
  event_log moved = std::move(log);
  CHECK(log.seen() == 0);  // NOLINT(bugprone-use-after-move)
  CHECK(log.size() == 0);
  log.notice({event_kind::pinned, 1, {}});
  CHECK(log.size() == 0);
  CHECK(moved.seen() == 3);
  CHECK(said(moved[0]) == "pinned 2 at 0");
  CHECK(said(moved[1]) == "pinned 3 at 0");
}

TEST_CASE("event_kind: each has a word of its own", "[observer]") {
  std::set<std::string> words;
  for (std::size_t kind = 0; kind < pave::event_kinds; ++kind)
    words.insert(pave::to_string(static_cast<event_kind>(kind)));
  CHECK(words.size() == pave::event_kinds);
  CHECK(words.count("unknown event") == 0);
  CHECK(std::string(pave::to_string(static_cast<event_kind>(pave::event_kinds))) == "unknown event");
}

TEST_CASE("silent: a pool that nobody watches is no larger for it", "[observer]") {
  static_assert(sizeof(pave::block_pool<watched<pave::silent>>) < sizeof(pave::block_pool<watched<counters>>));
  pave::silent nobody;
  auto pool = pave::block_pool<>::create({2}, nobody).value();
  CHECK(take(pool, 2).size() == 2);
}
