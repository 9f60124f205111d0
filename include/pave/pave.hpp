// SPDX-License-Identifier: Apache-2.0
// All of pave: partial KV-cache eviction for LLM serving engines.
//
//               allocate(n)                     shortage s
//    engine ────────────────▶ block_pool ─────────────────────▶ eviction_planner
//      ▲                        ▲    ▲                                 │ plan: cuts of exactly s blocks
//      │ restore steps          │    │ release the cut blocks          ▼
//      │ (chunked prefill       │    └──────────────────────── commit the plan
//      │  over what was kept)   │ allocate the gap                      │ record the gaps
//      └───────────── restore_tracker ◀─────────────────────────────────┘
//                         gate: a parked sequence resumes only when its whole gap and its next tokens fit
//
// `kv_cache` is the three wired together over block tables. Each part also works alone. A header includes only those
// before it here:
//
//   config  units  span  result  layout      words
//   slab_source                              one memory for pools of different block sizes, by policy from_slabs
//   candidates  policy/*                     what can be exchanged
//   pool ─▶ planner ─▶ tracker ─▶ cache      what does the work
//   block_hash  prefix_index                 for the cache, where sequences begin with the same tokens
//   victim_index                             for the planner, where there are many candidates
//   groups ─▶ group_planner ─▶ group_cache   for models whose layers keep different things
#ifndef PAVE_PAVE_HPP
#define PAVE_PAVE_HPP

#include <pave/block_hash.hpp>
#include <pave/cache.hpp>
#include <pave/candidates.hpp>
#include <pave/config.hpp>
#include <pave/group_cache.hpp>
#include <pave/group_candidates.hpp>
#include <pave/group_planner.hpp>
#include <pave/groups.hpp>
#include <pave/layout.hpp>
#include <pave/planner.hpp>
#include <pave/policy/from_slabs.hpp>
#include <pave/pool.hpp>
#include <pave/prefix_index.hpp>
#include <pave/result.hpp>
#include <pave/slab_source.hpp>
#include <pave/span.hpp>
#include <pave/tracker.hpp>
#include <pave/units.hpp>
#include <pave/victim_index.hpp>

#endif
