// SPDX-License-Identifier: Apache-2.0
// What is known of each hash of a trace, and of each request's own blocks.
#include "simulation/prefix_cache.hpp"

namespace replay {

prefix_cache::prefix_cache(const std::vector<request>& requests,
                           std::int64_t tokens_per_block,
                           std::int64_t pool_blocks)
    : requests_(requests),
      tokens_per_block_(tokens_per_block),
      own_(requests.size()),
      hashes_(static_cast<std::size_t>(pool_blocks)),
      found_for_(requests.size()) {}

void prefix_cache::forget(std::size_t request) {
  own_[request] = {};
  ++changes_;
}

void prefix_cache::add(std::size_t request, std::size_t logical, pave::kept_block kept) {
  forget_old_content(kept.block);
  const std::optional<std::int64_t> hash = hash_of(request, logical);
  if (!hash && own_[request].size() <= logical) own_[request].resize(logical + 1);
  (hash ? shared_[*hash] : own_[request][logical]).push_back({end_of(logical), kept});
  hashes_[kept.block.index()] = hash;
  if (hash || request == found_for_) ++changes_;
}

std::optional<std::int64_t> prefix_cache::hash_of(std::size_t request, std::size_t logical) const {
  const std::int64_t end = end_of(logical);
  const std::vector<std::int64_t>& hashes = requests_[request].prefix_hashes;
  if (hashes.empty() || end > requests_[request].prompt_tokens) return std::nullopt;
  return hashes[static_cast<std::size_t>((end - 1) / tokens_per_hash)];
}

const prefix_cache::entries* prefix_cache::lookup(std::size_t request, std::size_t logical) const {
  const std::optional<std::int64_t> hash = hash_of(request, logical);
  if (!hash) return logical < own_[request].size() ? &own_[request][logical] : nullptr;
  const auto known = shared_.find(*hash);
  return known == shared_.end() ? nullptr : &known->second;
}

void prefix_cache::forget_old_content(pave::block_id block) {
  const std::optional<std::int64_t> hash = hashes_[block.index()];
  if (!hash) return;
  const auto known = shared_.find(*hash);
  entries& same = known->second;
  same.erase(std::find_if(same.begin(), same.end(), [block](const entry& old) { return old.kept.block == block; }));
  if (same.empty()) shared_.erase(known);
}

}  // namespace replay
