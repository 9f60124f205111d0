// expect: pave: a group_cache takes no fence that delays
// SPDX-License-Identifier: Apache-2.0
// Its steps run in order, on one stream.
#include <pave/pave.hpp>

struct delaying : pave::pool_policies {
  using fence = pave::after_step;
};
struct policies : pave::group_cache_policies {
  using pool = delaying;
};
template class pave::group_cache<policies>;
