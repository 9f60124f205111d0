// expect: pave: a fence policy needs `bool reserve(block_count ids)`
// SPDX-License-Identifier: Apache-2.0
// A fence that takes no memory when the pool is made is refused, and told what it lacks.
#include <pave/pave.hpp>

struct lacking : pave::after_step {
  bool reserve(pave::block_count) = delete;
};
struct wrong_policies : pave::pool_policies {
  using fence = lacking;
};
template class pave::block_pool<wrong_policies>;
