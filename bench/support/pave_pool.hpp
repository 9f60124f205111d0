// SPDX-License-Identifier: Apache-2.0
// pave's block_pool, behind the interface that the baselines have.
#ifndef PAVE_BENCH_SUPPORT_PAVE_POOL_HPP
#define PAVE_BENCH_SUPPORT_PAVE_POOL_HPP

#include <pave/pool.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>

namespace bench {

template <class Policies>
class pave_pool {
 public:
  using handle = pave::block_id;

  explicit pave_pool(std::size_t blocks) : pool_(pave::block_pool<Policies>::create({blocks}).value()) {}

  bool allocate(pave::span<handle> out) noexcept { return pool_.allocate(out).has_value(); }
  bool release(pave::span<handle> blocks) noexcept {
    if constexpr (Policies::fence::delays) {
      // One step for each pair, done at once: the cost of the fence without the wait for it.
      ++step_;
      const bool released = pool_.release(blocks, step_).has_value();
      pool_.complete_through(step_);
      return released;
    } else {
      return pool_.release(blocks).has_value();
    }
  }
  pave::block_pool<Policies>& pave() noexcept { return pool_; }

 private:
  pave::block_pool<Policies> pool_;
  std::int64_t step_ = 0;
};

}  // namespace bench

#endif
