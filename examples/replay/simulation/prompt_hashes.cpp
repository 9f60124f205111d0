// SPDX-License-Identifier: Apache-2.0
// A hash of a trace names the prefix up to the end of its 512 tokens; where in these a block ends makes it a name.
#include "simulation/prompt_hashes.hpp"

namespace replay {

std::vector<pave::block_hash> hashes_of(const request& r,
                                        std::size_t place,
                                        std::int64_t tokens_per_block,
                                        std::int64_t tokens) {
  std::vector<pave::block_hash> hashes;
  for (std::int64_t end = tokens_per_block; end <= tokens; end += tokens_per_block) {
    const auto position = static_cast<std::uint64_t>(end) * 2;
    const bool is_shared = !r.prefix_hashes.empty() && end <= r.prompt_tokens;
    if (is_shared) {
      const std::int64_t named = r.prefix_hashes[static_cast<std::size_t>((end - 1) / tokens_per_hash)];
      hashes.push_back({static_cast<std::uint64_t>(named), position});
    } else {
      hashes.push_back({place, position + 1});
    }
  }
  return hashes;
}

}  // namespace replay
