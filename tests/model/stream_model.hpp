// SPDX-License-Identifier: Apache-2.0
// A device in small: memory of blocks, and one stream of work that runs in order, later than it is launched.
#ifndef PAVE_TESTS_MODEL_STREAM_MODEL_HPP
#define PAVE_TESTS_MODEL_STREAM_MODEL_HPP

#include "model/random.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace pave_tests {

/// The keys and values of a token are a hash of it and of what the cache holds of the token before it. So they are
/// right only where every token before them was right, and a wrong, stale, missing or reused block is seen.
class stream_model {
 public:
  stream_model(std::int64_t blocks, std::int64_t tokens_per_block)
      : tokens_per_block_(tokens_per_block), memory_(static_cast<std::size_t>(blocks * tokens_per_block), garbage) {}

  /// A launched step computes the positions [first, last) of one sequence.
  /// @param table its physical blocks, as the kernel gets them at the launch
  /// @param tokens what the sequence says, up to `last`
  void launch(std::int64_t step,
              const std::vector<std::int32_t>& table,
              std::int64_t first,
              std::int64_t last,
              const std::vector<std::uint64_t>& tokens) {
    queue_.push_back({step, table, first, last, {tokens.begin(), tokens.begin() + last}, 0});
  }
  /// A copy of the first `tokens` tokens of one block to another, for a step that is open.
  void copy(std::int64_t step, std::int32_t from, std::int32_t to, std::int64_t tokens) {
    queue_.push_back({0, {from, to}, 0, tokens, {}, step});
  }
  /// Whatever is launched from now on must not find what a block has from its token `first` on: it came free, goes to
  /// somebody else, or is written anew.
  void spoil(std::int32_t block, std::int64_t first = 0) {
    queue_.push_back({0, {block}, first, tokens_per_block_, {}, 0});
  }

  void run_all() {
    while (!queue_.empty()) run_next();
  }
  /// All that was launched for `step` and before it is done.
  void run_through(std::int64_t step) {
    std::size_t count = queue_.size();
    while (count > 0 && !queue_[count - 1].belongs_to(step)) --count;
    for (; count > 0; --count) run_next();
  }

  /// What the cache has of the last token of each full block, where `tokens` were computed: it says which tokens they
  /// were, and all before them.
  [[nodiscard]] std::vector<std::uint64_t> ends_of_blocks(const std::vector<std::uint64_t>& tokens) const {
    std::vector<std::uint64_t> ends;
    std::uint64_t last = beginning;
    for (std::size_t position = 0; position < tokens.size(); ++position) {
      last = content(last, tokens[position]);
      if ((position + 1) % static_cast<std::size_t>(tokens_per_block_) == 0) ends.push_back(last);
    }
    return ends;
  }

  /// Whether the positions [0, end) hold what `tokens` make of them.
  [[nodiscard]] bool holds(const std::vector<std::int32_t>& table,
                           std::int64_t end,
                           const std::vector<std::uint64_t>& tokens) const {
    std::uint64_t right = beginning;
    for (std::int64_t position = 0; position < end; ++position) {
      right = content(right, tokens[static_cast<std::size_t>(position)]);
      if (memory_[at(table, position)] != right) return false;
    }
    return true;
  }

 private:
  static constexpr std::uint64_t garbage = 0xdeadbeefdeadbeefU;
  static constexpr std::uint64_t beginning = 1;

  struct work {
    std::int64_t step;  // 0: spoil [first, last) of the block, or copy one to the other
    std::vector<std::int32_t> table;
    std::int64_t first, last;
    std::vector<std::uint64_t> tokens;
    std::int64_t copied_for = 0;  // the step of a copy

    [[nodiscard]] bool belongs_to(std::int64_t through) const {
      return (step != 0 && step <= through) || (copied_for != 0 && copied_for <= through);
    }
  };

  static std::uint64_t content(std::uint64_t before, std::uint64_t token) { return mix(before ^ token); }

  [[nodiscard]] std::size_t at(const std::vector<std::int32_t>& table, std::int64_t position) const {
    const std::int64_t block = table.at(static_cast<std::size_t>(position / tokens_per_block_));
    return static_cast<std::size_t>(block * tokens_per_block_ + position % tokens_per_block_);
  }

  void run_next() {
    const work next = std::move(queue_.front());
    queue_.pop_front();
    if (next.copied_for != 0) {
      for (std::int64_t i = 0; i < next.last; ++i) {
        memory_[static_cast<std::size_t>(next.table[1] * tokens_per_block_ + i)] =
            memory_[static_cast<std::size_t>(next.table[0] * tokens_per_block_ + i)];
      }
      return;
    }
    for (std::int64_t position = next.first; position < next.last; ++position) {
      const std::uint64_t before = position == 0 ? beginning : memory_[at(next.table, position - 1)];
      memory_[at(next.table, position)] =
          next.step == 0 ? garbage : content(before, next.tokens[static_cast<std::size_t>(position)]);
    }
    if (next.step != 0)
      expect(holds(next.table, next.last, next.tokens), "law 7: attention reads no missing and no wrong token");
  }

  std::int64_t tokens_per_block_;
  std::vector<std::uint64_t> memory_;
  std::deque<work> queue_;
};

}  // namespace pave_tests

#endif
