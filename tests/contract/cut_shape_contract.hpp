// SPDX-License-Identifier: Apache-2.0
// What every cut shape does, alone and in a planner.
#ifndef PAVE_TESTS_CONTRACT_CUT_SHAPE_CONTRACT_HPP
#define PAVE_TESTS_CONTRACT_CUT_SHAPE_CONTRACT_HPP

#include "support/catch.hpp"
#include "support/priced_view.hpp"

#include <pave/planner.hpp>
#include <pave/policy/cut_shape.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pave_tests {

template <class Shape>
struct planner_with_shape : pave::planner_policies {
  using cut_shape = Shape;
};

template <class Shape>
pave::shaped_cut cut_by(const Shape& shape, const priced_view& view, std::size_t i, pave::block_count wanted) {
  if constexpr (pave::detail::is_detected_v<pave::detail::cut_shape_cut, Shape, priced_view>) {
    return shape.cut(view, i, wanted);
  } else {
    return shape.cut(view, pave::recompute_cost{}, i, wanted);
  }
}

/// Over every pattern of shared blocks up to ten, full ones and empty ones, and every wish.
template <class Shape>
void check_cut_shape() {
  static_assert(pave::is_cut_shape_v<Shape, priced_view>);
  const Shape shape{};
  bool as_promised = true;
  for (std::size_t size = 0; size <= 10; ++size) {
    for (std::uint32_t pattern = 0; pattern < (1U << size); ++pattern) {
      plain_candidate one{7, 1, false, std::vector<bool>(size)};
      for (std::size_t block = 0; block < size; ++block) one.comes_free[block] = ((pattern >> block) & 1U) != 0;
      const priced_view view({one}, {static_cast<std::int64_t>((size - pattern % (size + 1)) * 16)}, 16);
      const pave::block_count total = view.reclaimable(0, 0, size);
      for (std::int64_t wanted = 1; wanted <= static_cast<std::int64_t>(size) + 2; ++wanted) {
        const pave::shaped_cut cut = cut_by(shape, view, 0, wanted);
        const bool enough = cut.freed == (total < wanted ? total.value() : wanted);
        const bool inside = cut.blocks.first >= 0 && cut.blocks.last <= size && cut.blocks.first <= cut.blocks.last;
        const bool counted = inside && cut.freed == view.reclaimable(0, cut.blocks.first, cut.blocks.last);
        // Whichever end a shape grows from, the block that it took last comes free: one less would free less.
        const bool shortest = counted && (!Shape::keeps_prefix || cut.freed == 0 || cut.blocks.last == size) &&
                              (cut.freed == 0 ? cut.blocks.empty()
                                              : view.reclaimable(0, cut.blocks.first, cut.blocks.first + 1) == 1 ||
                                                    view.reclaimable(0, cut.blocks.last - 1, cut.blocks.last) == 1);
        if (enough && shortest) continue;
        as_promised = false;
        CAPTURE(size, pattern, wanted, cut.blocks.first.value(), cut.blocks.last.value(), cut.freed.value());
        CHECK(enough);
        CHECK(inside);
        CHECK(counted);
        CHECK(shortest);
      }
    }
  }
  CHECK(as_promised);

  const priced_view several(
      {candidate(1, 1, "11s1"), candidate(2, 2, "ss"), candidate(3, 3, "1s1s"), candidate(4, 4, "s11")},
      {63, 32, 40, 41}, 16);
  for (std::int64_t shortage = 1; shortage <= 7; ++shortage) {
    CAPTURE(shortage);
    std::vector<plain_cut> room(several.size());
    std::vector<std::uint32_t> scratch(several.size());
    plain_cut_list cuts(room);
    const auto planned = pave::eviction_planner<planner_with_shape<Shape>>()(
        several, 0, shortage, pave::victims::parked_then_running, cuts, scratch);
    REQUIRE(planned);
    CHECK(planned->freed.value() == shortage);
    pave::block_count named = 0;
    for (const auto& cut : cuts.used()) {
      CHECK(cut.freed.value() > 0);
      CHECK(several.reclaimable(static_cast<std::size_t>(cut.sequence - 1), cut.blocks.first, cut.blocks.last) ==
            cut.freed);
      named += cut.blocks.size();
    }
    CHECK(planned->given_up == named - planned->freed);
  }
}

}  // namespace pave_tests

#endif  // PAVE_TESTS_CONTRACT_CUT_SHAPE_CONTRACT_HPP
