// expect: pave: per_thread takes only the free_list last_released
// SPDX-License-Identifier: Apache-2.0
// Slabs are drawn by one thread at a time.
#include <pave/pave.hpp>

struct slabs_of_threads : pave::pool_policies {
  using free_list = pave::from_slabs;
  using lock = pave::per_thread;
};
template class pave::block_pool<slabs_of_threads>;
