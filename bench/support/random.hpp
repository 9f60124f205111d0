// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same on every platform, so that every run does the same work.
#ifndef PAVE_BENCH_SUPPORT_RANDOM_HPP
#define PAVE_BENCH_SUPPORT_RANDOM_HPP

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bench {

/// splitmix64.
class random_source {
 public:
  explicit random_source(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint32_t word() noexcept {
    std::uint64_t word = state_ += 0x9e3779b97f4a7c15U;
    word = (word ^ (word >> 30U)) * 0xbf58476d1ce4e5b9U;
    word = (word ^ (word >> 27U)) * 0x94d049bb133111ebU;
    return static_cast<std::uint32_t>(word >> 32U);
  }

 private:
  std::uint64_t state_;
};

/// An index below `size` from a random word: a multiplication, where a remainder would cost more than what is timed.
constexpr std::size_t index_below(std::size_t size, std::uint32_t word) noexcept {
  return static_cast<std::size_t>((static_cast<std::uint64_t>(size) * word) >> 32U);
}

template <class Element>
void shuffle(std::vector<Element>& elements) {
  random_source random(1);
  for (std::size_t left = elements.size(); left > 1; --left) {
    using std::swap;
    swap(elements[left - 1], elements[index_below(left, random.word())]);
  }
}

}  // namespace bench

#endif
