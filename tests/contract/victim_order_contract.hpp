// SPDX-License-Identifier: Apache-2.0
// What every victim order does, alone and in a planner.
#ifndef PAVE_TESTS_CONTRACT_VICTIM_ORDER_CONTRACT_HPP
#define PAVE_TESTS_CONTRACT_VICTIM_ORDER_CONTRACT_HPP

#include "model/random.hpp"
#include "support/catch.hpp"
#include "support/plain_view.hpp"

#include <pave/planner.hpp>
#include <pave/policy/victim_order.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pave_tests {

template <class Order>
struct planner_with_order : pave::planner_policies {
  using victim_order = Order;
};

/// Some candidates of distinct ranks, parked or not, with some shared blocks.
inline plain_view random_view(random_source& random, std::int64_t most_candidates, std::int64_t most_blocks) {
  std::vector<plain_candidate> all;
  const std::int64_t size = random.between(0, most_candidates);
  std::vector<std::int64_t> ranks;
  for (std::int64_t i = 0; i < size; ++i) ranks.push_back(i * 2 - 4);
  for (std::size_t i = ranks.size(); i > 1; --i) std::swap(ranks[i - 1], ranks[random.index(i)]);
  const std::int64_t shared_one_in = random.between(2, 8);
  for (std::int64_t i = 0; i < size; ++i) {
    plain_candidate one{static_cast<std::int32_t>(100 + i), ranks[static_cast<std::size_t>(i)], random.one_in(2), {}};
    one.comes_free.resize(static_cast<std::size_t>(random.between(0, most_blocks)));
    for (std::size_t block = 0; block < one.comes_free.size(); ++block) {
      one.comes_free[block] = !random.one_in(shared_one_in);
    }
    all.push_back(one);
  }
  return plain_view(all);
}

template <class Order>
void check_victim_order() {
  static_assert(pave::is_victim_order_v<Order, plain_view>);

  SECTION("it is a strict weak order") {
    for_each_seed(40, [](std::uint64_t seed) {
      random_source random(seed);
      const plain_view view = random_view(random, 7, 5);
      const Order order{};
      const auto tie = [&](std::size_t a, std::size_t b) {
        return !order.before(view, a, b) && !order.before(view, b, a);
      };
      for (std::size_t a = 0; a < view.size(); ++a) {
        expect(!order.before(view, a, a), "none comes before itself");
        for (std::size_t b = 0; b < view.size(); ++b) {
          expect(!(order.before(view, a, b) && order.before(view, b, a)), "one direction only");
          for (std::size_t c = 0; c < view.size(); ++c) {
            expect(!(order.before(view, a, b) && order.before(view, b, c)) || order.before(view, a, c), "transitive");
            expect(!(tie(a, b) && tie(b, c)) || tie(a, c), "ties are transitive");
          }
        }
      }
    });
  }

  SECTION("a planner cuts in that order, parked ones first, ties by rank") {
    for_each_seed(200, [](std::uint64_t seed) {
      random_source random(seed);
      const plain_view view = random_view(random, 9, 5);
      const Order order{};
      std::vector<plain_cut> room(view.size());
      std::vector<std::uint32_t> scratch(view.size());
      plain_cut_list cuts(room);
      const pave::eviction_planner<planner_with_order<Order>> planner(pave::exact{}, order);
      for (std::int64_t shortage = 1; planner(view, -3, shortage, pave::victims::parked_then_running, cuts, scratch);
           ++shortage) {
        std::vector<std::size_t> cut_candidates;
        for (const auto& cut : cuts.used()) cut_candidates.push_back(static_cast<std::size_t>(cut.sequence - 100));
        for (std::size_t i = 1; i < cut_candidates.size(); ++i) {
          const std::size_t a = cut_candidates[i - 1];
          const std::size_t b = cut_candidates[i];
          expect(view.parked(a) || !view.parked(b), "parked ones first");
          if (view.parked(a) != view.parked(b)) continue;
          expect(!order.before(view, b, a), "in the policy's order");
          if (!order.before(view, a, b)) expect(view.rank(b) < view.rank(a), "what it leaves open goes by rank");
        }
      }
    });
  }
}

}  // namespace pave_tests

#endif  // PAVE_TESTS_CONTRACT_VICTIM_ORDER_CONTRACT_HPP
