// expect: pave: longest_run needs a free_list that knows its runs: name lowest_first
// SPDX-License-Identifier: Apache-2.0
// A stack cannot say how many of its blocks follow each other: who asks is told what to name.
#include <pave/pave.hpp>

pave::block_count refused(const pave::block_pool<>& pool) { return pool.longest_run(); }
