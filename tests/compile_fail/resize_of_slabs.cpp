// expect: pave: a pool that shares its memory with others, as from_slabs does, has all blocks of that memory
// SPDX-License-Identifier: Apache-2.0
// A pool has as many blocks as its source has slabs for: it cannot be resized.
#include <pave/pave.hpp>

struct in_slabs : pave::pool_policies {
  using free_list = pave::from_slabs;
};
bool refused(pave::block_pool<in_slabs>& pool) { return pool.resize(8).has_value(); }
