// SPDX-License-Identifier: Apache-2.0
// An engine's prefix cache: which blocks have the content of which prefix.
#ifndef PAVE_REPLAY_PREFIX_CACHE_HPP
#define PAVE_REPLAY_PREFIX_CACHE_HPP

#include "traces/trace.hpp"

#include <pave/pool.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace replay {

/// Finds blocks by what they contain. A full block of a prompt whose hash is known is the same for each request that
/// has the same prefix; any other block, one with output tokens too, is its request's own.
class prefix_cache {
 public:
  prefix_cache(const std::vector<request>& requests, std::int64_t tokens_per_block, std::int64_t pool_blocks);

  /// A logical block of a request is full and computed.
  void add(std::size_t request, std::size_t logical, pave::kept_block kept);

  /// @return the blocks that have the beginning of a request, the oldest where several have the same; valid until the
  ///   next call
  template <class Pool>
  pave::span<const pave::kept_block> find(const Pool& pool, std::size_t request) {
    const auto is_kept = [&pool](const pave::kept_block& kept) { return pool.is_kept(kept); };
    const bool is_asked_again = request == found_for_ && changes_ == found_after_;
    if (!is_asked_again || !std::all_of(found_.begin(), found_.end(), is_kept)) {
      found_for_ = request;
      found_after_ = changes_;
      found_.clear();
      while (const entries* known = lookup(request, found_.size())) {
        const std::int64_t end = end_of(found_.size());
        const auto oldest = std::find_if(known->begin(), known->end(),
                                         [&](const entry& one) { return one.tokens == end && is_kept(one.kept); });
        if (oldest == known->end()) break;
        found_.push_back(oldest->kept);
      }
    }
    return {found_.data(), found_.size()};
  }

  /// A request has ended: what only it could ask for is not asked for again.
  void forget(std::size_t request);

 private:
  /// A full block, and where the prefix ends that it completes.
  struct entry {
    std::int64_t tokens;
    pave::kept_block kept;
  };
  using entries = std::vector<entry>;  // the oldest first; some blocks may be reused since

  [[nodiscard]] std::int64_t end_of(std::size_t logical) const {
    return static_cast<std::int64_t>(logical + 1) * tokens_per_block_;
  }
  /// The hash that names the prefix up to the end of a block: that of the 512 tokens in which it ends.
  [[nodiscard]] std::optional<std::int64_t> hash_of(std::size_t request, std::size_t logical) const;
  /// @return where that prefix would be; null where nothing is known
  [[nodiscard]] const entries* lookup(std::size_t request, std::size_t logical) const;
  void forget_old_content(pave::block_id block);

  const std::vector<request>& requests_;
  std::int64_t tokens_per_block_;
  std::vector<std::vector<entries>> own_;             // by request and logical block
  std::unordered_map<std::int64_t, entries> shared_;  // by hash
  std::vector<std::optional<std::int64_t>> hashes_;   // by block: the hash that it is in `shared_` for
  std::size_t changes_ = 0;
  std::vector<pave::kept_block> found_;  // the last answer: most questions are asked again
  std::size_t found_for_;
  std::size_t found_after_ = 0;
};

}  // namespace replay

#endif
