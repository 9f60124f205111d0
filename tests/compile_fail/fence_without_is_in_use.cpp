// expect: pave: a fence policy needs `bool is_in_use(block_id block) const`
// SPDX-License-Identifier: Apache-2.0
// A fence that cannot say whether a held block is still used by those who let go of it is refused, and told what it
// lacks.
#include <pave/pave.hpp>

struct lacking : pave::after_step {
  bool is_in_use(pave::block_id) const = delete;
};
struct wrong_policies : pave::pool_policies {
  using fence = lacking;
};
template class pave::block_pool<wrong_policies>;
