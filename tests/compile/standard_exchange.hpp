// SPDX-License-Identifier: Apache-2.0
// What the object of C++17 defines and the object of C++20 calls: pave's types by value and by reference.
#ifndef PAVE_TESTS_COMPILE_STANDARD_EXCHANGE_HPP
#define PAVE_TESTS_COMPILE_STANDARD_EXCHANGE_HPP

#include <pave/pave.hpp>

namespace exchange {

pave::result<pave::kv_cache<>> make_cache(pave::kv_cache_options options);
pave::result<pave::block_count> available_in(pave::kv_cache<>& cache);
pave::block_id last_block(pave::block_count capacity);
pave::span<const pave::block_id> without_first(pave::span<const pave::block_id> blocks);

}  // namespace exchange

#endif  // PAVE_TESTS_COMPILE_STANDARD_EXCHANGE_HPP
