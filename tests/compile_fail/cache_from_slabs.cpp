// expect: pave: a kv_cache takes no pool that shares its memory with others, as from_slabs does
// SPDX-License-Identifier: Apache-2.0
// A cache promises blocks that are on their way, and another pool could take them.
#include <pave/pave.hpp>

struct slab_cache : pave::cache_policies {
  struct pool : pave::pool_policies {
    using free_list = pave::from_slabs;
  };
};
template class pave::kv_cache<slab_cache>;
