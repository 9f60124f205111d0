// SPDX-License-Identifier: Apache-2.0
// How engines find the blocks to evict that look at blocks, and not at requests: clean-room baselines.
#ifndef PAVE_BENCH_BASELINES_EVICTIONS_BY_BLOCK_HPP
#define PAVE_BENCH_BASELINES_EVICTIONS_BY_BLOCK_HPP

#include "support/running_requests.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

namespace bench {

/// Sorts every live block by the age of its request, and takes the first ones.
class sort_every_block {
 public:
  std::size_t operator()(const request_tables& of, std::size_t shortage) {
    all_.clear();
    for (std::size_t i = 0; i < of.rows.size(); ++i) {
      for (std::int32_t at = 0; at < of.rows[i].blocks; ++at) {
        const std::int32_t block = of.table[i * of.stride + static_cast<std::size_t>(at)];
        if (of.holders[static_cast<std::size_t>(block)] == 1) all_.push_back({of.rows[i].rank.value, at, block});
      }
    }
    std::sort(all_.begin(), all_.end(),
              [](const entry& a, const entry& b) { return std::tie(b.rank, b.at) < std::tie(a.rank, a.at); });
    evicted_.clear();
    for (std::size_t i = 0; i < shortage && i < all_.size(); ++i) evicted_.push_back(all_[i].block);
    return evicted_.size();
  }

 private:
  struct entry {
    std::int64_t rank;
    std::int32_t at;
    std::int32_t block;
  };
  std::vector<entry> all_;
  std::vector<std::int32_t> evicted_;
};

/// Copies the tables of the requests into an ordered set, the least important last, and takes blocks from its end.
class copy_into_set {
 public:
  std::size_t operator()(const request_tables& of, std::size_t shortage) {
    std::set<std::tuple<std::int64_t, std::int32_t, std::int32_t>> all;
    for (std::size_t i = 0; i < of.rows.size(); ++i) {
      for (std::int32_t at = 0; at < of.rows[i].blocks; ++at) {
        all.emplace(of.rows[i].rank.value, at, of.table[i * of.stride + static_cast<std::size_t>(at)]);
      }
    }
    evicted_.clear();
    for (auto last = all.rbegin(); last != all.rend() && evicted_.size() < shortage; ++last) {
      if (of.holders[static_cast<std::size_t>(std::get<2>(*last))] == 1) evicted_.push_back(std::get<2>(*last));
    }
    return evicted_.size();
  }

 private:
  std::vector<std::int32_t> evicted_;
};

}  // namespace bench

#endif
