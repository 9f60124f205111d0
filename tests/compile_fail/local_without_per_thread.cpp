// expect: pave: local() opens a thread's handle of a pool whose lock is per_thread
// SPDX-License-Identifier: Apache-2.0
// A handle of a pool that has none is refused, and told what to name.
#include <pave/pave.hpp>

bool taken(pave::block_pool<>& pool, pave::span<pave::block_id> blocks) {
  auto mine = pool.local().value();
  return mine.allocate(blocks).has_value();
}
