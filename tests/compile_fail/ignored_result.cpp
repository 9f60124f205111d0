// expect: ignoring return
// SPDX-License-Identifier: Apache-2.0
// A result that nobody looks at is noticed.
#include <pave/pave.hpp>

#pragma GCC diagnostic error "-Wunused-result"

void forget_to_look(pave::block_pool<>& pool, pave::span<pave::block_id> out) { pool.allocate(out); }
