// SPDX-License-Identifier: Apache-2.0
// One memory for pools of different block sizes: cut into equal slabs, each of which is one pool's at a time.
#ifndef PAVE_SLAB_SOURCE_HPP
#define PAVE_SLAB_SOURCE_HPP

#include <pave/config.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/layout.hpp>
#include <pave/result.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace pave {
inline namespace v0 {

/// @brief What is wanted of one of the pools that share a memory, to ask whether all of it fits together.
struct slab_request {
  byte_count block_bytes;  ///< of the pool: from 1 to those of a slab
  block_count available;   ///< what the pool says now
  block_count wanted;      ///< at least 0
};

/// @brief A memory of equal slabs, and which of them are free. A pool whose free list is `from_slabs` draws one when
/// its own have no room, and gives it back when the last block in it comes free: so groups of a model with blocks of
/// different sizes share one memory, and none has a fixed part of it. It deals in numbers; where the memory is is not
/// its matter, and `slab_layout` says where in it a block is.
///
/// It outlives its pools, which refer to it, and moves only while it has none.
///
/// To choose the size of a slab: what a slab has left over behind its last block is lost, so take a multiple of each
/// block size; and a pool has up to one slab's worth of free blocks more than it needs, and more where what comes free
/// is scattered over its slabs. A block that comes free helps another pool only when it is the last of its slab.
/// @threadsafety one thread at a time over it and all its pools
/// @cite slabs: J. Bonwick, The Slab Allocator, USENIX Summer 1994; of one KV memory for layers of different kinds:
///   C. Zhang et al., Jenga: Effective Memory Management for Serving LLM with Heterogeneity, SOSP 2025
class slab_source {
 public:
  /// @brief Makes a source whose slabs are all free. The only call that takes memory.
  /// @param slabs at least 1
  /// @param slab_bytes at least 1
  /// @error `invalid_argument`: one of them is less, there are more slabs than a `block_id` can name, or the bytes are
  ///   more than 2^63 − 1 together
  /// @error `out_of_memory`
  /// @complexity linear in the slabs, 12 bytes each; every other member is constant, but `fits`
  [[nodiscard]] static result<slab_source> create(slab_count slabs, byte_count slab_bytes) noexcept {
    constexpr std::int64_t most_bytes = (std::numeric_limits<std::int64_t>::max)();
    if (slabs < 1 || slab_bytes < 1 || slabs > block_id::most || slab_bytes > most_bytes / slabs.value()) {
      return errc::invalid_argument;
    }
    const auto count = static_cast<std::size_t>(slabs.value());
    slab_source source;
    if (!source.free_.reserve(count) || !source.owners_.reserve(count)) return errc::out_of_memory;
    for (std::size_t i = 0; i < count; ++i) source.free_[i] = static_cast<std::uint32_t>(count - 1 - i);
    source.free_slabs_ = count;
    source.slab_bytes_ = slab_bytes;
    return source;
  }

  /// @brief One without slabs, as a moved-from one is.
  slab_source() noexcept = default;

  /// @return slabs in all
  [[nodiscard]] slab_count slabs() const noexcept { return owners_.size(); }
  /// @return slabs that no pool has
  [[nodiscard]] slab_count free_slabs() const noexcept { return free_slabs_.get(); }
  /// @return bytes of a slab
  [[nodiscard]] byte_count slab_bytes() const noexcept { return slab_bytes_.get(); }
  /// @return where blocks of this size lie
  [[nodiscard]] slab_layout layout(byte_count block_bytes) const noexcept { return {slab_bytes(), block_bytes}; }

  /// @brief Whether so many blocks of each pool fit at the same time. Each pool by itself counts all free slabs as its
  /// own; what is available in two of them may not be there together.
  /// @param requests one a pool
  /// @return true: `allocate` gives all of them, in any order, as long as nothing else is taken
  /// @complexity linear in the requests
  [[nodiscard]] bool fits(span<const slab_request> requests) const noexcept {
    slab_count left = free_slabs();
    for (const slab_request& request : requests) {
      const slab_layout blocks = layout(request.block_bytes);
      PAVE_ASSERT(blocks.is_valid() && request.wanted >= 0);
      const block_count in_free_slabs = free_slabs().value() * blocks.blocks_per_slab().value();
      const block_count in_own_slabs = request.available - in_free_slabs;
      if (request.wanted <= in_own_slabs) continue;
      const slab_count needed = blocks.slabs_for(request.wanted - in_own_slabs);
      if (needed > left) return false;
      left -= needed;
    }
    return true;
  }

 private:
  friend class slab_lease;

  detail::buffer<std::uint32_t> free_;  // [0, free_slabs_) are free; the last of them goes first
  detail::zero_on_move<std::size_t> free_slabs_;
  detail::buffer<std::uint64_t> owners_;  // of each slab, the number of the lease that has it; 0: it is free
  detail::zero_on_move<byte_count> slab_bytes_;
  std::uint64_t leases_ = 0;  // that there have been
};

/// @brief What one pool has of a source; when it ends, its slabs are free. For a free list that takes its blocks from
/// slabs.
/// @complexity constant; the end is linear in the slabs of the source
class slab_lease {
 public:
  slab_lease() noexcept = default;
  explicit slab_lease(slab_source& source) noexcept : source_(&source), number_(++source.leases_) {}
  slab_lease(slab_lease&& other) noexcept
      : source_(std::exchange(other.source_, nullptr)), number_(other.number_), slabs_(std::move(other.slabs_)) {}
  slab_lease& operator=(slab_lease&& other) noexcept {
    slab_lease taken(std::move(other));
    std::swap(source_, taken.source_);
    std::swap(number_, taken.number_);
    std::swap(slabs_, taken.slabs_);
    return *this;
  }
  slab_lease(const slab_lease&) = delete;
  slab_lease& operator=(const slab_lease&) = delete;
  ~slab_lease() {
    if (slabs_.get() == 0) return;
    for (std::size_t slab = source_->owners_.size(); slab > 0; --slab) {
      if (source_->owners_[slab - 1] == number_) give_back(slab - 1);
    }
  }

  /// @return the slabs that it has
  [[nodiscard]] slab_count slabs() const noexcept { return slabs_.get(); }
  /// @return the slabs that nobody has
  [[nodiscard]] slab_count free_slabs() const noexcept { return source_ == nullptr ? 0 : source_->free_slabs(); }
  /// @return the slabs of the source
  [[nodiscard]] slab_count all_slabs() const noexcept { return source_ == nullptr ? 0 : source_->slabs(); }

  /// @return a slab that was free, the one that came free last
  /// @pre one is free
  [[nodiscard]] std::size_t draw() noexcept {
    PAVE_ASSERT(free_slabs() > 0);
    const std::size_t slab = source_->free_[--source_->free_slabs_.get()];
    source_->owners_[slab] = number_;
    slabs_.get() += 1;
    return slab;
  }
  /// @pre it has this slab
  void give_back(std::size_t slab) noexcept {
    PAVE_ASSERT(source_->owners_[slab] == number_);
    source_->owners_[slab] = 0;
    source_->free_[source_->free_slabs_.get()++] = static_cast<std::uint32_t>(slab);
    slabs_.get() -= 1;
  }

 private:
  slab_source* source_ = nullptr;
  std::uint64_t number_ = 0;
  detail::zero_on_move<std::int64_t> slabs_;
};

}  // namespace v0
}  // namespace pave

#endif
