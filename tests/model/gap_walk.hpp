// SPDX-License-Identifier: Apache-2.0
// An engine that checks what it reads: random calls of a kv_cache whose cuts leave gaps anywhere.
#ifndef PAVE_TESTS_MODEL_GAP_WALK_HPP
#define PAVE_TESTS_MODEL_GAP_WALK_HPP

#include "model/random.hpp"
#include "support/catch.hpp"

#include <pave/audit.hpp>
#include <pave/cache.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace pave_tests {

/// What one sequence is, to the engine.
struct walked_sequence {
  pave::sequence_id id;
  std::vector<std::uint64_t> hashes;  // of its first 1, 2, … tokens: what the cache has to hold of each
  std::vector<bool> has;              // whether the cache holds it, or a scheduled step writes it
  std::int64_t known = 0;             // tokens: of the prompt, and yielded by steps that were launched
};

/// Steps are executed in their order: at once when they are launched, as on one stream, or as late as they can be.
/// Each checks that all tokens before its own are what they should be, and writes its own.
template <class Policies>
class gap_walk {
  using cache_type = pave::kv_cache<Policies>;
  using id_type = typename cache_type::id_type;
  static constexpr bool delays = cache_type::pool_type::delays;

 public:
  gap_walk(const pave::kv_cache_options& options, std::uint64_t seed)
      : random_(seed),
        options_(options),
        cache_(cache_type::create(options).value()),
        content_(static_cast<std::size_t>(options.blocks.value()),
                 std::vector<std::uint64_t>(static_cast<std::size_t>(options.tokens_per_block.value()))),
        room_(2 * options.sequences),
        audit_room_(content_.size()) {}

  void wander(int calls) {
    for (int i = 0; i < calls; ++i) {
      INFO("call " << i);
      step();
      check();
    }
  }

  void go_on_until_all_is_done() {
    for (const pave::pin_token& pin : pins_) expect(cache_.pool().unpin(pin).has_value(), "a pin ends once");
    pins_.clear();
    for (int rounds = 0; !sequences_.empty(); ++rounds) {
      if (rounds > 4000) expect(false, "law 4: every sequence ends");
      schedule_a_step(true);
      while (!flights_.empty()) complete_oldest();
      for (std::size_t i = sequences_.size(); i-- > 0;) {
        const pave::sequence_progress at = cache_.progress(sequences_[i].id).value();
        if (at.computed == at.goal && at.state == pave::sequence_state::running) finish(i);
      }
      check();
    }
    while (!flights_.empty()) complete_oldest();
    expect(cache_.snapshot().available == cache_.snapshot().capacity, "law 1: all blocks are back");
  }

  /// Of all steps so far: how many gaps were seen that had something kept behind them.
  [[nodiscard]] std::int64_t gaps_inside() const noexcept { return gaps_inside_; }

 private:
  struct work {
    pave::sequence_id id;
    pave::token_range tokens;
    bool yields = false;  // so the cache said
    std::vector<id_type> table;
    std::vector<std::uint64_t> hashes;
  };
  struct noted {
    typename cache_type::kept_block_type kept;
    std::vector<std::uint64_t> tokens;
  };
  struct flight {
    pave::step_id step;
    std::vector<pave::block_copy> copies;
    std::vector<work> works;
  };

  pave::cut_list cuts() { return pave::cut_list(pave::span<pave::cut>(room_.data(), room_.size())); }
  walked_sequence* find(pave::sequence_id id) {
    const auto at = std::find_if(sequences_.begin(), sequences_.end(), [&](const auto& s) { return s.id == id; });
    return at == sequences_.end() ? nullptr : &*at;
  }
  void lengthen(walked_sequence& s, std::int64_t tokens) {
    while (static_cast<std::int64_t>(s.hashes.size()) < tokens) {
      s.hashes.push_back(mix((s.hashes.empty() ? 1U : s.hashes.back()) + random_.index(std::size_t{1} << 20U)));
    }
    s.has.resize(s.hashes.size(), false);
  }

