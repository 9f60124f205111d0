// SPDX-License-Identifier: Apache-2.0
// A view of contiguous objects, one type under C++17 and C++20, so that objects of both link together.
#ifndef PAVE_SPAN_HPP
#define PAVE_SPAN_HPP

#include <pave/config.hpp>

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

namespace pave {
inline namespace v0 {

template <class Element>
class span;

namespace detail {

template <class Range>
inline constexpr bool is_span_v = false;
template <class Element>
inline constexpr bool is_span_v<span<Element>> = true;

/// Whether `Range` is a contiguous container of `Element` (qualification conversions only, never derived to base).
template <class Range, class Element, class = void>
inline constexpr bool is_contiguous_range_of_v = false;
template <class Range, class Element>
inline constexpr bool is_contiguous_range_of_v<
    Range,
    Element,
    std::void_t<decltype(std::data(std::declval<Range&>())), decltype(std::size(std::declval<Range&>()))>> =
    std::is_convertible_v<std::remove_pointer_t<decltype(std::data(std::declval<Range&>()))> (*)[], Element (*)[]>;

}  // namespace detail

/// @brief A pointer and a size. Copies are cheap; it owns nothing.
template <class Element>
class span {
 public:
  using element_type = Element;
  using value_type = std::remove_cv_t<Element>;

  constexpr span() noexcept = default;
  /// @pre [data, data + size) is valid for as long as the span is used
  constexpr span(Element* data, std::size_t size) noexcept : data_(data), size_(size) {}
  /// @brief Views a vector, array, C array, other span: anything with `std::data` and `std::size`.
  template <class Range,
            std::enable_if_t<!std::is_same_v<std::decay_t<Range>, span> &&
                                 detail::is_contiguous_range_of_v<std::remove_reference_t<Range>, Element> &&
                                 (std::is_lvalue_reference_v<Range> || std::is_const_v<Element> ||
                                  detail::is_span_v<std::decay_t<Range>>),
                             int> = 0>
  constexpr span(Range&& range) noexcept  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : data_(std::data(range)), size_(std::size(range)) {}

  [[nodiscard]] constexpr Element* data() const noexcept { return data_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] constexpr Element* begin() const noexcept { return data_; }
  [[nodiscard]] constexpr Element* end() const noexcept { return data_ + size_; }
  constexpr Element& operator[](std::size_t index) const noexcept {
    PAVE_ASSERT(index < size_);
    return data_[index];
  }
  /// @pre count ≤ size()
  [[nodiscard]] constexpr span first(std::size_t count) const noexcept {
    PAVE_ASSERT(count <= size_);
    return {data_, count};
  }
  /// @pre offset + count ≤ size()
  [[nodiscard]] constexpr span subspan(std::size_t offset, std::size_t count) const noexcept {
    PAVE_ASSERT(offset <= size_ && count <= size_ - offset);
    return {data_ + offset, count};
  }

 private:
  Element* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace v0
}  // namespace pave

#endif
