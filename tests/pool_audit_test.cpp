// SPDX-License-Identifier: Apache-2.0
// What an audit finds, of whom, and in which words.
#include "support/catch.hpp"
#include "support/keeping.hpp"
#include "support/laws.hpp"

#include <pave/pool.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using pave::block_id;
using pave::block_pool;
using pave::errc;
using pave::finding;
using pave::finding_kind;
using pave_tests::take;

/// An engine's block tables.
struct tables {
  std::vector<std::vector<block_id>> rows;

  std::size_t size() const { return rows.size(); }
  const std::vector<block_id>& blocks(std::size_t i) const { return rows[i]; }
};
static_assert(pave::is_audit_tables_v<tables>);
static_assert(pave::is_audit_tables_v<pave::no_tables>);
static_assert(!pave::is_audit_tables_v<std::vector<int>>);
static_assert(pave::is_audit_tables_v<pave::no_tables, pave::basic_block_id<std::uint16_t>>);
static_assert(pave::is_audit_tables_v<pave::joined_tables<pave::no_tables, tables>>);
static_assert(!pave::is_audit_tables_v<pave::joined_tables<tables, std::vector<int>>>);
static_assert(!pave::is_audit_tables_v<tables, pave::basic_block_id<std::int64_t>>, "an id is not cut to another");

/// All that an audit says, a sentence each; and last, how many laws are broken.
template <class Pool, class Tables>
std::vector<std::string> said(const Pool& pool, const Tables& named, std::size_t ids) {
  std::vector<std::string> words;
  std::vector<std::uint32_t> scratch(ids, 99);
  const auto broken = pool.audit(named, scratch, [&words](const finding& found) {
    std::array<char, 128> room{};
    words.emplace_back(pave::to_words(found, room));
  });
  REQUIRE(broken);
  words.push_back(std::to_string(*broken));
  return words;
}

using sentences = std::vector<std::string>;

std::string words_of(const finding& found) {
  std::array<char, 128> room{};
  return pave::to_words(found, room);
}

}  // namespace

TEST_CASE("audit: tables and pins that name each holder once find nothing", "[pool][audit]") {
  auto pool = block_pool<>::create({6}).value();
  CHECK(said(pool, pave::no_tables(), 6) == sentences{"0"});
  const auto blocks = take(pool, 4);
  REQUIRE(pool.share({blocks.data(), 2}));
  CHECK(said(pool, tables{{{0, 1, 2}, {}, {1, 0, 3}}}, 6) == sentences{"0"});
  const auto token = pool.pin({blocks.data() + 1, 3}).value();
  REQUIRE(pool.release({blocks.data() + 3, 1}));
  CHECK(said(pool, tables{{{0, 1, 2}, {1, 0}}}, 6) == sentences{"0"});
  REQUIRE(pool.unpin(token));
  CHECK(said(pool, tables{{{0, 1, 2}, {1, 0}}}, 6) == sentences{"0"});
}

TEST_CASE("audit: a leaked block is named, with those who still hold it", "[pool][audit]") {
  auto pool = block_pool<>::create({6}).value();
  const auto blocks = take(pool, 3);
  REQUIRE(pool.share({blocks.data() + 1, 1}));
  REQUIRE(pool.pin({blocks.data() + 1, 1}));
  CHECK(said(pool, tables{{{0}, {1}}}, 6) ==
        sentences{"block 1 is leaked: it has 3 holders, and is named 2 times", "table 1 names block 1",
                  "a pin names block 1", "block 2 is leaked: it has 1 holder, and is named 0 times", "2"});
  CHECK(said(pool, pave::no_tables(), 6) == sentences{"block 0 is leaked: it has 1 holder, and is named 0 times",
                                                      "block 1 is leaked: it has 3 holders, and is named 1 time",
                                                      "a pin names block 1",
                                                      "block 2 is leaked: it has 1 holder, and is named 0 times", "3"});
}

TEST_CASE("audit: a block that is named too often is one that would come free too early", "[pool][audit]") {
  auto pool = block_pool<>::create({4}).value();
  const auto blocks = take(pool, 2);
  REQUIRE(pool.pin({blocks.data(), 1}));
  REQUIRE(pool.pin({blocks.data(), 1}));
  CHECK(said(pool, tables{{{1}, {0, 0}, {}, {0}}}, 4) ==
        sentences{"block 0 would come free too early: it has 3 holders, and is named 5 times", "table 1 names block 0",
                  "table 1 names block 0", "table 3 names block 0", "a pin names block 0", "a pin names block 0", "1"});
}

