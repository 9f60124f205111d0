// SPDX-License-Identifier: Apache-2.0
// Who could give up blocks of several KV groups: a view over the engine's own tables, without a copy.
#ifndef PAVE_GROUP_CANDIDATES_HPP
#define PAVE_GROUP_CANDIDATES_HPP

#include <pave/candidates.hpp>
#include <pave/config.hpp>
#include <pave/detail/detect.hpp>
#include <pave/groups.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace pave {
inline namespace v0 {

namespace detail {
template <class View>
using group_candidates_groups = decltype(std::declval<const View&>().groups());
template <class View>
using group_candidates_group = decltype(std::declval<const View&>().group(std::size_t{}));
template <class View>
using group_candidates_blocks = decltype(std::declval<const View&>().blocks(std::size_t{}, std::size_t{}));
template <class View>
using group_candidates_held =
    decltype(std::declval<const View&>().held(std::size_t{}, std::size_t{}, block_count{}, block_count{}));
template <class View>
using group_candidates_reclaimable =
    decltype(std::declval<const View&>().reclaimable(std::size_t{}, std::size_t{}, block_count{}, block_count{}));
}  // namespace detail

/// @brief The contract of a candidate view over several KV groups; `i` counts from 0 to `size()`, `g` from 0 to
/// `groups()`, every member is const. `size()`, `key(i)`, `rank(i)` and `parked(i)` are those of `is_candidate_view_v`.
/// - `std::size_t groups()`: how many groups
/// - `kv_group group(g)`: what it is
/// - `token_count tokens(i)`: the position at which candidate `i` goes on: [0, tokens) is computed, or will be with the
///   steps in flight. One that may be set back (drafts that are not accepted) goes on at the first position to which it
///   may be
/// - `block_range blocks(i, g)`: where its logical blocks of a group lie; outside it holds none. In a full-attention
///   group it begins at 0 and has no holes. What is needed at `tokens(i)` is held; blocks beyond are without content
/// - `block_count held(i, g, block_count first, block_count last)`: how many of its blocks [first, last) are there: the
///   others were given up already, or never had a state
/// - `block_count reclaimable(i, g, block_count first, block_count last)`: how many of these come free if it lets them
///   go; the sum over the blocks of a range. A block that several hold counts for none of them
///
/// The order `largest` asks for more: `block_count blocks(i)`, over all groups, as the engine weighs them.
///
/// Where candidates share blocks, a view can say which, so that one counts, once, if all who hold it let it go:
/// - `std::size_t block(i, g, block_count logical)`: a number for a block of candidate `i`, the same for all who hold
/// it;
///   more than all others where it holds none there
/// - `std::uint32_t holders(g, std::size_t block)`: how many hold it, others than candidates, too
/// - `span<std::uint32_t> let_go(g)`: `[blocks]`, all 0 before a plan and after it; empty: do not look at this
template <class View>
inline constexpr bool is_group_candidate_view_v = detail::all({
    detail::is_detected_as_v<std::size_t, detail::candidates_size, View>,
    detail::is_detected_v<detail::candidates_key, View>,
    detail::is_detected_as_v<bool, detail::candidates_rank_less, View>,
    detail::is_detected_as_v<bool, detail::candidates_parked, View>,
    detail::is_detected_as_v<token_count, detail::candidates_tokens, View>,
    detail::is_detected_as_v<std::size_t, detail::group_candidates_groups, View>,
    detail::is_detected_as_v<kv_group, detail::group_candidates_group, View>,
    detail::is_detected_as_v<block_range, detail::group_candidates_blocks, View>,
    detail::is_detected_as_v<block_count, detail::group_candidates_held, View>,
    detail::is_detected_as_v<block_count, detail::group_candidates_reclaimable, View>,
});

#if PAVE_HAS_CONCEPTS
template <class View>
concept group_candidate_view = is_group_candidate_view_v<View>;
#endif

/// @brief The block tables of one KV group, a row for each sequence: `table[i * stride + logical]`.
struct group_table {
  kv_group group;
  const std::int32_t* table = nullptr;   ///< `[rows, stride]` block ids; a negative one is no block
  std::size_t stride = 0;                ///< ids from one row to the next
  span<const std::int32_t> ends;         ///< `[rows]`: the logical block behind a row's last one
  span<const std::uint32_t> holders;     ///< `[capacity]`: how many sequences, pins and caches hold each block
  span<const std::int32_t> begins = {};  ///< `[rows]`: its first one; empty: 0 for all. Spares plans a look at holes
  span<std::uint32_t> let_go = {};       ///< `[capacity]`, all 0: room for plans over shared blocks; empty: none
};

/// @brief Candidates over one table of 32-bit block ids for each KV group, as engines hand them to kernels. The row
/// number is the key. A block comes free where `holders[block]` of its group is 1; with `let_go`, also where that many
/// rows have it and all let it go.
/// @tparam Rank with `<`; no two are equal
template <class Rank = rank>
class group_table_candidates {
 public:
  struct row {
    Rank rank;
    std::int32_t tokens = 0;  ///< the position at which it goes on
    bool parked = false;
  };

  /// @param rows one for each candidate
  /// @param groups the same rows in each
  /// @pre the ids of each row are below its group's capacity
  constexpr group_table_candidates(span<const row> rows, span<const group_table> groups) noexcept
      : rows_(rows), groups_(groups) {}

  [[nodiscard]] constexpr std::size_t size() const noexcept { return rows_.size(); }
  [[nodiscard]] constexpr std::size_t key(std::size_t i) const noexcept { return i; }
  [[nodiscard]] constexpr Rank rank(std::size_t i) const noexcept { return rows_[i].rank; }
  [[nodiscard]] constexpr bool parked(std::size_t i) const noexcept { return rows_[i].parked; }
  [[nodiscard]] constexpr token_count tokens(std::size_t i) const noexcept { return rows_[i].tokens; }
  [[nodiscard]] constexpr std::size_t groups() const noexcept { return groups_.size(); }
  [[nodiscard]] constexpr kv_group group(std::size_t g) const noexcept { return groups_[g].group; }
  [[nodiscard]] constexpr block_range blocks(std::size_t i, std::size_t g) const noexcept {
    const group_table& of = groups_[g];
    return {of.begins.empty() ? 0 : of.begins[i], of.ends[i]};
  }
  /// @return the logical blocks of all groups together
  [[nodiscard]] constexpr block_count blocks(std::size_t i) const noexcept {
    block_count sum = 0;
    for (std::size_t g = 0; g < groups(); ++g) sum += blocks(i, g).size();
    return sum;
  }
  [[nodiscard]] constexpr block_count held(std::size_t i,
                                           std::size_t g,
                                           block_count first,
                                           block_count last) const noexcept {
    return count(i, g, first, last, [](const group_table&, std::int32_t) noexcept { return true; });
  }
  [[nodiscard]] constexpr block_count reclaimable(std::size_t i,
                                                  std::size_t g,
                                                  block_count first,
                                                  block_count last) const noexcept {
    return count(i, g, first, last, [](const group_table& of, std::int32_t block) noexcept {
      return of.holders[static_cast<std::size_t>(block)] == 1;
    });
  }
  [[nodiscard]] constexpr std::size_t block(std::size_t i, std::size_t g, block_count logical) const noexcept {
    return static_cast<std::size_t>(
        groups_[g].table[i * groups_[g].stride + static_cast<std::size_t>(logical.value())]);
  }
  [[nodiscard]] constexpr std::uint32_t holders(std::size_t g, std::size_t block) const noexcept {
    return groups_[g].holders[block];
  }
  [[nodiscard]] constexpr span<std::uint32_t> let_go(std::size_t g) const noexcept { return groups_[g].let_go; }

 private:
  template <class Counts>
  [[nodiscard]] constexpr block_count count(
      std::size_t i, std::size_t g, block_count first, block_count last, Counts counts) const noexcept {
    const group_table& of = groups_[g];
    std::int64_t sum = 0;
    for (std::int64_t at = first.value(); at < last.value(); ++at) {
      const std::int32_t block = of.table[i * of.stride + static_cast<std::size_t>(at)];
      if (block >= 0 && counts(of, block)) ++sum;
    }
    return sum;
  }

  span<const row> rows_;
  span<const group_table> groups_;
};
static_assert(is_group_candidate_view_v<group_table_candidates<>>);

}  // namespace v0
}  // namespace pave

#endif
