// SPDX-License-Identifier: Apache-2.0
// Baseline: a doubly linked queue through the blocks themselves, whose content is forgotten when they are given out, as
// engines with a prefix cache have it (vLLM is of this kind, in Python).
#ifndef PAVE_BENCH_BASELINES_LINKED_QUEUE_HPP
#define PAVE_BENCH_BASELINES_LINKED_QUEUE_HPP

#include <pave/span.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

/// The block that came free longest ago is the first to go out. A refused release leaves what came before the refused
/// block released.
class linked_queue {
  struct block {
    block* previous = nullptr;
    block* next = nullptr;
    std::uint64_t hash = 0;
    std::int32_t id = 0;
    std::int32_t references = 0;
    bool has_hash = false;
  };

 public:
  using handle = block*;

  explicit linked_queue(std::size_t blocks) : blocks_(blocks), free_(blocks) {
    block* last = &end_;
    for (std::size_t i = 0; i < blocks; ++i) {
      blocks_[i].id = static_cast<std::int32_t>(i);
      link(*last, blocks_[i]);
      last = &blocks_[i];
    }
    link(*last, end_);
  }
  // The ends of the queue point to `end_`.
  linked_queue(const linked_queue&) = delete;
  linked_queue& operator=(const linked_queue&) = delete;

  bool allocate(pave::span<handle> out) noexcept {
    if (out.size() > free_) return false;
    block* at = end_.next;
    for (handle& given : out) {
      given = at;
      at = at->next;
      given->previous = given->next = nullptr;
      if (given->has_hash) {
        given->has_hash = false;
        given->hash = 0;
      }
      given->references = 1;
    }
    link(end_, *at);
    free_ -= out.size();
    return true;
  }
  bool release(pave::span<handle> blocks) noexcept {
    for (const handle given : blocks) {
      if (given->references == 0) return false;
      if (--given->references != 0) continue;
      link(*end_.previous, *given);
      link(*given, end_);
      ++free_;
    }
    return true;
  }

 private:
  static void link(block& first, block& second) noexcept {
    first.next = &second;
    second.previous = &first;
  }

  std::vector<block> blocks_;
  block end_;
  std::size_t free_;
};

}  // namespace bench

#endif
