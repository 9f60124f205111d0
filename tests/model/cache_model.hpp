// SPDX-License-Identifier: Apache-2.0
// What a kv_cache is, said plainly and slowly: who holds what, who waits, and what was lost.
#ifndef PAVE_TESTS_MODEL_CACHE_MODEL_HPP
#define PAVE_TESTS_MODEL_CACHE_MODEL_HPP

#include "model/random.hpp"
#include "model/stream_model.hpp"

#include <pave/cache.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace pave_tests {

struct model_options {
  std::int64_t blocks = 1, tokens_per_block = 1, sequences = 1, blocks_per_sequence = 1, steps_in_flight = 1,
               reserve = 0;
  bool whole_gap = true;       // the resume gate
  bool whole_victims = false;  // the baseline's demand
};

struct token_span {
  std::int64_t first = 0, last = 0;
};

struct model_sequence {
  pave::sequence_id id;
  std::int64_t rank = 0;
  std::int64_t arrival = 0;
  pave::sequence_state state = pave::sequence_state::waiting;
  std::int64_t computed = 0, scheduled = 0, reached = 0, goal = 0;
  std::vector<std::int32_t> table;
  std::vector<std::uint64_t> tokens;  // what it says, as far as it is known
  std::vector<int> runs, losses;      // of each position

  [[nodiscard]] bool runs_now() const { return state == pave::sequence_state::running; }
  [[nodiscard]] std::int64_t held() const { return static_cast<std::int64_t>(table.size()); }
};

struct model_step {
  std::int64_t id = 0;
  bool is_done = false;
  std::map<std::int64_t, token_span> spans;  // by arrival; none is empty
};

class cache_model {
 public:
  explicit cache_model(const model_options& chosen) : options(chosen), stream(chosen.blocks, chosen.tokens_per_block) {}

  // --- what it knows ---

  [[nodiscard]] std::int64_t blocks_for(std::int64_t tokens) const {
    return tokens / options.tokens_per_block + (tokens % options.tokens_per_block == 0 ? 0 : 1);
  }
  [[nodiscard]] std::int64_t longest() const { return options.blocks_per_sequence * options.tokens_per_block; }
  /// Counted anew each time, over all tables and all holders outside.
  [[nodiscard]] std::vector<std::uint32_t> holders() const {
    std::vector<std::uint32_t> count(static_cast<std::size_t>(options.blocks), 0);
    for (const auto& [arrival, s] : sequences) {
      for (const std::int32_t block : s.table) count[static_cast<std::size_t>(block)] += 1;
    }
    for (const std::int32_t block : outside) count[static_cast<std::size_t>(block)] += 1;
    return count;
  }
  [[nodiscard]] std::int64_t available() const {
    const std::vector<std::uint32_t> count = holders();
    return std::count(count.begin(), count.end(), 0U);
  }
  [[nodiscard]] std::int64_t reclaimable(const model_sequence& s, std::int64_t first, std::int64_t last) const {
    const std::vector<std::uint32_t> count = holders();
    return std::count_if(s.table.begin() + first, s.table.begin() + last,
                         [&](std::int32_t block) { return count[static_cast<std::size_t>(block)] == 1; });
  }
  [[nodiscard]] std::int64_t in_state(pave::sequence_state state) const {
    return std::count_if(sequences.begin(), sequences.end(), [&](const auto& s) { return s.second.state == state; });
  }
  static bool more_important(const model_sequence& a, const model_sequence& b) {
    return std::make_pair(a.rank, a.arrival) < std::make_pair(b.rank, b.arrival);
  }
  [[nodiscard]] model_sequence* find(pave::sequence_id id) {
    for (auto& [arrival, s] : sequences) {
      if (s.id == id) return &s;
    }
    return nullptr;
  }
  /// The one that has to come in next; none where none waits.
  [[nodiscard]] model_sequence* first_in_line() {
    model_sequence* first = nullptr;
    for (auto& [arrival, s] : sequences) {
      if (!s.runs_now() && (first == nullptr || more_important(s, *first))) first = &s;
    }
    return first;
  }
  /// Whether a step is open that was not launched yet.
  [[nodiscard]] bool takes_more() const { return is_open && !is_launched; }
  [[nodiscard]] std::int64_t last_complete() const { return last_begun - static_cast<std::int64_t>(steps.size()); }
  /// Tokens that were lost and scheduled again, in a step that was launched or in the open one.
  [[nodiscard]] std::int64_t restored() const {
    std::int64_t count = restored_before;
    if (!takes_more()) return count;
    for (const auto& [arrival, span] : steps.back().spans) count += lost_before(sequences.at(arrival), span);
    return count;
  }

