// expect: pave: a retention policy needs `void lose(block_id block)`
// SPDX-License-Identifier: Apache-2.0
// A retention policy that does not hear of lost content is refused, and told what it lacks.
#include <pave/pave.hpp>

struct remembering : pave::forget {
  void lose(pave::block_id) = delete;
};
struct wrong_policies : pave::pool_policies {
  using retention = remembering;
};
template class pave::block_pool<wrong_policies>;
