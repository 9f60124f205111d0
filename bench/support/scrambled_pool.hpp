// SPDX-License-Identifier: Apache-2.0
// A pool as it is after hours of serving: nine tenths held, and neighbours in a block table far apart in the pool.
#ifndef PAVE_BENCH_SUPPORT_SCRAMBLED_POOL_HPP
#define PAVE_BENCH_SUPPORT_SCRAMBLED_POOL_HPP

#include "support/random.hpp"

#include <pave/span.hpp>

#include <cstddef>
#include <cstdlib>
#include <vector>

namespace bench {

/// Any pool with `explicit Pool(std::size_t blocks)`, a `handle` for a block, `bool allocate(pave::span<handle>)`, all
/// or nothing, and `bool release(pave::span<handle>)`, which refuses a block that nobody holds.
///
/// It gives out every block, shuffles them all, and releases a tenth of them one by one: what is held is then a random
/// permutation, and so is the free list. The same for every pool, whatever the order in which it gives its blocks out.
template <class Pool>
class scrambled_pool {
 public:
  using handle = typename Pool::handle;
  static constexpr std::size_t most_in_a_row = 64;

  /// @param blocks in all; 640 or more
  explicit scrambled_pool(std::size_t blocks) : pool_(blocks), held_(blocks) {
    must(pool_.allocate(held_));
    shuffle(held_);
    const std::size_t kept = blocks / 10 * 9 / most_in_a_row * most_in_a_row;
    for (std::size_t i = kept; i < blocks; ++i) must(pool_.release({&held_[i], 1}));
    held_.resize(kept);
  }

  Pool& pool() noexcept { return pool_; }
  /// @return how many allocations of `size` blocks each are held
  [[nodiscard]] std::size_t rows(std::size_t size) const noexcept { return held_.size() / size; }
  /// @return the blocks of one of them; `size` divides 64
  [[nodiscard]] pave::span<handle> row(std::size_t index, std::size_t size) noexcept {
    return {held_.data() + index * size, size};
  }

 private:
  static void must(bool done) noexcept {
    if (!done) std::abort();
  }

  Pool pool_;
  std::vector<handle> held_;
};

}  // namespace bench

#endif
