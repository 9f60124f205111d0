// expect: pave: a sharing policy needs `void unpin(block_id block)`
// SPDX-License-Identifier: Apache-2.0
// A sharing policy that lets no pin end is refused, and told what it lacks.
#include <pave/pave.hpp>

struct lacking : pave::counted {
  void unpin(pave::block_id) = delete;
};
struct wrong_policies : pave::pool_policies {
  using sharing = lacking;
};
template class pave::block_pool<wrong_policies>;
