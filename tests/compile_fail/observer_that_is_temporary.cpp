// expect: pave: an observer is watched by reference, and outlives the pool: create cannot take a temporary
// SPDX-License-Identifier: Apache-2.0
// An observer that would be gone before its pool is refused.
#include <pave/pave.hpp>

struct watched_policies : pave::pool_policies {
  using observer = pave::counters;
};
bool made() { return pave::block_pool<watched_policies>::create({8}, pave::counters()).has_value(); }
