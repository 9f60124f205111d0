// SPDX-License-Identifier: Apache-2.0
// Requests that hold blocks, as a planner finds them: ranks in no order, a tenth of them parked, some with a shared
// prefix.
#ifndef PAVE_BENCH_SUPPORT_RUNNING_REQUESTS_HPP
#define PAVE_BENCH_SUPPORT_RUNNING_REQUESTS_HPP

#include "support/random.hpp"

#include <pave/candidates.hpp>
#include <pave/group_candidates.hpp>
#include <pave/groups.hpp>
#include <pave/units.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bench {

/// What an engine knows of each request without its block table.
class request_lengths {
 public:
  static constexpr std::int64_t each = 16;  // tokens of a block

  /// @param blocks that each request holds: half as many to half as many again
  request_lengths(std::size_t requests, std::int64_t blocks) {
    random_source random(3);
    for (std::size_t i = 0; i < requests; ++i) {
      row one;
      one.rank = {static_cast<std::int64_t>(i), i};
      one.blocks = blocks / 2 + static_cast<std::int64_t>(index_below(static_cast<std::size_t>(blocks), random.word()));
      if (one.blocks < 1) one.blocks = 1;
      const auto shared = static_cast<std::int64_t>(index_below(8, random.word()));
      one.alone = shared < one.blocks ? one.blocks - shared : one.blocks;
      one.tokens = one.blocks * each - static_cast<std::int64_t>(index_below(each, random.word()));
      one.parked = index_below(10, random.word()) == 0;
      rows_.push_back(one);
    }
    shuffle(rows_);
  }

  std::size_t size() const noexcept { return rows_.size(); }
  std::size_t key(std::size_t i) const noexcept { return i; }
  pave::rank rank(std::size_t i) const noexcept { return rows_[i].rank; }
  bool parked(std::size_t i) const noexcept { return rows_[i].parked; }
  pave::block_count blocks(std::size_t i) const noexcept { return rows_[i].blocks; }
  pave::block_count alone(std::size_t i) const noexcept { return rows_[i].alone; }
  pave::token_count tokens(std::size_t i) const noexcept { return rows_[i].tokens; }
  static pave::token_count tokens_per_block() noexcept { return each; }
  pave::block_count reclaimable(std::size_t i, pave::block_count first, pave::block_count last) const noexcept {
    const std::int64_t own = (std::max)(first.value(), rows_[i].blocks - rows_[i].alone);
    return (std::max)(std::int64_t{0}, last.value() - own);
  }

  /// What so many requests can give that go first, but for all but one of the last one's: so many cuts does it take.
  std::int64_t shortage_for(std::size_t cuts) const {
    std::vector<std::size_t> order(size());
    for (std::size_t i = 0; i < size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return rows_[a].parked != rows_[b].parked ? rows_[a].parked : rows_[b].rank < rows_[a].rank;
    });
    std::int64_t sum = 1;
    for (std::size_t i = 0; i + 1 < cuts; ++i) sum += rows_[order[i]].alone;
    return sum;
  }
  /// A token more for one of them.
  void lengthen(std::size_t i) noexcept {
    rows_[i].tokens += 1;
    rows_[i].blocks = rows_[i].alone = (rows_[i].tokens + each - 1) / each;
  }

 private:
  struct row {
    pave::rank rank;
    std::int64_t blocks = 0;
    std::int64_t alone = 0;
    std::int64_t tokens = 0;
    bool parked = false;
  };
  std::vector<row> rows_;
};

/// Block tables of as many requests, whose ids are mixed over the whole pool.
struct request_tables {
  request_tables(std::size_t requests, std::size_t blocks) : stride(blocks / requests), holders(blocks, 1) {
    for (std::size_t i = 0; i < blocks; ++i) table.push_back(static_cast<std::int32_t>(i));
    shuffle(table);
    for (std::size_t i = 0; i < requests; ++i) {
      rows.push_back({{static_cast<std::int64_t>(i), i}, static_cast<std::int32_t>(stride)});
    }
    shuffle(rows);
  }
  pave::block_table_candidates<> view() const noexcept { return {rows, table.data(), stride, holders}; }

  std::size_t stride;
  std::vector<pave::block_table_candidates<>::row> rows;
  std::vector<std::int32_t> table;
  std::vector<std::uint32_t> holders;
};

/// Block tables of as many requests, of 64 blocks each in full attention; besides, a window of 256 tokens, of which
/// four blocks more are held, and a state kept every 64 tokens.
struct group_tables {
  explicit group_tables(std::size_t requests) {
    const std::int32_t tokens = 1024;
    for (std::size_t i = 0; i < requests; ++i) rows.push_back({{static_cast<std::int64_t>(i), i}, tokens});
    shuffle(rows);
    for (const pave::kv_group& kind : {pave::kv_group{16}, pave::kv_group{16, 256}, pave::kv_group{64, 0, 64}}) {
      const auto end = static_cast<std::int32_t>(kind.needed(tokens).last.value());
      const std::int32_t begin = kind.window > 0 ? static_cast<std::int32_t>(kind.needed(tokens).first.value() - 4) : 0;
      std::vector<std::int32_t> ids;
      for (std::size_t at = 0; at < requests * static_cast<std::size_t>(end); ++at) {
        ids.push_back(static_cast<std::int32_t>(at));
      }
      shuffle(ids);
      holders.emplace_back(ids.size(), 1U);
      tables.push_back(std::move(ids));
      begins.emplace_back(requests, begin);
      ends.emplace_back(requests, end);
      groups.push_back(
          {kind, tables.back().data(), static_cast<std::size_t>(end), ends.back(), holders.back(), begins.back()});
    }
  }
  group_tables(const group_tables&) = delete;
  group_tables& operator=(const group_tables&) = delete;

  pave::group_table_candidates<> view(std::size_t of) const noexcept { return {rows, {groups.data(), of}}; }
  /// What so many requests have, but for all but one block of the last one's.
  static std::vector<pave::block_count> shortage_for(std::int64_t cuts, std::size_t of) {
    std::vector<pave::block_count> all(of, cuts);
    all[0] = 64 * (cuts - 1) + 1;
    return all;
  }

  std::vector<pave::group_table_candidates<>::row> rows;
  std::vector<std::vector<std::int32_t>> tables, begins, ends;
  std::vector<std::vector<std::uint32_t>> holders;
  std::vector<pave::group_table> groups;
};

}  // namespace bench

#endif
