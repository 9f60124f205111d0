// SPDX-License-Identifier: Apache-2.0
// The policies that are compared, as bundles of pave::kv_cache, and of pave::group_cache for hybrid models.
#ifndef PAVE_REPLAY_POLICIES_HPP
#define PAVE_REPLAY_POLICIES_HPP

#include "simulation/plan_choice.hpp"

#include <pave/pave.hpp>

namespace replay {

/// Content stays in free blocks, and those that were released last are reused last: as in vLLM's and SGLang's pools.
struct caching_pool : pave::pool_policies {
  using free_list = pave::least_recently_released;
  using retention = pave::keep;
};

/// pave as it comes.
using partial_policies = pave::cache_policies;

struct partial_cache_policies : pave::cache_policies {
  using pool = caching_pool;
  using prefix_index = pave::prefix_index;
};

/// pave, but a restore may begin as soon as its first chunk fits.
template <class Policies>
struct with_first_chunk : Policies {
  struct tracker : Policies::tracker {
    using resume_gate = pave::first_chunk;
  };
};

/// Requests find what those that run have of their prefix, though the pool forgets.
template <class Policies>
struct finding_running : Policies {
  using prefix_index = pave::running_prefixes;
};

/// `whole_gap` or `first_chunk`, chosen when the program runs.
struct chosen_gate {
  bool is_whole_gap = true;

  [[nodiscard]] constexpr pave::token_count must_fit(pave::token_count remaining, pave::token_count chunk) const {
    return is_whole_gap ? remaining : chunk;
  }
  [[nodiscard]] constexpr pave::token_count allocates(pave::token_count remaining, pave::token_count chunk) const {
    return is_whole_gap ? remaining : chunk;
  }
};
static_assert(pave::is_resume_gate_v<chosen_gate>);

/// pave with plans of another kind.
template <class Policies, class Order>
struct with_chosen_plans : Policies {
  using planner = chosen_plans<Order>;
  struct tracker : Policies::tracker {
    using resume_gate = chosen_gate;
  };
};

/// vLLM's admission: there has to be room for the whole sequence, but it takes its blocks chunk by chunk.
struct whole_sequence_fits {
  [[nodiscard]] static constexpr pave::token_count must_fit(pave::token_count remaining, pave::token_count) noexcept {
    return remaining;
  }
  [[nodiscard]] static constexpr pave::token_count allocates(pave::token_count, pave::token_count chunk) noexcept {
    return chunk;
  }
};
static_assert(pave::is_resume_gate_v<whole_sequence_fits>);

/// What engines do: whole victims, then the requester itself.
struct whole_policies : pave::cache_policies {
  struct planner : pave::planner_policies {
    using demand = pave::whole_sequence;
  };
  struct tracker : pave::tracker_policies {
    using resume_gate = whole_sequence_fits;
  };
};

struct whole_cache_policies : whole_policies {
  using pool = caching_pool;
  using prefix_index = pave::prefix_index;
};

// The same for hybrid models.

using hybrid_partial_policies = pave::group_cache_policies;

struct hybrid_partial_cache_policies : pave::group_cache_policies {
  using pool = caching_pool;
  using prefix_index = pave::prefix_index;
};
struct hybrid_whole_policies : pave::group_cache_policies {
  struct planner : pave::group_planner_policies {
    using demand = pave::whole_sequence;
  };
  using tracker = whole_policies::tracker;
};
struct hybrid_whole_cache_policies : hybrid_whole_policies {
  using pool = caching_pool;
  using prefix_index = pave::prefix_index;
};

}  // namespace replay

#endif
