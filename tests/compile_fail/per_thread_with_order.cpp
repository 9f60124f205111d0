// expect: pave: per_thread takes only the free_list last_released
// SPDX-License-Identifier: Apache-2.0
// A free list with an order of its own is refused where several threads use the pool at the same time.
#include <pave/pave.hpp>

struct refused_policies : pave::pool_policies {
  using lock = pave::per_thread;
  using free_list = pave::least_recently_released;
};
template class pave::block_pool<refused_policies>;
