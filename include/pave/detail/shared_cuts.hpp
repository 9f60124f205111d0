// SPDX-License-Identifier: Apache-2.0
// A plan over sequences that share blocks with each other: what comes free with the last of its holders, each of them
// has to let go.
#ifndef PAVE_DETAIL_SHARED_CUTS_HPP
#define PAVE_DETAIL_SHARED_CUTS_HPP

#include <pave/candidates.hpp>
#include <pave/planner.hpp>
#include <pave/result.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <algorithm>
#include <cstddef>

namespace pave {
inline namespace v0 {
namespace detail {

/// Each cut frees what comes free after those before it. @pre no counts
template <class View>
void count_freed(const View& view, cut_list& cuts) noexcept {
  for (cut& c : cuts.used()) c.freed = view.let_go(c.sequence.slot, c.blocks);
}

/// Widens the cuts of a plan that was just made over `view`, or adds some, so that all holders of what it frees let go.
/// @param whole victims give up all that they have
/// @param to_end what is left of a victim is a prefix
/// @error `buffer_too_small`
template <class View>
result<plan> cut_all_holders(const View& view, plan planned, cut_list& cuts, bool whole, bool to_end) noexcept {
  bool is_shared = false;
  for (const cut& c : cuts.used()) {
    is_shared = view.name_free(c.sequence.slot, c.blocks) || is_shared;
  }
  if (!is_shared) return planned;
  for (const std::uint32_t i : view.asked()) {  // nobody else holds what is named free
    span<cut> used = cuts.used();
    cut* own = std::find_if(used.begin(), used.end(), [&](const cut& c) { return c.sequence == view.key(i); });
    const auto goes = [&](auto block) noexcept { return view.is_named_free(block); };
    const block_count end = view.blocks(i);
    const auto blocks = view.table(i, {0, end});
    const auto* first = std::find_if(blocks.begin(), blocks.end(), goes);
    if (first == blocks.end()) continue;
    if (own == used.end()) {
      if (cuts.full()) {
        cuts.clear();
        return errc::buffer_too_small;
      }
      cuts.add({view.key(i), {end, end}, 0, view.parked(i)});
      used = cuts.used();
      own = used.begin() + (used.size() - 1);
    }
    const auto* last = blocks.end();
    while (!to_end && !goes(last[-1])) --last;
    own->blocks = {whole ? 0 : first - blocks.begin(), last - blocks.begin()};
  }
  view.start_anew();
  count_freed(view, cuts);
  planned.freed = planned.given_up = 0;
  for (const cut& c : cuts.used()) {
    planned.freed += c.freed;
    planned.given_up += c.blocks.size() - c.freed;
  }
  return planned;
}

/// Whether cuts free today what they say, and none is idle or could be shortened. @pre no counts; ranges of what is
/// held
template <class View>
bool free_what_they_say(const View& view, span<const cut> cuts, bool whole, bool to_end) noexcept {
  bool same = true;
  for (const cut& c : cuts) same = view.let_go(c.sequence.slot, c.blocks) == c.freed && same;
  for (const cut& c : cuts) {
    const auto blocks = view.table(c.sequence.slot, {c.blocks.first, c.blocks.last});
    const bool any = std::any_of(blocks.begin(), blocks.end(), [&](auto b) { return view.is_let_go(b); });
    same = same && any && (whole ? c.blocks.first == 0 : view.is_let_go(blocks[0]));
    same = same && (to_end ? c.blocks.last == view.blocks(c.sequence.slot) : view.is_let_go(blocks[blocks.size() - 1]));
  }
  return same;
}

/// Who else holds the block that a sequence is to write into: forks have it at the same place of their tables.
template <class View>
class holders_of_one {
 public:
  /// @param writer the candidate that is to write
  /// @param place of the block in its table
  holders_of_one(const View& view, std::size_t writer, block_count place, victims from) noexcept
      : view_(view), writer_(writer), place_(place), from_(from) {}

  /// @return whether each of them may be cut
  template <class Pool>
  [[nodiscard]] bool may_all_be_cut(const Pool& pool) const noexcept {
    std::uint32_t count = 0;
    each([&](std::size_t i) noexcept {
      const bool may_be_stopped = from_ == victims::parked_then_running || view_.parked(i);
      if (may_be_stopped && view_.rank(writer_) < view_.rank(i)) ++count;
    });
    return count + 1 == pool.holders(block_of(writer_));
  }
  /// @return whether one of them is as `is` says, a predicate over slots
  template <class Is>
  [[nodiscard]] bool has(Is&& is) const noexcept {
    bool found = false;
    each([&](std::size_t i) noexcept { found = found || is(i); });
    return found;
  }
  /// @return whether they give up that block before all of these cuts are made: the cuts name each of them, or stop a
  ///   running sequence while they are parked
  [[nodiscard]] bool go_before_more(const cut_list& cuts) const noexcept {
    const span<const cut> used = cuts.used();
    bool all_cut = true;
    bool all_parked = true;
    each([&](std::size_t i) noexcept {
      all_parked = all_parked && view_.parked(i);
      all_cut = all_cut && std::any_of(used.begin(), used.end(), [&](const cut& c) noexcept {
                  return c.sequence == view_.key(i) && c.blocks.first <= place_ && place_ < c.blocks.last;
                });
    });
    const bool stops_one = std::any_of(used.begin(), used.end(), [](const cut& c) noexcept { return !c.was_parked; });
    return all_cut || (all_parked && stops_one);
  }
  /// Widens the cuts, or adds some, the least important first, so that each of them loses it. @pre what follows it is
  /// in no other table
  /// @return false where there is no room for so many cuts
  /// @param whole they give up all that they have
  /// @param to_end what is left of them is a prefix
  [[nodiscard]] bool cut_all(cut_list& cuts, bool whole, bool to_end) const noexcept {
    const block_count first = whole ? 0 : place_;
    bool has_room = true;
    const std::size_t before = cuts.used().size();
    each([&](std::size_t i) noexcept {
      const span<cut> used = cuts.used();
      cut* own = std::find_if(used.begin(), used.end(), [&](const cut& c) { return c.sequence == view_.key(i); });
      if (own != used.end()) {
        own->blocks.first = smaller(own->blocks.first, first);
        own->blocks.last = larger(own->blocks.last, place_ + 1);
      } else if (cuts.full()) {
        has_room = false;
      } else {
        cuts.add({view_.key(i), {first, to_end ? view_.blocks(i) : place_ + 1}, 0, view_.parked(i)});
      }
    });
    const span<cut> added = cuts.used().subspan(before, cuts.used().size() - before);
    std::sort(added.begin(), added.end(), [&](const cut& a, const cut& b) noexcept {
      return view_.rank(b.sequence.slot) < view_.rank(a.sequence.slot);
    });
    return has_room;
  }

 private:
  [[nodiscard]] auto block_of(std::size_t i) const noexcept { return view_.table(i, {place_, place_ + 1})[0]; }
  template <class Visit>
  void each(Visit&& visit) const noexcept {
    for (std::size_t i = 0; i < view_.size(); ++i) {
      if (i != writer_ && place_ < view_.blocks(i) && block_of(i) == block_of(writer_)) visit(i);
    }
  }

  View view_;
  std::size_t writer_;
  block_count place_;
  victims from_;
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