TEST_CASE("audit: a block that is named and free, or on its way, is held by nobody", "[pool][audit]") {
  struct waiting : pave::pool_policies {
    using fence = pave::after_step;
  };
  auto pool = block_pool<waiting>::create({4}).value();
  const auto blocks = take(pool, 3);
  REQUIRE(pool.release({blocks.data() + 1, 1}, 5));
  REQUIRE(pool.release({blocks.data() + 2, 1}));
  CHECK(said(pool, tables{{{0, 1, 3}, {2, 1}}}, 4) ==
        sentences{"block 1 is named 2 times, but nobody holds it", "table 0 names block 1", "table 1 names block 1",
                  "block 2 is named 1 time, but nobody holds it", "table 1 names block 2",
                  "block 3 is named 1 time, but nobody holds it", "table 0 names block 3", "3"});
}

TEST_CASE("audit: what is no block of the pool is out of range, and nothing else goes wrong by it", "[pool][audit]") {
  pave::pool_options options;
  options.blocks = 3;
  options.first_block = 2;
  auto pool = block_pool<>::create(options).value();
  static_cast<void>(take(pool, 1));
  const tables named{{{}, {2, 5, 1, block_id()}, {0, (std::numeric_limits<std::int32_t>::max)()}}};
  CHECK(said(pool, named, 5) == sentences{"table 1 names block 5, which the pool does not have",
                                          "table 1 names block 1, which the pool does not have",
                                          "table 1 names block -1, which the pool does not have",
                                          "table 2 names block 0, which the pool does not have",
                                          "table 2 names block 2147483647, which the pool does not have", "5"});
}

TEST_CASE("audit: two sets of tables are looked through as one, the second's after the first's", "[pool][audit]") {
  auto pool = block_pool<>::create({4}).value();
  static_cast<void>(take(pool, 4));
  const tables first{{{0}, {1}}};
  const tables second{{{2}, {3, 3}}};
  CHECK(said(pool, pave::joined_tables<tables, tables>{first, second}, 4) ==
        sentences{"block 3 would come free too early: it has 1 holder, and is named 2 times", "table 3 names block 3",
                  "table 3 names block 3", "1"});
  const pave::no_tables none;
  CHECK(said(pool, pave::joined_tables<pave::no_tables, tables>{none, tables{{{0, 1, 2, 3}}}}, 4) == sentences{"0"});
}

TEST_CASE("audit: it tells the figures apart from the words", "[pool][audit]") {
  auto pool = block_pool<>::create({4}).value();
  static_cast<void>(take(pool, 2));
  std::vector<finding> found;
  std::vector<std::uint32_t> scratch(4);
  const auto say = [&found](const finding& one) { found.push_back(one); };
  REQUIRE(pool.audit(tables{{{0}, {0, 9}}}, scratch, say));
  REQUIRE(found.size() == 5);
  CHECK(found[0].kind == finding_kind::out_of_range);
  CHECK(found[0].block == 9);
  CHECK(found[0].named == 1);
  CHECK(found[0].table == 1);
  CHECK(found[1].kind == finding_kind::over_named);
  CHECK(found[1].block == 0);
  CHECK(found[1].holders == 1);
  CHECK(found[1].named == 2);
  CHECK(found[1].table == finding::no_table);
  CHECK(found[2].kind == finding_kind::table_names);
  CHECK(found[2].table == 0);
  CHECK(found[3].table == 1);
  CHECK(found[4].kind == finding_kind::leaked);
  CHECK(found[4].block == 1);
  CHECK(found[4].holders == 1);
  CHECK(found[4].named == 0);
}

