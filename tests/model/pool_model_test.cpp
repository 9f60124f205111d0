// SPDX-License-Identifier: Apache-2.0
// Every pool that the stock policies make, against a plain model.
#include "model/any_pool.hpp"
#include "model/pool_round.hpp"
#include "model/random.hpp"
#include "support/catch.hpp"
#include "support/stock_policies.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

namespace {

using pave_tests::every_pool;
using pave_tests::pool_maker;
using pave_tests::pool_tally;

constexpr std::uint64_t rounds = 30;
constexpr int calls_of_a_round = 300;

struct count_refused {
  std::size_t& all;
  std::size_t& refused;
  std::size_t& left_out;

  template <class Policies>
  constexpr void operator()(pave_tests::type<Policies> /*which*/) const {
    all += 1;
    if (Policies::is_refused) refused += 1;
    if (!Policies::is_refused && Policies::is_left_out) left_out += 1;
  }
};

/// @param keep whether only pools that keep content are to be run, or only others
pool_tally run_all(bool keep) {
  pool_tally times;
  for (const pool_maker& maker : every_pool()) {
    if (maker.kind.keeps_content != keep) continue;
    INFO(maker.name);
    pave_tests::for_each_seed(
        rounds, [&](std::uint64_t seed) { pave_tests::pool_round(seed, maker, times).run(calls_of_a_round); });
  }
  return times;
}

/// Each about as often as there were rounds, or at least in one of ten.
void check_all_happened(const pool_tally& times) {
  const int few = times.rounds / 10;
  CHECK(few > 0);
  CHECK(times.stale > few);
  CHECK(times.busy > times.rounds);
  CHECK(times.share_refused > times.rounds);
  CHECK(times.pin_refused > times.rounds);
  CHECK(times.stale_pins > times.rounds);
  CHECK(times.last_was_pin > times.rounds);
  CHECK(times.arrived > times.rounds);
  CHECK(times.waited_for_others > times.rounds);
  CHECK(times.lost_on_the_way > few);
  CHECK(times.left > times.rounds);
  CHECK(times.stayed > few);
  CHECK(times.findings > times.rounds);
}

}  // namespace

TEST_CASE("block_pool: every combination of the stock policies is there once, but for those that are refused",
          "[pool][model]") {
  std::size_t all = 0;
  std::size_t refused = 0;
  std::size_t left_out = 0;
  const count_refused count{all, refused, left_out};
  pave_tests::each_combination(count);
  pave_tests::each_other_combination(count);
  CHECK(all == pave_tests::combinations + pave_tests::other_combinations);
  CHECK(every_pool().size() == all - refused - left_out);
  CHECK((left_out > 0) == pave_tests::is_sanitized);
  std::set<std::string> names;
  for (const pool_maker& maker : every_pool()) names.insert(maker.name);
  CHECK(names.size() == every_pool().size());
  CAPTURE(names);
  CHECK(names.count("last_released, counted, at_once, forget, unlocked, silent, basic_block_id<int>") == 1);
}

TEST_CASE("block_pool: any stream of calls, good and bad, does what a plain model does", "[pool][model]") {
  const pool_tally times = run_all(false);
  if (std::getenv("PAVE_TEST_SEED") == nullptr) check_all_happened(times);
}

TEST_CASE("block_pool: a plain model keeps content, too, and any stream of calls does what it does", "[pool][model]") {
  const pool_tally times = run_all(true);
  if (std::getenv("PAVE_TEST_SEED") != nullptr) return;
  check_all_happened(times);
  CHECK(times.revived > times.rounds);
  CHECK(times.shared_by_content > times.rounds);
  CHECK(times.undone > times.rounds);
}
