// SPDX-License-Identifier: Apache-2.0
// cheapest_restore against the optimum: the cheapest of all plans that spare who matters more, and use parked ones up
// first.
#include "model/random.hpp"
#include "support/catch.hpp"
#include "support/priced_view.hpp"

#include <pave/planner.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using pave_tests::expect;
using pave_tests::plain_candidate;
using pave_tests::plain_cut;
using pave_tests::plain_cut_list;
using pave_tests::priced_view;
using pave_tests::random_source;

constexpr double infinite = (std::numeric_limits<double>::infinity)();

template <class Shape>
struct cheapest_policies : pave::planner_policies {
  using victim_order = pave::cheapest_restore;
  using cut_shape = Shape;
};

struct family {
  const char* name;
  double base;
  std::int64_t tokens_per_block;
  std::int64_t most_shared;  // blocks before those that can be given up
};

struct instance {
  priced_view view;
  pave::recompute_cost cost;
};

/// Few candidates of few blocks each, some shared, some without content.
instance make_instance(random_source& random,
                       const family& of,
                       std::int64_t most_candidates,
                       std::int64_t most_blocks) {
  std::vector<plain_candidate> all;
  std::vector<std::int64_t> tokens;
  const std::int64_t size = random.between(2, most_candidates);
  for (std::int64_t i = 0; i < size; ++i) {
    plain_candidate one{static_cast<std::int32_t>(i), i, random.one_in(3), {}};
    one.comes_free.assign(static_cast<std::size_t>(random.between(0, of.most_shared)), false);
    const std::int64_t own = random.between(0, most_blocks);
    for (std::int64_t at = 0; at < own; ++at) one.comes_free.push_back(!random.one_in(9));
    const auto blocks = static_cast<std::int64_t>(one.comes_free.size());
    const std::int64_t without_content = random.one_in(6) ? random.between(0, own) : 0;
    const std::int64_t last = random.between(1, of.tokens_per_block);
    tokens.push_back((std::max)(std::int64_t{0}, (blocks - without_content - 1) * of.tokens_per_block + last));
    all.push_back(one);
  }
  for (std::size_t i = all.size(); i > 1; --i) {
    const std::size_t other = random.index(i);
    std::swap(all[i - 1], all[other]);
    std::swap(tokens[i - 1], tokens[other]);
  }
  return {priced_view(all, tokens, of.tokens_per_block),
          {of.base, 1, static_cast<double>(random.between(0, 20)) / 1e5}};
}

/// What it costs at least that one candidate frees 0, 1, … blocks, by trying every range that the shape allows.
std::vector<double> least_costs(const instance& of, std::size_t i, bool only_ends) {
  const std::int64_t end = of.view.blocks(i).value();
  const std::int64_t each = of.view.tokens_per_block().value();
  std::vector<double> least(static_cast<std::size_t>(end) + 1, infinite);
  least[0] = 0;
  for (std::int64_t first = 0; first < end; ++first) {
    if (!of.view.all()[i].comes_free[static_cast<std::size_t>(first)]) continue;  // one less would cost no more
    std::size_t freed = 0;
    for (std::int64_t last = first + 1; last <= end; ++last) {
      if (of.view.all()[i].comes_free[static_cast<std::size_t>(last - 1)]) ++freed;
      if (only_ends && last != end) continue;
      const std::int64_t from = (std::min)(first * each, of.view.tokens(i).value());
      const std::int64_t to = (std::min)(last * each, of.view.tokens(i).value());
      const double n = static_cast<double>(to - from);
      const double context = static_cast<double>(from + to) / 2;
      const double its = n > 0 ? of.cost.base + n * of.cost.per_token + n * context * of.cost.per_context : 0;
      if (freed > 0) least[freed] = (std::min)(least[freed], its);
    }
  }
  while (least.size() > 1 && least.back() == infinite) least.pop_back();
  return least;
}

std::int64_t obtainable(const instance& of, std::int64_t requester) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < of.view.size(); ++i) {
    if (of.view.rank(i) > requester) sum += of.view.reclaimable(i, 0, of.view.blocks(i)).value();
  }
  return sum;
}

/// Every division of what is wanted among the candidates from `next` on.
double try_all(const std::vector<std::vector<double>>& costs, std::size_t next, std::size_t wanted, double best) {
  if (wanted == 0) return 0;
  if (next == costs.size()) return infinite;
  double least = infinite;
  for (std::size_t k = 0; k < costs[next].size() && k <= wanted; ++k) {
    const double its = costs[next][k];
    if (its >= (std::min)(best, least)) continue;
    least = (std::min)(least, its + try_all(costs, next + 1, wanted - k, (std::min)(best, least) - its));
  }
  return least;
}

/// @return infinite where not so many can be had
double optimum(const instance& of, std::int64_t requester, std::size_t wanted, bool only_ends) {
  double total = 0;
  for (const bool parked : {true, false}) {
    std::vector<std::vector<double>> costs;
    std::size_t obtainable = 0;
    for (std::size_t i = 0; i < of.view.size(); ++i) {
      if (of.view.rank(i) <= requester || of.view.parked(i) != parked) continue;
      costs.push_back(least_costs(of, i, only_ends));
      obtainable += costs.back().size() - 1;
    }
    const std::size_t from_these = (std::min)(wanted, obtainable);
    total += try_all(costs, 0, from_these, infinite);
    wanted -= from_these;
  }
  return wanted == 0 ? total : infinite;
}

