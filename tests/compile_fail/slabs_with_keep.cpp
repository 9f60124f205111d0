// expect: pave: a pool that shares its memory keeps no content in free blocks
// SPDX-License-Identifier: Apache-2.0
// Content that is kept in free blocks is refused where a slab may go to another pool, and be written by that.
#include <pave/pave.hpp>

struct keeping_slabs : pave::pool_policies {
  using free_list = pave::from_slabs;
  using retention = pave::keep;
};
template class pave::block_pool<keeping_slabs>;
