// SPDX-License-Identifier: Apache-2.0
// The object of C++17 in the program that links objects of both standards.
#include "standard_exchange.hpp"

static_assert(__cplusplus < 202002L, "this file is for C++17");

namespace exchange {

pave::result<pave::kv_cache<>> make_cache(pave::kv_cache_options options) { return pave::kv_cache<>::create(options); }

pave::result<pave::block_count> available_in(pave::kv_cache<>& cache) { return cache.pool().available(); }

pave::block_id last_block(pave::block_count capacity) { return capacity.value() - 1; }

pave::span<const pave::block_id> without_first(pave::span<const pave::block_id> blocks) {
  return blocks.subspan(1, blocks.size() - 1);
}

}  // namespace exchange
