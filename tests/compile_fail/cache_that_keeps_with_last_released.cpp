// expect: pave: a retention that keeps content needs a free_list that can revive a block: name least_recently_released
// SPDX-License-Identifier: Apache-2.0
// A cache whose pool keeps content over a stack is refused, and told what to name.
#include <pave/pave.hpp>

struct stacked_policies : pave::cache_policies {
  struct pool : pave::pool_policies {
    using retention = pave::keep;
  };
};
template class pave::kv_cache<stacked_policies>;
