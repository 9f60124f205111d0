// expect: pave: a fence policy needs `void used(block_id block, step_id last_use)`
// SPDX-License-Identifier: Apache-2.0
// A fence that does not hear of last uses is refused, and told what it lacks.
#include <pave/pave.hpp>

struct lacking : pave::after_step {
  void used(pave::block_id, pave::step_id) = delete;
};
struct wrong_policies : pave::pool_policies {
  using fence = lacking;
};
template class pave::block_pool<wrong_policies>;
