// expect: pave: a sharing policy needs `void undo_drop(block_id block)`
// SPDX-License-Identifier: Apache-2.0
// A sharing policy that cannot take back that a holder went is refused, and told what it lacks.
#include <pave/pave.hpp>

struct lacking : pave::counted {
  void undo_drop(pave::block_id) = delete;
};
struct wrong_policies : pave::pool_policies {
  using sharing = lacking;
};
template class pave::block_pool<wrong_policies>;
