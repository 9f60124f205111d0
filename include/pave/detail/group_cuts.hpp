// SPDX-License-Identifier: Apache-2.0
// Where a candidate can be cut so that every KV group gets enough, and it can go on from there.
#ifndef PAVE_DETAIL_GROUP_CUTS_HPP
#define PAVE_DETAIL_GROUP_CUTS_HPP

#include <pave/groups.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace pave {
inline namespace v0 {
namespace detail {

/// What a candidate keeps that is not cut.
inline constexpr token_count uncut = (std::numeric_limits<std::int64_t>::max)();

/// One candidate's blocks of one group. Cut at `kept` tokens it gives those beyond, and can give those that it then has
/// left behind.
template <class View>
class group_blocks {
 public:
  group_blocks(const View& view, std::size_t i, std::size_t g) noexcept
      : view_(view), i_(i), g_(g), group_(view.group(g)), blocks_(view.blocks(i, g)), tokens_(view.tokens(i)) {}

  [[nodiscard]] block_range all() const noexcept { return blocks_; }
  [[nodiscard]] block_range beyond(token_count kept) const noexcept { return group_.beyond(kept, blocks_); }
  [[nodiscard]] block_range left_behind(token_count kept) const noexcept {
    const block_count end = group_.left_behind(smaller(kept, tokens_)).last;
    return {blocks_.first, smaller(larger(end, blocks_.first), blocks_.last)};
  }
  [[nodiscard]] block_count held(block_range range) const noexcept {
    return range.empty() ? 0 : block_count(view_.held(i_, g_, range.first, range.last));
  }
  [[nodiscard]] block_count reclaimable(block_range range) const noexcept {
    return range.empty() ? 0 : block_count(view_.reclaimable(i_, g_, range.first, range.last));
  }
  /// @return as many as come free at most
  [[nodiscard]] block_count most(token_count kept) const noexcept {
    return reclaimable(beyond(kept)) + reclaimable(left_behind(kept));
  }

  /// @return of those left behind, the first ones of which `wanted` come free, or all; it begins and ends with one that
  ///   comes free
  [[nodiscard]] block_range oldest_left_behind(token_count kept, block_count wanted) const noexcept {
    const block_range all = left_behind(kept);
    block_range oldest{all.first, all.first};
    block_count freed = 0;
    for (block_count at = all.first; at < all.last && freed < wanted; at += 1) {
      if (reclaimable({at, at + 1}) == 0) continue;
      if (freed == 0) oldest.first = at;
      oldest.last = at + 1;
      freed += 1;
    }
    return oldest;
  }

  /// @return the last position up to `limit` at which this group lets it go on, and gives `wanted` blocks or more; none
  ///   where there is no such position
  /// @complexity linear in the blocks from there to the end, and in those that are left behind
  [[nodiscard]] std::optional<token_count> last_cut(token_count limit, block_count wanted) const noexcept {
    token_count kept = limit;
    block_range taken = beyond(kept);
    block_range behind = left_behind(kept);
    block_count most = reclaimable(taken) + reclaimable(behind);
    const auto lower_to = [&](token_count position) noexcept {
      const block_range now_taken = beyond(position);
      const block_range now_behind = left_behind(position);
      most += reclaimable({now_taken.first, taken.first});
      most -= reclaimable({now_behind.last, behind.last});
      kept = position;
      taken = now_taken;
      behind = now_behind;
    };
    for (;;) {
      if (most < wanted) {
        const block_count lacking = wanted - most;  // so many blocks more at least: none gives more than itself
        if (lacking > taken.first - blocks_.first) return std::nullopt;
        lower_to((taken.first - lacking).value() * group_.tokens_per_block.value());
      } else if (const token_count position = last_resumable(kept); position < kept) {
        lower_to(position);
      } else {
        return kept;
      }
    }
  }

 private:
  /// @return `kept`, if it can go on there; otherwise one between that and the last position before at which it can
  [[nodiscard]] token_count last_resumable(token_count kept) const noexcept {
    if (kept >= tokens_ || !group_.leaves_blocks_behind()) return kept;  // as it goes on now; there are no holes
    const token_count position = group_.last_resumable(kept);
    const block_range needed = group_.needed(position);
    for (block_count at = needed.last; at > needed.first;) {
      at -= 1;
      const bool is_held = at >= blocks_.first && at < blocks_.last && held({at, at + 1}) == 1;
      // Whatever position in between: it needs this block, too.
      if (!is_held) return at.value() * group_.tokens_per_block.value();
    }
    return position;
  }

  const View& view_;
  std::size_t i_;
  std::size_t g_;
  kv_group group_;
  block_range blocks_;
  token_count tokens_;
};

/// @param wanted (g): blocks of a group that have to come free; 0 or less where none has to
/// @param kept up to where
/// @return the last position at which every group lets candidate `i` go on and gives enough: `uncut` where it need not
///   be cut, and none where all it has is too little
/// @complexity linear in its blocks for each time that a group moves the position; mostly each does once or not at all
template <class View, class Wanted>
[[nodiscard]] std::optional<token_count> last_cut(const View& view,
                                                  std::size_t i,
                                                  const Wanted& wanted,
                                                  token_count kept = uncut) noexcept {
  const std::size_t groups = view.groups();
  std::size_t agreed = 0;  // groups in a row that let it go on there
  for (std::size_t g = 0; agreed < groups; g = g + 1 < groups ? g + 1 : 0) {
    const auto position = group_blocks<View>(view, i, g).last_cut(kept, wanted(g));
    if (!position) return std::nullopt;
    agreed = *position == kept ? agreed + 1 : 1;
    kept = *position;
  }
  return kept;
}

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
