// SPDX-License-Identifier: Apache-2.0
// kv_cache with cuts from the inside: what is behind a gap keeps its rights and its duties.
#include "support/catch.hpp"
#include "support/keeping.hpp"

#include <pave/cache.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

using pave::errc;

struct head_planner : pave::planner_policies {
  using cut_shape = pave::head_after_shared;
};
template <class Pool, class Tracker = pave::tracker_policies>
struct head_policies : pave::cache_policies {
  using pool = Pool;
  using planner = head_planner;
  using tracker = Tracker;
};
struct delaying : pave::pool_policies {
  using fence = pave::after_step;
};
struct tail_policies : pave::cache_policies {
  using pool = delaying;
};
struct eager : pave::tracker_policies {
  using resume_gate = pave::first_chunk;
};

/// A cache of blocks of four tokens.
template <class Policies>
struct four_tokens_each {
  using cache_type = pave::kv_cache<Policies>;
  explicit four_tokens_each(std::int64_t blocks) : cache(cache_type::create(options_for(blocks)).value()), cuts(room) {}
  four_tokens_each(const four_tokens_each&) = delete;
  four_tokens_each& operator=(const four_tokens_each&) = delete;

  static pave::kv_cache_options options_for(std::int64_t blocks) {
    pave::kv_cache_options options;
    options.blocks = blocks;
    options.tokens_per_block = 4;
    options.sequences = 4;
    options.steps_in_flight = 4;
    return options;
  }
  pave::step_id let_in() {
    const pave::step_id step = cache.begin_step().value();
    while (cache.next_restore(100, cuts)) continue;
    return step;
  }
  /// Somebody important takes `blocks` blocks of others, and leaves.
  void cut(std::int64_t blocks) {
    const pave::sequence_id requester = cache.admit(-1, 1).value();
    cache.plan_cuts(requester, blocks, cuts).value();
    CHECK(cache.commit(requester, cuts.used())->value() == blocks);
    cache.finish(requester).value();
  }
  std::vector<pave::block_id> table(pave::sequence_id id) const {
    const auto blocks = *cache.block_table(id);
    return {blocks.begin(), blocks.end()};
  }

  std::array<pave::cut, 8> room{};
  cache_type cache;
  pave::cut_list cuts;
};

}  // namespace

TEST_CASE("kv_cache: a gap that comes back does not make a fork forget that it has to rewrite its end", "[cache]") {
  four_tokens_each<head_policies<delaying>> f(12);
  const auto a = f.cache.admit(1, 10).value();
  f.cache.complete(f.let_in()).value();
  f.cache.begin_step().value();
  f.cache.grow_or_reclaim(a, 2, f.cuts).value();
  const auto fork = f.cache.fork(a, 2).value();  // the step of `a` may write behind what it has of their last block
  f.cache.begin_step().value();
  f.cut(1);
  f.cache.finish(a).value();
  const auto in = f.cache.next_restore(100, f.cuts).value();
  CHECK(in.tokens == pave::token_range{0, 4});
  f.cache.begin_step().value();
  const auto grown = f.cache.grow_or_reclaim(fork, 2, f.cuts);
  REQUIRE(grown);
  CHECK(grown->copy.has_value());
  CHECK_FALSE(f.cache.pool().is_in_use(f.table(fork)[2]));
}

TEST_CASE("kv_cache: what a sequence is offered is all that it finds, whoever had its slot before", "[cache]") {
  four_tokens_each<head_policies<pave_tests::keeping<>>> f(12);
  const auto notes = [&](pave::sequence_id id) {
    std::vector<pave::kept_block> known;
    for (std::size_t i = 0; i < 3; ++i) known.push_back(f.cache.pool().content_of(f.table(id)[i]).value());
    return known;
  };
  const auto y = f.cache.admit(0, 12).value();
  f.cache.complete(f.let_in()).value();
  const auto of_y = notes(y);
  const auto x = f.cache.admit(1, 13).value();
  f.cache.offer_prefix(x, of_y).value();
  f.cache.finish(x).value();
  f.cache.finish(y).value();
  auto z = f.cache.admit(5, 20).value();
  if (z.slot != x.slot) {
    const auto other = z;
    z = f.cache.admit(5, 20).value();
    f.cache.finish(other).value();
  }
  REQUIRE(z.slot == x.slot);
  f.cache.complete(f.let_in()).value();
  const auto of_z = notes(z);
  const pave::block_id first = f.table(z)[0];
  const auto pin = f.cache.pool().pin({&first, 1}).value();
  f.cut(2);
  f.cache.pool().unpin(pin).value();
  f.cache.offer_prefix(z, of_z).value();
  f.cache.truncate(z, 12).value();
  f.cache.begin_step().value();
  REQUIRE(f.cache.next_restore(100, f.cuts));
  for (const pave::block_id block : f.table(z)) {
    const pave::kept_block now = f.cache.pool().content_of(block).value();
    for (const pave::kept_block& of_another : of_y) CHECK_FALSE(now == of_another);
  }
}

TEMPLATE_TEST_CASE("kv_cache: what never fits with what is kept behind a gap is refused as such",
                   "[cache]",
                   pave::tracker_policies,
                   eager) {
  four_tokens_each<head_policies<pave::pool_policies, TestType>> f(8);
  const auto z = f.cache.admit(5, 32).value();
  f.cache.complete(f.let_in()).value();
  f.cut(4);
  REQUIRE(f.cache.resize(4));
  f.cache.begin_step().value();
  CHECK(f.cache.next_restore(4, f.cuts).code() == errc::never_fits);
  CHECK(f.cache.progress(z)->state == pave::sequence_state::parked);
}

TEST_CASE("kv_cache: blocks that leave a pool in which they are fenced are no gain of a plan", "[cache][resize]") {
  four_tokens_each<tail_policies> f(12);
  const auto a = f.cache.admit(0, 8).value();
  const auto z = f.cache.admit(3, 39).value();
  f.cache.complete(f.let_in()).value();
  f.cache.begin_step().value();
  f.cache.grow_or_reclaim(z, 1, f.cuts).value();
  REQUIRE(f.cache.resize(8));
  f.cache.begin_step().value();
  const auto plan = f.cache.plan_cuts(a, 2, f.cuts);
  REQUIRE(plan);
  CHECK(f.cache.commit(a, f.cuts.used()).value() == plan->freed);
  CHECK(f.cache.promised(a)->blocks == plan->freed);
}
