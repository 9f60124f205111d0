// SPDX-License-Identifier: Apache-2.0
// Which free block next? The pool's slot `free_list`.
#ifndef PAVE_POLICY_FREE_LIST_HPP
#define PAVE_POLICY_FREE_LIST_HPP

#include <pave/config.hpp>
#include <pave/detail/bitmap.hpp>
#include <pave/detail/bits.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/detail/detect.hpp>
#include <pave/detail/free_runs.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <algorithm>
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
using free_list_add = decltype(std::declval<Policy&>().add(block_id{}, block_id{}));
template <class Policy, class Id>
using free_list_take = decltype(std::declval<Policy&>().take(span<Id>{}));
template <class Policy>
using free_list_put = decltype(std::declval<Policy&>().put(block_id{}, content{}));
template <class Policy, class Id>
using free_list_put_all = decltype(std::declval<Policy&>().put_all(span<const Id>{}, content{}));
template <class Policy>
using free_list_withdraw = decltype(std::declval<Policy&>().withdraw(block_id{}));
template <class Policy>
using free_list_size = decltype(std::declval<const Policy&>().size());
template <class Policy>
using free_list_blocks = decltype(std::declval<const Policy&>().blocks());
template <class Policy>
using free_list_elsewhere = decltype(std::declval<const Policy&>().elsewhere());
template <class Policy>
using free_list_remove = decltype(std::declval<Policy&>().remove(block_id{}));
template <class Policy, class Id>
using free_list_take_runs = decltype(std::declval<Policy&>().take_runs(span<Id>{}));
template <class Policy>
using free_list_longest_run = decltype(std::declval<const Policy&>().longest_run());
template <class Policy>
using free_list_undo_remove = decltype(std::declval<Policy&>().undo_remove(block_id{}));
}  // namespace detail

/// @brief Whether a free list takes its blocks from a memory that other pools use, too, as `from_slabs` does. It has
/// two members in place of `add` and `withdraw`:
/// - `block_count blocks() const`: how many there are in all: the pool's ids are 0 … blocks − 1, and the pool cannot be
///   resized; 0 where it has no memory
/// - `block_count elsewhere() const`: how many of these are in what other pools have taken, and neither free nor held
///   here
template <class Policy>
inline constexpr bool shares_memory_v = detail::all({
    detail::is_detected_as_v<block_count, detail::free_list_blocks, Policy>,
    detail::is_detected_as_v<block_count, detail::free_list_elsewhere, Policy>,
});

