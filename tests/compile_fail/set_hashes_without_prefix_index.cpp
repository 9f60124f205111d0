// expect: pave: hashes are of use to a prefix_index: name one in the cache's bundle
// SPDX-License-Identifier: Apache-2.0
// Hashes for a cache that looks up none are refused, and it is said what is missing.
#include <pave/pave.hpp>

pave::result<void> refused(pave::kv_cache<>& cache, pave::sequence_id id) { return cache.set_hashes(id, 0, {}); }
