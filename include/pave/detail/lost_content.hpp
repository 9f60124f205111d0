// SPDX-License-Identifier: Apache-2.0
// What the blocks contained that a sequence lost, and whether it is still there.
#ifndef PAVE_DETAIL_LOST_CONTENT_HPP
#define PAVE_DETAIL_LOST_CONTENT_HPP

#include <pave/config.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/policy/retention.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace pave {
inline namespace v0 {
namespace detail {

/// What is counted for one call; all 0 in between.
struct release_counts {
  buffer<std::uint32_t> goes;   // [blocks]: while a plan is made, how many of its holders would let it go
  buffer<bool> takes;           // [blocks]: whether the requester takes it itself
  buffer<std::uint32_t> asked;  // [sequences]: candidates whose blocks were counted

  [[nodiscard]] bool reserve(block_count blocks, std::size_t sequences) noexcept {
    const auto size = static_cast<std::size_t>(blocks.value());
    return goes.reserve(size) && takes.reserve(size) && asked.reserve(sequences);
  }
};

/// What a sequence that waits finds of its content.
struct found_prefix {
  block_range blocks;  // logical ones, from the first that it does not hold
  block_count free;    // of these: nobody holds them, so that taking them takes from what is available
  bool more_comes;     // a sequence that runs is about to have the next one, which this sequence lost, too
};

/// Notes of each sequence's logical blocks [held, end), in the order of its table; none over a pool that forgets.
template <class Pool, bool Keeps = Pool::keeps_content>
class lost_content {
  using id_type = typename Pool::id_type;
  using kept_block_type = typename Pool::kept_block_type;

 public:
  [[nodiscard]] static bool reserve(std::size_t /*sequences*/, block_count /*width*/) noexcept { return true; }
  static void clear(std::uint32_t /*slot*/) noexcept {}
  static void truncate(std::uint32_t /*slot*/, block_count /*end*/) noexcept {}
  static void copy(std::uint32_t /*from*/, std::uint32_t /*to*/, block_count /*held*/) noexcept {}
  static void offer(std::uint32_t /*slot*/, span<const kept_block_type> /*blocks*/) noexcept {}
  static void note(const Pool& /*pool*/,
                   std::uint32_t /*slot*/,
                   block_count /*held*/,
                   block_range /*lost*/,
                   span<const id_type> /*blocks*/) noexcept {}
  [[nodiscard]] static std::optional<kept_block_type> find(const Pool& /*pool*/,
                                                           std::uint32_t /*slot*/,
                                                           block_count /*logical*/) noexcept {
    return std::nullopt;
  }
};

template <class Pool>
class lost_content<Pool, true> {
  using id_type = typename Pool::id_type;
  using kept_block_type = typename Pool::kept_block_type;

 public:
  /// @param width blocks of the longest sequence
  [[nodiscard]] bool reserve(std::size_t sequences, block_count width) noexcept {
    width_ = width;
    return ends_.reserve(sequences) && notes_.reserve(sequences, static_cast<std::size_t>(width.value()));
  }

  /// Nothing is known of the sequence in `slot`.
  void clear(std::uint32_t slot) noexcept { ends_[slot] = 0; }
  /// What follows the first `end` blocks is not its content any more.
  void truncate(std::uint32_t slot, block_count end) noexcept { ends_[slot] = smaller(ends_[slot], end); }

  /// A fork knows what the sequence knew behind the blocks that both hold.
  void copy(std::uint32_t from, std::uint32_t to, block_count held) noexcept {
    ends_[to] = ends_[from];
    for (block_count i = held; i < ends_[to]; i += 1) note_of(to, i) = note_of(from, i);
  }

  /// Somebody else knows it all, from logical block 0 on.
  void offer(std::uint32_t slot, span<const kept_block_type> blocks) noexcept {
    ends_[slot] = smaller<block_count>(width_, blocks.size());
    for (block_count i = 0; i < ends_[slot]; i += 1) note_of(slot, i) = blocks[static_cast<std::size_t>(i.value())];
  }

  /// A sequence that held `held` blocks is about to lose the full ones `lost`.
  /// @param blocks the physical blocks of `lost`
  void note(
      const Pool& pool, std::uint32_t slot, block_count held, block_range lost, span<const id_type> blocks) noexcept {
    const bool goes_on = lost.last == held && ends_[slot] > held;  // with what it lost before
    if (!goes_on) ends_[slot] = lost.last;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      note_of(slot, lost.first + i) = pool.content_of(blocks[i]).value();
    }
  }

  /// What it had in this logical block, if that is still there.
  [[nodiscard]] std::optional<kept_block_type> find(const Pool& pool,
                                                    std::uint32_t slot,
                                                    block_count logical) const noexcept {
    if (logical >= ends_[slot]) return std::nullopt;
    const kept_block_type kept = notes_[index(slot, logical)];
    return pool.is_kept(kept) ? std::optional(kept) : std::nullopt;
  }

 private:
  [[nodiscard]] std::size_t index(std::uint32_t slot, block_count logical) const noexcept {
    return slot * static_cast<std::size_t>(width_.value()) + static_cast<std::size_t>(logical.value());
  }
  kept_block_type& note_of(std::uint32_t slot, block_count logical) noexcept { return notes_[index(slot, logical)]; }

  buffer<kept_block_type> notes_;  // [sequences, width]
  buffer<block_count> ends_;       // by slot
  block_count width_;
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
