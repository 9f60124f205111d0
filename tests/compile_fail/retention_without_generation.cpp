// expect: pave: a retention policy needs `std::uint32_t generation(block_id block) const`
// SPDX-License-Identifier: Apache-2.0
// A retention policy that cannot tell one content from the next is refused, and told what it lacks.
#include <pave/pave.hpp>

struct undiscerning : pave::keep {
  std::uint32_t generation(pave::block_id) const = delete;
};
struct undiscerning_policies : pave::pool_policies {
  using free_list = pave::least_recently_released;
  using retention = undiscerning;
};
template class pave::block_pool<undiscerning_policies>;
