// expect: pave: a retention policy needs `void renew(block_id block)`
// SPDX-License-Identifier: Apache-2.0
// A retention policy that does not hear of new content is refused, and told what it lacks.
#include <pave/pave.hpp>

struct unchanging : pave::keep {
  void renew(pave::block_id) = delete;
};
struct unchanging_policies : pave::pool_policies {
  using free_list = pave::least_recently_released;
  using retention = unchanging;
};
template class pave::block_pool<unchanging_policies>;
