// expect: pave: a kv_cache gives cut blocks on at once, and takes no fence that delays them
// SPDX-License-Identifier: Apache-2.0
// A cache whose cut blocks would come too late is refused.
#include <pave/pave.hpp>

struct late : pave::at_once {
  static constexpr bool delays = true;
};
struct late_policies : pave::cache_policies {
  struct pool : pave::pool_policies {
    using fence = late;
  };
};
template class pave::kv_cache<late_policies>;
