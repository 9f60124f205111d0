// expect: pave: a kv_cache restores a sequence from its end, and takes no other cuts
// SPDX-License-Identifier: Apache-2.0
// A cache whose cuts would leave holes is refused.
#include <pave/pave.hpp>

struct middle : pave::tail {
  static constexpr bool keeps_prefix = false;
};
struct middle_policies : pave::cache_policies {
  struct planner : pave::planner_policies {
    using cut_shape = middle;
  };
};
template class pave::kv_cache<middle_policies>;
