// expect: pave: a prefix_index policy needs `bool reserve(block_count ids)`, `std::optional<kept_block> find(
// SPDX-License-Identifier: Apache-2.0
// An index that cannot be asked is refused, and told what it lacks.
#include <pave/pave.hpp>

struct mute {
  static constexpr bool finds = true;
  static bool reserve(pave::block_count) { return true; }
};
struct keeping : pave::cache_policies {
  struct pool : pave::pool_policies {
    using free_list = pave::least_recently_released;
    using retention = pave::keep;
  };
  using prefix_index = mute;
};
template class pave::kv_cache<keeping>;
