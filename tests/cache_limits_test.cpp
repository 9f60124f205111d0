// SPDX-License-Identifier: Apache-2.0
// A kv_cache at its limits: the smallest, the emptiest, and the largest numbers.
#include "cache_fixture.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <utility>

namespace {

using pave::errc;
using pave_tests::small;
using fixture = pave_tests::cache_fixture<>;

constexpr std::int64_t most = (std::numeric_limits<std::int64_t>::max)();

errc created(const pave::kv_cache_options& options) { return pave::kv_cache<>::create(options).code(); }

template <class Policies>
void require_empty(pave::kv_cache<Policies>& cache) {
  std::array<pave::cut, 4> room{};
  pave::cut_list cuts(room);
  const pave::sequence_id id{0, 1};
  REQUIRE(cache.admit(0, 1).code() == errc::never_fits);
  REQUIRE(cache.admit(0, 1).error().missing == 1);
  REQUIRE(cache.finish(id).code() == errc::stale);
  REQUIRE(cache.abort(id).code() == errc::stale);
  REQUIRE(cache.set_rank(id, 0).code() == errc::stale);
  REQUIRE(cache.truncate(id, 0).code() == errc::stale);
  REQUIRE(cache.offer_prefix(id, {}).code() == errc::stale);
  REQUIRE(cache.begin_step().code() == errc::no_step);
  REQUIRE(cache.grow_or_reclaim(id, 1, cuts).code() == errc::stale);
  REQUIRE(cache.next_restore(1, cuts).code() == errc::no_step);
  REQUIRE(cache.complete(1).code() == errc::no_step);
  REQUIRE(cache.plan_cuts(id, 1, cuts).code() == errc::stale);
  REQUIRE(cache.commit(id, cuts.used()).code() == errc::stale);
  room[0] = {id, {0, 1}, 1, false};
  REQUIRE(cache.commit(id, pave::span<const pave::cut>(room.data(), 1)).code() == errc::stale);
  cache.reset();
  REQUIRE(cache.block_table(id).code() == errc::stale);
  REQUIRE(cache.computed(id).code() == errc::stale);
  REQUIRE(cache.gap(id).code() == errc::stale);
  const pave::cache_snapshot now = cache.snapshot();
  REQUIRE(now.capacity == 0);
  REQUIRE(now.available + now.fenced + now.held == 0);
  REQUIRE(now.running + now.parked + now.waiting == 0);
  std::array<pave::block_id, 1> block{};
  REQUIRE(cache.pool().allocate(block).code() == errc::never_fits);
  REQUIRE(cache.pool().release(block).code() == errc::not_held);
  REQUIRE(cache.pool().share(block).code() == errc::not_held);
}

}  // namespace

TEMPLATE_TEST_CASE("kv_cache: one that was never made refuses all",
                   "[cache]",
                   pave::cache_policies,
                   pave_tests::keep_policies) {
  pave::kv_cache<TestType> cache;
  require_empty(cache);
}

TEMPLATE_TEST_CASE("kv_cache: a moved-from one is empty, and the one it went to goes on",
                   "[cache]",
                   pave::cache_policies,
                   pave_tests::keep_policies) {
  pave_tests::cache_fixture<TestType> f(small());
  const pave::sequence_id id = f.running(0, 10);
  REQUIRE(f.grow(id, 1).has_value());
  pave::kv_cache<TestType> moved(std::move(f.cache));
  require_empty(f.cache);
  REQUIRE(moved.complete(f.step).has_value());
  REQUIRE(moved.computed(id).value() == 11);
  REQUIRE(moved.snapshot().held == 3);

  f.cache = std::move(moved);
  require_empty(moved);
  REQUIRE(f.cache.finish(id).has_value());
  REQUIRE(f.available() == 16);
  f.cache = pave::kv_cache<TestType>();
  require_empty(f.cache);
}

TEST_CASE("kv_cache: what a sequence lost is found again where the cache was moved to", "[cache]") {
  pave_tests::cache_fixture<pave_tests::keep_policies> f(small());
  const pave::sequence_id id = f.parked(0, 16, 1);
  pave::kv_cache<pave_tests::keep_policies> moved(std::move(f.cache));
  f.cache = std::move(moved);
  REQUIRE(f.restore()->found == pave::token_range{4, 16});
  REQUIRE(f.cache.finish(id).has_value());
}

