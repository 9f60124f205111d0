// expect: pave: hashes are of use to a prefix_index
// SPDX-License-Identifier: Apache-2.0
// Without an index nobody looks at hashes.
#include <pave/pave.hpp>

pave::result<void> say(pave::group_cache<>& cache) { return cache.set_hashes({}, 0, 0, {}); }
