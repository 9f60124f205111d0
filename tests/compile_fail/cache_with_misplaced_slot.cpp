// expect: pave: a slot belongs in the bundle of its part
// SPDX-License-Identifier: Apache-2.0
// A cache whose bundle names a slot of its planner, which nothing would read, is refused.
#include <pave/pave.hpp>

struct misplaced : pave::cache_policies {
  using demand = pave::whole_sequence;
};
template class pave::kv_cache<misplaced>;
