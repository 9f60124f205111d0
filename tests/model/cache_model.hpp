// SPDX-License-Identifier: Apache-2.0
// What a kv_cache is, said plainly and slowly: who holds what, who waits, and what was lost.
#ifndef PAVE_TESTS_MODEL_CACHE_MODEL_HPP
#define PAVE_TESTS_MODEL_CACHE_MODEL_HPP

#include "model/cache_content.hpp"
#include "model/cache_sequence.hpp"
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
               reserve = 0, watermark = 0;
  bool whole_gap = true;       // the resume gate
  bool whole_victims = false;  // the baseline's demand
  bool largest_first = false;  // the order of victims; otherwise the least important
  bool keeps_content = false;  // of free blocks, the one that came free longest ago first to go
  bool indexed = false;        // full blocks are found by their names
  bool asks_running = false;   // so they are of those that run only
  bool delays = false;         // a released block is on its way until the last step that used it is done
};

class cache_model {
 public:
  explicit cache_model(const model_options& chosen)
      : options(chosen), stream(chosen.blocks, chosen.tokens_per_block), content(chosen.blocks) {}

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
  [[nodiscard]] bool is_free(std::int32_t block) const { return holders()[static_cast<std::size_t>(block)] == 0; }
  [[nodiscard]] bool is_on_its_way(std::int32_t block) const {
    return std::any_of(fenced.begin(), fenced.end(), [&](const fenced_block& f) { return f.block == block; });
  }
  [[nodiscard]] std::int64_t available() const {
    const std::vector<std::uint32_t> count = holders();
    return std::count(count.begin(), count.end(), 0U) - static_cast<std::int64_t>(fenced.size());
  }
  /// Of those on their way: how many are there once step `by` is done.
  [[nodiscard]] std::int64_t arriving(std::int64_t by) const {
    return std::count_if(fenced.begin(), fenced.end(), [&](const fenced_block& f) { return f.until <= by; });
  }
  /// What one can take now: as long as the promises to more important ones can be kept in time.
  [[nodiscard]] std::int64_t available_to(const model_sequence& asker) const {
    for (std::int64_t taken = available(); taken > 0; --taken) {
      bool all_kept = true;
      for (std::int64_t by = last_complete(); by <= last_begun; ++by) {
        const std::int64_t there = available() - taken + arriving(by);
        all_kept = all_kept && promised_before(asker, by) <= there;
      }
      if (all_kept) return taken;
    }
    return 0;
  }
  /// Whether all promises can be kept: nobody outside took what they are about.
  [[nodiscard]] bool is_solvent() const {
    std::int64_t promised = 0;
    for (const auto& [arrival, s] : sequences) promised += s.promised;
    return promised <= available() + arriving(last_begun);
  }
  /// What it can count on, sooner or later.
  [[nodiscard]] std::int64_t counts_on(const model_sequence& asker) const {
    const std::int64_t left = available() + arriving(last_begun) - promised_before(asker, last_begun);
    return std::max(available_to(asker), left);
  }
  /// When `blocks` are there for it.
  [[nodiscard]] std::int64_t when(const model_sequence& asker, std::int64_t blocks) const {
    const std::int64_t promised = promised_before(asker, last_begun);
    std::int64_t by = last_complete();
    while (by < last_begun && available() + arriving(by) - promised < blocks) ++by;
    return by;
  }
  /// Whether those who let go of a held block may still use it.
  [[nodiscard]] bool is_in_use(std::int32_t block) const {
    const auto user = users.find(block);
    return options.delays && user != users.end() && user->second > last_complete();
  }
  /// The last step that has used its blocks when it is cut: the open one does not run it then.
  [[nodiscard]] std::int64_t last_use_if_cut(const model_sequence& s) const {
    const bool is_withdrawn = is_open && steps.back().spans.count(s.arrival) != 0 && s.last_run == last_begun;
    return std::max(is_withdrawn ? s.run_before : s.last_run, s.last_copy);
  }
  /// Whether it is to write into a block that others hold, too, or write anew what they still use.
  [[nodiscard]] bool copies(const model_sequence& s, std::int64_t tokens) const {
    const std::int64_t next = s.scheduled / options.tokens_per_block;
    if (!s.is_fork || tokens == 0 || next >= s.held()) return false;
    const std::int32_t block = s.table[static_cast<std::size_t>(next)];
    return holders()[static_cast<std::size_t>(block)] > 1 || (s.rewrites && is_in_use(block));
  }
  /// How many blocks at the front of a sequence are full of what completed steps have computed.
  [[nodiscard]] std::int64_t full_blocks(const model_sequence& s) const {
    return std::min(s.held(), s.computed / options.tokens_per_block);
  }
  /// The blocks that have what a waiting sequence has to compute next, up to the first that has it no more. One token
  /// at least is left to compute.
  [[nodiscard]] std::vector<std::int32_t> found_by(const model_sequence& s) const {
    std::vector<std::int32_t> found;
    const std::int64_t each = options.tokens_per_block;
    if (s.computed != s.scheduled || s.scheduled != s.held() * each) return found;
    const model_sequence* other = nullptr;
    for (std::int64_t logical = s.held(); (logical + 1) * each < s.goal; ++logical) {
      const auto note = s.remembered.find(logical);
      if (note != s.remembered.end() && is_kept(note->second)) {
        found.push_back(note->second.block);
        continue;
      }
      if (const model_content* listed = find_listed(s, logical); listed != nullptr) {
        found.push_back(listed->block);
        continue;
      }
      const bool may_ask = options.asks_running || is_lost(s, logical);
      if (other == nullptr || !may_ask || !shares(s, *other, logical) || !can_give(*other, logical)) {
        other = nullptr;
        for (const auto& [arrival, one] : sequences) {
          if (!may_ask || !shares(s, one, logical) || !can_give(one, logical)) continue;
          if (other == nullptr || more_important(one, *other)) other = &one;
        }
      }
      if (other == nullptr) break;
      found.push_back(other->table[static_cast<std::size_t>(logical)]);
    }
    return found;
  }
  /// Of blocks that were found: how many are behind the first that came free since, and is on its way.
  [[nodiscard]] std::int64_t not_there_yet(const std::vector<std::int32_t>& found) const {
    const auto first = std::find_if(found.begin(), found.end(),
                                    [&](std::int32_t block) { return is_free(block) && is_on_its_way(block); });
    return found.end() - first;
  }
  /// What the index has for a logical block, if that is still there.
  [[nodiscard]] const model_content* find_listed(const model_sequence& s, std::int64_t logical) const {
    if (!options.indexed || options.asks_running) return nullptr;
    if (logical >= static_cast<std::int64_t>(s.names.size())) return nullptr;
    const auto same = index.find(s.names[static_cast<std::size_t>(logical)]);
    if (same == index.end()) return nullptr;
    const auto first =
        std::find_if(same->second.begin(), same->second.end(), [&](model_content one) { return is_kept(one); });
    return first == same->second.end() ? nullptr : &*first;
  }
  /// Whether one that runs is about to have what this one lost behind all that it has found.
  [[nodiscard]] bool more_comes(const model_sequence& s) const {
    if (s.computed != s.scheduled || s.scheduled != s.held() * options.tokens_per_block) return false;
    const std::int64_t logical = s.held() + static_cast<std::int64_t>(found_by(s).size());
    if ((logical + 1) * options.tokens_per_block >= s.goal) return false;
    return is_lost(s, logical) && std::any_of(sequences.begin(), sequences.end(), [&](const auto& one) {
             return one.second.runs_now() && shares(s, one.second, logical);
           });
  }
  [[nodiscard]] bool is_lost(const model_sequence& s, std::int64_t logical) const {
    return (logical + 1) * options.tokens_per_block <= s.reached;
  }
  /// Whether two are to have the same in a logical block, which the other one has a block for.
  static bool shares(const model_sequence& s, const model_sequence& other, std::int64_t logical) {
    const auto at = static_cast<std::size_t>(logical);
    return s.arrival != other.arrival && at < s.names.size() && at < other.names.size() &&
           s.names[at] == other.names[at] && logical < other.held();
  }
  /// Where no content is kept, those that wait may be cut for whoever finds it.
  [[nodiscard]] bool can_give(const model_sequence& s, std::int64_t logical) const {
    return (s.runs_now() || options.keeps_content) && s.computed >= (logical + 1) * options.tokens_per_block;
  }
  /// Whether what counts as computed is right; where a copy for a step in flight is to be made yet, nobody can say.
  [[nodiscard]] bool holds_computed(const model_sequence& s) const {
    return s.last_copy > last_complete() || stream.holds(s.table, s.computed, s.tokens);
  }
  [[nodiscard]] bool is_kept(model_content one) const {
    return options.keeps_content && content.is_there(one) && !(is_free(one.block) && is_on_its_way(one.block));
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
  /// Tokens that were lost and are not back.
  [[nodiscard]] std::int64_t missing() const {
    std::int64_t count = 0;
    for (const auto& [arrival, s] : sequences) count += std::max<std::int64_t>(0, s.reached - s.scheduled);
    return count;
  }

  // --- what happens ---

  void admit(const model_sequence& comes, random_source& random) {
    model_sequence& s = sequences[++arrivals] = comes;
    s.arrival = arrivals;
    s.known = s.goal;
    say(s, s.goal, random);
  }

  void fork(const model_sequence& parent, pave::sequence_id id, std::int64_t rank, random_source& random) {
    const bool is_in_open_step = is_open && steps.back().spans.count(parent.arrival) != 0;
    const std::int64_t end = is_in_open_step ? steps.back().spans.at(parent.arrival).first : parent.scheduled;
    model_sequence& s = sequences[++arrivals] = parent;
    sequences.at(parent.arrival).is_fork = s.is_fork = true;
    s.id = id;
    s.rank = rank;
    s.arrival = arrivals;
    s.last_run = parent.last_run == last_begun && is_open ? parent.run_before : parent.last_run;
    s.run_before = s.promised = 0;
    s.rewrites = parent.rewrites || is_in_open_step;
    s.computed = std::min(s.computed, end);
    s.scheduled = end;
    if (!s.runs_now()) s.goal = std::min(longest(), s.known);  // the open step yields nothing of it
    s.table.resize(static_cast<std::size_t>(std::min(s.held(), blocks_for(end))));
    std::fill(
        s.is_there.begin() + static_cast<std::ptrdiff_t>(std::min(end, static_cast<std::int64_t>(s.is_there.size()))),
        s.is_there.end(), false);
    if (s.held() != parent.held()) s.remembered.clear();
    name_shared(sequences.at(parent.arrival), s, std::min(s.held(), end / options.tokens_per_block));
    tokens_lost += std::max<std::int64_t>(0, s.reached - end);
    for (model_step& step : steps) {
      if (is_open && step.id == last_begun) break;
      const auto span = step.spans.find(parent.arrival);
      if (span == step.spans.end()) continue;
      step.spans[s.arrival] = token_span(span->second);
      note_in_roster(step, s);
    }
    say(s, s.goal, random);
  }

  /// The engine names blocks, from `first` on.
  void set_names(model_sequence& s, std::int64_t first, const std::vector<std::uint64_t>& names) {
    s.names.resize(static_cast<std::size_t>(first));
    s.names.insert(s.names.end(), names.begin(), names.end());
    s.listed = std::min(s.listed, first);
    list_computed(s);
  }

  void end(std::int64_t arrival) {
    model_sequence& s = sequences.at(arrival);
    settle(s, 0);
    tokens_given_up += std::max<std::int64_t>(0, s.reached - s.scheduled);
    for (model_step& step : steps) step.spans.erase(arrival);
    drop(s, 0, full_blocks(s));
    ended.push_back(s.id);
    sequences.erase(arrival);
  }

  void truncate(model_sequence& s, std::int64_t length) {
    settle(s, length);
    const bool takes_back = length < s.scheduled;
    s.rewrites = s.rewrites || takes_back;
    tokens_given_up += std::max<std::int64_t>(0, s.reached - std::max(s.scheduled, length));
    s.computed = std::min(s.computed, length);
    s.scheduled = std::min(s.scheduled, length);
    s.reached = std::min(s.reached, length);
    s.common = std::min(s.common, length);
    clip(s.arrival, length);
    // What is there, or about to be, yields nothing again, but in the open step: the engine knows the token behind it.
    s.known = s.scheduled < length || opens_to(s, length) ? length : length + 1;
    s.goal = s.runs_now() ? length : std::min(longest(), will_be_known(s));
    say_what_comes_out(s);
    const auto size = static_cast<std::size_t>(length);
    s.tokens.resize(std::min(s.tokens.size(), size));
    s.is_there.resize(std::min(s.is_there.size(), size));
    s.losses.resize(std::min(s.losses.size(), size));
    drop(s, std::min(s.held(), blocks_for(length)), 0);
    const std::int64_t full = length / options.tokens_per_block;
    s.remembered.erase(s.remembered.lower_bound(full), s.remembered.end());
    s.names.resize(std::min(s.names.size(), static_cast<std::size_t>(full)));
    s.listed = std::min(s.listed, full);
    if (!takes_back || s.held() <= full) return;
    const std::int32_t last = s.table.back();  // what follows would be written into it
    if (holders()[static_cast<std::size_t>(last)] == 1 && !is_in_use(last)) {
      content.renew(last);
      stream.spoil(last, length % options.tokens_per_block);
    } else if (!s.is_fork) {
      withdraw(s, full * options.tokens_per_block);
      if (s.scheduled > full * options.tokens_per_block) lose(s, full * options.tokens_per_block);
      s.goal = std::min(longest(), will_be_known(s));
      drop(s, full, 0);
    }
  }

  /// It keeps its first `kept` blocks, and waits.
  void cut(model_sequence& s, std::int64_t kept) {
    const std::int64_t full = full_blocks(s);
    for (std::int64_t logical = kept; logical < std::min(full, s.held()); ++logical) {
      s.remembered[logical] = content.of(s.table[static_cast<std::size_t>(logical)]);
    }
    // Behind a block that was not full it knows nothing more.
    if (std::max(kept, full) < s.held())
      s.remembered.erase(s.remembered.lower_bound(std::max(kept, full)), s.remembered.end());
    if (is_open && steps.back().spans.count(s.arrival) != 0) {  // it is not run in the open step
      s.last_run = s.last_run == last_begun ? s.run_before : s.last_run;
      s.rewrites = s.rewrites || s.rewrote;
    }
    withdraw(s, 0);
    lose(s, kept * options.tokens_per_block);
    park(s, 0);
    drop(s, kept, std::max(kept, full) + (s.is_fork && s.rewrites ? 1 : 0));
    s.promised = 0;
    if (kept == 0 && s.names.empty()) s.is_fork = false;
  }

  /// All is cut, and nothing is found again but what others hold.
  void reset() {
    for (auto& [arrival, s] : sequences) {
      cut(s, 0);
      s.remembered.clear();
    }
    for (std::int32_t block = 0; block < options.blocks; ++block) {
      if (is_free(block)) forget(block);
      if (is_free(block) && !is_on_its_way(block)) content.freed(block, false);
    }
    ++resets;
    for (fenced_block& f : fenced) f.reset = f.is_worth_keeping ? resets : 0;
  }

  void park(model_sequence& s, std::int64_t goal) {
    if (s.runs_now()) s.state = pave::sequence_state::parked;
    s.known = std::max(s.known, goal);
    s.goal = std::min(longest(), s.known);
    say_what_comes_out(s);
  }

  /// It comes in, with what it found and with new blocks behind that.
  void come_in(model_sequence& s, const std::vector<std::int32_t>& found, const std::vector<std::int32_t>& fresh) {
    s.table.insert(s.table.end(), found.begin(), found.end());
    take(s, fresh);
    for (std::size_t tokens = found.size() * static_cast<std::size_t>(options.tokens_per_block); tokens > 0; --tokens) {
      s.is_there.resize(std::max(s.is_there.size(), static_cast<std::size_t>(s.scheduled) + 1));
      s.losses.resize(s.is_there.size());
      expect(!s.is_there[static_cast<std::size_t>(s.scheduled)], "law 7: only what is missing is found");
      s.is_there[static_cast<std::size_t>(s.scheduled)] = true;
      (s.scheduled < s.reached ? tokens_revived : tokens_cached) += 1;
      s.computed = ++s.scheduled;
    }
    s.reached = std::max(s.reached, s.computed);
    s.state = pave::sequence_state::running;
    s.remembered.clear();
    expect(holds_computed(s), "what is found has the right content");
  }
  /// New blocks at the end of its table.
  void take(model_sequence& s, const std::vector<std::int32_t>& blocks) {
    expect_were_free(blocks);
    s.table.insert(s.table.end(), blocks.begin(), blocks.end());
    expect_oldest(blocks);
  }

  /// It gets a block of its own in place of the one that it is to write into.
  void copy(model_sequence& s, std::int32_t fresh) {
    const auto next = static_cast<std::size_t>(s.scheduled / options.tokens_per_block);
    expect_were_free({fresh});
    const std::int32_t shared = std::exchange(s.table[next], fresh);
    stream.copy(last_begun, shared, fresh, s.scheduled % options.tokens_per_block);
    steps.back().touched.insert({shared, fresh});
    s.last_copy = last_begun;
    let_go(shared, last_begun, true);
    expect_oldest({fresh});
  }

  /// The open step computes the next tokens of a sequence.
  /// @param yields whether the cache says that a token comes out
  void schedule(model_sequence& s, std::int64_t tokens, bool yields, random_source& random) {
    const token_span span{s.scheduled, s.scheduled + tokens, yields};
    s.scheduled = span.last;
    s.goal = std::max(s.goal, span.last);
    say(s, span.last, random);
    const auto size = static_cast<std::size_t>(span.last);
    s.is_there.resize(std::max(s.is_there.size(), size));
    s.losses.resize(std::max(s.losses.size(), size));
    if (tokens == 0) return;
    if (s.is_fork && s.rewrites && span.first % options.tokens_per_block != 0) {
      content.renew(s.table[static_cast<std::size_t>(span.first / options.tokens_per_block)]);
    }
    note_in_roster(steps.back(), s);
    if (s.last_run != last_begun) {
      s.run_before = s.last_run;
      s.rewrote = s.rewrites;
    }
    s.last_run = last_begun;
    s.rewrites = false;
    auto& spans = steps.back().spans;
    if (spans.count(s.arrival) != 0)
      expect(spans[s.arrival].last == span.first, "a step computes one range of a sequence");
    token_span& all = spans.insert({s.arrival, span}).first->second;
    all.last = span.last;
    all.yields = yields;
  }
  /// Whether the open step computes a sequence up to there.
  [[nodiscard]] bool opens_to(const model_sequence& s, std::int64_t end) const {
    if (!is_open) return false;
    const auto span = steps.back().spans.find(s.arrival);
    return span != steps.back().spans.end() && span->second.last == end;
  }
  /// What is known of a sequence once the open step has run.
  [[nodiscard]] std::int64_t will_be_known(const model_sequence& s) const {
    return opens_to(s, s.known) ? s.known + 1 : s.known;
  }

  /// Of more promises than there are blocks, those to the least important are the first that are not kept.
  void keep_to_what_is_there() {
    std::vector<model_sequence*> by_rank;
    for (auto& [arrival, s] : sequences) by_rank.push_back(&s);
    std::sort(by_rank.begin(), by_rank.end(), [](auto* a, auto* b) { return more_important(*a, *b); });
    std::int64_t left = available() + arriving(last_begun);
    for (model_sequence* s : by_rank) {
      s->promised = std::min(s->promised, std::max<std::int64_t>(0, left));
      left -= s->promised;
    }
  }

  void begin() {
    launch();
    yield();
    steps.push_back({++last_begun, false, {}, {}, {}, {}, {}});
    keep_to_what_is_there();
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
        if (position < span.first) {
          expect(s.is_there[at], "law 7: attention reads no missing token");
          if (options.delays) steps.back().readers[s.arrival].insert(place_of(s, position));
        } else {
          expect(!s.is_there[at], "law 7: no token is computed twice without being lost, and not found");
          s.is_there[at] = true;
          expect_only_writer(s, position);
        }
      }
      restored_before += lost_before(s, span);
      steps.back().touched.insert(s.table.begin(),
                                  s.table.begin() + static_cast<std::ptrdiff_t>(blocks_for(span.last)));
      stream.launch(last_begun, s.table, span.first, span.last, s.tokens);
    }
  }

  void complete(std::int64_t which) {
    if (which == last_begun) yield();
    for (model_step& step : steps) {
      if (step.id == which) step.is_done = true;
    }
    if (which == last_begun) is_open = false;
    for (; !steps.empty() && steps.front().is_done; steps.pop_front()) {
      for (const std::uint32_t slot : steps.front().roster) {
        for (const auto& [arrival, span] : steps.front().spans) {
          model_sequence& s = sequences.at(arrival);
          if (s.id.slot != slot) continue;
          s.computed = std::max(s.computed, span.last);
          s.reached = std::max(s.reached, span.last);
          list_computed(s);
        }
      }
    }
    arrive();
  }

  void share_outside(std::int32_t block) { outside.insert(block); }
  void allocate_outside(const std::vector<std::int32_t>& blocks) {
    expect_were_free(blocks);
    outside.insert(blocks.begin(), blocks.end());
    expect_oldest(blocks);
  }
  /// @param last_use the last step in which others used it
  void release_outside(std::int32_t block, std::int64_t last_use, bool is_worth_keeping) {
    outside.erase(outside.find(block));
    let_go(block, last_use, is_worth_keeping);
  }

  model_options options;
  stream_model stream;
  content_model content;
  std::map<std::int64_t, model_sequence> sequences;           // by arrival
  std::map<std::uint64_t, std::vector<model_content>> index;  // by name, in the order in which they were listed
  std::multiset<std::int32_t> outside;                        // blocks that others hold
  struct fenced_block {
    std::int32_t block;
    std::int64_t until;  // this step and all before it are done
    bool is_worth_keeping;
    std::int64_t reset = 0;  // on its way when so many resets had been: their order is nobody's matter
  };
  std::vector<fenced_block> fenced;            // on their way, in the order in which they were released
  std::map<std::int32_t, std::int64_t> users;  // of held blocks: the last step of those who let go of it already
  std::vector<pave::sequence_id> ended;
  std::deque<model_step> steps;  // in flight
  std::int64_t last_begun = 0, arrivals = 0;
  std::uint64_t named = 0;
  std::int64_t tokens_lost = 0, restored_before = 0, tokens_revived = 0, tokens_cached = 0;
  std::int64_t resets = 0;
  std::int64_t tokens_given_up = 0;  // lost, and taken back or ended before they came back
  bool is_open = false, is_launched = false;

 private:
  /// The open step takes nothing more and loses nothing more: what was scheduled in it comes out.
  void yield() {
    if (!is_open) return;
    for (const auto& [arrival, span] : steps.back().spans) {
      model_sequence& s = sequences.at(arrival);
      expect(span.last <= s.known, "no token is computed that nobody has said");
      expect(span.yields == (span.last == s.known), "a token comes out once, of the step that computes all before it");
      if (span.last == s.known) ++s.known;
    }
  }
  /// The engine knows more of a sequence, or less, than when the open step was given its tokens.
  void say_what_comes_out(const model_sequence& s) {
    if (is_open && steps.back().spans.count(s.arrival) != 0)
      steps.back().spans.at(s.arrival).yields = opens_to(s, s.known);
  }
  /// Where a position of a sequence is: a block, and the place in it.
  [[nodiscard]] std::pair<std::int32_t, std::int64_t> place_of(const model_sequence& s, std::int64_t position) const {
    return {s.table[static_cast<std::size_t>(position / options.tokens_per_block)],
            position % options.tokens_per_block};
  }
  /// Where steps in flight run beside each other, only one sequence writes a position, and none that another one reads.
  void expect_only_writer(const model_sequence& s, std::int64_t position) {
    const auto place = place_of(s, position);
    for (const model_step& step : steps) {
      const auto writer = step.writers.find(place);
      expect(!options.delays || writer == step.writers.end() || writer->second == s.arrival,
             "law 8: no two sequences write the same place at the same time");
      for (const auto& [reader, places] : step.readers) {
        expect(reader == s.arrival || places.count(place) == 0, "law 8: no place is written that another one reads");
      }
    }
    steps.back().writers[place] = s.arrival;
  }
  /// The first blocks of two are the same, and have one name each.
  void name_shared(model_sequence& parent, model_sequence& child, std::int64_t blocks) {
    while (static_cast<std::int64_t>(parent.names.size()) < blocks) parent.names.push_back(++named);
    child.names = parent.names;
    child.names.resize(static_cast<std::size_t>(blocks));
    child.listed = std::min(parent.listed, blocks);
    list_computed(parent);
  }
  static void note_in_roster(model_step& step, const model_sequence& s) {
    if (std::count(step.roster.begin(), step.roster.end(), s.id.slot) == 0) step.roster.push_back(s.id.slot);
  }
  void list_computed(model_sequence& s) {
    if (!options.indexed) return;
    const std::int64_t end = std::min(static_cast<std::int64_t>(s.names.size()), full_blocks(s));
    for (; s.listed < end; ++s.listed) list(s, s.listed);
  }
  void list(const model_sequence& s, std::int64_t logical) {
    const std::uint64_t name = s.names[static_cast<std::size_t>(logical)];
    const model_content one = content.of(s.table[static_cast<std::size_t>(logical)]);
    const auto is_it = [&](model_content other) { return other.block == one.block && other.stamp == one.stamp; };
    if (std::any_of(index[name].begin(), index[name].end(), is_it)) return;
    for (auto& [other, blocks] : index) {  // a block has one name
      blocks.erase(std::remove_if(blocks.begin(), blocks.end(), [&](auto old) { return old.block == one.block; }),
                   blocks.end());
    }
    index[name].push_back(one);
  }
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
  /// What is counted as restored from `end` on in a step that did not run stays counted.
  void settle(const model_sequence& s, std::int64_t end) {
    if (!takes_more() || steps.back().spans.count(s.arrival) == 0) return;
    const token_span span = steps.back().spans.at(s.arrival);
    if (end < span.last) restored_before += lost_before(s, {std::max(span.first, end), span.last});
  }
  /// What the open step has of it from `end` on is not lost, but to be scheduled again, even if it was launched.
  void withdraw(model_sequence& s, std::int64_t end) {
    if (!is_open || steps.back().spans.count(s.arrival) == 0) return;
    token_span& span = steps.back().spans.at(s.arrival);
    const token_span withdrawn{std::max(span.first, end), std::max(span.last, end)};
    if (is_launched) restored_before -= lost_before(s, withdrawn);
    for (std::int64_t at = withdrawn.first; at < withdrawn.last; ++at) s.is_there[static_cast<std::size_t>(at)] = false;
    s.scheduled = std::min(s.scheduled, withdrawn.first);
    span.yields = span.yields && end >= span.last;
    span.last = std::min(span.last, end);
    if (span.last <= span.first) steps.back().spans.erase(s.arrival);
  }
  /// All from `kept` on goes, and has to come back.
  void lose(model_sequence& s, std::int64_t kept) {
    clip(s.arrival, kept);
    s.reached = std::max(s.reached, s.scheduled);
    for (std::int64_t lost = kept; lost < s.scheduled; ++lost, ++tokens_lost) {
      s.losses[static_cast<std::size_t>(lost)] += 1;
      s.is_there[static_cast<std::size_t>(lost)] = false;
    }
    s.scheduled = std::min(s.scheduled, kept);
    s.computed = std::min(s.computed, kept);
  }
  /// Its family's tokens, and then its own.
  static void say(model_sequence& s, std::int64_t size, random_source& random) {
    for (auto at = static_cast<std::int64_t>(s.tokens.size()); at < size; ++at) {
      s.tokens.push_back(at < s.common ? mix(s.family ^ mix(static_cast<std::uint64_t>(at))) : random.word());
    }
  }

  /// Blocks go, from its end.
  /// @param worth_keeping how many at its front have content that is worth it
  void drop(model_sequence& s, std::int64_t kept, std::int64_t worth_keeping) {
    s.listed = std::min(s.listed, kept);
    while (s.held() > kept) {
      const std::int32_t block = s.table.back();
      s.table.pop_back();
      let_go(block, s.last_use(), s.held() < worth_keeping);
    }
  }
  /// What is promised to more important ones, by this step.
  [[nodiscard]] std::int64_t promised_before(const model_sequence& asker, std::int64_t by) const {
    std::int64_t count = 0;
    for (const auto& [arrival, s] : sequences) {
      if (more_important(s, asker) && s.promised_by <= by) count += s.promised;
    }
    return count;
  }
  /// A holder is gone that used the block in this step last.
  void let_go(std::int32_t block, std::int64_t last_use, bool is_worth_keeping) {
    users[block] = std::max(users[block], last_use);
    if (!is_free(block)) return;
    const std::int64_t until = std::exchange(users[block], 0);
    if (!options.delays || until <= last_complete()) return come_free(block, is_worth_keeping);
    fenced.push_back({block, until, is_worth_keeping, 0});
    if (!is_worth_keeping || !options.keeps_content) forget(block);
  }
  void arrive() {
    std::int64_t reset_before = 0;
    std::stable_sort(fenced.begin(), fenced.end(), [](const auto& a, const auto& b) { return a.until < b.until; });
    while (!fenced.empty() && fenced.front().until <= last_complete()) {
      const fenced_block f = fenced.front();
      content.freed(f.block, f.is_worth_keeping);
      if (f.reset != 0 && f.reset == reset_before) content.goes_with_last(f.block);
      if (f.is_worth_keeping) reset_before = f.reset;
      fenced.erase(fenced.begin());
    }
  }
  void come_free(std::int32_t block, bool is_worth_keeping) {
    content.freed(block, is_worth_keeping);
    if (!is_worth_keeping || !options.keeps_content) forget(block);
  }
  void forget(std::int32_t block) {
    content.renew(block);
    stream.spoil(block);
  }
  void expect_were_free(const std::vector<std::int32_t>& blocks) {
    for (const std::int32_t block : blocks) {
      expect(block >= 0 && block < options.blocks, "a new block is in range");
      expect(is_free(block) && !is_on_its_way(block), "a new block was available");
      for (const model_step& step : steps) {
        expect(!options.delays || step.touched.count(block) == 0, "law 8: no work in flight touches a new block");
      }
      expect(std::count(blocks.begin(), blocks.end(), block) == 1, "a new block is given once");
      forget(block);
    }
  }
  /// Where content is kept, the blocks that were just taken are those that came free longest ago.
  void expect_oldest(const std::vector<std::int32_t>& blocks) const {
    if (!options.keeps_content || blocks.empty()) return;
    std::int64_t latest = 0;
    for (const std::int32_t block : blocks) latest = std::max(latest, content.turn(block));
    const std::vector<std::uint32_t> count = holders();
    for (std::int32_t block = 0; block < options.blocks; ++block) {
      const bool stays = count[static_cast<std::size_t>(block)] == 0 && !is_on_its_way(block);
      expect(!stays || content.turn(block) >= latest, "what is worth keeping stays longest");
    }
  }
};

}  // namespace pave_tests

#endif
