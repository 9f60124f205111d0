// expect: pave: per_thread takes only the sharing counted
// SPDX-License-Identifier: Apache-2.0
// A sharing policy of one's own is refused where several threads use the pool at the same time.
#include <pave/pave.hpp>

struct own_sharing : pave::counted {};
struct refused_policies : pave::pool_policies {
  using lock = pave::per_thread;
  using sharing = own_sharing;
};
template class pave::block_pool<refused_policies>;
