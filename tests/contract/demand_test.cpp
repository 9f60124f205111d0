// SPDX-License-Identifier: Apache-2.0
// The stock demands, and one of a user's that rounds up, keep the contract.
#include "contract/demand_contract.hpp"
#include "support/catch.hpp"
#include "support/priced_view.hpp"

#include <pave/policy/demand.hpp>

#include <cstdint>
#include <limits>

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
                   pave::ahead,
                   pave::to_watermark,
                   pave::whole_sequence,
                   in_fours,
                   two_more) {
  pave_tests::check_demand<TestType>();
}

TEST_CASE("exact: the shortage, not a block more", "[planner]") {
  for (std::int64_t shortage = 0; shortage < 100; ++shortage) CHECK(pave::exact::blocks(shortage).value() == shortage);
}

TEST_CASE("ahead: what those that run will need is asked for, too, as far as their last blocks are full", "[planner]") {
  struct row {
    std::int64_t tokens;  // of one that runs, and holds two blocks of 16
    std::int64_t steps;
    std::int64_t more;
  };
  const row each = GENERATE(row{32, 1, 1}, row{31, 1, 0}, row{31, 2, 1}, row{16, 16, 0}, row{16, 17, 1}, row{32, 16, 1},
                            row{32, 17, 2}, row{0, 32, 0}, row{32, 0, 0});
  CAPTURE(each.tokens, each.steps);
  const pave_tests::priced_view view({pave_tests::candidate(1, 1, "11"), pave_tests::parked_candidate(2, 2, "11")},
                                     {each.tokens, 32}, 16);
  CHECK(pave::ahead{each.steps}.blocks(view, 3).value() == 3 + each.more);
}

TEST_CASE("ahead: no number of steps is too large or too small, nor a shortage", "[planner]") {
  constexpr std::int64_t most = (std::numeric_limits<std::int64_t>::max)();
  const pave_tests::priced_view view({pave_tests::candidate(1, 1, "11")}, {32}, 16);
  CHECK(pave::ahead{most}.blocks(view, 3).value() == 3 + most / 16 + 1 - 2);
  CHECK(pave::ahead{-1}.blocks(view, 3).value() == 3);
  CHECK(pave::ahead{most}.blocks(view, most).value() == most);
  CHECK(pave::ahead{1}.blocks(view, most).value() == most);
}

TEST_CASE("to_watermark: the largest sums stay the largest", "[planner]") {
  constexpr std::int64_t most = (std::numeric_limits<std::int64_t>::max)();
  CHECK(pave::to_watermark{5}.blocks(2).value() == 7);
  CHECK(pave::to_watermark{most}.blocks(2).value() == most);
  CHECK(pave::to_watermark{2}.blocks(most).value() == most);
}
