// SPDX-License-Identifier: Apache-2.0
// Who could give up blocks: a view over the engine's own tables, without a copy.
#ifndef PAVE_CANDIDATES_HPP
#define PAVE_CANDIDATES_HPP

#include <pave/config.hpp>
#include <pave/detail/detect.hpp>
#include <pave/layout.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
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
template <class View>
using candidates_tokens = decltype(std::declval<const View&>().tokens(std::size_t{}));
template <class View>
using candidates_tokens_per_block = decltype(std::declval<const View&>().tokens_per_block());
template <class View>
using candidates_missing = decltype(std::declval<const View&>().missing(std::size_t{}, block_count{}, block_count{}));
template <class View>
using candidates_alone = decltype(std::declval<const View&>().alone(std::size_t{}));
template <class View>
using candidates_slack_less =
    decltype(std::declval<const View&>().slack(std::size_t{}) < std::declval<const View&>().slack(std::size_t{}));
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
///
/// - `block_count alone(i)`, where there is one: `reclaimable` counts just so many blocks at its end, which it holds
///   alone. No plan then walks a block table
///
/// Some policies ask for more:
/// - `token_count tokens_per_block()` and `token_count tokens(i)`: positions [0, tokens) are in its blocks, or will be
///   with the steps in flight. Blocks beyond them have no content, and cost nothing to give up
/// - `block_count missing(i, block_count first, block_count last)`, where there is one: how many blocks of that range,
///   below `tokens(i)`, have no content (yet): gaps
/// - `Slack slack(i)`: with `<`; how much time it has, by the engine's own measure
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

namespace detail {

/// Whether a view says what its candidates' blocks contain.
template <class View>
inline constexpr bool knows_tokens_v = all({
    is_detected_as_v<token_count, candidates_tokens, View>,
    is_detected_as_v<token_count, candidates_tokens_per_block, View>,
});

/// Whether each block of a range comes free.
template <class View>
[[nodiscard]] constexpr bool come_free(const View& view, std::size_t i, block_range range) noexcept {
  if constexpr (is_detected_as_v<block_count, candidates_alone, View>) {
    return view.blocks(i) - view.alone(i) <= range.first;
  } else {
    return view.reclaimable(i, range.first, range.last) == range.size();
  }
}

/// At most so many blocks come free of candidate `i`.
template <class View>
[[nodiscard]] constexpr block_count most_freed(const View& view, std::size_t i) noexcept {
  if constexpr (is_detected_as_v<block_count, candidates_alone, View>) {
    return view.alone(i);
  } else {
    return view.blocks(i);
  }
}

/// The first block from `at` on that comes free; the end where none does.
template <class View>
[[nodiscard]] constexpr block_count next_free(const View& view, std::size_t i, block_count at) noexcept {
  if constexpr (is_detected_as_v<block_count, candidates_alone, View>) {
    return larger(at, view.blocks(i) - view.alone(i));
  } else {
    while (at < view.blocks(i) && view.reclaimable(i, at, at + 1) == 0) at += 1;
    return at;
  }
}

/// Positions of candidate `i` that come back after its blocks `range` went: as many as have content in them, and as if
/// they were the last ones of the range.
template <class View>
[[nodiscard]] constexpr token_range content_of(const View& view, std::size_t i, block_range range) noexcept {
  const token_count each = view.tokens_per_block();
  const token_count last = smaller<token_count>(range.last.value() * each.value(), view.tokens(i));
  token_count first = smaller<token_count>(range.first.value() * each.value(), last);
  if constexpr (is_detected_as_v<block_count, candidates_missing, View>) {
    first += view.missing(i, range.first, range.last).value() * each.value();
  }
  return {first, last};
}

/// Whether some blocks of a range have no content, before others that have.
template <class View>
[[nodiscard]] constexpr bool has_gaps([[maybe_unused]] const View& view,
                                      [[maybe_unused]] std::size_t i,
                                      [[maybe_unused]] block_range range) noexcept {
  if constexpr (is_detected_as_v<block_count, candidates_missing, View>) {
    return view.missing(i, range.first, range.last) > 0;
  } else {
    return false;
  }
}

/// Blocks of candidate `i` that have content, or will have: those behind them are empty.
template <class View>
[[nodiscard]] constexpr block_count filled_blocks(const View& view, std::size_t i) noexcept {
  if constexpr (knows_tokens_v<View>) {
    const token_count tokens = larger<token_count>(0, view.tokens(i));
    return smaller(view.blocks(i), blocks_for(tokens, view.tokens_per_block()));
  } else {
    return view.blocks(i);
  }
}

/// Blocks of candidate `i` that are full of tokens, or would be where they are missing.
template <class View>
[[nodiscard]] constexpr block_count full_blocks(const View& view, std::size_t i) noexcept {
  return view.tokens(i).value() / view.tokens_per_block().value();
}

/// How many blocks of a range are such ones.
template <class Is>
[[nodiscard]] constexpr block_count count_blocks(block_range range, const Is& is) noexcept {
  block_count count = 0;
  for (std::int64_t at = range.first.value(); at < range.last.value(); ++at) {
    if (is(at)) count += 1;
  }
  return count;
}

}  // namespace detail

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
/// row number is the key. A block comes free where `holders[block]` is 1. For rows with gaps: see
/// `gapped_table_candidates`.
/// @tparam Rank with `<`; no two are equal
template <class Rank = rank>
class block_table_candidates {
 public:
  struct row {
    Rank rank;
    std::int32_t blocks = 0;  ///< how many ids of the row are held
    bool parked = false;
    std::int32_t tokens = (std::numeric_limits<std::int32_t>::max)();  ///< in these blocks; by default they are full
    std::int32_t slack = 0;  ///< how much time it has, in any unit of the engine's: for `most_slack`
  };

