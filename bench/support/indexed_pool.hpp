// SPDX-License-Identifier: Apache-2.0
// A pool that keeps content, and an index over it, with the same few calls as the baseline.
#ifndef PAVE_BENCH_SUPPORT_INDEXED_POOL_HPP
#define PAVE_BENCH_SUPPORT_INDEXED_POOL_HPP

#include <pave/pool.hpp>
#include <pave/prefix_index.hpp>
#include <pave/span.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bench {

struct indexed_policies : pave::pool_policies {
  using free_list = pave::least_recently_released;
  using retention = pave::keep;
};

class indexed_pool {
 public:
  using handle = pave::block_id;

  explicit indexed_pool(std::size_t blocks)
      : pool_(pave::block_pool<indexed_policies>::create({blocks}).value()),
        index_(pave::prefix_index::create(blocks).value()),
        found_(blocks),
        reversed_(blocks) {}

  std::size_t acquire(pave::span<const pave::block_hash> hashes, pave::span<handle> out) {
    const std::size_t size = index_.find_prefix(pool_, hashes, found_);
    const pave::span<const pave::kept_block> found(found_.data(), size);
    pool_.acquire(found, {}).value();
    for (std::size_t i = 0; i < size; ++i) out[i] = found[i].block;
    return size;
  }
  bool allocate(pave::span<const pave::block_hash> hashes, pave::span<handle> out) {
    if (!pool_.allocate(out.first(hashes.size()))) return false;
    for (std::size_t i = 0; i < hashes.size(); ++i) index_.add(pool_, hashes[i], out[i]);
    return true;
  }
  void release(pave::span<handle> held) {
    std::reverse_copy(held.begin(), held.end(), reversed_.begin());
    pool_.release({reversed_.data(), held.size()}).value();
  }

 private:
  pave::block_pool<indexed_policies> pool_;
  pave::prefix_index index_;
  std::vector<pave::kept_block> found_;
  std::vector<handle> reversed_;
};

}  // namespace bench

#endif
