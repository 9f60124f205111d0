// expect: pave: allocate_runs needs a free_list that knows its runs: name lowest_first
// SPDX-License-Identifier: Apache-2.0
// Runs from a stack, which does not know which blocks follow each other, are refused, and told what to name.
#include <pave/pave.hpp>

pave::result<void> refused(pave::block_pool<>& pool, pave::span<pave::block_id> out) { return pool.allocate_runs(out); }
