// expect: pave: an observer policy needs `void notice(const event& what)`
// SPDX-License-Identifier: Apache-2.0
// An observer that hears nothing is refused, and told what it lacks.
#include <pave/pave.hpp>

struct deaf {};
struct wrong_policies : pave::pool_policies {
  using observer = deaf;
};
template class pave::block_pool<wrong_policies>;
