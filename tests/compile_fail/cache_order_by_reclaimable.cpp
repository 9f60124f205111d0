// expect: pave: within a kv_cache a victim_order goes by rank, blocks, parked, tokens, missing and slack
// SPDX-License-Identifier: Apache-2.0
// An order that a cache keeps is refused where it asks for what changes without its being asked again.
#include <pave/pave.hpp>

struct most_reclaimable {
  template <class View>
  static bool before(const View& view, std::size_t a, std::size_t b) noexcept {
    return view.reclaimable(b, 0, view.blocks(b)) < view.reclaimable(a, 0, view.blocks(a));
  }
};
struct policies : pave::cache_policies {
  struct planner : pave::planner_policies {
    using victim_order = most_reclaimable;
  };
};

pave::result<pave::sequence_id> admit(pave::kv_cache<policies>& cache) { return cache.admit(0, 1); }