TEST_CASE("create: options out of their range are refused", "[cache]") {
  const auto with = [](auto change) {
    pave::kv_cache_options options = small();
    change(options);
    return created(options);
  };
  REQUIRE(with([](auto&) {}) == errc::ok);
  for (const std::int64_t none : {std::int64_t{0}, std::int64_t{-1}, -most}) {
    REQUIRE(with([&](auto& o) { o.blocks = none; }) == errc::invalid_argument);
    REQUIRE(with([&](auto& o) { o.tokens_per_block = none; }) == errc::invalid_argument);
    REQUIRE(with([&](auto& o) { o.blocks_per_sequence = none; }) == errc::invalid_argument);
  }
  REQUIRE(with([](auto& o) { o.reserve = -1; }) == errc::invalid_argument);
  REQUIRE(with([](auto& o) { o.watermark = -1; }) == errc::invalid_argument);
  REQUIRE(with([](auto& o) { o.watermark = -most - 1; }) == errc::invalid_argument);
  REQUIRE(with([](auto& o) { o.sequences = 0; }) == errc::invalid_argument);
  REQUIRE(with([](auto& o) { o.steps_in_flight = 0; }) == errc::invalid_argument);
  REQUIRE(with([](auto& o) { o.steps_in_flight = 65; }) == errc::invalid_argument);
  REQUIRE(with([](auto& o) { o.blocks = std::int64_t{1} << 31; }) == errc::invalid_argument);
  REQUIRE(with([](auto& o) { o.tokens_per_block = std::int64_t{1} << 31; }) == errc::invalid_argument);
  REQUIRE(with([](auto& o) { o.sequences = std::size_t{1} << 31; }) == errc::invalid_argument);
  REQUIRE(with([](auto& o) { o.blocks = most; }) == errc::invalid_argument);
  REQUIRE(with([](auto& o) { o.sequences = static_cast<std::size_t>(-1); }) == errc::invalid_argument);
  REQUIRE(with([](auto& o) { o.tokens_per_block = (std::int64_t{1} << 31) - 1; }) == errc::ok);
  REQUIRE(with([](auto& o) { o.blocks_per_sequence = most; }) == errc::ok);
}

TEST_CASE("kv_cache: the largest numbers are refused, not wrapped around", "[cache]") {
  pave::kv_cache_options options = small();
  options.tokens_per_block = GENERATE(std::int64_t{1}, std::int64_t{16}, (std::int64_t{1} << 31) - 1);
  options.blocks = 2;
  fixture f(options);
  const std::int64_t capacity = 2 * options.tokens_per_block.value();
  const pave::sequence_id id = f.running(0, 1);
  const std::int64_t huge[] = {std::int64_t{1} << 33, std::int64_t{1} << 62, most - 1, most};
  for (const std::int64_t tokens : huge) {
    REQUIRE(f.cache.admit(0, tokens).code() == errc::never_fits);
    REQUIRE(f.cache.admit(0, 1, tokens).code() == errc::never_fits);
    REQUIRE(f.grow(id, tokens).code() == errc::never_fits);
    REQUIRE(f.grow(id, -tokens).code() == errc::invalid_argument);
    REQUIRE(f.cache.truncate(id, tokens).code() == errc::invalid_argument);
    REQUIRE(f.cache.truncate(id, -tokens).code() == errc::invalid_argument);
    REQUIRE(f.cache.complete(tokens).code() == errc::no_step);
    REQUIRE(f.cache.plan_cuts(id, tokens, f.cuts).code() == errc::shortage);
    REQUIRE(f.cache.plan_cuts(id, tokens, f.cuts).error().missing == tokens);
  }
  REQUIRE(f.cache.admit(0, (std::numeric_limits<std::uint64_t>::max)()).code() == errc::never_fits);
  REQUIRE(f.grow(id, capacity - 1)->tokens == pave::token_range{1, capacity});
  REQUIRE(f.grow(id, 1).code() == errc::never_fits);
  REQUIRE(f.grow(id, 1).error().missing == 1);
}

