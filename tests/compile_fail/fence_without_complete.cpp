// expect: pave: a fence policy needs `void complete(step_id step, Sink&& available)`
// SPDX-License-Identifier: Apache-2.0
// A fence that does not hear of steps that are done is refused, and told what it lacks.
#include <pave/pave.hpp>

struct timeless : pave::after_step {
  template <class Sink>
  void complete(pave::step_id, Sink&&) = delete;
};
struct wrong_policies : pave::pool_policies {
  using fence = timeless;
};
template class pave::block_pool<wrong_policies>;
