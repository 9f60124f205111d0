// SPDX-License-Identifier: Apache-2.0
// Keeps what one thread writes often away from what others read.
#ifndef PAVE_DETAIL_CACHE_LINE_HPP
#define PAVE_DETAIL_CACHE_LINE_HPP

#include <cstddef>

namespace pave {
inline namespace v0 {
namespace detail {

/// Two lines of 64 bytes, which many processors fetch as a pair; one of those that have lines of 128.
inline constexpr std::size_t cache_line = 128;

/// An atomic that shares its cache line with nothing.
template <class Atomic>
struct alignas(cache_line) on_own_line {
  Atomic word{};
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
