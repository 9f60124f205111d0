// SPDX-License-Identifier: Apache-2.0
// What every demand does, alone and in a planner.
#ifndef PAVE_TESTS_CONTRACT_DEMAND_CONTRACT_HPP
#define PAVE_TESTS_CONTRACT_DEMAND_CONTRACT_HPP

#include "support/catch.hpp"
#include "support/priced_view.hpp"

#include <pave/planner.hpp>
#include <pave/policy/demand.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace pave_tests {

template <class Demand>
struct planner_with_demand : pave::planner_policies {
  using demand = Demand;
};

template <class Demand>
pave::block_count blocks_of(const Demand& demand, const priced_view& view, pave::block_count shortage) {
  if constexpr (pave::detail::is_detected_v<pave::detail::demand_blocks_of_view, Demand, priced_view>) {
    return demand.blocks(view, shortage);
  } else {
    return demand.blocks(shortage);
  }
}

template <class Demand>
void check_demand() {
  static_assert(pave::is_demand_v<Demand, priced_view>);
  [[maybe_unused]] constexpr bool known_when_compiled = Demand::whole_victims && Demand::spares_requester;
  using planner_type = pave::eviction_planner<planner_with_demand<Demand>>;
  static_assert(planner_type::spares_requester == Demand::spares_requester);

  const Demand demand{};
  const priced_view view({candidate(1, 5, "1111"), parked_candidate(2, 6, "s1111"), candidate(3, 7, "11s111"),
                          parked_candidate(4, 4, "11")},
                         {64, 80, 95, 32}, 16);
  for (std::int64_t shortage = 1; shortage < 300; ++shortage) {
    CHECK(blocks_of(demand, view, shortage).value() >= shortage);
    CHECK(blocks_of(demand, view, shortage) == blocks_of(demand, view, shortage));
  }
  constexpr std::int64_t total = 4 + 4 + 5 + 2;
  for (std::int64_t shortage = 1; shortage <= total + 2; ++shortage) {
    CAPTURE(shortage);
    std::vector<plain_cut> room(view.size());
    std::vector<std::uint32_t> scratch(view.size());
    plain_cut_list cuts(room);
    const auto planned = planner_type(demand)(view, 0, shortage, pave::victims::parked_then_running, cuts, scratch);
    if (shortage > total) {  // more may be asked for, but only what is missing has to come
      CHECK(planned.code() == pave::errc::shortage);
      CHECK(planned.error().missing == shortage - total);
      CHECK(cuts.used().empty());
      continue;
    }
    REQUIRE(planned);
    CHECK(planned->demand == (std::min)(blocks_of(demand, view, shortage), pave::block_count(total)));
    CHECK(planned->freed >= planned->demand);
    CHECK(planned->over_evicted() == planned->freed - planned->demand);
    if (!Demand::whole_victims) CHECK(planned->freed == planned->demand);
    pave::block_count freed = 0;
    for (const auto& cut : cuts.used()) {
      freed += cut.freed;
      if (Demand::whole_victims)
        CHECK(cut.blocks == pave::block_range{0, view.blocks(static_cast<std::size_t>(cut.sequence - 1))});
    }
    CHECK(freed == planned->freed);
  }
  {
    std::vector<plain_cut> room(view.size());
    std::vector<std::uint32_t> scratch(view.size());
    plain_cut_list cuts(room);
    const auto nothing = planner_type(demand)(view, 0, 0, pave::victims::parked_then_running, cuts, scratch);
    REQUIRE(nothing);
    CHECK(nothing->demand == 0);
    CHECK(cuts.used().empty());
  }
  // A parked sequence that wants to come in is given just what it lacks.
  for (std::int64_t shortage = 1; shortage <= 6; ++shortage) {
    CAPTURE(shortage);
    std::vector<plain_cut> room(view.size());
    std::vector<std::uint32_t> scratch(view.size());
    plain_cut_list cuts(room);
    const auto planned = planner_type(demand)(view, 0, shortage, pave::victims::parked_only, cuts, scratch);
    REQUIRE(planned);
    CHECK(planned->demand == shortage);
  }
}

}  // namespace pave_tests

#endif  // PAVE_TESTS_CONTRACT_DEMAND_CONTRACT_HPP
