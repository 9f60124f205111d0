// expect: pave: a lock policy has to be movable while it is unlocked
// SPDX-License-Identifier: Apache-2.0
// A lock that would pin its pool to one place is refused.
#include <pave/pave.hpp>

struct fixed : pave::unlocked {
  fixed() = default;
  fixed(const fixed&) = delete;
};
struct fixed_policies : pave::pool_policies {
  using lock = fixed;
};
template class pave::block_pool<fixed_policies>;
