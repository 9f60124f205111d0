// expect: pave: a sharing policy needs `bool pin(block_id block)`
// SPDX-License-Identifier: Apache-2.0
// A sharing policy that knows no pins is refused, and told what it lacks.
#include <pave/pave.hpp>

struct lacking : pave::counted {
  bool pin(pave::block_id) = delete;
};
struct wrong_policies : pave::pool_policies {
  using sharing = lacking;
};
template class pave::block_pool<wrong_policies>;
