// expect: pave: a victim_order policy needs `bool before(const View& view, std::size_t a, std::size_t b) const`
// SPDX-License-Identifier: Apache-2.0
// A cache says in words that its planner's order orders nothing.
#include <pave/pave.hpp>

struct policies : pave::cache_policies {
  struct planner : pave::planner_policies {
    using victim_order = pave::tail;
  };
};

pave::result<pave::growth> grow(pave::kv_cache<policies>& cache, pave::cut_list& cuts) {
  return cache.grow_or_reclaim(cache.admit(0, 1).value(), 1, cuts);
}
