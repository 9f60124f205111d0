// SPDX-License-Identifier: Apache-2.0
// When may a sequence that waits come in? The tracker's slot `resume_gate`.
#ifndef PAVE_POLICY_RESUME_GATE_HPP
#define PAVE_POLICY_RESUME_GATE_HPP

#include <pave/config.hpp>
#include <pave/detail/detect.hpp>
#include <pave/units.hpp>

#include <utility>

namespace pave {
inline namespace v0 {

namespace detail {
template <class Policy>
using resume_gate_must_fit = decltype(std::declval<const Policy&>().must_fit(token_count{}, token_count{}));
template <class Policy>
using resume_gate_allocates = decltype(std::declval<const Policy&>().allocates(token_count{}, token_count{}));
}  // namespace detail

/// @brief The contract of a resume gate. An answer beyond what the longest sequence can have counts as that.
/// `remaining` are the tokens of the gap and the next ones, `chunk` those of them that the coming step computes.
/// - `token_count must_fit(token_count remaining, token_count chunk) const`: tokens that there must be blocks for
/// - `token_count allocates(token_count remaining, token_count chunk) const`: tokens that get their blocks now, from
///   `chunk` to what must fit
template <class Policy>
inline constexpr bool is_resume_gate_v = detail::all({
    detail::is_detected_as_v<token_count, detail::resume_gate_must_fit, Policy>,
    detail::is_detected_as_v<token_count, detail::resume_gate_allocates, Policy>,
});

#if PAVE_HAS_CONCEPTS
template <class Policy>
concept resume_gate_policy = is_resume_gate_v<Policy>;
#endif

/// @brief The whole gap and the next tokens fit, and get their blocks at once: a restore that begins also ends.
struct whole_gap {
  [[nodiscard]] static constexpr token_count must_fit(token_count remaining, token_count /*chunk*/) noexcept {
    return remaining;
  }
  [[nodiscard]] static constexpr token_count allocates(token_count remaining, token_count /*chunk*/) noexcept {
    return remaining;
  }
};
static_assert(is_resume_gate_v<whole_gap>);

/// @brief The first chunk fits: earlier in, and likely to be cut again in the middle of the restore. For comparison.
struct first_chunk {
  [[nodiscard]] static constexpr token_count must_fit(token_count /*remaining*/, token_count chunk) noexcept {
    return chunk;
  }
  [[nodiscard]] static constexpr token_count allocates(token_count /*remaining*/, token_count chunk) noexcept {
    return chunk;
  }
};
static_assert(is_resume_gate_v<first_chunk>);

}  // namespace v0
}  // namespace pave

#endif
