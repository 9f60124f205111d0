// expect: pave: a kv_cache takes a bundle of its parts' bundles: derive from cache_policies
// SPDX-License-Identifier: Apache-2.0
// A cache of its pool's bundle in place of its own is refused, and told what to derive from.
#include <pave/pave.hpp>

struct packed : pave::pool_policies {
  using free_list = pave::lowest_first;
};
template class pave::kv_cache<packed>;
