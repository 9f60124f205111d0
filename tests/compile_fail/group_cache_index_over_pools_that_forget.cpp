// expect: pave: a prefix_index finds what a pool keeps
// SPDX-License-Identifier: Apache-2.0
// An index over pools that keep no content would find nothing.
#include <pave/pave.hpp>

struct policies : pave::group_cache_policies {
  using prefix_index = pave::prefix_index;
};
template class pave::group_cache<policies>;
