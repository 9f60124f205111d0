// expect: pave: a free_list policy needs `bool reserve(block_count ids)`
// SPDX-License-Identifier: Apache-2.0
// A free list that takes no memory when the pool is made is refused, and told what it lacks.
#include <pave/pave.hpp>

struct unprepared : pave::last_released {
  bool reserve(pave::block_count) = delete;
};
struct wrong_policies : pave::pool_policies {
  using free_list = unprepared;
};
template class pave::block_pool<wrong_policies>;
