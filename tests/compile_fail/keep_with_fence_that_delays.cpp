// expect: pave: a retention that keeps content takes no fence that delays: a block on its way is not revived
// SPDX-License-Identifier: Apache-2.0
// A pool that keeps content, whose released blocks come free later, is refused.
#include <pave/pave.hpp>

struct late : pave::at_once {
  static constexpr bool delays = true;
};
struct late_policies : pave::pool_policies {
  using free_list = pave::least_recently_released;
  using fence = late;
  using retention = pave::keep;
};
template class pave::block_pool<late_policies>;
