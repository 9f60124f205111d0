// SPDX-License-Identifier: Apache-2.0
// Which free block next? The pool's slot `free_list`.
#ifndef PAVE_POLICY_FREE_LIST_HPP
#define PAVE_POLICY_FREE_LIST_HPP

#include <pave/config.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/detail/detect.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <utility>

namespace pave {
inline namespace v0 {

namespace detail {
template <class Policy>
using free_list_reserve = decltype(std::declval<Policy&>().reserve(block_count{}));
template <class Policy>
using free_list_take = decltype(std::declval<Policy&>().take(span<block_id>{}));
template <class Policy>
using free_list_put = decltype(std::declval<Policy&>().put(block_id{}));
template <class Policy>
using free_list_size = decltype(std::declval<const Policy&>().size());
}  // namespace detail

/// @brief The contract of a free list. As for every policy of a pool, no member throws, and one that is moved from
/// holds nothing.
/// - `bool reserve(block_count capacity)`: takes its memory, makes 0 … capacity − 1 free; false where memory is refused
/// - `void take(span<block_id> out)`: gives `out.size()` free blocks; asked only for what is there
/// - `void put(block_id)`: a block comes free; each block is put once between two takes of it
/// - `block_count size() const`: how many are free
template <class Policy>
inline constexpr bool is_free_list_v = detail::all({
    detail::is_detected_as_v<bool, detail::free_list_reserve, Policy>,
    detail::is_detected_v<detail::free_list_take, Policy>,
    detail::is_detected_v<detail::free_list_put, Policy>,
    detail::is_detected_as_v<block_count, detail::free_list_size, Policy>,
});

#if PAVE_HAS_CONCEPTS
template <class Policy>
concept free_list_policy = is_free_list_v<Policy>;
#endif

/// @brief A stack: the block that came free last is the first to go out, while it is warm in the caches. A new one
/// gives 0, 1, 2, …
/// @complexity constant a block; 4 bytes a block
class last_released {
 public:
  [[nodiscard]] bool reserve(block_count capacity) noexcept {
    const auto size = static_cast<std::size_t>(capacity.value());
    if (!blocks_.reserve(size)) return false;
    for (std::size_t i = 0; i < size; ++i) blocks_[i] = size - 1 - i;
    size_ = size;
    return true;
  }
  void take(span<block_id> out) noexcept {
    PAVE_ASSERT(out.size() <= size_.get());
    const block_id* top = blocks_.data() + size_.get();
    for (block_id& block : out) block = *--top;
    size_.get() -= out.size();
  }
  void put(block_id block) noexcept { blocks_[size_.get()++] = block; }
  [[nodiscard]] block_count size() const noexcept { return size_.get(); }

 private:
  detail::buffer<block_id> blocks_;  // [0, size_) are free, the top last
  detail::zero_on_move<std::size_t> size_;
};
static_assert(is_free_list_v<last_released>);

}  // namespace v0
}  // namespace pave

#endif
