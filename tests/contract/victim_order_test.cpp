// SPDX-License-Identifier: Apache-2.0
// The stock victim orders, and some of a user's, keep the contract.
#include "contract/victim_order_contract.hpp"
#include "support/catch.hpp"

#include <pave/policy/victim_order.hpp>

#include <cstddef>

namespace {

/// A user's that has no opinion.
struct anyone {
  template <class View>
  bool before(const View&, std::size_t, std::size_t) const {
    return false;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("contract: a victim order orders, and a planner follows it",
                   "[contract][planner]",
                   pave::least_important,
                   pave::largest,
                   pave::most_slack,
                   anyone) {
  pave_tests::check_victim_order<TestType>();
}
