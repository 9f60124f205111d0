// expect: pave: a sharing policy needs `std::uint32_t holders(block_id block) const`
// SPDX-License-Identifier: Apache-2.0
// A sharing policy that does not say how many hold a block is refused, and told what it lacks.
#include <pave/pave.hpp>

struct lacking : pave::counted {
  std::uint32_t holders(pave::block_id) const = delete;
};
struct wrong_policies : pave::pool_policies {
  using sharing = lacking;
};
template class pave::block_pool<wrong_policies>;
