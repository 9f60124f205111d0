// SPDX-License-Identifier: Apache-2.0
// Finds a slot that was named in the cache's own bundle, where nothing would read it.
#ifndef PAVE_DETAIL_MISPLACED_SLOT_HPP
#define PAVE_DETAIL_MISPLACED_SLOT_HPP

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
using slot_resume_gate = typename Bundle::resume_gate;

/// Whether a cache's bundle names a slot of one of its parts, where nothing would read it.
template <class Bundle>
inline constexpr bool names_a_slot_v = !all({
    !is_detected_v<slot_id, Bundle>,
    !is_detected_v<slot_observer, Bundle>,
    !is_detected_v<slot_free_list, Bundle>,
    !is_detected_v<slot_sharing, Bundle>,
    !is_detected_v<slot_fence, Bundle>,
    !is_detected_v<slot_retention, Bundle>,
    !is_detected_v<slot_lock, Bundle>,
    !is_detected_v<slot_demand, Bundle>,
    !is_detected_v<slot_victim_order, Bundle>,
    !is_detected_v<slot_cut_shape, Bundle>,
    !is_detected_v<slot_resume_gate, Bundle>,
});

/// Whether a cache's bundle is one of its parts' too, so that its slots are read there.
template <class Bundle>
inline constexpr bool is_its_own_part_v =
    std::is_same_v<Bundle, typename Bundle::pool> || std::is_same_v<Bundle, typename Bundle::planner> ||
    std::is_same_v<Bundle, typename Bundle::tracker>;

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
