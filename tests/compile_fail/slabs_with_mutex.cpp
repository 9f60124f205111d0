// expect: pave: pools that share a memory are used by one thread at a time
// SPDX-License-Identifier: Apache-2.0
// A mutex of one pool does not guard the slabs that it shares with others.
#include <pave/pave.hpp>

struct locked_slabs : pave::pool_policies {
  using free_list = pave::from_slabs;
  using lock = pave::mutex;
};
template class pave::block_pool<locked_slabs>;
