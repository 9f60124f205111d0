// SPDX-License-Identifier: Apache-2.0
// Random choices that are the same on every platform, and the seeds that a random test goes through.
#ifndef PAVE_TESTS_MODEL_RANDOM_HPP
#define PAVE_TESTS_MODEL_RANDOM_HPP

#include "support/catch.hpp"

#include <cstdint>
#include <cstdlib>
#include <stdexcept>

namespace pave_tests {

/// One word from another, well mixed (the finalizer of splitmix64).
constexpr std::uint64_t mix(std::uint64_t word) noexcept {
  word += 0x9e3779b97f4a7c15U;
  word = (word ^ (word >> 30U)) * 0xbf58476d1ce4e5b9U;
  word = (word ^ (word >> 27U)) * 0x94d049bb133111ebU;
  return word ^ (word >> 31U);
}

class random_source {
 public:
  explicit random_source(std::uint64_t seed) noexcept : state_(mix(seed)) {}

  std::uint64_t word() noexcept { return mix(state_ += 0x9e3779b97f4a7c15U); }
  /// One of first … last.
  std::int64_t between(std::int64_t first, std::int64_t last) noexcept {
    return first + static_cast<std::int64_t>(word() % static_cast<std::uint64_t>(last - first + 1));
  }
  bool one_in(std::int64_t chances) noexcept { return between(1, chances) == 1; }
  /// An index below `size`, which is not 0.
  std::size_t index(std::size_t size) noexcept { return static_cast<std::size_t>(word() % size); }

 private:
  std::uint64_t state_;
};

/// What a model finds wrong. Cheaper than an assertion of Catch2 where nothing is.
struct fault : std::logic_error {
  using std::logic_error::logic_error;
};
inline void expect(bool holds, const char* what) {
  if (!holds) throw fault(what);
}

/// Calls `body(seed)` for the seeds 1 … `rounds`. The environment's PAVE_TEST_SEED picks one seed, and PAVE_TEST_ROUNDS
/// multiplies their number; a failure names its seed.
template <class Body>
void for_each_seed(std::uint64_t rounds, Body body) {
  std::uint64_t first = 1;
  std::uint64_t last = rounds;
  if (const char* times = std::getenv("PAVE_TEST_ROUNDS"); times != nullptr) last *= std::strtoull(times, nullptr, 10);
  if (const char* seed = std::getenv("PAVE_TEST_SEED"); seed != nullptr)
    first = last = std::strtoull(seed, nullptr, 10);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    INFO("run it again with PAVE_TEST_SEED=" << seed);
    body(seed);
  }
  SUCCEED();
}

}  // namespace pave_tests

#endif
