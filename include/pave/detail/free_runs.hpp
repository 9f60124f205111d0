// SPDX-License-Identifier: Apache-2.0
// A tree that knows the runs of ones in a bitmap: how long the longest is, and where one is that is long enough.
#ifndef PAVE_DETAIL_FREE_RUNS_HPP
#define PAVE_DETAIL_FREE_RUNS_HPP

#include <pave/config.hpp>
#include <pave/detail/bitmap.hpp>
#include <pave/detail/bits.hpp>
#include <pave/detail/buffer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace pave {
inline namespace v0 {
namespace detail {

/// Node 1 is the root, and the nodes 2n and 2n + 1 are below node n. The last level is the bitmap's words themselves,
/// which tell their runs at once. A change marks the nodes above its word, as far as they are not marked yet; who asks
/// mends what is marked. So asking costs no more than marking did, and who never asks pays for a mark at most.
class free_runs {
 public:
  /// Takes memory for so many words, and knows nothing of them yet.
  [[nodiscard]] bool reserve(std::size_t words) noexcept {
    std::size_t width = 2;
    while (width < words) width *= 2;
    if (width <= nodes_.size()) return true;
    if (!nodes_.reserve(width)) return false;
    std::fill(nodes_.all().begin(), nodes_.all().end(), runs{});
    return true;
  }

  /// The word `at` was changed.
  void mark(std::size_t at) noexcept {
    for (std::size_t node = (nodes_.size() + at) / 2; node > 0 && !nodes_[node].is_marked(); node /= 2) {
      nodes_[node] = runs{};
    }
  }

  /// The length of the longest run; 0 where there are no ones.
  [[nodiscard]] std::size_t longest(const bitmap& ones) noexcept {
    if (nodes_.size() == 0) return 0;
    mend(1, half_of_all(), ones);
    return nodes_[1].longest;
  }

  /// Where the lowest run begins that has `length` ones or more. @pre 1 ≤ length ≤ longest(ones), asked since the
  /// latest change
  [[nodiscard]] std::size_t find(std::size_t length, const bitmap& ones) const noexcept {
    std::size_t first = 0;  // the first number below `node`
    std::size_t node = 1;
    for (std::size_t half = half_of_all(); node < nodes_.size(); half /= 2) {
      const runs left = below(2 * node, ones);
      node *= 2;
      if (left.longest >= length) continue;
      const runs right = below(node + 1, ones);
      if (left.back + right.front >= length) return first + half - left.back;
      node += 1;
      first += half;
    }
    return first + lowest_one(starts_of_ones(ones.word(node - nodes_.size()), length));
  }

 private:
  /// The runs among the numbers below one node.
  struct runs {
    static constexpr std::uint32_t marked = (std::numeric_limits<std::uint32_t>::max)();

    std::uint32_t front = 0;  // ones in a row from the first number on
    std::uint32_t back = 0;   // and up to the last
    std::uint32_t longest = marked;

    [[nodiscard]] bool is_marked() const noexcept { return longest == marked; }
  };

  /// How many numbers are below each of the two nodes under the root.
  [[nodiscard]] std::size_t half_of_all() const noexcept { return nodes_.size() / 2 * word_bits; }

  [[nodiscard]] runs below(std::size_t node, const bitmap& ones) const noexcept {
    if (node < nodes_.size()) return nodes_[node];
    const std::size_t at = node - nodes_.size();
    const std::uint64_t word = at < ones.words() ? ones.word(at) : 0;
    return {static_cast<std::uint32_t>(ones_at_front(word)), static_cast<std::uint32_t>(ones_at_back(word)),
            static_cast<std::uint32_t>(longest_ones(word))};
  }

  /// @param half_size how many numbers are below each of the two nodes under this one
  void mend(std::size_t node, std::size_t half_size, const bitmap& ones) noexcept {
    if (node >= nodes_.size() || !nodes_[node].is_marked()) return;
    mend(2 * node, half_size / 2, ones);
    mend(2 * node + 1, half_size / 2, ones);
    const runs left = below(2 * node, ones);
    const runs right = below(2 * node + 1, ones);
    const auto half = static_cast<std::uint32_t>(half_size);
    nodes_[node] = {left.front == half ? half + right.front : left.front,
                    right.back == half ? half + left.back : right.back,
                    (std::max)({left.longest, left.back + right.front, right.longest})};
  }

  buffer<runs> nodes_;  // as many as the last level is wide; those below a mark are marked or up to date
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
