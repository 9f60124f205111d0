// SPDX-License-Identifier: Apache-2.0
// Baseline: a map from a block's hash to the block, over a doubly linked queue of free blocks, as engines with a prefix
// cache have it (vLLM is of this kind, in Python).
#ifndef PAVE_BENCH_BASELINES_PREFIX_MAP_HPP
#define PAVE_BENCH_BASELINES_PREFIX_MAP_HPP

#include <pave/block_hash.hpp>
#include <pave/span.hpp>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace bench {

class prefix_map {
  struct block {
    block* previous = nullptr;
    block* next = nullptr;
    pave::block_hash hash;
    std::int32_t references = 0;
    bool has_hash = false;
  };
  struct low_bits {
    std::size_t operator()(pave::block_hash hash) const noexcept { return static_cast<std::size_t>(hash.low); }
  };

 public:
  using handle = block*;

  explicit prefix_map(std::size_t blocks) : blocks_(blocks), free_(blocks) {
    block* last = &end_;
    for (block& one : blocks_) {
      link(*last, one);
      last = &one;
    }
    link(*last, end_);
    known_.reserve(blocks);
  }
  // The ends of the queue point to `end_`.
  prefix_map(const prefix_map&) = delete;
  prefix_map& operator=(const prefix_map&) = delete;

  /// Holds the blocks that have the first of these contents, up to one that none has.
  /// @return how many they are
  std::size_t acquire(pave::span<const pave::block_hash> hashes, pave::span<handle> out) {
    std::size_t found = 0;
    for (; found < hashes.size(); ++found) {
      const auto at = known_.find(hashes[found]);
      if (at == known_.end()) break;
      block& one = *at->second;
      if (one.references == 0) {
        link(*one.previous, *one.next);
        free_ -= 1;
      }
      one.references += 1;
      out[found] = &one;
    }
    return found;
  }
  /// Holds blocks that are to have these contents: those that came free longest ago, whose own content is forgotten.
  bool allocate(pave::span<const pave::block_hash> hashes, pave::span<handle> out) {
    if (hashes.size() > free_) return false;
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      block& one = *end_.next;
      link(end_, *one.next);
      if (one.has_hash) known_.erase(one.hash);
      one.references = 1;
      one.hash = hashes[i];
      one.has_hash = known_.emplace(hashes[i], &one).second;
      out[i] = &one;
    }
    free_ -= hashes.size();
    return true;
  }
  /// Lets blocks go, the last one first, so that the end of a prefix is the first to be forgotten.
  void release(pave::span<handle> held) noexcept {
    for (std::size_t i = held.size(); i > 0; --i) {
      block& one = *held[i - 1];
      one.references -= 1;
      if (one.references > 0) continue;
      link(*end_.previous, one);
      link(one, end_);
      free_ += 1;
    }
  }

 private:
  static void link(block& before, block& after) noexcept {
    before.next = &after;
    after.previous = &before;
  }

  std::vector<block> blocks_;
  std::unordered_map<pave::block_hash, block*, low_bits> known_;
  block end_;
  std::size_t free_;
};

}  // namespace bench

#endif
