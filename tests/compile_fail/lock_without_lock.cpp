// expect: pave: a lock policy needs `void lock()`
// SPDX-License-Identifier: Apache-2.0
// A lock that cannot be closed is refused, and told what it lacks.
#include <pave/pave.hpp>

struct open_door {
  void unlock() noexcept {}
};
struct wrong_policies : pave::pool_policies {
  using lock = open_door;
};
template class pave::block_pool<wrong_policies>;
