// SPDX-License-Identifier: Apache-2.0
// When is a released block safe to give out again? The pool's slot `fence`.
#ifndef PAVE_POLICY_FENCE_HPP
#define PAVE_POLICY_FENCE_HPP

#include <pave/config.hpp>
#include <pave/detail/detect.hpp>
#include <pave/units.hpp>

#include <type_traits>
#include <utility>

namespace pave {
inline namespace v0 {

namespace detail {

/// What a fence hands its blocks to when they are safe: the pool's free list.
struct any_sink {
  void operator()(block_id) const noexcept {}
};

template <class Policy>
using fence_reserve = decltype(std::declval<Policy&>().reserve(block_count{}));
template <class Policy>
using fence_used = decltype(std::declval<Policy&>().used(block_id{}, step_id{}));
template <class Policy>
using fence_release = decltype(std::declval<Policy&>().release(block_id{}, any_sink{}));
template <class Policy>
using fence_complete = decltype(std::declval<Policy&>().complete(step_id{}, any_sink{}));
template <class Policy>
using fence_fenced = decltype(std::declval<const Policy&>().fenced());
template <class Policy>
using fence_delays = decltype(Policy::delays);

/// Whether a fence says that it delays; one that does not say is refused elsewhere.
template <class Policy, class = void>
inline constexpr bool fence_delays_v = false;
template <class Policy>
inline constexpr bool fence_delays_v<Policy, std::void_t<fence_delays<Policy>>> = Policy::delays;
}  // namespace detail

/// @brief The contract of a fence. A sink is called with each block that is safe now.
/// - `bool reserve(block_count capacity)`: takes its memory; false where memory is refused
/// - `void used(block_id, step_id last_use)`: a holder lets go, and used the block in that step last; each holder says
///   so before `release`, and the latest step counts
/// - `void release(block_id, Sink&&)`: the last holder has let go
/// - `void complete(step_id, Sink&&)`: this step and all before it are done
/// - `block_count fenced() const`: blocks that were released and are not safe yet
/// - `static constexpr bool delays`: whether a released block may be safe later than at once
template <class Policy>
inline constexpr bool is_fence_v = detail::all({
    detail::is_detected_as_v<bool, detail::fence_reserve, Policy>,
    detail::is_detected_v<detail::fence_used, Policy>,
    detail::is_detected_v<detail::fence_release, Policy>,
    detail::is_detected_as_v<bool, detail::fence_delays, Policy>,
    detail::is_detected_v<detail::fence_complete, Policy>,
    detail::is_detected_as_v<block_count, detail::fence_fenced, Policy>,
});

#if PAVE_HAS_CONCEPTS
template <class Policy>
concept fence_policy = is_fence_v<Policy>;
#endif

/// @brief A released block is available at once. Right wherever all that reads or writes blocks runs on one stream,
/// also with several steps in flight: what is launched later runs later.
class at_once {
 public:
  static constexpr bool delays = false;

  [[nodiscard]] static bool reserve(block_count /*capacity*/) noexcept { return true; }
  static void used(block_id /*block*/, step_id /*last_use*/) noexcept {}
  template <class Sink>
  static void release(block_id block, Sink&& available) noexcept {
    available(block);
  }
  template <class Sink>
  static void complete(step_id /*step*/, Sink&& /*available*/) noexcept {}
  [[nodiscard]] static block_count fenced() noexcept { return 0; }
};
static_assert(is_fence_v<at_once>);

}  // namespace v0
}  // namespace pave

#endif