  void step() {
    switch (random_.between(0, 14)) {
      case 0: admit(); break;
      case 1:
        offer();
        if (!sequences_.empty() && random_.one_in(3)) park(sequences_[random_.index(sequences_.size())].id);
        break;
      case 2: fork(); break;
      case 3:
        if (!sequences_.empty() && random_.one_in(3)) finish(random_.index(sequences_.size()));
        break;
      case 4: truncate(); break;
      case 5: cut_for_one(); break;
      case 6:
        if (!sequences_.empty()) {
          const pave::sequence_id id = sequences_[random_.index(sequences_.size())].id;
          if (random_.one_in(3)) cache_.set_rank(id, random_.between(0, 20)).value();
        }
        break;
      case 7: pin(); break;
      case 8:
        if (random_.one_in(20)) {
          cache_.reset();
          for (walked_sequence& s : sequences_) s.has.assign(s.has.size(), false);
          if (!flights_.empty() && is_open_) flights_.back().works.clear();
        }
        break;
      default:
        schedule_a_step(false);
        if (!flights_.empty() && random_.one_in(2)) complete_oldest();
    }
  }

  void admit() {
    const std::int64_t most = options_.blocks.value() * options_.tokens_per_block.value();
    const pave::token_count prompt = random_.between(1, (std::max)(std::int64_t{1}, most / random_.between(1, 4)));
    const pave::result<pave::sequence_id> id = cache_.admit(random_.between(0, 20), prompt);
    if (id) sequences_.push_back({*id, {}, {}, prompt.value()});
  }
  void fork() {
    if constexpr (cache_type::pool_type::can_share) {
      if (sequences_.empty()) return;
      const std::size_t parent = random_.index(sequences_.size());
      const pave::result<pave::sequence_id> id = cache_.fork(sequences_[parent].id, random_.between(0, 20));
      if (!id) return;
      walked_sequence child{*id, sequences_[parent].hashes, {}, sequences_[parent].known};
      const pave::sequence_progress at = cache_.progress(*id).value();
      child.hashes.resize(
          (std::min)(child.hashes.size(), static_cast<std::size_t>((std::max)(at.reached, at.scheduled).value())));
      lengthen(child, at.scheduled.value());
      std::fill(child.has.begin(), child.has.begin() + at.scheduled.value(), true);
      expect(at.kept == at.scheduled, "a fork has no gap inside");
      sequences_.push_back(child);
    }
  }
  void finish(std::size_t i) {
    drop_open_work(sequences_[i].id);
    (random_.one_in(2) ? cache_.finish(sequences_[i].id) : cache_.abort(sequences_[i].id)).value();
    sequences_.erase(sequences_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  void truncate() {
    if (sequences_.empty()) return;
    walked_sequence& s = sequences_[random_.index(sequences_.size())];
    const pave::sequence_progress before = cache_.progress(s.id).value();
    // What the open step computes is taken back as a whole: an engine would have scheduled other tokens.
    if (is_open_ && has_open_work(s.id)) return;
    const pave::token_count length = random_.between(0, before.goal.value());
    cache_.truncate(s.id, length).value();
    s.hashes.resize((std::min)(s.hashes.size(), static_cast<std::size_t>(length.value())));
    s.has.resize(s.hashes.size());
    // What is there yields nothing again: the engine knows the token behind it.
    const auto end = static_cast<std::size_t>(length.value());
    s.known = length.value() + (end == 0 || (end == s.has.size() && s.has.back()) ? 1 : 0);
    // Where others hold the last block, its tokens become a gap.
    const pave::sequence_progress after = cache_.progress(s.id).value();
    for (auto at = static_cast<std::size_t>((std::max)(after.kept, after.scheduled).value()); at < s.has.size(); ++at) {
      s.has[at] = false;
    }
  }
  void pin() {
    if (!pins_.empty() && random_.one_in(2)) {
      expect(cache_.pool().unpin(pins_.back()).has_value(), "a pin ends once");
      pins_.pop_back();
      return;
    }
    if (sequences_.empty() || pins_.size() > 2) return;
    std::vector<id_type> held = held_by(sequences_[random_.index(sequences_.size())].id);
    if (held.empty()) return;
    const std::size_t first = random_.index(held.size());
    const std::size_t count = 1 + random_.index(held.size() - first);
    const auto token = cache_.pool().pin({held.data() + first, count});
    if (token) pins_.push_back(*token);
  }
  std::vector<id_type> held_by(pave::sequence_id id) {
    std::vector<id_type> held;
    for (const id_type block : cache_.block_table(id).value()) {
      if (block != id_type{}) held.push_back(block);
    }
    return held;
  }

  /// What one has computed is offered to its fork, or to itself, where that waits.
  void offer() {
    if constexpr (cache_type::pool_type::keeps_content) {
      if (sequences_.empty()) return;
      const walked_sequence& from = sequences_[random_.index(sequences_.size())];
      const walked_sequence& to = sequences_[random_.index(sequences_.size())];
      if (cache_.progress(to.id)->state == pave::sequence_state::running) return;
      const std::int64_t each = options_.tokens_per_block.value();
      const auto table = cache_.block_table(from.id).value();
      std::vector<typename cache_type::kept_block_type> known;
      const std::int64_t full = cache_.computed(from.id)->value() / each;
      for (std::int64_t i = 0; i < full; ++i) {
        const auto end = static_cast<std::size_t>((i + 1) * each);
        if (end > to.hashes.size() || to.hashes[end - 1] != from.hashes[end - 1]) break;
        known.push_back(cache_.pool().content_of(table[static_cast<std::size_t>(i)]).value());
      }
      if (!known.empty()) cache_.offer_prefix(to.id, known).value();
    }
  }

  void park(pave::sequence_id id) {
    const bool runs = cache_.progress(id)->state == pave::sequence_state::running;
    expect(cache_.park(id).has_value() == runs, "who runs can be parked");
    if (runs) drop_open_work(id);
  }

  void cut_for_one() {
    if (sequences_.empty()) return;
    const pave::sequence_id requester = sequences_[random_.index(sequences_.size())].id;
    pave::cut_list list = cuts();
    const std::int64_t shortage = random_.between(1, 5);
    const pave::result<pave::plan> plan = cache_.plan_cuts(requester, shortage, list);
    if (!plan) {
      expect(list.used().empty(), "no plan, no cuts");
      return;
    }
    const pave::block_count before = cache_.snapshot().available + cache_.snapshot().fenced;
    note_cuts(list.used());
    const pave::result<pave::block_count> freed = cache_.commit(requester, list.used());
    expect(freed.has_value(), "a plan that was just made is carried out");
    expect(*freed == plan->freed, "law 2: a plan frees what it says");
    expect(cache_.snapshot().available + cache_.snapshot().fenced - before == *freed, "law 2: so many come free");
    expect(cache_.commit(requester, list.used()).code() == pave::errc::stale, "a plan is carried out once");
  }

  /// Before they are made, or just after: the tables of the victims say nothing of what they were.
  void note_cuts(pave::span<const pave::cut> list) {
    for (const pave::cut& c : list) {
      drop_open_work(c.sequence);
      walked_sequence& s = *find(c.sequence);
      const std::int64_t each = options_.tokens_per_block.value();
      const std::size_t end = s.has.size();
      lose_half_restored_block(s, c.blocks.last.value() * each);
      for (auto at = static_cast<std::size_t>(c.blocks.first.value() * each);
           at < (std::min)(end, static_cast<std::size_t>(c.blocks.last.value() * each)); ++at) {
        s.has[at] = false;
      }
    }
  }
  /// Behind the cut: a block that has only its first tokens, and others behind it that were kept.
  void lose_half_restored_block(walked_sequence& s, std::int64_t from) const {
    const auto each = static_cast<std::size_t>(options_.tokens_per_block.value());
    for (auto at = static_cast<std::size_t>(from); at + each < s.has.size(); at += each) {
      if (!s.has[at] || s.has[at + each - 1]) continue;
      if (std::count(s.has.begin() + static_cast<std::ptrdiff_t>(at + each), s.has.end(), true) == 0) continue;
      for (std::size_t i = at; i < at + each; ++i) s.has[i] = false;
    }
  }
  bool has_open_work(pave::sequence_id id) const {
    const auto& works = flights_.back().works;
    return std::any_of(works.begin(), works.end(), [&](const work& w) { return w.id == id; });
  }
  /// The open step does not run it, after all.
  void drop_open_work(pave::sequence_id id) {
    if (!is_open_ || flights_.empty()) return;
    auto& works = flights_.back().works;
    for (const work& w : works) {
      if (w.id != id) continue;
      walked_sequence& s = *find(id);
      for (auto at = w.tokens.first.value(); at < w.tokens.last.value(); ++at)
        s.has[static_cast<std::size_t>(at)] = false;
    }
    works.erase(std::remove_if(works.begin(), works.end(), [&](const work& w) { return w.id == id; }), works.end());
  }

  void schedule_a_step(bool in_earnest) {
    const pave::result<pave::step_id> step = cache_.begin_step();
    if (!step) {
      expect(step.code() == pave::errc::busy, "as many steps as the options allow");
      return;
    }
    launch();
    is_open_ = true;
    flights_.push_back({*step, {}, {}});
    std::vector<pave::sequence_id> by_rank;
    for (const walked_sequence& s : sequences_) by_rank.push_back(s.id);
    for (const pave::sequence_id id : by_rank) {
      if (find(id) == nullptr || (!in_earnest && random_.one_in(4))) continue;
      const pave::sequence_progress at = cache_.progress(id).value();
      if (at.state != pave::sequence_state::running) continue;
      if (in_earnest && at.scheduled >= at.goal) continue;
      std::int64_t tokens = cache_.remaining(id)->value();
      if (!in_earnest || random_.one_in(2)) tokens = random_.between(in_earnest ? 1 : 0, tokens);
      pave::cut_list list = cuts();
      const pave::result<pave::growth> grown = cache_.grow_or_reclaim(id, tokens, list);
      note_cuts(list.used());
      if (!grown) {
        const pave::errc why = grown.code();
        expect(why == pave::errc::shortage || why == pave::errc::never_fits, "why it does not grow");
        if (why == pave::errc::never_fits) {
          finish(static_cast<std::size_t>(find(id) - sequences_.data()));
        } else {
          expect(cache_.progress(id)->state == pave::sequence_state::parked, "it waits");
        }
        continue;
      }
      run(id, grown->tokens, grown->yields, grown->copy);
    }
    for (;;) {
      pave::cut_list list = cuts();
      const pave::result<pave::restore> next = cache_.next_restore(random_.between(1, 40), list);
      for (const pave::cut& c : list.used()) expect(c.was_parked, "law 6: nobody is stopped for one that waits");
      note_cuts(list.used());
      if (next.code() == pave::errc::never_fits) {
        end_most_important_waiting();
        continue;
      }
      if (!next) break;
      find_what_was_found(*next);
      run(next->sequence, next->tokens, next->yields, next->copy);
    }
  }
  void end_most_important_waiting() {
    std::size_t first = sequences_.size();
    pave::sequence_progress at;
    for (std::size_t i = 0; i < sequences_.size(); ++i) {
      at = cache_.progress(sequences_[i].id).value();
      if (at.state != pave::sequence_state::running) first = i;
      if (first == i) break;
    }
    finish(first);
  }
  void find_what_was_found(const pave::restore& next) {
    walked_sequence& s = *find(next.sequence);
    lengthen(s, next.found.last.value());
    for (auto at = next.found.first.value(); at < next.found.last.value(); ++at)
      s.has[static_cast<std::size_t>(at)] = true;
  }
  void run(pave::sequence_id id, pave::token_range tokens, bool yields, const std::optional<pave::block_copy>& copy) {
    if (copy) flights_.back().copies.push_back(*copy);
    if (tokens.empty()) return;
    walked_sequence& s = *find(id);
    lengthen(s, tokens.last.value());
    for (auto at = tokens.first.value(); at < tokens.last.value(); ++at) {
      expect(!s.has[static_cast<std::size_t>(at)], "law 7: none that was kept is computed again");
      s.has[static_cast<std::size_t>(at)] = true;
    }
    const auto table = cache_.block_table(id).value();
    flights_.back().works.push_back({id, tokens, yields, {table.begin(), table.end()}, s.hashes});
    const pave::sequence_progress at = cache_.progress(id).value();
    if (at.kept > at.scheduled) ++gaps_inside_;
  }

  void launch() {
    if (!is_open_) return;
    is_open_ = false;
    for (const work& w : flights_.back().works) {
      walked_sequence& s = *find(w.id);
      expect(w.tokens.last <= s.known, "no token is computed that nobody has said");
      expect(w.yields == (w.tokens.last == s.known), "a token comes out once, of the step that computes all before it");
      if (w.yields) ++s.known;
    }
    if (!delays) execute(flights_.back());
  }
  void complete_oldest() {
    if (flights_.size() == 1) launch();
    if (delays) execute(flights_.front());
    expect(cache_.complete(flights_.front().step).has_value(), "a step completes");
    flights_.pop_front();
  }
  void execute(flight& of) {
    for (const pave::block_copy& copy : of.copies) {
      for (std::size_t at = 0; at < static_cast<std::size_t>(copy.tokens.value()); ++at) {
        content_[copy.to.index()][at] = content_[copy.from.index()][at];
      }
    }
    for (const work& w : of.works) {
      for (std::int64_t at = 0; at < w.tokens.first.value(); ++at) {
        expect(read(w, at) == w.hashes[static_cast<std::size_t>(at)], "law 7: no attention reads a wrong token");
      }
      for (std::int64_t at = w.tokens.first.value(); at < w.tokens.last.value(); ++at) {
        read(w, at) = w.hashes[static_cast<std::size_t>(at)];
      }
    }
  }
  std::uint64_t& read(const work& w, std::int64_t at) {
    const std::int64_t each = options_.tokens_per_block.value();
    const auto logical = static_cast<std::size_t>(at / each);
    expect(logical < w.table.size() && w.table[logical] != id_type{}, "law 7: no attention reads a gap");
    return content_[w.table[logical].index()][static_cast<std::size_t>(at % each)];
  }

  /// A content of which the pool says that it is still there, is there.
  void check_kept_content() {
    if constexpr (cache_type::pool_type::keeps_content) {
      const std::int64_t each = options_.tokens_per_block.value();
      for (const walked_sequence& s : sequences_) {
        const auto table = cache_.block_table(s.id).value();
        for (std::int64_t i = 0; i < cache_.computed(s.id)->value() / each; ++i) {
          const auto first = s.hashes.begin() + static_cast<std::ptrdiff_t>(i * each);
          const auto now = cache_.pool().content_of(table[static_cast<std::size_t>(i)]).value();
          const auto is_noted = [&](const noted& one) { return one.kept == now; };
          if (std::any_of(noted_.begin(), noted_.end(), is_noted)) continue;
          noted_.push_back({now, {first, first + static_cast<std::ptrdiff_t>(each)}});
        }
      }
      const auto is_gone = [&](const noted& one) { return !cache_.pool().is_kept(one.kept); };
      noted_.erase(std::remove_if(noted_.begin(), noted_.end(), is_gone), noted_.end());
      for (const noted& one : noted_) {
        expect(content_[one.kept.block.index()] == one.tokens, "what is kept is there");
      }
    }
  }

  void check() {
    check_kept_content();
    const pave::cache_snapshot now = cache_.snapshot();
    expect(now.available + now.fenced + now.held == now.capacity, "law 1: conservation");
    const auto broken = cache_.audit(pave::no_tables{}, audit_room_, [](const pave::finding&) {});
    expect(broken && *broken == 0, "the tables and the pins are all holders");
    for (const walked_sequence& s : sequences_) {
      const pave::sequence_progress at = cache_.progress(s.id).value();
      expect(at.computed <= at.scheduled && at.scheduled <= at.kept, "progress");
      std::int64_t there = 0;
      for (std::int64_t i = 0; i < at.scheduled.value(); ++i) {
        expect(s.has[static_cast<std::size_t>(i)], "what is before the next position is there");
      }
      for (std::int64_t i = at.scheduled.value(); i < static_cast<std::int64_t>(s.has.size()); ++i) {
        if (s.has[static_cast<std::size_t>(i)]) ++there;
      }
      expect(at.kept == at.scheduled ? there == 0 : there > 0, "what was kept behind a gap is known");
    }
  }

  random_source random_;
  pave::kv_cache_options options_;
  cache_type cache_;
  std::vector<std::vector<std::uint64_t>> content_;  // [blocks, tokens]
  std::vector<pave::cut> room_;
  std::vector<std::uint32_t> audit_room_;
  std::vector<walked_sequence> sequences_;
  std::deque<flight> flights_;
  std::vector<pave::pin_token> pins_;
  std::vector<noted> noted_;
  bool is_open_ = false;
  std::int64_t gaps_inside_ = 0;
};

}  // namespace pave_tests

#endif  // PAVE_TESTS_MODEL_GAP_WALK_HPP
