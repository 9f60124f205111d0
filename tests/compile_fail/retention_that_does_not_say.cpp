// expect: pave: a retention policy needs `static constexpr bool keeps_content`
// SPDX-License-Identifier: Apache-2.0
// A retention policy that does not say whether it keeps content is refused, and told what it lacks.
#include <pave/pave.hpp>

struct undecided {};
struct undecided_policies : pave::pool_policies {
  using retention = undecided;
};
template class pave::block_pool<undecided_policies>;
