// SPDX-License-Identifier: Apache-2.0
// Which content is in which block, whoever holds it or nobody, and which block came free when.
#ifndef PAVE_TESTS_MODEL_CACHE_CONTENT_HPP
#define PAVE_TESTS_MODEL_CACHE_CONTENT_HPP

#include "model/random.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pave_tests {

/// One content of one block; no two have the same stamp.
struct model_content {
  std::int32_t block = 0;
  std::int64_t stamp = 0;
};

class content_model {
 public:
  explicit content_model(std::int64_t blocks) : blocks_(static_cast<std::size_t>(blocks)) {}

  [[nodiscard]] model_content of(std::int32_t block) const { return {block, at(block).stamp}; }
  [[nodiscard]] bool is_there(model_content content) const { return at(content.block).stamp == content.stamp; }
  /// What was in the block is gone.
  void renew(std::int32_t block) { at(block).stamp = ++stamps_; }

  /// A block came free; what it has is worth keeping, or not.
  void freed(std::int32_t block, bool is_worth_keeping) { at(block).freed = is_worth_keeping ? ++releases_ : 0; }
  /// It came free at the same time as the one before, in whatever order.
  void goes_with_last(std::int32_t block) { at(block).freed = --releases_; }
  /// The greater, the later a block goes out; 0 where nothing in it is worth keeping.
  [[nodiscard]] std::int64_t turn(std::int32_t block) const { return at(block).freed; }

  /// The pool's name for a content: the same as long as it is the same content, and never that of the one before.
  void expect_name(std::int32_t block, std::uint32_t generation) {
    entry& e = at(block);
    if (e.named == e.stamp) {
      expect(e.generation == generation, "a content keeps its generation");
    } else {
      expect(e.generation != generation, "a new content has another generation than the one before");
    }
    e.named = e.stamp;
    e.generation = generation;
  }

 private:
  struct entry {
    std::int64_t stamp = 0, freed = 0;
    std::int64_t named = 0;  // the content that the pool named last
    std::uint32_t generation = 0;
  };

  [[nodiscard]] const entry& at(std::int32_t block) const { return blocks_.at(static_cast<std::size_t>(block)); }
  entry& at(std::int32_t block) { return blocks_.at(static_cast<std::size_t>(block)); }

  std::vector<entry> blocks_;
  std::int64_t stamps_ = 0, releases_ = 0;
};

}  // namespace pave_tests

#endif
