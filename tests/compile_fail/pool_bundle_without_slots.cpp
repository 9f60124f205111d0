// expect: pave: a block_pool takes a bundle of its policies: derive from pool_policies
// SPDX-License-Identifier: Apache-2.0
// A bundle that names one slot, and has no others, is refused, and told what to derive from.
#include <pave/pave.hpp>

struct incomplete {
  using free_list = pave::lowest_first;
};
template class pave::block_pool<incomplete>;
