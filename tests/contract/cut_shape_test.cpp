// SPDX-License-Identifier: Apache-2.0
// The stock cut shapes, and one of a user's that cuts from the front, keep the contract.
#include "contract/cut_shape_contract.hpp"
#include "support/catch.hpp"
#include "support/plain_view.hpp"
#include "support/priced_view.hpp"

#include <pave/policy/cut_shape.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace {

/// A user's: the beginning goes, for an engine that can resume from what comes after.
struct front {
  static constexpr bool keeps_prefix = false;

  template <class View>
  pave::shaped_cut cut(const View& view, std::size_t candidate, pave::block_count wanted) const {
    pave::shaped_cut shaped{{0, 0}, 0};
    for (pave::block_count at = 0; at < view.blocks(candidate) && shaped.freed < wanted; at += 1) {
      if (view.reclaimable(candidate, at, at + 1) == 0) continue;
      shaped.freed += 1;
      shaped.blocks.last = at + 1;
    }
    return shaped;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("contract: a cut shape frees what is wanted, with no block to spare",
                   "[contract][planner]",
                   pave::tail,
                   pave::head_after_shared,
                   pave::cheapest_range,
                   front) {
  pave_tests::check_cut_shape<TestType>();
}

TEST_CASE("tail: what is kept is a prefix, and what was shared before the first gain is kept with it", "[planner]") {
  struct row {
    const char* shape;
    std::int64_t wanted;
    std::int64_t first;
    std::int64_t freed;
  };
  const row each = GENERATE(row{"1111", 1, 3, 1}, row{"1111", 4, 0, 4}, row{"1111", 9, 0, 4}, row{"111s", 1, 2, 1},
                            row{"11ss", 2, 0, 2}, row{"1s1s1", 2, 2, 2}, row{"1s1s1", 3, 0, 3}, row{"ss11", 2, 2, 2},
                            row{"ss11", 3, 2, 2}, row{"s1ss", 1, 1, 1}, row{"s1ss", 2, 1, 1});
  CAPTURE(std::string(each.shape), each.wanted);
  const pave_tests::plain_view view({pave_tests::candidate(1, 1, each.shape)});
  const pave::shaped_cut cut = pave::tail::cut(view, 0, each.wanted);
  CHECK(cut.blocks.first.value() == each.first);
  CHECK(cut.blocks.last == view.blocks(0));
  CHECK(cut.freed.value() == each.freed);
}

TEST_CASE("tail: of blocks that are all shared it cuts none", "[planner]") {
  const pave_tests::plain_view view({pave_tests::candidate(1, 1, "sss"), pave_tests::candidate(2, 2, "")});
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(pave::tail::cut(view, i, 2).freed.value() == 0);
    CHECK(pave::tail::cut(view, i, 2).blocks.empty());
  }
}

TEST_CASE("head_after_shared: the first blocks that come free, but for empty ones at the end", "[planner]") {
  struct row {
    const char* shape;
    std::int64_t tokens;
    std::int64_t wanted;
    std::int64_t first;
    std::int64_t last;
  };
  const row each =
      GENERATE(row{"1111", 64, 1, 0, 1}, row{"1111", 64, 4, 0, 4}, row{"ss11", 64, 1, 2, 3}, row{"s1s11", 80, 2, 1, 4},
               row{"s1s11", 80, 9, 1, 5}, row{"1111", 32, 1, 3, 4}, row{"1111", 32, 2, 2, 4}, row{"1111", 32, 3, 0, 3},
               row{"11s1", 16, 2, 0, 2}, row{"111s", 32, 1, 0, 1}, row{"1111", 0, 4, 0, 4}, row{"sss", 48, 1, 3, 3});
  CAPTURE(std::string(each.shape), each.tokens, each.wanted);
  const pave_tests::priced_view view({pave_tests::candidate(1, 1, each.shape)}, {each.tokens}, 16);
  const pave::shaped_cut cut = pave::head_after_shared::cut(view, 0, each.wanted);
  CHECK(cut.blocks.first.value() == each.first);
  CHECK(cut.blocks.last.value() == each.last);
}

TEST_CASE("cheapest_range: the head where positions cost, the end where blocks are empty, and nothing for nothing",
          "[planner]") {
  struct row {
    const char* shape;
    std::int64_t tokens;
    std::int64_t wanted;
    std::int64_t first;
    std::int64_t last;
  };
  const row each =
      GENERATE(row{"1111", 64, 1, 0, 1}, row{"1111", 50, 1, 3, 4}, row{"1111", 50, 2, 2, 4}, row{"1111", 32, 2, 2, 4},
               row{"1111", 32, 3, 1, 4}, row{"1s11", 64, 2, 2, 4}, row{"1s1s1", 80, 2, 0, 3}, row{"11ss", 64, 2, 0, 2},
               row{"s1ss", 64, 9, 1, 2}, row{"1ss1", 16, 1, 3, 4}, row{"sss", 48, 1, 3, 3});
  CAPTURE(std::string(each.shape), each.tokens, each.wanted);
  const pave_tests::priced_view view({pave_tests::candidate(1, 1, each.shape)}, {each.tokens}, 16);
  const pave::shaped_cut cut = pave::cheapest_range::cut(view, pave::recompute_cost{}, 0, each.wanted);
  CHECK(cut.blocks.first.value() == each.first);
  CHECK(cut.blocks.last.value() == each.last);
}

TEST_CASE("cheapest_range: blocks of a gap that are empty cost nothing, wherever they are", "[planner]") {
  struct gap_in_the_middle : pave_tests::priced_view {
    using pave_tests::priced_view::priced_view;
    pave::block_count missing(std::size_t /*i*/, pave::block_count first, pave::block_count last) const {
      const pave::block_count in_range =
          (std::min)(last, pave::block_count(3)) - (std::max)(first, pave::block_count(1));
      return (std::max)(in_range, pave::block_count(0));
    }
  };
  const gap_in_the_middle view({pave_tests::candidate(1, 1, "11111")}, {80}, 16);
  CHECK(pave::cheapest_range::cut(view, pave::recompute_cost{}, 0, 2).blocks == pave::block_range{1, 3});
}
