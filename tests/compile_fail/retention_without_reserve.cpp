// expect: pave: a retention policy needs `bool reserve(block_count ids)`
// SPDX-License-Identifier: Apache-2.0
// A retention policy that takes no memory when the pool is made is refused, and told what it lacks.
#include <pave/pave.hpp>

struct unprepared : pave::keep {
  bool reserve(pave::block_count) = delete;
};
struct unprepared_policies : pave::pool_policies {
  using free_list = pave::least_recently_released;
  using retention = unprepared;
};
template class pave::block_pool<unprepared_policies>;