TEST_CASE("kv_cache: a sequence of 2^32 - 1 tokens is computed, lost and restored like a short one", "[cache]") {
  constexpr std::int64_t tokens = (std::int64_t{1} << 32) - 1;
  pave::kv_cache_options options = small();
  options.tokens_per_block = std::int64_t{1} << 30;
  options.blocks = 4;
  fixture f(options);
  const pave::sequence_id id = f.admit(0, tokens);
  f.next_step();
  REQUIRE(f.restore(most)->tokens == pave::token_range{0, tokens});
  REQUIRE(f.held(id) == 4);
  f.next_step();
  REQUIRE(f.cache.computed(id).value() == tokens);
  f.take(id, 3);
  REQUIRE(f.cache.gap(id).value() == pave::token_range{std::int64_t{1} << 30, tokens});
  REQUIRE(f.restore(most)->tokens == pave::token_range{std::int64_t{1} << 30, tokens + 1});
}

TEST_CASE("kv_cache: a pool of one block, with one slot", "[cache]") {
  pave::kv_cache_options options = small(1);
  options.sequences = 1;
  options.steps_in_flight = 1;
  fixture f(options);
  const pave::sequence_id id = f.running(0, 3);
  REQUIRE(f.cache.admit(0, 1).code() == errc::table_full);
  REQUIRE(f.grow(id, 1).has_value());
  REQUIRE(f.grow(id, 1).code() == errc::never_fits);
  f.next_step();
  f.cache.reset();
  REQUIRE(f.available() == 1);
  REQUIRE(f.restore()->tokens == pave::token_range{0, 4});
  REQUIRE(f.cache.finish(id).has_value());
}

TEST_CASE("kv_cache: with one block and two sequences, both finish", "[cache]") {
  fixture f(small(1));
  const pave::sequence_id first = f.running(1, 3);
  const pave::sequence_id second = f.admit(0, 4);
  REQUIRE(f.restore().error().missing == 1);
  f.take(first, 1);
  REQUIRE(f.restore()->sequence == second);
  REQUIRE(f.restore().code() == errc::shortage);
  REQUIRE(f.cache.finish(second).has_value());
  REQUIRE(f.restore()->sequence == first);
  REQUIRE(f.cache.finish(first).has_value());
}

TEST_CASE("kv_cache: the largest reserve keeps a resumed sequence out while another runs, and never wraps around",
          "[cache]") {
  pave::kv_cache_options options = small();
  options.reserve = GENERATE(std::int64_t{17}, std::int64_t{1} << 62, most);
  fixture f(options);
  const pave::sequence_id runs = f.running(0, 4);
  const pave::sequence_id back = f.running(1, 8);
  const pave::sequence_id gives = f.running(2, 8);
  f.take(back, 1);
  f.take(gives, 1);
  std::array<pave::block_id, 12> outside;
  REQUIRE(f.cache.pool().allocate(outside).has_value());
  REQUIRE(f.available() == 1);
  REQUIRE(f.restore().code() == errc::shortage);
  REQUIRE(f.held(gives) == 1);
  REQUIRE(f.cache.finish(runs).has_value());
  REQUIRE(f.restore()->sequence == back);
}

TEST_CASE("kv_cache: the largest watermark keeps a new sequence out while another runs, and never wraps around",
          "[cache]") {
  pave::kv_cache_options options = small();
  options.watermark = GENERATE(std::int64_t{16}, std::int64_t{17}, std::int64_t{1} << 62, most);
  options.reserve = GENERATE(std::int64_t{0}, most);
  fixture f(options);
  const pave::sequence_id runs = f.running(0, 4);
  const pave::sequence_id waits = f.admit(1, 64);
  const pave::result<pave::restore> refused = f.restore();
  REQUIRE(refused.code() == errc::shortage);
  REQUIRE(refused.error().missing == 16 + 16 - 15);
  REQUIRE(f.cache.finish(runs).has_value());
  REQUIRE(f.restore()->sequence == waits);
}

TEST_CASE("kv_cache: the least and the greatest rank are ranks", "[cache]") {
  fixture f(small(4));
  const pave::sequence_id last = f.running(most, 8);
  const pave::sequence_id first = f.running(-most - 1, 8);
  REQUIRE(f.grow(first, 1).has_value());
  REQUIRE(f.cuts.used()[0].sequence == last);
  REQUIRE(f.grow(first, 100).code() == errc::never_fits);
}