  // --- what happens ---

  model_sequence& admit(pave::sequence_id id, std::int64_t rank, std::int64_t tokens) {
    model_sequence s;
    s.id = id;
    s.rank = rank;
    s.arrival = ++arrivals;
    s.goal = tokens;
    return sequences[s.arrival] = s;
  }

  void end(std::int64_t arrival) {
    if (takes_more() && steps.back().spans.count(arrival) != 0) {
      restored_before += lost_before(sequences.at(arrival), steps.back().spans.at(arrival));
    }
    for (model_step& step : steps) step.spans.erase(arrival);
    drop(sequences.at(arrival), 0);
    ended.push_back(sequences.at(arrival).id);
    sequences.erase(arrival);
  }

  void truncate(model_sequence& s, std::int64_t length) {
    if (takes_more() && steps.back().spans.count(s.arrival) != 0) {
      const token_span span = steps.back().spans.at(s.arrival);
      if (length < span.last) restored_before += lost_before(s, {std::max(span.first, length), span.last});
    }
    s.computed = std::min(s.computed, length);
    s.scheduled = std::min(s.scheduled, length);
    s.reached = std::min(s.reached, length);
    s.goal = s.runs_now() ? length : std::max(length, s.scheduled + 1);
    clip(s.arrival, length);
    const auto size = static_cast<std::size_t>(length);
    s.tokens.resize(std::min(s.tokens.size(), size));
    s.runs.resize(std::min(s.runs.size(), size));
    s.losses.resize(std::min(s.losses.size(), size));
    drop(s, std::min(s.held(), blocks_for(length)));
  }

  /// It keeps its first `kept` blocks, and waits.
  void cut(model_sequence& s, std::int64_t kept) {
    if (is_open && steps.back().spans.count(s.arrival) != 0) {
      s.scheduled = steps.back().spans[s.arrival].first;
      steps.back().spans.erase(s.arrival);
    }
    const std::int64_t kept_tokens = kept * options.tokens_per_block;
    clip(s.arrival, kept_tokens);
    s.reached = std::max(s.reached, s.scheduled);
    for (std::int64_t lost = kept_tokens; lost < s.scheduled; ++lost, ++tokens_lost)
      s.losses[static_cast<std::size_t>(lost)] += 1;
    s.scheduled = std::min(s.scheduled, kept_tokens);
    s.computed = std::min(s.computed, kept_tokens);
    park(s, 0);
    drop(s, kept);
  }

  void park(model_sequence& s, std::int64_t goal) {
    if (s.runs_now()) s.state = pave::sequence_state::parked;
    s.goal = std::min(longest(), std::max({s.goal, goal, std::max(s.reached, s.scheduled) + 1}));
  }

  /// New blocks at the end of its table: each must have been free.
  void take(model_sequence& s, const std::vector<std::int32_t>& blocks) {
    for (const std::int32_t block : blocks) {
      expect(block >= 0 && block < options.blocks, "a new block is in range");
      expect(holders()[static_cast<std::size_t>(block)] == 0, "a new block was free");
      s.table.push_back(block);
    }
  }

