// expect: pave: a retention that keeps content needs a free_list that can revive a block: name least_recently_released
// SPDX-License-Identifier: Apache-2.0
// A pool that keeps content over a stack, which gives no block out of its midst, is refused, and told what to name.
#include <pave/pave.hpp>

struct stacked_policies : pave::pool_policies {
  using retention = pave::keep;
};
template class pave::block_pool<stacked_policies>;
