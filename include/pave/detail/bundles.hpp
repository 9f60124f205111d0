// SPDX-License-Identifier: Apache-2.0
// Which slots a bundle of policies names: all those of its part, and in a cache's own bundle none of them.
#ifndef PAVE_DETAIL_BUNDLES_HPP
#define PAVE_DETAIL_BUNDLES_HPP

#include <pave/detail/detect.hpp>

#include <type_traits>

namespace pave {
inline namespace v0 {
namespace detail {

template <class Bundle>
using slot_id = typename Bundle::id;
template <class Bundle>
using slot_observer = typename Bundle::observer;
template <class Bundle>
using slot_free_list = typename Bundle::free_list;
template <class Bundle>
using slot_sharing = typename Bundle::sharing;
template <class Bundle>
using slot_fence = typename Bundle::fence;
template <class Bundle>
using slot_retention = typename Bundle::retention;
template <class Bundle>
using slot_lock = typename Bundle::lock;
template <class Bundle>
using slot_demand = typename Bundle::demand;
template <class Bundle>
using slot_victim_order = typename Bundle::victim_order;
template <class Bundle>
using slot_cut_shape = typename Bundle::cut_shape;
template <class Bundle>
using slot_restore_cost = typename Bundle::restore_cost;
template <class Bundle>
using slot_resume_gate = typename Bundle::resume_gate;

template <class Bundle>
using part_pool = typename Bundle::pool;
template <class Bundle>
using part_planner = typename Bundle::planner;
template <class Bundle>
using part_tracker = typename Bundle::tracker;
template <class Bundle>
using part_prefix_index = typename Bundle::prefix_index;

// A class that lacks some of these has its one line, and goes on with the default bundle, so that no other line
// follows: under clang++ that takes an assertion in a function, since one in a class cuts that short.

template <class Bundle>
inline constexpr bool has_pool_slots_v = all({
    is_detected_v<slot_id, Bundle>,
    is_detected_v<slot_free_list, Bundle>,
    is_detected_v<slot_sharing, Bundle>,
    is_detected_v<slot_fence, Bundle>,
    is_detected_v<slot_retention, Bundle>,
    is_detected_v<slot_lock, Bundle>,
    is_detected_v<slot_observer, Bundle>,
});
template <class Bundle>
inline constexpr bool has_planner_slots_v = all({
    is_detected_v<slot_demand, Bundle>,
    is_detected_v<slot_victim_order, Bundle>,
    is_detected_v<slot_cut_shape, Bundle>,
    is_detected_v<slot_restore_cost, Bundle>,
});
template <class Bundle>
inline constexpr bool has_tracker_slots_v = is_detected_v<slot_resume_gate, Bundle>;
template <class Bundle>
inline constexpr bool has_parts_v = all({
    is_detected_v<part_pool, Bundle>,
    is_detected_v<part_planner, Bundle>,
    is_detected_v<part_tracker, Bundle>,
    is_detected_v<part_prefix_index, Bundle>,
});

template <class Bundle>
inline constexpr bool names_a_pool_slot_v = !all({
    !is_detected_v<slot_id, Bundle>,
    !is_detected_v<slot_observer, Bundle>,
    !is_detected_v<slot_free_list, Bundle>,
    !is_detected_v<slot_sharing, Bundle>,
    !is_detected_v<slot_fence, Bundle>,
    !is_detected_v<slot_retention, Bundle>,
    !is_detected_v<slot_lock, Bundle>,
});
template <class Bundle>
inline constexpr bool names_a_planner_slot_v = !all({
    !is_detected_v<slot_demand, Bundle>,
    !is_detected_v<slot_victim_order, Bundle>,
    !is_detected_v<slot_cut_shape, Bundle>,
    !is_detected_v<slot_restore_cost, Bundle>,
});
/// Whether a cache's bundle names a slot of one of its parts, where nothing would read it.
template <class Bundle>
inline constexpr bool names_a_slot_v =
    names_a_pool_slot_v<Bundle> || names_a_planner_slot_v<Bundle> || is_detected_v<slot_resume_gate, Bundle>;

/// Whether each part of which a bundle names a slot has all of its slots in it: it is the bundle of one part, or of
/// several on purpose.
template <class Bundle>
inline constexpr bool names_whole_parts_v = (has_pool_slots_v<Bundle> ||
                                             !names_a_pool_slot_v<Bundle>)&&(has_planner_slots_v<Bundle> ||
                                                                             !names_a_planner_slot_v<Bundle>);

/// Whether the bundle of one part of a cache is that of another part, too, but is not used as that.
template <class Part, class Policies>
inline constexpr bool is_ignored_in_part_v =
    (has_pool_slots_v<Part> && !std::is_same_v<Part, typename Policies::pool>) ||
    (has_planner_slots_v<Part> && !std::is_same_v<Part, typename Policies::planner>) ||
    (has_tracker_slots_v<Part> && !std::is_same_v<Part, typename Policies::tracker>);
template <class Policies>
inline constexpr bool has_ignored_slots_v = is_ignored_in_part_v<typename Policies::pool, Policies> ||
                                            is_ignored_in_part_v<typename Policies::planner, Policies> ||
                                            is_ignored_in_part_v<typename Policies::tracker, Policies>;

/// Whether a cache's bundle is one of its parts' too, so that its slots are read there.
template <class Bundle>
inline constexpr bool is_its_own_part_v =
    std::is_same_v<Bundle, typename Bundle::pool> || std::is_same_v<Bundle, typename Bundle::planner> ||
    std::is_same_v<Bundle, typename Bundle::tracker>;

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
