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
#include <cstdint>
#include <utility>

namespace pave {
inline namespace v0 {

/// @brief What the last holder of a block leaves in it.
enum class content : std::uint8_t {
  worthless,      ///< nobody will ask for it: a block that is not full, or full of tokens that were taken back
  worth_keeping,  ///< full and right: it may be asked for again
};

namespace detail {
template <class Policy>
using free_list_reserve = decltype(std::declval<Policy&>().reserve(block_count{}));
template <class Policy>
using free_list_take = decltype(std::declval<Policy&>().take(span<block_id>{}));
template <class Policy>
using free_list_put = decltype(std::declval<Policy&>().put(block_id{}, content{}));
template <class Policy>
using free_list_size = decltype(std::declval<const Policy&>().size());
template <class Policy>
using free_list_remove = decltype(std::declval<Policy&>().remove(block_id{}));
template <class Policy>
using free_list_undo_remove = decltype(std::declval<Policy&>().undo_remove(block_id{}));
}  // namespace detail

/// @brief The contract of a free list. As for every policy of a pool, no member throws, and one that is moved from
/// holds nothing.
/// - `bool reserve(block_count capacity)`: takes its memory, makes 0 … capacity − 1 free; false where memory is refused
/// - `void take(span<block_id> out)`: gives `out.size()` free blocks; asked only for what is there
/// - `void put(block_id, content left)`: a block comes free; each block is put once between two takes of it
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

/// @brief What a free list offers besides, so that a free block can be revived with its content: the ground of
/// retention `keep`.
/// - `bool remove(block_id)`: takes this block out of the midst; false where it is not in the list
/// - `void undo_remove(block_id)`: puts it back where it was; removals are undone from the latest back, with nothing in
///   between
template <class Policy>
inline constexpr bool can_revive_v = detail::all({
    is_free_list_v<Policy>,
    detail::is_detected_as_v<bool, detail::free_list_remove, Policy>,
    detail::is_detected_v<detail::free_list_undo_remove, Policy>,
});

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
  void put(block_id block, content /*left*/) noexcept { blocks_[size_.get()++] = block; }
  [[nodiscard]] block_count size() const noexcept { return size_.get(); }

 private:
  detail::buffer<block_id> blocks_;  // [0, size_) are free, the top last
  detail::zero_on_move<std::size_t> size_;
};
static_assert(is_free_list_v<last_released>);

/// @brief A queue: the block that came free longest ago is the first to go out, so that useful content survives
/// longest; what was left worthless goes out before all of it, the latest first. A new one gives 0, 1, 2, …
/// @complexity constant a block; 8 bytes a block
/// @cite the order is that of the free queue of vLLM's `BlockPool` (vllm/v1/core/block_pool.py)
class least_recently_released {
 public:
  [[nodiscard]] bool reserve(block_count capacity) noexcept {
    const auto size = static_cast<std::size_t>(capacity.value());
    if (!links_.reserve(size + 1)) return false;
    for (std::size_t i = 0; i <= size; ++i) {
      links_[i] = {static_cast<std::int32_t>(i == 0 ? size : i - 1), static_cast<std::int32_t>(i == size ? 0 : i + 1)};
    }
    size_ = size;
    return true;
  }
  void take(span<block_id> out) noexcept {
    PAVE_ASSERT(out.size() <= size_.get());
    if (out.empty()) return;
    std::int32_t at = end().next;
    for (block_id& block : out) {
      block = at;
      link& taken = at_index(at);
      taken.previous = not_listed;
      at = taken.next;
    }
    end().next = at;
    at_index(at).previous = end_index();
    size_.get() -= out.size();
  }
  void put(block_id block, content left) noexcept {
    const bool first = left == content::worthless;
    const std::int32_t previous = first ? end_index() : end().previous;
    link& added = links_[block.index()];
    added = {previous, at_index(previous).next};
    at_index(added.previous).next = block.value();
    at_index(added.next).previous = block.value();
    size_.get() += 1;
  }
  [[nodiscard]] block_count size() const noexcept { return size_.get(); }

  [[nodiscard]] bool remove(block_id block) noexcept {
    link& removed = links_[block.index()];
    if (removed.previous < 0) return false;
    at_index(removed.previous).next = removed.next;
    at_index(removed.next).previous = removed.previous;
    removed.previous = ~removed.previous;  // remembers its neighbours, and is not listed
    size_.get() -= 1;
    return true;
  }
  void undo_remove(block_id block) noexcept {
    link& removed = links_[block.index()];
    removed.previous = ~removed.previous;
    at_index(removed.previous).next = block.value();
    at_index(removed.next).previous = block.value();
    size_.get() += 1;
  }

 private:
  struct link {
    std::int32_t previous = not_listed;
    std::int32_t next = 0;
  };
  static constexpr std::int32_t not_listed = -1;

  link& at_index(std::int32_t index) noexcept { return links_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] std::int32_t end_index() const noexcept { return static_cast<std::int32_t>(links_.size() - 1); }
  link& end() noexcept { return links_[links_.size() - 1]; }

  detail::buffer<link> links_;  // a ring through the free blocks and its end, the last one
  detail::zero_on_move<std::size_t> size_;
};
static_assert(can_revive_v<least_recently_released>);

}  // namespace v0
}  // namespace pave

#endif
