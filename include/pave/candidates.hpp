// SPDX-License-Identifier: Apache-2.0
// Who could give up blocks: a view over the engine's own tables, without a copy.
#ifndef PAVE_CANDIDATES_HPP
#define PAVE_CANDIDATES_HPP

#include <pave/config.hpp>
#include <pave/detail/detect.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace pave {
inline namespace v0 {

namespace detail {
template <class View>
using candidates_size = decltype(std::declval<const View&>().size());
template <class View>
using candidates_key = decltype(std::declval<const View&>().key(std::size_t{}));
template <class View>
using candidates_rank_less =
    decltype(std::declval<const View&>().rank(std::size_t{}) < std::declval<const View&>().rank(std::size_t{}));
template <class View, class Rank>
using candidates_outranked = decltype(std::declval<const Rank&>() < std::declval<const View&>().rank(std::size_t{}));
template <class View>
using candidates_parked = decltype(std::declval<const View&>().parked(std::size_t{}));
template <class View>
using candidates_blocks = decltype(std::declval<const View&>().blocks(std::size_t{}));
template <class View>
using candidates_reclaimable =
    decltype(std::declval<const View&>().reclaimable(std::size_t{}, block_count{}, block_count{}));
template <class View>
using candidates_passed = decltype(std::declval<const View&>().passed(std::size_t{}, block_range{}));
}  // namespace detail

/// @brief The contract of a candidate view; `i` counts from 0 to `size()`, every member is const.
/// - `std::size_t size()`: how many candidates
/// - `Key key(i)`: the engine's own name for the candidate; it comes back in the cuts
/// - `Rank rank(i)`: with `<`; lower is more important, no two are equal
/// - `bool parked(i)`: it waits for blocks, and does not run
/// - `block_count blocks(i)`: logical blocks that it holds, [0, blocks)
/// - `block_count reclaimable(i, block_count first, block_count last)`: how many of its blocks [first, last) come free
///   if it lets them go; the sum over the blocks of a range. A block that candidates share with each other counts for
///   none of them, unless the view has the next member
/// - `void passed(i, block_range range)`, where there is one: the plan is through with this candidate, in the order in
///   which it asks them, and has use for `range` of its blocks: all of them, but of the last one only its cut. From
///   then on `reclaimable` may count a block that only those passed hold besides the one that is asked; who takes the
///   plan sees to it that all holders of such a block let it go
template <class View>
inline constexpr bool is_candidate_view_v = detail::all({
    detail::is_detected_as_v<std::size_t, detail::candidates_size, View>,
    detail::is_detected_v<detail::candidates_key, View>,
    detail::is_detected_as_v<bool, detail::candidates_rank_less, View>,
    detail::is_detected_as_v<bool, detail::candidates_parked, View>,
    detail::is_detected_as_v<block_count, detail::candidates_blocks, View>,
    detail::is_detected_as_v<block_count, detail::candidates_reclaimable, View>,
});

#if PAVE_HAS_CONCEPTS
template <class View>
concept candidate_view = is_candidate_view_v<View>;
#endif

/// @brief A range of one sequence's logical blocks to give up.
/// @tparam Key the candidate view's; `sequence_id` for a `kv_cache`
template <class Key>
struct basic_cut {
  Key sequence{};
  block_range blocks;
  block_count freed;        ///< distinct blocks that come free; the others are shared, and given up without gain
  bool was_parked = false;  ///< it waited already when it was cut; otherwise it has to be stopped
};
using cut = basic_cut<sequence_id>;

/// @brief A buffer of the caller's for cuts. As many as there are candidates are always enough.
template <class Key>
class basic_cut_list {
 public:
  constexpr basic_cut_list() noexcept = default;
  explicit constexpr basic_cut_list(span<basic_cut<Key>> room) noexcept : room_(room) {}

  [[nodiscard]] constexpr span<const basic_cut<Key>> used() const noexcept { return {room_.data(), size_}; }
  [[nodiscard]] constexpr span<basic_cut<Key>> used() noexcept { return {room_.data(), size_}; }
  [[nodiscard]] constexpr bool full() const noexcept { return size_ == room_.size(); }
  constexpr void clear() noexcept { size_ = 0; }
  /// @pre not full()
  constexpr void add(const basic_cut<Key>& another) noexcept { room_[size_++] = another; }

 private:
  span<basic_cut<Key>> room_;
  std::size_t size_ = 0;
};
using cut_list = basic_cut_list<sequence_id>;

/// @brief Candidates over rows of 32-bit block ids, as engines hand them to kernels: `table[i * stride + logical]`. The
/// row number is the key. A block comes free where `holders[block]` is 1.
/// @tparam Rank with `<`; no two are equal
template <class Rank = rank>
class block_table_candidates {
 public:
  struct row {
    Rank rank;
    std::int32_t blocks = 0;  ///< how many ids of the row are held
    bool parked = false;
  };

  /// @param rows one for each candidate
  /// @param table `[rows, stride]` block ids
  /// @param stride ids from one row to the next
  /// @param holders `[capacity]`: how many sequences, pins and caches hold each block
  /// @pre the first `blocks` ids of each row are within `holders`
  constexpr block_table_candidates(span<const row> rows,
                                   const std::int32_t* table,
                                   std::size_t stride,
                                   span<const std::uint32_t> holders) noexcept
      : rows_(rows), table_(table), stride_(stride), holders_(holders) {}

  [[nodiscard]] constexpr std::size_t size() const noexcept { return rows_.size(); }
  [[nodiscard]] constexpr std::size_t key(std::size_t i) const noexcept { return i; }
  [[nodiscard]] constexpr Rank rank(std::size_t i) const noexcept { return rows_[i].rank; }
  [[nodiscard]] constexpr bool parked(std::size_t i) const noexcept { return rows_[i].parked; }
  [[nodiscard]] constexpr block_count blocks(std::size_t i) const noexcept { return rows_[i].blocks; }
  [[nodiscard]] constexpr block_count reclaimable(std::size_t i, block_count first, block_count last) const noexcept {
    block_count count = 0;
    for (std::int64_t at = first.value(); at < last.value(); ++at) {
      const std::int32_t block = table_[i * stride_ + static_cast<std::size_t>(at)];
      if (holders_[static_cast<std::size_t>(block)] == 1) count += 1;
    }
    return count;
  }

 private:
  span<const row> rows_;
  const std::int32_t* table_;
  std::size_t stride_;
  span<const std::uint32_t> holders_;
};
static_assert(is_candidate_view_v<block_table_candidates<>>);

/// @brief Candidates over lists of pointers to the engine's own block objects. The row number is the key.
/// @tparam Block the engine's type
/// @tparam Holders called with a `const Block&`, gives how many sequences, pins and caches hold it; 1 makes it
///   reclaimable
/// @tparam Rank with `<`; no two are equal
template <class Block, class Holders, class Rank = rank>
class block_list_candidates {
 public:
  struct row {
    Rank rank;
    span<Block* const> blocks;  ///< in logical order, none of them null
    bool parked = false;
  };

  /// @param rows one for each candidate
  /// @param holders a copy is kept
  constexpr block_list_candidates(span<const row> rows, Holders holders) noexcept
      : rows_(rows), holders_(std::move(holders)) {}

  [[nodiscard]] constexpr std::size_t size() const noexcept { return rows_.size(); }
  [[nodiscard]] constexpr std::size_t key(std::size_t i) const noexcept { return i; }
  [[nodiscard]] constexpr Rank rank(std::size_t i) const noexcept { return rows_[i].rank; }
  [[nodiscard]] constexpr bool parked(std::size_t i) const noexcept { return rows_[i].parked; }
  [[nodiscard]] constexpr block_count blocks(std::size_t i) const noexcept { return rows_[i].blocks.size(); }
  [[nodiscard]] constexpr block_count reclaimable(std::size_t i, block_count first, block_count last) const noexcept {
    block_count count = 0;
    for (std::int64_t at = first.value(); at < last.value(); ++at) {
      if (holders_(std::as_const(*rows_[i].blocks[static_cast<std::size_t>(at)])) == 1) count += 1;
    }
    return count;
  }

 private:
  span<const row> rows_;
  Holders holders_;
};

}  // namespace v0
}  // namespace pave

#endif
