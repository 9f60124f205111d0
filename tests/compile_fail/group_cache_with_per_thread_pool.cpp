// expect: pave: a group_cache takes no pool whose lock is per_thread
// SPDX-License-Identifier: Apache-2.0
// A cache is called by one thread at a time.
#include <pave/pave.hpp>

struct many_threads : pave::pool_policies {
  using lock = pave::per_thread;
};
struct policies : pave::group_cache_policies {
  using pool = many_threads;
};
template class pave::group_cache<policies>;
