// SPDX-License-Identifier: Apache-2.0
// Tables that name just what a model of a pool holds, wrong ones, and what an audit has to find in them.
#ifndef PAVE_TESTS_MODEL_POOL_AUDITOR_HPP
#define PAVE_TESTS_MODEL_POOL_AUDITOR_HPP

#include "model/any_pool.hpp"
#include "model/pool_model.hpp"
#include "model/random.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pave_tests {

/// The holders of each block, spread over a few tables.
inline std::vector<block_list> right_tables(const pool_model& model, random_source& random) {
  std::vector<block_list> tables(static_cast<std::size_t>(random.between(1, 4)));
  for (const std::int64_t block : model.held()) {
    for (std::uint32_t i = 0; i < model.sequences(block); ++i) tables[random.index(tables.size())].push_back(block);
  }
  return tables;
}

/// Forgets names and adds some, also of blocks that there are not.
inline void spoil(std::vector<block_list>& tables, std::int64_t ids, random_source& random) {
  for (std::int64_t changes = random.between(1, 3); changes > 0; --changes) {
    block_list& table = tables[random.index(tables.size())];
    if (random.one_in(2) && !table.empty()) {
      table.erase(table.begin() + static_cast<std::ptrdiff_t>(random.index(table.size())));
    } else {
      table.push_back(random.between(-1, ids + 1));
    }
  }
}

/// @param ids the pool's last id is the one before
inline std::vector<pave::finding> expected_findings(const pool_model& model,
                                                    const std::vector<block_list>& tables,
                                                    std::int64_t ids) {
  using pave::finding_kind;
  std::vector<pave::finding> findings;
  for (std::size_t table = 0; table < tables.size(); ++table) {
    for (const std::int64_t block : tables[table]) {
      if (block < model.first() || block >= ids) findings.push_back({finding_kind::out_of_range, block, 0, 1, table});
    }
  }
  for (std::int64_t block = model.first(); block < ids; ++block) {
    std::vector<std::size_t> namers;
    for (std::size_t table = 0; table < tables.size(); ++table)
      namers.insert(namers.end(),
                    static_cast<std::size_t>(std::count(tables[table].begin(), tables[table].end(), block)), table);
    std::int64_t pins = 0;
    for (const auto& [pin, blocks] : model.pins()) pins += std::count(blocks.begin(), blocks.end(), block);
    const std::int64_t named = static_cast<std::int64_t>(namers.size()) + pins;
    const std::int64_t holders = model.holders(block);
    if (holders == named) continue;
    const finding_kind kind = holders == 0      ? finding_kind::not_held
                              : holders > named ? finding_kind::leaked
                                                : finding_kind::over_named;
    findings.push_back({kind, block, holders, named});
    for (const std::size_t table : namers)
      findings.push_back({finding_kind::table_names, block, holders, named, table});
    findings.insert(findings.end(), static_cast<std::size_t>(pins),
                    pave::finding{finding_kind::pin_names, block, holders, named});
  }
  return findings;
}

inline bool is_broken_law(const pave::finding& found) {
  return found.kind != pave::finding_kind::table_names && found.kind != pave::finding_kind::pin_names;
}

inline bool are_same(const std::vector<pave::finding>& a, const std::vector<pave::finding>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const pave::finding& x, const pave::finding& y) {
    return x.kind == y.kind && x.block == y.block && x.holders == y.holders && x.named == y.named && x.table == y.table;
  });
}

}  // namespace pave_tests

#endif  // PAVE_TESTS_MODEL_POOL_AUDITOR_HPP
