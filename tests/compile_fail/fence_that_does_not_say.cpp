// expect: pave: a fence policy needs `static constexpr bool delays`
// SPDX-License-Identifier: Apache-2.0
// A fence that does not say whether it delays is refused, and told what it lacks.
#include <pave/pave.hpp>

class undecided : pave::at_once {
 public:
  using at_once::arriving;
  using at_once::complete;
  using at_once::fenced;
  using at_once::is_fenced;
  using at_once::is_in_use;
  using at_once::release;
  using at_once::reserve;
  using at_once::used;
};
struct wrong_policies : pave::pool_policies {
  using fence = undecided;
};
template class pave::block_pool<wrong_policies>;
