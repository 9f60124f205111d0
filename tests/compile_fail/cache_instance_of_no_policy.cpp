// expect: pave: a pool's create takes instances of that pool's own policies
// SPDX-License-Identifier: Apache-2.0
// An instance that is no policy of the cache's pool, which nothing would read, is refused.
#include <pave/pave.hpp>

bool made() {
  pave::counters counters;  // and the pool's observer is silent
  return pave::kv_cache<>::create({8}, counters).has_value();
}
