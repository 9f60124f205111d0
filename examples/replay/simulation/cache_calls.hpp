// SPDX-License-Identifier: Apache-2.0
// What the engine model's caches take and give, whatever they are over.
#ifndef PAVE_REPLAY_CACHE_CALLS_HPP
#define PAVE_REPLAY_CACHE_CALLS_HPP

#include <pave/result.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace replay {

/// What follows from a trace.
struct cache_sizes {
  std::size_t sequences = 0;  ///< that are in the cache at the same time
  std::int64_t longest = 1;   ///< tokens that one of them has
};

/// Who lost blocks.
struct stopped_one {
  pave::sequence_id sequence;
  bool was_parked = false;
};

/// What a call had others give up.
struct reclaimed {
  std::vector<stopped_one> stopped;
  std::int64_t blocks_short = 0;  ///< means something only where somebody was stopped, as the next one does
  std::int64_t blocks_reclaimed = 0;
};

/// A sequence that the cache let in.
struct came_in {
  pave::sequence_id sequence;
  std::int64_t found = 0;  ///< tokens that nobody has to compute
  pave::token_range tokens;
};

template <class Cache>
Cache made_or_throw(pave::result<Cache> made) {
  if (!made) throw std::runtime_error(std::string("the KV cache cannot be made: ") + pave::to_string(made.code()));
  return std::move(made).value();
}

}  // namespace replay

#endif