TEST_CASE("audit: a policy that loses a block is found out", "[pool][audit]") {
  /// A user's stack that forgets every block that comes back to it.
  struct leaky : pave::last_released {
    void put(block_id /*block*/, pave::content /*left*/) noexcept {}
    void put_all(pave::span<const block_id> /*blocks*/, pave::content /*left*/) noexcept {}
  };
  struct leaking : pave::pool_policies {
    using free_list = leaky;
  };
  auto pool = block_pool<leaking>::create({5}).value();
  const auto blocks = take(pool, 3);
  REQUIRE(pool.release({blocks.data(), 2}));
  CHECK(said(pool, tables{{{2}}}, 5) ==
        sentences{"available, fenced and held blocks are 3, but the capacity is 5", "1"});
}

TEST_CASE("audit: a pool that nobody asked changes in nothing", "[pool][audit]") {
  auto pool = block_pool<>::create({5}).value();
  const auto blocks = take(pool, 3);
  REQUIRE(pool.release({blocks.data(), 1}));
  const block_pool<>& asked = pool;
  CHECK(said(asked, tables{{{1, 1, 4}}}, 5).size() == 7);
  CHECK(pave_tests::all_holders(pool) == std::vector<std::uint32_t>{0, 1, 1, 0, 0});
  CHECK(pave_tests::drain(pool) == std::vector<std::int32_t>{0, 3, 4});
}

TEST_CASE("audit: with too little scratch there is none, and it says how much is missing", "[pool][audit]") {
  pave::pool_options options;
  options.blocks = 5;
  options.first_block = 2;
  auto pool = block_pool<>::create(options).value();
  static_cast<void>(take(pool, 5));
  const auto never = [](const finding& /*found*/) { CHECK(false); };
  std::vector<std::uint32_t> scratch(7, 123);
  for (std::size_t size = 0; size < 7; ++size) {
    const auto refused = pool.audit(pave::no_tables(), {scratch.data(), size}, never);
    CHECK(refused.code() == errc::buffer_too_small);
    CHECK(refused.error().missing == 7 - size);
  }
  CHECK(scratch == std::vector<std::uint32_t>(7, 123));
  // While the pool shrinks, and after it did, there is to be room for all ids that there ever were.
  REQUIRE(pool.resize(1));
  CHECK(pool.audit(pave::no_tables(), {scratch.data(), 6}, never).code() == errc::buffer_too_small);
  CHECK(said(pool, tables{{{2, 3, 4, 5, 6}}}, 7) == sentences{"0"});
  REQUIRE(pool.release(std::vector<block_id>{3, 4, 5, 6}));
  CHECK(said(pool, tables{{{2}}}, 7) == sentences{"0"});
  CHECK(said(pool, tables{{{2, 6}}}, 7) ==
        sentences{"block 6 is named 1 time, but nobody holds it", "table 0 names block 6", "1"});
}

TEST_CASE("to_words: a finding in one sentence, cut off where there is too little room", "[audit]") {
  constexpr std::int64_t most = (std::numeric_limits<std::int32_t>::max)();
  const finding leaked{finding_kind::leaked, 7, 2, 1};
  CHECK(words_of(leaked) == "block 7 is leaked: it has 2 holders, and is named 1 time");
  CHECK(words_of({finding_kind::counts_differ, -1, 9, 10}) ==
        "available, fenced and held blocks are 9, but the capacity is 10");
  std::array<char, 8> short_room{};  // and no compiler warns of it
  CHECK(std::string(pave::to_words(leaked, short_room)) == "block 7");
  const std::string whole = words_of(leaked);
  std::array<char, 128> room{};
  for (std::size_t size = 0; size < room.size(); ++size) {
    room.fill('?');
    const std::string words = pave::to_words(leaked, {room.data(), size});
    CHECK(words == whole.substr(0, size == 0 ? 0 : size - 1));
    CHECK(room[(std::max)(size, words.size() + 1)] == '?');
  }
  // As long as can be: a block of the pool has a 32-bit id, and counts of 32 bits; a table may name anything.
  constexpr std::int64_t counted = (std::numeric_limits<std::uint32_t>::max)();
  constexpr std::int64_t least = (std::numeric_limits<std::int64_t>::min)();
  for (int kind = 0; kind <= static_cast<int>(finding_kind::pin_names); ++kind) {
    const bool is_any = static_cast<finding_kind>(kind) == finding_kind::out_of_range;
    const std::string words =
        words_of({static_cast<finding_kind>(kind), is_any ? least : most, counted, counted, finding::no_table - 1});
    CHECK(words.size() > 10);
    CHECK(words.size() < 127);
  }
}
