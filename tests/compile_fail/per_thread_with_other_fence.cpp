// expect: pave: per_thread takes only the fence at_once
// SPDX-License-Identifier: Apache-2.0
// A fence of one's own is refused where several threads use the pool at the same time.
#include <pave/pave.hpp>

struct own_fence : pave::at_once {};
struct refused_policies : pave::pool_policies {
  using lock = pave::per_thread;
  using fence = own_fence;
};
template class pave::block_pool<refused_policies>;
