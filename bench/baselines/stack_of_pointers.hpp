// SPDX-License-Identifier: Apache-2.0
// Baseline: a vector of pointers to blocks with plain counts, as lean engines in C++ have it, and those in Python with
// a list of free blocks: the least that keeps count at all.
#ifndef PAVE_BENCH_BASELINES_STACK_OF_POINTERS_HPP
#define PAVE_BENCH_BASELINES_STACK_OF_POINTERS_HPP

#include <pave/span.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace bench {

/// The block that came free last is the first to go out. A refused release leaves what came before the refused block
/// released.
class stack_of_pointers {
  struct block {
    std::int32_t id;
    std::int32_t references;
  };

 public:
  using handle = block*;

  explicit stack_of_pointers(std::size_t blocks) {
    blocks_.reserve(blocks);
    free_.reserve(blocks);
    for (std::size_t i = 0; i < blocks; ++i) {
      blocks_.push_back(std::make_unique<block>(block{static_cast<std::int32_t>(i), 0}));
      free_.push_back(blocks_.back().get());
    }
  }

  bool allocate(pave::span<handle> out) noexcept {
    if (out.size() > free_.size()) return false;
    for (handle& given : out) {
      given = free_.back();
      free_.pop_back();
      given->references = 1;
    }
    return true;
  }
  bool release(pave::span<handle> blocks) {
    for (const handle given : blocks) {
      if (given->references == 0) return false;
      if (--given->references == 0) free_.push_back(given);
    }
    return true;
  }

 private:
  std::vector<std::unique_ptr<block>> blocks_;
  std::vector<handle> free_;
};

}  // namespace bench

#endif
