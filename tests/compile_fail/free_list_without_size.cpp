// expect: pave: a free_list policy needs `block_count size() const`
// SPDX-License-Identifier: Apache-2.0
// A free list that does not count its blocks is refused, and told what it lacks.
#include <pave/pave.hpp>

struct uncounted : pave::last_released {
  pave::block_count size() const = delete;
};
struct wrong_policies : pave::pool_policies {
  using free_list = uncounted;
};
template class pave::block_pool<wrong_policies>;
