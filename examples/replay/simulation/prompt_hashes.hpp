// SPDX-License-Identifier: Apache-2.0
// What the blocks of a request contain, by name, as far as a trace says.
#ifndef PAVE_REPLAY_PROMPT_HASHES_HPP
#define PAVE_REPLAY_PROMPT_HASHES_HPP

#include "traces/trace.hpp"

#include <pave/block_hash.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace replay {

/// A full block of a prompt whose hash is known is the same for each request that has the same prefix; any other block,
/// one with output tokens too, is its request's own.
/// @param place of the request in its trace
/// @param tokens that it comes to have in the cache
/// @return a name for each full block
std::vector<pave::block_hash> hashes_of(const request& r,
                                        std::size_t place,
                                        std::int64_t tokens_per_block,
                                        std::int64_t tokens);

}  // namespace replay

#endif
