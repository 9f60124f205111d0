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
  for (cut& c : cuts.used()) c.freed = view.let_go(view.place_of(c.sequence), c.blocks);
}

/// Widens the cuts of a plan that was just made over `view`, or adds some, so that all holders of what it frees let go.
/// @param whole victims give up all that they have
/// @error `buffer_too_small`
template <class View>
result<plan> cut_all_holders(const View& view, plan planned, cut_list& cuts, bool whole) noexcept {
  bool is_shared = false;
  for (const cut& c : cuts.used()) {
    is_shared = view.name_free(view.place_of(c.sequence), c.blocks) || is_shared;
  }
  if (!is_shared) return planned;
  for (const std::uint32_t i : view.asked()) {  // nobody else holds what is named free
    span<cut> used = cuts.used();
    cut* own = std::find_if(used.begin(), used.end(), [&](const cut& c) { return c.sequence == view.key(i); });
    const block_count kept = own == used.end() ? view.blocks(i) : own->blocks.first;
    const span<const block_id> blocks = view.table(i, {0, kept});
    const auto* first = std::find_if(blocks.begin(), blocks.end(), [&](block_id b) { return view.is_named_free(b); });
    if (first == blocks.end()) continue;
    if (own == used.end()) {
      if (cuts.full()) {
        cuts.clear();
        return errc::buffer_too_small;
      }
      cuts.add({view.key(i), {kept, kept}, 0, view.parked(i)});
      used = cuts.used();
      own = used.begin() + (used.size() - 1);
    }
    own->blocks.first = whole ? 0 : first - blocks.begin();
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
bool free_what_they_say(const View& view, span<const cut> cuts, bool whole) noexcept {
  bool same = true;
  for (const cut& c : cuts) same = view.let_go(view.place_of(c.sequence), c.blocks) == c.freed && same;
  for (const cut& c : cuts) {
    const span<const block_id> blocks = view.table(view.place_of(c.sequence), {c.blocks.first, c.blocks.last});
    const bool any = std::any_of(blocks.begin(), blocks.end(), [&](block_id b) { return view.is_let_go(b); });
    same = same && any && (whole ? c.blocks.first == 0 : view.is_let_go(blocks[0]));
  }
  return same;
}

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
