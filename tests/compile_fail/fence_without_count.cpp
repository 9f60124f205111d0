// expect: pave: a fence policy needs `block_count fenced() const`
// SPDX-License-Identifier: Apache-2.0
// A fence that does not count what it holds back is refused, and told what it lacks.
#include <pave/pave.hpp>

struct uncounted : pave::at_once {
  pave::block_count fenced() const = delete;
};
struct uncounted_policies : pave::pool_policies {
  using fence = uncounted;
};
template class pave::block_pool<uncounted_policies>;
