// SPDX-License-Identifier: Apache-2.0
// The stock demands, and one of a user's that rounds up, keep the contract.
#include "contract/demand_contract.hpp"
#include "support/catch.hpp"

#include <pave/policy/demand.hpp>

namespace {

/// A user's: in fours, so that a copy engine moves whole runs.
struct in_fours {
  static constexpr bool whole_victims = false;
  static constexpr bool spares_requester = true;
  static constexpr pave::block_count blocks(pave::block_count shortage) { return (shortage.value() + 3) / 4 * 4; }
};

/// Another user's: two more than what is short, also where nothing is.
struct two_more {
  static constexpr bool whole_victims = false;
  static constexpr bool spares_requester = true;
  static constexpr pave::block_count blocks(pave::block_count shortage) { return shortage + 2; }
};

static_assert(!pave::is_demand_v<int>);

}  // namespace

TEMPLATE_TEST_CASE("contract: a demand is at least the shortage, and the plan meets it",
                   "[contract][planner]",
                   pave::exact,
                   pave::whole_sequence,
                   in_fours,
                   two_more) {
  pave_tests::check_demand<TestType>();
}

TEST_CASE("exact: the shortage, not a block more", "[planner]") {
  for (std::int64_t shortage = 0; shortage < 100; ++shortage) CHECK(pave::exact::blocks(shortage).value() == shortage);
}
