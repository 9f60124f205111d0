// expect: pave: a fence policy needs `block_count arriving(step_id by) const`
// SPDX-License-Identifier: Apache-2.0
// A fence that cannot say what is on its way is refused, and told what it lacks.
#include <pave/pave.hpp>

struct lacking : pave::after_step {
  pave::block_count arriving(pave::step_id) const = delete;
};
struct wrong_policies : pave::pool_policies {
  using fence = lacking;
};
template class pave::block_pool<wrong_policies>;