  /// The open step computes the next tokens of a sequence.
  void schedule(model_sequence& s, std::int64_t tokens, random_source& random) {
    const token_span span{s.scheduled, s.scheduled + tokens};
    s.scheduled = span.last;
    s.goal = std::max(s.goal, span.last);
    const auto size = static_cast<std::size_t>(span.last);
    while (s.tokens.size() < size) s.tokens.push_back(random.word());
    s.runs.resize(std::max(s.runs.size(), size));
    s.losses.resize(std::max(s.losses.size(), size));
    if (tokens == 0) return;
    auto& spans = steps.back().spans;
    if (spans.count(s.arrival) != 0)
      expect(spans[s.arrival].last == span.first, "a step computes one range of a sequence");
    spans.insert({s.arrival, span}).first->second.last = span.last;
  }

  void begin() {
    launch();
    steps.push_back({++last_begun, false, {}});
    is_open = true;
    is_launched = false;
  }

  /// The open step goes to the device, with the tables as they are now. Nothing is to be scheduled in it any more.
  void launch() {
    if (!takes_more()) return;
    is_launched = true;
    for (const auto& [arrival, span] : steps.back().spans) {
      model_sequence& s = sequences.at(arrival);
      expect(span.last == s.scheduled && blocks_for(span.last) <= s.held(), "what is scheduled has its blocks");
      for (std::int64_t position = 0; position < span.last; ++position) {
        const auto at = static_cast<std::size_t>(position);
        const bool is_there = s.runs[at] == s.losses[at] + 1;
        expect(is_there || s.runs[at] == s.losses[at], "law 7: no token is computed twice without being lost");
        expect(is_there == (position < span.first), "law 7: just what is missing is computed");
        if (position >= span.first) s.runs[at] += 1;
      }
      restored_before += lost_before(s, span);
      stream.launch(last_begun, s.table, span.first, span.last, s.tokens);
    }
  }

  void complete(std::int64_t which) {
    for (model_step& step : steps) {
      if (step.id == which) step.is_done = true;
    }
    if (which == last_begun) is_open = false;
    for (; !steps.empty() && steps.front().is_done; steps.pop_front()) {
      for (const auto& [arrival, span] : steps.front().spans) {
        model_sequence& s = sequences.at(arrival);
        s.computed = std::max(s.computed, span.last);
        s.reached = std::max(s.reached, span.last);
      }
    }
  }

  void share_outside(std::int32_t block) { outside.insert(block); }
  void release_outside(std::int32_t block) {
    outside.erase(outside.find(block));
    spoil_if_free(block);
  }

  model_options options;
  stream_model stream;
  std::map<std::int64_t, model_sequence> sequences;  // by arrival
  std::multiset<std::int32_t> outside;               // blocks that others hold
  std::vector<pave::sequence_id> ended;
  std::deque<model_step> steps;  // in flight
  std::int64_t last_begun = 0, arrivals = 0, tokens_lost = 0, restored_before = 0;
  bool is_open = false, is_launched = false;

 private:
  static std::int64_t lost_before(const model_sequence& s, token_span span) {
    return std::count_if(s.losses.begin() + span.first, s.losses.begin() + span.last,
                         [](int losses) { return losses > 0; });
  }
  /// Of what is in flight of a sequence, only [0, end) will be of use.
  void clip(std::int64_t arrival, std::int64_t end) {
    for (model_step& step : steps) {
      const auto span = step.spans.find(arrival);
      if (span == step.spans.end()) continue;
      span->second.last = std::min(span->second.last, end);
      if (span->second.last <= span->second.first) step.spans.erase(span);
    }
  }
  void drop(model_sequence& s, std::int64_t kept) {
    const std::vector<std::int32_t> dropped(s.table.begin() + kept, s.table.end());
    s.table.resize(static_cast<std::size_t>(kept));
    for (const std::int32_t block : dropped) spoil_if_free(block);
  }
  void spoil_if_free(std::int32_t block) {
    if (holders()[static_cast<std::size_t>(block)] == 0) stream.spoil(block);
  }
};

}  // namespace pave_tests

#endif
