// SPDX-License-Identifier: Apache-2.0
// A fixed array whose memory is taken once, without exceptions.
#ifndef PAVE_DETAIL_BUFFER_HPP
#define PAVE_DETAIL_BUFFER_HPP

#include <pave/config.hpp>
#include <pave/detail/cache_line.hpp>
#include <pave/span.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

namespace pave {
inline namespace v0 {
namespace detail {

/// A number that its source loses when it is moved away, so that a moved-from object has capacity 0.
template <class Number>
class zero_on_move {
 public:
  constexpr zero_on_move() noexcept = default;
  constexpr zero_on_move(Number value) noexcept : value_(value) {}  // NOLINT(google-explicit-constructor)
  constexpr zero_on_move(zero_on_move&& other) noexcept : value_(std::exchange(other.value_, Number{})) {}
  constexpr zero_on_move& operator=(zero_on_move&& other) noexcept {
    value_ = std::exchange(other.value_, Number{});
    return *this;
  }
  ~zero_on_move() = default;
  zero_on_move(const zero_on_move&) = delete;
  zero_on_move& operator=(const zero_on_move&) = delete;

  constexpr operator const Number&() const noexcept { return value_; }  // NOLINT(google-explicit-constructor)
  constexpr Number& get() noexcept { return value_; }
  [[nodiscard]] constexpr const Number& get() const noexcept { return value_; }

 private:
  Number value_{};
};

/// It begins on a cache line, so that it is known which of its elements share one.
template <class Element>
class buffer {
 public:
  buffer() noexcept = default;
  buffer(buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  buffer& operator=(buffer&& other) noexcept {
    buffer taken(std::move(other));
    std::swap(data_, taken.data_);
    std::swap(size_, taken.size_);
    return *this;
  }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  ~buffer() { give_back(data_); }

  /// Takes memory for `size` elements where there are fewer; those that were there stay, the others have their default
  /// value.
  /// @return false where the host refuses; the buffer is then as it was
  [[nodiscard]] bool reserve(std::size_t size) noexcept {
    static_assert(std::is_nothrow_default_constructible_v<Element>, "pave: a buffer's elements cannot fail");
    static_assert(std::is_trivially_destructible_v<Element>, "pave: a buffer's elements are given back as they are");
    if (size > (std::numeric_limits<std::size_t>::max)() / 2 / sizeof(Element)) return false;
    if (data_ != nullptr && size <= size_) return true;
    auto* data = new (std::align_val_t{cache_line}, std::nothrow) Element[size]();
    if (data == nullptr) return false;
    if constexpr (std::is_nothrow_move_assignable_v<Element>) {
      std::move(data_, data_ + size_, data);
    } else {
      PAVE_ASSERT(data_ == nullptr);  // atomics, for one, stay where they are
    }
    give_back(data_);
    data_ = data;
    size_ = size;
    return true;
  }

  /// As `reserve(rows * columns)`, where the product may be too large to name.
  [[nodiscard]] bool reserve(std::size_t rows, std::size_t columns) noexcept {
    if (columns != 0 && rows > (std::numeric_limits<std::size_t>::max)() / columns) return false;
    return reserve(rows * columns);
  }

  /// Takes memory for `rows * columns` elements that have no value until one is written, so that none of its pages is
  /// touched before. @pre it is empty
  [[nodiscard]] bool reserve_raw(std::size_t rows, std::size_t columns) noexcept {
    static_assert(std::is_trivially_copyable_v<Element> && std::is_trivially_destructible_v<Element>,
                  "pave: an element begins with its first write");
    PAVE_ASSERT(data_ == nullptr);
    const std::size_t most = (std::numeric_limits<std::size_t>::max)() / 2 / sizeof(Element);
    if (columns != 0 && rows > most / columns) return false;
    void* data = ::operator new[](rows* columns * sizeof(Element), std::align_val_t{cache_line}, std::nothrow);
    data_ = static_cast<Element*>(data);
    size_ = data == nullptr ? 0 : rows * columns;
    return data != nullptr;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] Element* data() noexcept { return data_; }
  [[nodiscard]] const Element* data() const noexcept { return data_; }
  Element& operator[](std::size_t index) noexcept {
    PAVE_ASSERT(index < size_);
    return data_[index];
  }
  const Element& operator[](std::size_t index) const noexcept {
    PAVE_ASSERT(index < size_);
    return data_[index];
  }
  [[nodiscard]] span<Element> all() noexcept { return {data_, size_}; }

 private:
  static void give_back(Element* data) noexcept { ::operator delete[](data, std::align_val_t{cache_line}); }

  Element* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
