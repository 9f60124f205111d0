// expect: pave: a sharing policy needs `bool share(block_id block)`
// SPDX-License-Identifier: Apache-2.0
// A sharing policy that cannot say whether it shared is refused, and told what it lacks.
#include <pave/pave.hpp>

struct mute : pave::counted {
  void share(pave::block_id) noexcept {}
};
struct mute_policies : pave::pool_policies {
  using sharing = mute;
};
template class pave::block_pool<mute_policies>;
