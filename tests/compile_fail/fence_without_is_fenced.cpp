// expect: pave: a fence policy needs `bool is_fenced(block_id block) const`
// SPDX-License-Identifier: Apache-2.0
// A fence that cannot say which blocks it keeps back is refused, and told what it lacks.
#include <pave/pave.hpp>

struct lacking : pave::after_step {
  bool is_fenced(pave::block_id) const = delete;
};
struct wrong_policies : pave::pool_policies {
  using fence = lacking;
};
template class pave::block_pool<wrong_policies>;
