// expect: pave: a kv_cache takes no pool whose lock is per_thread: one thread at a time calls it
// SPDX-License-Identifier: Apache-2.0
// A cache over a pool of several threads is refused.
#include <pave/cache.hpp>

struct shared_by_threads : pave::pool_policies {
  using lock = pave::per_thread;
};
struct wrong_policies : pave::cache_policies {
  using pool = shared_by_threads;
};

template class pave::kv_cache<wrong_policies>;
