// expect: pave: a lock policy needs `void unlock()`
// SPDX-License-Identifier: Apache-2.0
// A lock that cannot be opened is refused, and told what it lacks.
#include <pave/pave.hpp>

struct trapdoor {
  void lock() noexcept {}
};
struct trapdoor_policies : pave::pool_policies {
  using lock = trapdoor;
};
template class pave::block_pool<trapdoor_policies>;
