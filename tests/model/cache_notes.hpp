// SPDX-License-Identifier: Apache-2.0
// The prefix cache of an engine in small: which block had which tokens, as far as it knows.
#ifndef PAVE_TESTS_MODEL_CACHE_NOTES_HPP
#define PAVE_TESTS_MODEL_CACHE_NOTES_HPP

#include "model/cache_content.hpp"
#include "model/random.hpp"

#include <pave/policy/retention.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pave_tests {

/// What an engine notes of a block that is full and computed.
struct prefix_note {
  pave::kept_block kept;
  model_content content;
  std::uint64_t end = 0;  // says which tokens are in it, and which are before it
};

/// It forgets only what is oldest, so that much of what it says is out of date.
class prefix_notes {
 public:
  void add(const prefix_note& note) {
    for (const prefix_note& known : notes_) {
      if (known.content.block == note.content.block && known.content.stamp == note.content.stamp) return;
    }
    if (notes_.size() == most) notes_.erase(notes_.begin());
    notes_.push_back(note);
  }
  /// One of a block with just these tokens, or none.
  [[nodiscard]] const prefix_note* find(std::uint64_t end, random_source& random) const {
    std::vector<const prefix_note*> fitting;
    for (const prefix_note& note : notes_) {
      if (note.end == end) fitting.push_back(&note);
    }
    return fitting.empty() ? nullptr : fitting[random.index(fitting.size())];
  }
  /// Any at all, or none.
  [[nodiscard]] const prefix_note* any(random_source& random) const {
    return notes_.empty() ? nullptr : &notes_[random.index(notes_.size())];
  }
  [[nodiscard]] const std::vector<prefix_note>& all() const { return notes_; }

 private:
  static constexpr std::size_t most = 64;

  std::vector<prefix_note> notes_;  // the oldest first
};

}  // namespace pave_tests

#endif
