// expect: pave: a sharing policy needs `bool reserve(block_count ids)`
// SPDX-License-Identifier: Apache-2.0
// A sharing policy that takes no memory when the pool is made is refused, and told what it lacks.
#include <pave/pave.hpp>

struct lacking : pave::counted {
  bool reserve(pave::block_count) = delete;
};
struct wrong_policies : pave::pool_policies {
  using sharing = lacking;
};
template class pave::block_pool<wrong_policies>;