/// The same where nobody is spared, by dynamic programming over all candidates and blocks.
double optimum_by_table(const instance& of, std::size_t wanted, bool only_ends) {
  double total = 0;
  for (const bool parked : {true, false}) {
    std::vector<double> least{0};
    for (std::size_t i = 0; i < of.view.size(); ++i) {
      if (of.view.parked(i) != parked) continue;
      const std::vector<double> own = least_costs(of, i, only_ends);
      std::vector<double> with((std::min)(wanted + 1, least.size() + own.size() - 1), infinite);
      for (std::size_t k = 0; k < own.size(); ++k) {
        for (std::size_t before = 0; before < least.size() && before + k < with.size(); ++before) {
          with[before + k] = (std::min)(with[before + k], least[before] + own[k]);
        }
      }
      least = with;
    }
    total += least.back();
    wanted -= least.size() - 1;
  }
  return total;
}

template <class Shape>
double price_of_plan(const instance& of, std::int64_t requester, std::int64_t wanted, pave::result<pave::plan>& plan) {
  std::vector<plain_cut> room(of.view.size());
  std::vector<std::uint32_t> scratch(of.view.size());
  plain_cut_list cuts(room);
  const pave::eviction_planner<cheapest_policies<Shape>> planner({}, {}, {}, of.cost);
  plan = planner(of.view, requester, wanted, pave::victims::parked_then_running, cuts, scratch);
  double total = 0;
  std::int64_t freed = 0;
  bool stops_one = false;
  for (const plain_cut& cut : cuts.used()) {
    std::size_t i = 0;
    while (of.view.key(i) != cut.sequence) ++i;
    expect(of.view.rank(i) > requester, "only from less important ones");
    expect(!(stops_one && cut.was_parked), "parked ones first");
    stops_one = stops_one || !cut.was_parked;
    expect(of.view.reclaimable(i, cut.blocks.first, cut.blocks.last) == cut.freed, "it frees what it says");
    freed += cut.freed.value();
    total += planner.price(of.view, i, cut.blocks);
  }
  if (plan) expect(freed == wanted && plan->freed == wanted, "exact");
  return total;
}

const family families[] = {{"short contexts", 0, 16, 3},
                           {"short contexts, each victim costs something", 76, 16, 3},
                           {"long contexts", 0, 2048, 60},
                           {"long contexts, each victim costs something", 3000, 2048, 60}};

}  // namespace

TEMPLATE_TEST_CASE("cheapest_restore: of all plans it makes the cheapest, in 25,000 small cases of each family",
                   "[planner][random]",
                   pave::tail,
                   pave::cheapest_range) {
  const family& of = families[GENERATE(range(0, 4))];
  CAPTURE(std::string(of.name));
  std::int64_t dearer = 0;
  std::int64_t feasible = 0;
  pave_tests::for_each_seed(25000, [&](std::uint64_t seed) {
    random_source random(seed);
    const instance one = make_instance(random, of, 6, 7);
    const std::int64_t requester = random.between(-1, 1);
    const std::int64_t wanted = random.between(1, obtainable(one, requester) + 1);
    const double least = optimum(one, requester, static_cast<std::size_t>(wanted), TestType::keeps_prefix);
    pave::result<pave::plan> plan = pave::errc::ok;
    const double its = price_of_plan<TestType>(one, requester, wanted, plan);
    expect(plan.has_value() == (least < infinite), "feasible or not");
    if (!plan) return;
    ++feasible;
    expect(its >= least * (1 - 1e-9), "no plan is cheaper than the optimum");
    if (its > least * (1 + 1e-9)) ++dearer;
  });
  CHECK(feasible > 18000);
  CHECK(dearer == 0);
}

TEMPLATE_TEST_CASE("cheapest_restore: with many candidates and large demands it stays close to the cheapest plan",
                   "[planner][random]",
                   pave::tail,
                   pave::cheapest_range) {
  const family& of = families[GENERATE(range(0, 4))];
  CAPTURE(std::string(of.name));
  std::int64_t within_a_thousandth = 0;
  std::int64_t all = 0;
  double worst = 1;
  pave_tests::for_each_seed(60, [&](std::uint64_t seed) {
    random_source random(seed);
    const instance one = make_instance(random, of, 60, 60);
    const std::int64_t wanted = random.between(1, (std::min)(obtainable(one, -1), std::int64_t{400}));
    const double least = optimum_by_table(one, static_cast<std::size_t>(wanted), TestType::keeps_prefix);
    pave::result<pave::plan> plan = pave::errc::ok;
    const double its = price_of_plan<TestType>(one, -1, wanted, plan);
    expect(plan.has_value(), "it can be had");
    expect(its >= least * (1 - 1e-9), "no plan is cheaper than the optimum");
    ++all;
    if (its <= least * 1.001) ++within_a_thousandth;
    if (least > 0) worst = (std::max)(worst, its / least);
  });
  CAPTURE(all, within_a_thousandth, worst);
  CHECK(within_a_thousandth * 4 >= all * 3);
  CHECK(worst <= 1.03);
}
