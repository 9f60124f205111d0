// expect: pave: a prefix_index policy needs `static constexpr bool finds`
// SPDX-License-Identifier: Apache-2.0
// A policy for the index that does not say whether it finds anything is refused, and told what it lacks.
#include <pave/pave.hpp>

struct silent_index {};
struct unsaid : pave::cache_policies {
  using prefix_index = silent_index;
};
template class pave::kv_cache<unsaid>;
