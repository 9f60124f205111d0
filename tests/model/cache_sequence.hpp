// SPDX-License-Identifier: Apache-2.0
// One sequence of the model of a kv_cache, token by token, and what a step in flight has of each.
#ifndef PAVE_TESTS_MODEL_CACHE_SEQUENCE_HPP
#define PAVE_TESTS_MODEL_CACHE_SEQUENCE_HPP

#include "model/cache_content.hpp"

#include <pave/tracker.hpp>
#include <pave/units.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace pave_tests {

struct token_span {
  std::int64_t first = 0, last = 0;
  bool yields = false;  // so the cache said
};

struct model_sequence {
  pave::sequence_id id;
  std::int64_t rank = 0;
  std::int64_t arrival = 0;
  pave::sequence_state state = pave::sequence_state::waiting;
  std::int64_t computed = 0, scheduled = 0, reached = 0, goal = 0;
  std::int64_t known = 0;  // tokens: of the prompt, said by the engine, and yielded by steps that were launched
  std::vector<std::int32_t> table;
  std::uint64_t family = 0;           // says the same tokens as all of its family,
  std::int64_t common = 0;            // as far as this
  std::vector<std::uint64_t> tokens;  // what it says, as far as it is known
  std::vector<bool> is_there;         // of each position: launched or found, and not lost since
  std::vector<int> losses;            // of each position
  std::vector<std::uint64_t> names;   // of full blocks at its front: as the engine, or a fork, named them
  std::int64_t listed = 0;            // of these: in the index, or another one of the same name is
  std::map<std::int64_t, model_content> remembered;  // by logical block: what a block had that it may find again
  std::int64_t last_run = 0, run_before = 0;         // the last steps that have it
  std::int64_t last_copy = 0;                        // the last step that copies into one of its blocks
  std::int64_t promised = 0, promised_by = 0;        // blocks that less important ones do not get
  bool is_fork = false;                              // may hold what it is to write into with another
  bool rewrites = false;                             // what it is to write into may have had tokens there
  bool rewrote = false;                              // so it was before its last step

  [[nodiscard]] bool runs_now() const { return state == pave::sequence_state::running; }
  [[nodiscard]] std::int64_t last_use() const { return std::max(last_run, last_copy); }
  [[nodiscard]] std::int64_t held() const { return static_cast<std::int64_t>(table.size()); }
};

struct model_step {
  std::int64_t id = 0;
  bool is_done = false;
  std::map<std::int64_t, token_span> spans;                               // by arrival; none is empty
  std::map<std::pair<std::int32_t, std::int64_t>, std::int64_t> writers;  // arrivals, by block and position in it
  std::map<std::int64_t, std::set<std::pair<std::int32_t, std::int64_t>>> readers;  // places, by arrival
  std::vector<std::uint32_t> roster;  // slots that it ran, in the order in which they came to it
  std::set<std::int32_t> touched;     // blocks that its work reads or writes, as far as it was launched
};

}  // namespace pave_tests

#endif
