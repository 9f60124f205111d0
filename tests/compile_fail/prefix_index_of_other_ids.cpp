// expect: pave: a prefix_index policy needs `bool reserve(block_count ids)`, `std::optional<kept_block> find(
// SPDX-License-Identifier: Apache-2.0
// An index of 32-bit ids over a pool of wider ones is refused.
#include <pave/pave.hpp>

struct wide : pave::cache_policies {
  struct pool : pave::pool_policies {
    using id = pave::basic_block_id<std::int64_t>;
    using free_list = pave::least_recently_released;
    using retention = pave::keep;
  };
  using prefix_index = pave::prefix_index;
};
template class pave::kv_cache<wide>;
