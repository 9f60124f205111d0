// SPDX-License-Identifier: Apache-2.0
// Asks whether an expression is well formed: the ground that each policy contract stands on.
#ifndef PAVE_DETAIL_DETECT_HPP
#define PAVE_DETAIL_DETECT_HPP

#include <initializer_list>
#include <type_traits>

namespace pave {
inline namespace v0 {
namespace detail {

template <class Void, template <class...> class Expression, class... Arguments>
inline constexpr bool detected = false;
template <template <class...> class Expression, class... Arguments>
inline constexpr bool detected<std::void_t<Expression<Arguments...>>, Expression, Arguments...> = true;

/// True where `Expression<Arguments...>` names a type.
template <template <class...> class Expression, class... Arguments>
inline constexpr bool is_detected_v = detected<void, Expression, Arguments...>;

template <class Result, bool Exists, template <class...> class Expression, class... Arguments>
inline constexpr bool detected_as = false;
template <class Result, template <class...> class Expression, class... Arguments>
inline constexpr bool detected_as<Result, true, Expression, Arguments...> =
    std::is_same_v<Result, void> || std::is_convertible_v<Expression<Arguments...>, Result>;

/// True where `Expression<Arguments...>` names a type that converts to `Result`; void takes any.
template <class Result, template <class...> class Expression, class... Arguments>
inline constexpr bool is_detected_as_v =
    detected_as<Result, is_detected_v<Expression, Arguments...>, Expression, Arguments...>;

/// True where every requirement of a contract is met.
constexpr bool all(std::initializer_list<bool> requirements) noexcept {
  for (const bool is_met : requirements) {
    if (!is_met) return false;
  }
  return true;
}

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