/// @brief The contract of a free list. As for every policy of a pool, no member throws, and one that is moved from
/// holds nothing. Whatever type the ids of a pool have, a policy gets one as a `block_id`; only `take` writes the
/// pool's own `Id`.
/// - `bool reserve(block_count ids)`: takes memory for the ids 0 … ids − 1, and keeps what is there; false where memory
///   is refused
/// - `void add(block_id first, block_id last)`: first … last − 1 are new, and free
/// - `void take(span<Id> out)`: gives `out.size()` free blocks; asked only for what is there
/// - `void put(block_id, content left)`: a block comes free; each block is put once between two takes of it
/// - `void put_all(span<const Id>, content left)`, where there is one: the same for each of these, in this order. Who
///   derives from a list and changes its `put` changes this, too
/// - `void withdraw(block_id first)`: free blocks from this one on go, and are not free any more; may take its time
/// - `block_count size() const`: how many are free
template <class Policy, class Id = block_id>
inline constexpr bool is_free_list_v = detail::all({
    detail::is_detected_as_v<bool, detail::free_list_reserve, Policy>,
    shares_memory_v<Policy> || detail::is_detected_v<detail::free_list_add, Policy>,
    detail::is_detected_v<detail::free_list_take, Policy, Id>,
    detail::is_detected_v<detail::free_list_put, Policy>,
    shares_memory_v<Policy> || detail::is_detected_v<detail::free_list_withdraw, Policy>,
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

/// @brief What a free list offers besides, where it knows which free blocks follow each other.
/// - `void take_runs(span<Id> out)`: as `take`, with blocks in runs of ids that follow each other, as long as there are
/// - where it can, `block_count longest_run() const`: how long the longest of them is
template <class Policy, class Id = block_id>
inline constexpr bool gives_runs_v = detail::all({
    is_free_list_v<Policy, Id>,
    detail::is_detected_v<detail::free_list_take_runs, Policy, Id>,
});

/// @brief A stack: the block that came free last is the first to go out, while it is warm in the caches. A new one
/// gives 0, 1, 2, …
/// @complexity constant a block; 4 bytes a block
class last_released {
 public:
  [[nodiscard]] bool reserve(block_count ids) noexcept {
    return blocks_.reserve(static_cast<std::size_t>(ids.value()));
  }
  void add(block_id first, block_id last) noexcept {
    for (std::size_t i = last.index(); i > first.index(); --i) blocks_[size_.get()++] = i - 1;
  }
  template <class Id>
  void take(span<Id> out) noexcept {
    PAVE_ASSERT(out.size() <= size_.get());
    const block_id* top = blocks_.data() + size_.get();
    for (Id& block : out) block = detail::id_cast<Id>(*--top);
    size_.get() -= out.size();
  }
  void put(block_id block, content /*left*/) noexcept { blocks_[size_.get()++] = block; }
  template <class Id>
  void put_all(span<const Id> blocks, content /*left*/) noexcept {
    block_id* top = blocks_.data() + size_.get();
    for (const Id block : blocks) *top++ = detail::id_cast<block_id>(block);
    size_.get() += blocks.size();
  }
  void withdraw(block_id first) noexcept {
    const span<block_id> free = blocks_.all().first(size_.get());
    const auto goes = [first](block_id block) { return !(block < first); };
    size_ = static_cast<std::size_t>(std::remove_if(free.begin(), free.end(), goes) - free.begin());
  }
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
  [[nodiscard]] bool reserve(block_count ids) noexcept {
    const bool is_new = links_.size() == 0;
    if (!links_.reserve(static_cast<std::size_t>(ids.value()) + 1)) return false;
    if (is_new) links_[end] = {end, end};
    return true;
  }
  void add(block_id first, block_id last) noexcept {
    for (std::int32_t block = last.value(); block > first.value(); --block) put(block - 1, content::worthless);
  }
  template <class Id>
  void take(span<Id> out) noexcept {
    PAVE_ASSERT(out.size() <= size_.get());
    if (out.empty()) return;
    std::int32_t at = links_[end].next;
    for (Id& block : out) {
      block = detail::id_cast<Id>(block_id(at - 1));
      link& taken = at_index(at);
      taken.previous = not_listed;
      at = taken.next;
    }
    links_[end].next = at;
    at_index(at).previous = end;
    size_.get() -= out.size();
  }
  void put(block_id block, content left) noexcept {
    const std::int32_t previous = left == content::worthless ? end : links_[end].previous;
    const std::int32_t index = block.value() + 1;
    link& added = at_index(index);
    added = {previous, at_index(previous).next};
    at_index(added.previous).next = index;
    at_index(added.next).previous = index;
    size_.get() += 1;
  }
  template <class Id>
  void put_all(span<const Id> blocks, content left) noexcept {
    if (blocks.empty()) return;
    // The first to come free is at the front of what is put behind the others, and at the back of what goes before
    // them.
    const bool goes_first = left == content::worthless;
    const std::int32_t before = goes_first ? end : links_[end].previous;
    const std::int32_t after = goes_first ? links_[end].next : end;
    std::int32_t last = goes_first ? after : before;
    for (const Id block : blocks) {
      const auto index = static_cast<std::int32_t>(block.index()) + 1;
      if (goes_first) {
        at_index(index).next = last;
        at_index(last).previous = index;
      } else {
        at_index(index).previous = last;
        at_index(last).next = index;
      }
      last = index;
    }
    if (goes_first) {
      at_index(last).previous = before;
      at_index(before).next = last;
    } else {
      at_index(last).next = after;
      at_index(after).previous = last;
    }
    size_.get() += blocks.size();
  }
  void withdraw(block_id first) noexcept {
    for (std::size_t i = first.index(); i + 1 < links_.size(); ++i) static_cast<void>(remove(i));
  }
  [[nodiscard]] block_count size() const noexcept { return size_.get(); }

  [[nodiscard]] bool remove(block_id block) noexcept {
    link& removed = at_index(block.value() + 1);
    if (removed.previous < 0) return false;
    at_index(removed.previous).next = removed.next;
    at_index(removed.next).previous = removed.previous;
    removed.previous = not_listed;  // and still knows what followed it
    size_.get() -= 1;
    return true;
  }
  void undo_remove(block_id block) noexcept {
    const std::int32_t index = block.value() + 1;
    link& removed = at_index(index);
    removed.previous = at_index(removed.next).previous;
    at_index(removed.previous).next = index;
    at_index(removed.next).previous = index;
    size_.get() += 1;
  }

 private:
  struct link {
    std::int32_t previous = not_listed;
    std::int32_t next = 0;
  };
  static constexpr std::int32_t not_listed = -1;
  static constexpr std::int32_t end = 0;  // block b is at index b + 1

  link& at_index(std::int32_t index) noexcept { return links_[static_cast<std::size_t>(index)]; }

  detail::buffer<link> links_;  // a ring through the free blocks and its end
  detail::zero_on_move<std::size_t> size_;
};
static_assert(can_revive_v<least_recently_released>);

/// @brief A bitmap: the lowest free blocks go out first, in ascending order, so that what is held stays together at the
/// low end and a pool can shrink. It can give them in runs of ids that follow each other, and a block out of its midst.
/// It does not ask what is left in a block: to revive most, name `least_recently_released`.
///
/// Runs: the lowest that is long enough, or else the longest, the lowest of equals, and so on for the rest.
/// @complexity `take`: linear in the blocks, with log₆₄ of the ids for each word of 64 that it takes from; `put` and
/// `remove`: log₆₄ of the ids. Each also marks what it changed: log₂ of the ids at most, and constant where nobody asks
/// for runs. `take_runs`: linear in the blocks, with log₂ of the ids a run. It and `longest_run` mend what was marked
/// since the last of them, which is amortized: no more than the marking cost, so that one call after many that did not
/// ask may take up to 1/64 of the ids in steps. 1/8 byte a block for the bits, and 3/16 to 3/8 for the runs
class lowest_first {
 public:
  [[nodiscard]] bool reserve(block_count ids) noexcept {
    return free_.reserve(static_cast<std::size_t>(ids.value())) && runs_.reserve(free_.words());
  }
  void add(block_id first, block_id last) noexcept {
    detail::for_each_word(first.index(), last.index(), [this](std::size_t at, std::uint64_t blocks) noexcept {
      set_word(at, free_.word(at) | blocks);
    });
    size_.get() += last.index() - first.index();
  }
  template <class Id>
  void take(span<Id> out) noexcept {
    PAVE_ASSERT(out.size() <= size_.get());
    Id* next = out.begin();
    while (next != out.end()) {
      const std::size_t at = free_.first_word();
      std::uint64_t word = free_.word(at);
      for (; word != 0 && next != out.end(); word &= word - 1) {
        *next++ = detail::id_cast<Id>(block_id(at * detail::word_bits + detail::lowest_one(word)));
      }
      set_word(at, word);
    }
    size_.get() -= out.size();
  }
  void put(block_id block, content /*left*/) noexcept {
    const std::size_t at = block.index() / detail::word_bits;
    set_word(at, free_.word(at) | detail::bit_of(block.index()));
    size_.get() += 1;
  }
  void withdraw(block_id first) noexcept {
    const std::size_t end = free_.words() * detail::word_bits;
    detail::for_each_word(first.index(), end, [this](std::size_t at, std::uint64_t blocks) noexcept {
      const std::uint64_t word = free_.word(at);
      size_.get() -= detail::count_ones(word & blocks);
      set_word(at, word & ~blocks);
    });
  }
  [[nodiscard]] block_count size() const noexcept { return size_.get(); }

  [[nodiscard]] bool remove(block_id block) noexcept {
    const std::size_t at = block.index() / detail::word_bits;
    const std::uint64_t word = free_.word(at);
    if ((word & detail::bit_of(block.index())) == 0) return false;
    set_word(at, word & ~detail::bit_of(block.index()));
    size_.get() -= 1;
    return true;
  }
  void undo_remove(block_id block) noexcept { put(block, content::worth_keeping); }

  template <class Id>
  void take_runs(span<Id> out) noexcept {
    PAVE_ASSERT(out.size() <= size_.get());
    size_.get() -= out.size();
    while (!out.empty()) {
      const std::size_t length = (std::min)(out.size(), runs_.longest(free_));
      const std::size_t first = runs_.find(length, free_);
      for (std::size_t i = 0; i < length; ++i) out[i] = detail::id_cast<Id>(block_id(first + i));
      detail::for_each_word(first, first + length, [this](std::size_t at, std::uint64_t blocks) noexcept {
        set_word(at, free_.word(at) & ~blocks);
      });
      out = out.subspan(length, out.size() - length);
    }
  }
  /// @return the most free blocks whose ids follow each other
  [[nodiscard]] block_count longest_run() const noexcept { return runs_.longest(free_); }

 private:
  void set_word(std::size_t at, std::uint64_t word) noexcept {
    free_.set_word(at, word);
    runs_.mark(at);
  }

  detail::bitmap free_;
  mutable detail::free_runs runs_;  // of `free_`; asking mends it
  detail::zero_on_move<std::size_t> size_;
};
static_assert(can_revive_v<lowest_first>);
static_assert(gives_runs_v<lowest_first>);

}  // namespace v0
}  // namespace pave

#endif
