// SPDX-License-Identifier: Apache-2.0
// What a comparison of policies found: as a table that reads at a glance, and as JSON.
#ifndef PAVE_REPLAY_REPORT_HPP
#define PAVE_REPLAY_REPORT_HPP

#include "command_line/sweep.hpp"
#include "report/curves.hpp"
#include "simulation/hybrid_pools.hpp"
#include "simulation/metrics.hpp"
#include "simulation/plan_choice.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace replay {

/// What was replayed, on what.
struct setting {
  std::string trace;  ///< the file, or a word for the synthetic workload
  std::size_t requests = 0;
  double rate = 1;
  std::string model;
  std::string gpu;
  std::int64_t pool_blocks = 0;
  std::int64_t tokens_per_block = 0;
  std::int64_t kv_bytes_per_token = 0;
  std::int64_t reserve_blocks = 0;
  double watermark_percent = 0;
  std::int64_t watermark_blocks = 0;
  plan_choice plans{};  ///< of the partial policies
  bool finds_running = false;
  hybrid_pools hybrid{};  ///< of a hybrid model
};

struct run {
  std::string policy;
  summary found;
  double wall_s = 0;            ///< the time that the simulation took
  std::optional<curves> drawn;  ///< where they were asked for
};

/// One trace under one setting.
struct report {
  setting of;
  objectives slo;
  std::vector<run> runs;
};

/// Several traces, or several settings, or both.
struct sweep_report {
  std::vector<variable> swept;  ///< those that differ between the points, outermost first
  std::vector<report> points;   ///< at least one; those of a trace stand together
};

/// Stacked tables of at most 110 columns, UTF-8; of `wall_s` it says nothing, so equal runs give equal tables.
std::string to_table(const report& results);

/// The same with a row for each point and policy, and of at most 150 columns.
std::string to_table(const sweep_report& results);

/// One object, indented, with a newline at its end; what is not known is null.
std::string to_json(const report& results);

/// The same with the objects of all points in one list.
std::string to_json(const sweep_report& results);

}  // namespace replay

#endif
