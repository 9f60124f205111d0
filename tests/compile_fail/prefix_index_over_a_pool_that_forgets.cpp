// expect: pave: a prefix_index finds what a pool keeps: name the retention `keep` in the pool's bundle
// SPDX-License-Identifier: Apache-2.0
// A cache with an index of content over a pool that keeps none is refused, and told what to name.
#include <pave/pave.hpp>

struct forgetful : pave::cache_policies {
  using prefix_index = pave::prefix_index;
};
template class pave::kv_cache<forgetful>;
