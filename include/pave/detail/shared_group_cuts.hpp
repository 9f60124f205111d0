// SPDX-License-Identifier: Apache-2.0
// Cuts over KV groups whose blocks several candidates hold: one comes free, and counts once, when all let it go.
#ifndef PAVE_DETAIL_SHARED_GROUP_CUTS_HPP
#define PAVE_DETAIL_SHARED_GROUP_CUTS_HPP

#include <pave/detail/detect.hpp>
#include <pave/detail/group_cuts.hpp>
#include <pave/groups.hpp>
#include <pave/planner.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace pave {
inline namespace v0 {
namespace detail {

/// What a draft of a plan lets go, block by block. It counts in each group's plan what comes free.
template <class View>
class shared_group_cuts {
 public:
  /// @pre the view's `let_go` are 0 where a candidate holds a block
  shared_group_cuts(const View& view, span<plan> groups) noexcept : view_(view), groups_(groups) {}

  /// A candidate that held all lets go what it has left behind, in groups that are short.
  void leave(std::size_t i) const noexcept {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      let_go(i, g, {blocks(i, g).all().first, kept_range(i, g, uncut).first});
    }
  }
  /// It is cut at `to` instead of at `from`.
  void move(std::size_t i, token_count from, token_count to) const noexcept {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const block_range before = kept_range(i, g, from);
      const block_range now = kept_range(i, g, to);
      let_go(i, g, {before.first, smaller(before.last, now.first)});
      let_go(i, g, {larger(before.first, now.last), before.last});
      take_back(i, g, {now.first, smaller(now.last, before.first)});
      take_back(i, g, {larger(now.first, before.last), now.last});
    }
  }
  /// @return the next position before `kept` at which a candidate lets go of other blocks, and can go on
  /// @pre kept > 0, and it holds blocks that it would keep there
  [[nodiscard]] token_count before(std::size_t i, token_count kept) const noexcept {
    token_count position = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const block_count end = blocks(i, g).beyond(kept).first;
      if (end > blocks(i, g).all().first) {
        position = larger(position, token_count((end - 1).value() * view_.group(g).tokens_per_block.value()));
      }
    }
    return *last_cut(
        view_, i, [](std::size_t) noexcept { return block_count(0); }, position);
  }
  /// It keeps of what it has left behind in a group the newest blocks, as many as can be spared.
  /// @return those that it lets go
  [[nodiscard]] block_range spare(std::size_t i, std::size_t g, token_count kept) const noexcept {
    block_range oldest{blocks(i, g).all().first, kept_range(i, g, kept).first};
    while (!oldest.empty() && can_spare(i, g, oldest.last - 1)) {
      take_back(i, g, {oldest.last - 1, oldest.last});
      oldest.last -= 1;
    }
    while (!oldest.empty() && !is_free(i, g, oldest.first)) {
      take_back(i, g, {oldest.first, oldest.first + 1});
      oldest.first += 1;
    }
    return oldest;
  }
  /// @return of a range that a candidate lets go, how many come free and are not named yet: from now on they are
  [[nodiscard]] block_count name_free(std::size_t i, std::size_t g, block_range range) const noexcept {
    block_count named = 0;
    each(i, g, range, [&](std::uint32_t& gone, std::uint32_t holders) noexcept {
      if (gone != holders) return;
      gone = is_named;
      named += 1;
    });
    return named;
  }
  /// Nothing of a candidate's blocks is let go.
  void forget(std::size_t i) const noexcept {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      each(i, g, blocks(i, g).all(), [](std::uint32_t& gone, std::uint32_t) noexcept { gone = 0; });
    }
  }

 private:
  static constexpr std::uint32_t is_named = 0xFFFFFFFFU;  // no block has so many holders

  [[nodiscard]] group_blocks<View> blocks(std::size_t i, std::size_t g) const noexcept { return {view_, i, g}; }
  /// What it keeps if it is cut there: in a group that is not short all that it has left behind, too.
  [[nodiscard]] block_range kept_range(std::size_t i, std::size_t g, token_count kept) const noexcept {
    const group_blocks<View> all = blocks(i, g);
    const block_count end = all.beyond(kept).first;
    return {groups_[g].demand > 0 ? smaller(all.left_behind(kept).last, end) : all.all().first, end};
  }
  /// @param visit called with how many let a block go, and how many would have to
  template <class Visit>
  void each(std::size_t i, std::size_t g, block_range range, const Visit& visit) const noexcept {
    const auto gone = view_.let_go(g);
    for (block_count b = range.first; b < range.last; b += 1) {
      const std::size_t block = view_.block(i, g, b);
      if (block < gone.size()) visit(gone[block], view_.holders(g, block));
    }
  }
  void let_go(std::size_t i, std::size_t g, block_range range) const noexcept {
    each(i, g, range, [&](std::uint32_t& gone, std::uint32_t holders) noexcept {
      if (++gone == holders) groups_[g].freed += 1;
    });
  }
  void take_back(std::size_t i, std::size_t g, block_range range) const noexcept {
    each(i, g, range, [&](std::uint32_t& gone, std::uint32_t holders) noexcept {
      if (gone-- == holders) groups_[g].freed -= 1;
    });
  }
  [[nodiscard]] bool is_free(std::size_t i, std::size_t g, block_count b) const noexcept {
    bool is_it = false;
    each(i, g, {b, b + 1}, [&](std::uint32_t gone, std::uint32_t holders) noexcept { is_it = gone == holders; });
    return is_it;
  }
  [[nodiscard]] bool can_spare(std::size_t i, std::size_t g, block_count b) const noexcept {
    return groups_[g].freed > groups_[g].demand || !is_free(i, g, b);
  }

  const View& view_;
  span<plan> groups_;
};

template <class View>
using group_candidates_block = decltype(std::declval<const View&>().block(std::size_t{}, std::size_t{}, block_count{}));
template <class View>
using group_candidates_holders = decltype(std::declval<const View&>().holders(std::size_t{}, std::size_t{}));
template <class View>
using group_candidates_let_go = decltype(std::declval<const View&>().let_go(std::size_t{}));

/// Whether a view says by whom a block is held, so that plans can count one that several candidates let go.
template <class View>
inline constexpr bool names_shared_blocks_v = all({
    is_detected_as_v<std::size_t, group_candidates_block, View>,
    is_detected_as_v<std::uint32_t, group_candidates_holders, View>,
    is_detected_as_v<span<std::uint32_t>, group_candidates_let_go, View>,
});

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