  /// @param rows one for each candidate
  /// @param table `[rows, stride]` block ids
  /// @param stride ids from one row to the next
  /// @param holders `[capacity]`: how many sequences, pins and caches hold each block
  /// @param tokens_per_block for policies that price what is lost
  /// @pre the first `blocks` ids of each row are within `holders`
  constexpr block_table_candidates(span<const row> rows,
                                   const std::int32_t* table,
                                   std::size_t stride,
                                   span<const std::uint32_t> holders,
                                   token_count tokens_per_block = 16) noexcept
      : rows_(rows), table_(table), stride_(stride), holders_(holders), tokens_per_block_(tokens_per_block) {}

  [[nodiscard]] constexpr std::size_t size() const noexcept { return rows_.size(); }
  [[nodiscard]] constexpr std::size_t key(std::size_t i) const noexcept { return i; }
  [[nodiscard]] constexpr Rank rank(std::size_t i) const noexcept { return rows_[i].rank; }
  [[nodiscard]] constexpr bool parked(std::size_t i) const noexcept { return rows_[i].parked; }
  [[nodiscard]] constexpr block_count blocks(std::size_t i) const noexcept { return rows_[i].blocks; }
  [[nodiscard]] constexpr token_count tokens_per_block() const noexcept { return tokens_per_block_; }
  [[nodiscard]] constexpr token_count tokens(std::size_t i) const noexcept {
    return detail::smaller<token_count>(rows_[i].tokens, rows_[i].blocks * tokens_per_block_.value());
  }
  [[nodiscard]] constexpr std::int32_t slack(std::size_t i) const noexcept { return rows_[i].slack; }
  [[nodiscard]] constexpr block_count reclaimable(std::size_t i, block_count first, block_count last) const noexcept {
    block_count count = 0;
    for (std::int64_t at = first.value(); at < last.value(); ++at) {
      if (comes_free(id(i, at))) count += 1;
    }
    return count;
  }

 protected:
  [[nodiscard]] constexpr std::int32_t id(std::size_t i, std::int64_t at) const noexcept {
    return table_[i * stride_ + static_cast<std::size_t>(at)];
  }
  [[nodiscard]] constexpr bool comes_free(std::int32_t block) const noexcept {
    return holders_[static_cast<std::size_t>(block)] == 1;
  }

 private:
  span<const row> rows_;
  const std::int32_t* table_;
  std::size_t stride_;
  span<const std::uint32_t> holders_;
  token_count tokens_per_block_;
};
static_assert(is_candidate_view_v<block_table_candidates<>>);

/// @brief The same over rows that have −1 where a cut from the inside left a gap: nothing comes free there, and it is
/// `missing`. The last id of a row is one that is held. Plans take longer: each looks for gaps.
template <class Rank = rank>
class gapped_table_candidates : public block_table_candidates<Rank> {
 public:
  using block_table_candidates<Rank>::block_table_candidates;

