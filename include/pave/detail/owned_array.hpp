// SPDX-License-Identifier: Apache-2.0
// A fixed number of objects that have destructors, whose memory is taken once, without exceptions.
#ifndef PAVE_DETAIL_OWNED_ARRAY_HPP
#define PAVE_DETAIL_OWNED_ARRAY_HPP

#include <pave/config.hpp>
#include <pave/span.hpp>

#include <cstddef>
#include <new>
#include <utility>

namespace pave {
inline namespace v0 {
namespace detail {

template <class Object>
class owned_array {
 public:
  owned_array() noexcept = default;
  owned_array(owned_array&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  owned_array& operator=(owned_array&& other) noexcept {
    owned_array taken(std::move(other));
    std::swap(data_, taken.data_);
    std::swap(size_, taken.size_);
    return *this;
  }
  owned_array(const owned_array&) = delete;
  owned_array& operator=(const owned_array&) = delete;
  ~owned_array() { delete[] data_; }

  /// @return false where the host refuses
  /// @pre it is empty
  [[nodiscard]] bool make(std::size_t size) noexcept {
    PAVE_ASSERT(data_ == nullptr);
    data_ = new (std::nothrow) Object[size];
    size_ = data_ == nullptr ? 0 : size;
    return data_ != nullptr;
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  Object& operator[](std::size_t index) noexcept {
    PAVE_ASSERT(index < size_);
    return data_[index];
  }
  const Object& operator[](std::size_t index) const noexcept {
    PAVE_ASSERT(index < size_);
    return data_[index];
  }
  [[nodiscard]] span<Object> all() noexcept { return {data_, size_}; }
  [[nodiscard]] span<const Object> all() const noexcept { return {data_, size_}; }

 private:
  Object* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
