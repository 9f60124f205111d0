// SPDX-License-Identifier: Apache-2.0
// Is the content of a free block kept until the block is reused? The pool's slot `retention`.
#ifndef PAVE_POLICY_RETENTION_HPP
#define PAVE_POLICY_RETENTION_HPP

#include <pave/config.hpp>
#include <pave/detail/detect.hpp>

namespace pave {
inline namespace v0 {

namespace detail {
template <class Policy>
using retention_keeps_content = decltype(Policy::keeps_content);
}  // namespace detail

/// @brief The contract of retention: `static constexpr bool keeps_content`.
template <class Policy>
inline constexpr bool is_retention_v = detail::is_detected_as_v<bool, detail::retention_keeps_content, Policy>;

#if PAVE_HAS_CONCEPTS
template <class Policy>
concept retention_policy = is_retention_v<Policy>;
#endif

/// @brief A free block's content is gone.
struct forget {
  static constexpr bool keeps_content = false;
};
static_assert(is_retention_v<forget>);

}  // namespace v0
}  // namespace pave

#endif
