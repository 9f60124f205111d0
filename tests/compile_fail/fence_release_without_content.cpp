// expect: pave: a fence policy needs `void release(block_id block, content left, Sink&& available)`
// SPDX-License-Identifier: Apache-2.0
// A fence that does not hear what is left in a block is refused, and told what it lacks.
#include <pave/pave.hpp>

struct deaf : pave::at_once {
  template <class Sink>
  void release(pave::block_id, Sink&&) noexcept {}
};
struct wrong_policies : pave::pool_policies {
  using fence = deaf;
};
template class pave::block_pool<wrong_policies>;
