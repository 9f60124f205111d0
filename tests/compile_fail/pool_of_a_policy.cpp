// expect: pave: a block_pool takes a bundle of its policies: derive from pool_policies
// SPDX-License-Identifier: Apache-2.0
// A pool of a policy in place of a bundle is refused, and told what to derive from.
#include <pave/pave.hpp>

template class pave::block_pool<pave::lowest_first>;
