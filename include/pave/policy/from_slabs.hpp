// SPDX-License-Identifier: Apache-2.0
// A free list for pools of different block sizes that share one memory: blocks from slabs of a `slab_source`.
#ifndef PAVE_POLICY_FROM_SLABS_HPP
#define PAVE_POLICY_FROM_SLABS_HPP

#include <pave/config.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/detail/fullest_slabs.hpp>
#include <pave/policy/free_list.hpp>
#include <pave/slab_source.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace pave {
inline namespace v0 {

/// @brief Blocks from the slabs that the pool has, the fullest first, so that the others come free soon; of equally
/// full ones, from the one that changed last, and in it what came free last. A slab is drawn when none has a free
/// block, and given back when its last block comes free. Block b is number b mod n of slab b / n, of n blocks in each:
/// `slab_layout` says where that is.
///
/// A pool's `available()` is the free blocks in its slabs and all blocks of free slabs, so that it changes when another
/// pool draws or gives back a slab; its `capacity()` is that and what it holds, or what is on its way. `never_fits` is
/// only what is more than all slabs have. Where an engine's block 0 means "none", allocate it first, and keep it.
///
/// What is in a free block is lost where its slab goes to another pool, so that it needs the retention `forget`. It
/// needs the lock `unlocked`, too: one thread at a time may use a source and all its pools. And such a pool cannot be
/// resized.
/// @complexity constant a block, with log₆₄ of a slab's blocks; 4 bytes a block of all slabs, and 16 a slab
class from_slabs {
 public:
  /// @brief Without a source: no pool takes it.
  from_slabs() noexcept = default;
  /// @param source outlives the pool
  /// @param block_bytes from 1 to those of a slab; of another size there are no blocks, and `create` refuses it
  from_slabs(slab_source& source, byte_count block_bytes) noexcept : lease_(source) {
    const slab_layout layout = source.layout(block_bytes);
    if (layout.is_valid()) blocks_per_slab_ = layout.blocks_per_slab().value();
  }

  [[nodiscard]] block_count blocks() const noexcept { return lease_.all_slabs().value() * blocks_per_slab_; }
  [[nodiscard]] block_count elsewhere() const noexcept {
    return (lease_.all_slabs() - lease_.free_slabs() - lease_.slabs()).value() * blocks_per_slab_;
  }
  [[nodiscard]] bool reserve(block_count ids) noexcept {
    const auto slabs = static_cast<std::size_t>(lease_.all_slabs().value());
    if (!next_.reserve(static_cast<std::size_t>(ids.value())) || !slabs_.reserve(slabs) ||
        !partly_filled_.reserve(slabs, blocks_per_slab())) {
      return false;
    }
    for (std::size_t i = 0; i < next_.size(); ++i) next_[i] = static_cast<std::uint32_t>(i + 1);
    for (std::size_t i = 0; i < slabs; ++i) slabs_[i].first = static_cast<std::uint32_t>(i * blocks_per_slab());
    return true;
  }
  template <class Id>
  void take(span<Id> out) noexcept {
    while (!out.empty()) {
      const std::size_t at = free_.get() > 0 ? partly_filled_.first() : draw();
      slab& from = slabs_[at];
      if (from.free < blocks_per_slab()) partly_filled_.remove(at, from.free);
      const std::size_t count = (std::min)(out.size(), std::size_t{from.free});
      for (Id& block : out.first(count)) {
        block = detail::id_cast<Id>(block_id(from.first));
        from.first = next_[from.first];
      }
      from.free -= static_cast<std::uint32_t>(count);
      free_.get() -= count;
      if (from.free > 0) partly_filled_.add(at, from.free);
      out = out.subspan(count, out.size() - count);
    }
  }
  void put(block_id block, content /*left*/) noexcept {
    const std::size_t at = block.index() / blocks_per_slab();
    slab& to = slabs_[at];
    if (to.free > 0) partly_filled_.remove(at, to.free);
    next_[block.index()] = to.first;
    to.first = static_cast<std::uint32_t>(block.index());
    to.free += 1;
    free_.get() += 1;
    if (to.free == blocks_per_slab()) {
      free_.get() -= to.free;
      lease_.give_back(at);
    } else {
      partly_filled_.add(at, to.free);
    }
  }
  template <class Id>
  void put_all(span<const Id> blocks, content left) noexcept {
    for (const Id block : blocks) put(detail::id_cast<block_id>(block), left);
  }
  [[nodiscard]] block_count size() const noexcept {
    return static_cast<std::int64_t>(free_.get()) + lease_.free_slabs().value() * blocks_per_slab_;
  }

 private:
  /// A slab that goes back has all its blocks in its chain, and still has them when it is drawn again.
  struct slab {
    std::uint32_t first = 0;  // of the chain of its free blocks
    std::uint32_t free = 0;
  };

  [[nodiscard]] std::size_t blocks_per_slab() const noexcept { return static_cast<std::size_t>(blocks_per_slab_); }
  [[nodiscard]] std::size_t draw() noexcept {
    const std::size_t at = lease_.draw();
    slabs_[at].free = static_cast<std::uint32_t>(blocks_per_slab());
    free_.get() += blocks_per_slab();
    return at;
  }

  slab_lease lease_;
  std::int64_t blocks_per_slab_ = 0;
  detail::buffer<std::uint32_t> next_;  // of each free block, the next one in its chain
  detail::buffer<slab> slabs_;
  detail::fullest_slabs partly_filled_;     // those with a free block and one that is not
  detail::zero_on_move<std::size_t> free_;  // blocks in these
};
static_assert(is_free_list_v<from_slabs> && shares_memory_v<from_slabs>);

}  // namespace v0
}  // namespace pave

#endif
