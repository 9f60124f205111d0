// expect: or give yours `bool remove(block_id)` and `void undo_remove(block_id)`
// SPDX-License-Identifier: Apache-2.0
// A pool that keeps content over a free list that does not say whether it removed a block is refused.
#include <pave/pave.hpp>

struct mute : pave::least_recently_released {
  void remove(pave::block_id) noexcept {}
};
struct mute_policies : pave::pool_policies {
  using free_list = mute;
  using retention = pave::keep;
};
template class pave::block_pool<mute_policies>;
