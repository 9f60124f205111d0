// expect: pave: a kv_cache takes a bundle of its parts' bundles: derive from cache_policies
// SPDX-License-Identifier: Apache-2.0
// A cache's bundle that names one part, and has no others, is refused, and told what to derive from.
#include <pave/pave.hpp>

struct incomplete {
  using pool = pave::pool_policies;
};
template class pave::kv_cache<incomplete>;
