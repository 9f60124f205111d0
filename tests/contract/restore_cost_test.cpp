// SPDX-License-Identifier: Apache-2.0
// The stock restore costs, and one of a user's, keep the contract.
#include "support/catch.hpp"

#include <pave/policy/restore_cost.hpp>

#include <cstdint>

namespace {

/// A user's: copies back from somewhere, as many bytes as there are tokens.
struct by_length {
  static constexpr double cost(pave::token_range positions) { return static_cast<double>(positions.size().value()); }
};

static_assert(!pave::is_restore_cost_v<int>);

}  // namespace

TEMPLATE_TEST_CASE("contract: a restore cost is 0 for nothing, never negative, and does not fall with the position",
                   "[contract][planner]",
                   pave::recompute_cost,
                   by_length) {
  static_assert(pave::is_restore_cost_v<TestType>);
  const TestType policy{};
  for (std::int64_t first = 0; first < 40; ++first) {
    CHECK(policy.cost({first, first}) == 0);
    for (std::int64_t last = first + 1; last < 40; ++last) {
      CHECK(policy.cost({first, last}) >= 0);
      CHECK(policy.cost({first, last}) <= policy.cost({first + 1, last + 1}));
    }
  }
}

TEST_CASE("recompute_cost: base + per_token * n + per_context * n * context", "[planner]") {
  constexpr pave::recompute_cost cost{100, 2, 0.5};
  static_assert(cost.cost({0, 1}) == 100 + 2 + 0.25);
  static_assert(cost.cost({10, 20}) == 100 + 2 * 10 + 0.5 * 10 * 15);
  static_assert(cost.cost({7, 7}) == 0);
  static_assert(cost.cost({7, 3}) == 0);
}
