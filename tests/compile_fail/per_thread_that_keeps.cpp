// expect: pave: per_thread takes only the retention forget
// SPDX-License-Identifier: Apache-2.0
// A retention that keeps content is refused where several threads use the pool at the same time.
#include <pave/pave.hpp>

struct refused_policies : pave::pool_policies {
  using lock = pave::per_thread;
  using retention = pave::keep;
};
template class pave::block_pool<refused_policies>;