  [[nodiscard]] constexpr block_count reclaimable(std::size_t i, block_count first, block_count last) const noexcept {
    return detail::count_blocks({first, last}, [&](std::int64_t at) noexcept {
      return this->id(i, at) >= 0 && this->comes_free(this->id(i, at));
    });
  }
  [[nodiscard]] constexpr block_count missing(std::size_t i, block_count first, block_count last) const noexcept {
    return detail::count_blocks({first, detail::smaller(last, detail::full_blocks(*this, i))},
                                [&](std::int64_t at) noexcept { return this->id(i, at) < 0; });
  }
};
static_assert(is_candidate_view_v<gapped_table_candidates<>>);

/// @brief Candidates over lists of pointers to the engine's own block objects. The row number is the key. For
/// lists with gaps: see `gapped_list_candidates`.
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
    std::int32_t tokens = (std::numeric_limits<std::int32_t>::max)();  ///< in these blocks; by default they are full
    std::int32_t slack = 0;  ///< how much time it has, in any unit of the engine's: for `most_slack`
  };

  /// @param rows one for each candidate
  /// @param holders a copy is kept
  /// @param tokens_per_block for policies that price what is lost
  constexpr block_list_candidates(span<const row> rows, Holders holders, token_count tokens_per_block = 16) noexcept
      : rows_(rows), holders_(std::move(holders)), tokens_per_block_(tokens_per_block) {}

  [[nodiscard]] constexpr std::size_t size() const noexcept { return rows_.size(); }
  [[nodiscard]] constexpr std::size_t key(std::size_t i) const noexcept { return i; }
  [[nodiscard]] constexpr Rank rank(std::size_t i) const noexcept { return rows_[i].rank; }
  [[nodiscard]] constexpr bool parked(std::size_t i) const noexcept { return rows_[i].parked; }
  [[nodiscard]] constexpr block_count blocks(std::size_t i) const noexcept { return rows_[i].blocks.size(); }
  [[nodiscard]] constexpr token_count tokens_per_block() const noexcept { return tokens_per_block_; }
  [[nodiscard]] constexpr token_count tokens(std::size_t i) const noexcept {
    return detail::smaller<token_count>(rows_[i].tokens, blocks(i).value() * tokens_per_block_.value());
  }
  [[nodiscard]] constexpr std::int32_t slack(std::size_t i) const noexcept { return rows_[i].slack; }
  [[nodiscard]] constexpr block_count reclaimable(std::size_t i, block_count first, block_count last) const noexcept {
    block_count count = 0;
    for (std::int64_t at = first.value(); at < last.value(); ++at) {
      if (comes_free(block(i, at))) count += 1;
    }
    return count;
  }

 protected:
  [[nodiscard]] constexpr const Block* block(std::size_t i, std::int64_t at) const noexcept {
    return rows_[i].blocks[static_cast<std::size_t>(at)];
  }
  [[nodiscard]] constexpr bool comes_free(const Block* block) const noexcept { return holders_(*block) == 1; }

 private:
  span<const row> rows_;
  Holders holders_;
  token_count tokens_per_block_;
};

/// @brief The same over lists that have a null pointer where a cut from the inside left a gap: as
/// `gapped_table_candidates`.
template <class Block, class Holders, class Rank = rank>
class gapped_list_candidates : public block_list_candidates<Block, Holders, Rank> {
 public:
  using block_list_candidates<Block, Holders, Rank>::block_list_candidates;

  [[nodiscard]] constexpr block_count reclaimable(std::size_t i, block_count first, block_count last) const noexcept {
    return detail::count_blocks({first, last}, [&](std::int64_t at) noexcept {
      return this->block(i, at) != nullptr && this->comes_free(this->block(i, at));
    });
  }
  [[nodiscard]] constexpr block_count missing(std::size_t i, block_count first, block_count last) const noexcept {
    return detail::count_blocks({first, detail::smaller(last, detail::full_blocks(*this, i))},
                                [&](std::int64_t at) noexcept { return this->block(i, at) == nullptr; });
  }
};

}  // namespace v0
}  // namespace pave

#endif
