// expect: pave: an observer changes by what it is told: create cannot take a const one
// SPDX-License-Identifier: Apache-2.0
// An observer that cannot be told anything is refused.
#include <pave/pave.hpp>

struct watched_policies : pave::pool_policies {
  using observer = pave::counters;
};
bool made(const pave::counters& counters) {
  return pave::block_pool<watched_policies>::create({8}, counters).has_value();
}
