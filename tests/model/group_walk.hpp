// SPDX-License-Identifier: Apache-2.0
// An engine that checks what it reads: random calls of a group_cache over full attention, windows and states.
#ifndef PAVE_TESTS_MODEL_GROUP_WALK_HPP
#define PAVE_TESTS_MODEL_GROUP_WALK_HPP

#include "model/random.hpp"
#include "support/catch.hpp"

#include <pave/audit.hpp>
#include <pave/group_cache.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace pave_tests {

/// What one sequence is, to the engine.
struct grouped_sequence {
  pave::sequence_id id;
  pave::rank order;
  std::uint64_t family = 0;           // two of one family have the same tokens,
  std::int64_t differs_from = 0;      // up to here
  std::uint64_t salt = 0;             // of the tokens behind
  std::vector<std::uint64_t> hashes;  // of its first 1, 2, … tokens: what the cache has to hold of each
  std::int64_t known = 0;             // tokens: of the prompt, and yielded by steps that were launched
  std::int64_t there = 0;             // in the cache, or written by a scheduled step
};

/// Steps are executed in their order, on one stream: each once it is launched. A step reads, of each group, what its
/// kind needs at the position where the step begins, and checks that it is what it should be; then it writes its own.
template <class Policies>
class group_walk {
  using cache_type = pave::group_cache<Policies>;
  using id_type = typename cache_type::id_type;
  static constexpr bool finds = cache_type::prefix_index_type::finds;

 public:
  group_walk(const pave::group_cache_options& options, std::vector<pave::group_pool_options> groups, std::uint64_t seed)
      : random_(seed),
        options_(options),
        groups_(std::move(groups)),
        cache_(cache_type::create(options, groups_).value()),
        content_(groups_.size()) {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      content_[g].resize(cache_.pool(g).id_end(), std::vector<std::uint64_t>(each(g)));
    }
  }

  void wander(int calls) {
    for (int i = 0; i < calls; ++i) {
      INFO("call " << i);
      step();
      check();
    }
  }

  void go_on_until_all_is_done() {
    for (int rounds = 0; !sequences_.empty(); ++rounds) {
      expect(rounds < 4000, "law 4: every sequence ends");
      schedule_a_step(true);
      while (!flights_.empty()) complete_oldest();
      for (std::size_t i = sequences_.size(); i-- > 0;) {
        const pave::sequence_progress at = cache_.progress(sequences_[i].id).value();
        if (at.computed == at.goal && at.state == pave::sequence_state::running) finish(i);
      }
      check();
    }
    while (!flights_.empty()) complete_oldest();
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      expect(cache_.pool(g).available() == groups_[g].blocks && cache_.pool(g).capacity() == groups_[g].blocks,
             "law 1: all blocks are back");
    }
  }

  // What happened, so that a test knows that it saw something.
  struct counts {
    std::int64_t cuts = 0, partial_cuts = 0, found = 0, copies = 0, set_back = 0;
  };
  [[nodiscard]] const counts& seen() const noexcept { return seen_; }

 private:
  struct work {
    pave::sequence_id id;
    pave::token_range tokens;
    bool yields = false;  // so the cache said
    std::vector<std::vector<id_type>> tables;
    std::vector<std::uint64_t> hashes;
  };
  struct flight {
    pave::step_id step;
    std::vector<pave::group_block_copy> copies;
    std::vector<work> works;
  };

  [[nodiscard]] std::size_t each(std::size_t g) const {
    return static_cast<std::size_t>(groups_[g].group.tokens_per_block.value());
  }
  grouped_sequence* find(pave::sequence_id id) {
    const auto at = std::find_if(sequences_.begin(), sequences_.end(), [&](const auto& s) { return s.id == id; });
    return at == sequences_.end() ? nullptr : &*at;
  }
  static void lengthen(grouped_sequence& s, std::int64_t tokens) {
    while (static_cast<std::int64_t>(s.hashes.size()) < tokens) {
      const bool is_own = static_cast<std::int64_t>(s.hashes.size()) >= s.differs_from;
      s.hashes.push_back(mix((s.hashes.empty() ? s.family : s.hashes.back()) + (is_own ? s.salt : 0)));
    }
  }

  void step() {
    switch (random_.between(0, 13)) {
      case 0:
      case 1: admit(); break;
      case 2: fork(); break;
      case 3:
        if (!sequences_.empty() && random_.one_in(3)) finish(random_.index(sequences_.size()));
        break;
      case 4: truncate(); break;
      case 5:
        if (!sequences_.empty() && random_.one_in(3)) park(sequences_[random_.index(sequences_.size())]);
        break;
      case 6:
        if (!sequences_.empty() && random_.one_in(3)) {
          grouped_sequence& s = sequences_[random_.index(sequences_.size())];
          s.order.value = random_.between(0, 20);
          cache_.set_rank(s.id, s.order.value).value();
        }
        break;
      case 7:
        if (random_.one_in(4)) {
          resize();
        } else if (random_.one_in(20)) {
          cache_.reset();
          for (grouped_sequence& s : sequences_) s.there = 0;
          if (is_open_) flights_.back().works.clear();
        }
        break;
      default:
        schedule_a_step(false);
        if (!flights_.empty() && random_.one_in(2)) complete_oldest();
    }
  }

  void resize() {
    const std::size_t g = random_.index(groups_.size());
    groups_[g].blocks =
        random_.between((std::max)(std::int64_t{1}, groups_[g].blocks.value() - 3), groups_[g].blocks.value() + 4);
    cache_.resize(g, groups_[g].blocks).value();
    if (cache_.pool(g).id_end() > content_[g].size()) {
      content_[g].resize(cache_.pool(g).id_end(), std::vector<std::uint64_t>(each(g)));
    }
  }
  void admit() {
    const std::int64_t prompt = random_.between(1, (options_.longest.value() + 1) / 2);
    const std::int64_t rank = random_.between(0, 20);
    const pave::result<pave::sequence_id> id = cache_.admit(rank, prompt);
    if (!id) {
      expect(id.code() == pave::errc::never_fits || id.code() == pave::errc::table_full, "why it is not admitted");
      return;
    }
    const bool is_like_others = random_.one_in(2);
    grouped_sequence s{*id,
                       {rank, ++arrivals_},
                       static_cast<std::uint64_t>(random_.between(1, 2)),
                       is_like_others ? options_.longest.value() : random_.between(0, options_.longest.value()),
                       arrivals_,
                       {},
                       prompt,
                       0};
    sequences_.push_back(s);
    say_hashes(sequences_.back());
  }
  void fork() {
    if constexpr (cache_type::pool_type::can_share) {
      if (!sequences_.empty()) fork_one();
    }
  }
  void fork_one() {
    const std::size_t parent = random_.index(sequences_.size());
    const std::int64_t rank = random_.between(0, 20);
    const pave::result<pave::sequence_id> id = cache_.fork(sequences_[parent].id, rank);
    if (!id) {
      expect(id.code() == pave::errc::table_full || (id.code() == pave::errc::busy && is_open_),
             "why it is not forked");
      return;
    }
    grouped_sequence child = sequences_[parent];
    child.id = *id;
    child.order = {rank, ++arrivals_};
    child.there = cache_.progress(*id)->scheduled.value();
    if (is_open_) {
      for (const work& w : flights_.back().works) {
        if (w.id == sequences_[parent].id) expect(child.there == w.tokens.first.value(), "a fork has what is launched");
      }
    }
    sequences_.push_back(child);
  }
  void finish(std::size_t i) {
    drop_open_work(sequences_[i].id);
    (random_.one_in(2) ? cache_.finish(sequences_[i].id) : cache_.abort(sequences_[i].id)).value();
    sequences_.erase(sequences_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  void park(grouped_sequence& s) {
    const bool runs = cache_.progress(s.id)->state == pave::sequence_state::running;
    expect(cache_.park(s.id).has_value() == runs, "who runs can be parked");
    if (runs) drop_open_work(s.id);
  }
  void truncate() {
    if (sequences_.empty()) return;
    grouped_sequence& s = sequences_[random_.index(sequences_.size())];
    const pave::sequence_progress before = cache_.progress(s.id).value();
    // What the open step computes is taken back as a whole: an engine would have scheduled other tokens.
    if (is_open_ && has_open_work(s.id)) return;
    const std::int64_t length = random_.one_in(2)
                                    ? random_.between(0, before.goal.value())
                                    : (std::max)(std::int64_t{0}, before.goal.value() - random_.between(0, 3));
    cache_.truncate(s.id, length).value();
    const std::int64_t there = cache_.progress(s.id)->scheduled.value();
    const std::int64_t stays = (std::min)(length, s.there);
    const bool has_all =
        std::all_of(groups_.begin(), groups_.end(), [](const auto& one) { return !one.group.leaves_blocks_behind(); });
    expect(there == stays || (!has_all && there < stays), "full attention can go on anywhere");
    if (there < stays) ++seen_.set_back;
    s.there = there;
    lengthen(s, length);
    s.hashes.resize(static_cast<std::size_t>(length));
    // What is there yields nothing again: the engine knows the token behind it. It may be another one than before.
    s.known = length + (length == 0 || stays == length ? 1 : 0);
    s.differs_from = (std::min)(s.differs_from, length);
    s.salt = ++arrivals_;
  }

  /// Of all blocks whose tokens are known, in each group.
  void say_hashes([[maybe_unused]] const grouped_sequence& s) {
    if constexpr (finds) {
      grouped_sequence whole = s;
      const std::int64_t known = (std::min)(s.known, options_.longest.value());
      lengthen(whole, known);
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        std::vector<pave::block_hash> hashes;
        for (std::size_t end = each(g); static_cast<std::int64_t>(end) <= known; end += each(g)) {
          hashes.push_back({whole.hashes[end - 1], 1});
        }
        if (random_.one_in(8) && !hashes.empty()) hashes.pop_back();
        const auto said = cache_.set_hashes(s.id, g, 0, hashes);
        expect(said.has_value(), "hashes of known tokens");
      }
    }
  }

  /// Before they are made, or just after.
  void note_cuts(pave::span<const pave::group_cut> cuts, pave::sequence_id by) {
    for (const pave::group_cut& c : cuts) {
      expect(find(by)->order < find(c.sequence)->order, "law 4: nobody as important is cut");
      drop_open_work(c.sequence);
      grouped_sequence& s = *find(c.sequence);
      ++seen_.cuts;
      if (c.kept > 0 && c.kept < s.there) ++seen_.partial_cuts;
      s.there = (std::min)(s.there, c.kept.value());
      expect(cache_.progress(s.id)->state == pave::sequence_state::parked, "who is cut waits");
    }
  }
  /// The baseline gave up all that the one who asked, and all that are less important, had.
  void note_given_up(pave::sequence_id by) {
    const pave::rank asked = find(by)->order;
    for (grouped_sequence& s : sequences_) {
      if (s.order < asked) continue;
      drop_open_work(s.id);
      s.there = 0;
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
      if (w.id == id) find(id)->there = (std::min)(find(id)->there, w.tokens.first.value());
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
    std::vector<pave::sequence_id> all;
    for (const grouped_sequence& s : sequences_) all.push_back(s.id);
    for (const pave::sequence_id id : all) {
      if (find(id) == nullptr || (!in_earnest && random_.one_in(4))) continue;
      grow(id, in_earnest);
    }
    for (;;) {
      const pave::result<pave::group_restore> next = cache_.next_restore(random_.between(1, 40));
      if (next.code() == pave::errc::never_fits) {
        end_most_important_waiting();
        continue;
      }
      if (!next) {
        expect(next.code() == pave::errc::nothing_waits || next.code() == pave::errc::shortage, "why none comes in");
        break;
      }
      for (const pave::group_cut& c : next->cuts) expect(c.was_parked, "law 6: nobody is stopped for one that waits");
      note_cuts(next->cuts, next->sequence);
      grouped_sequence& s = *find(next->sequence);
      expect(next->found.first == s.there, "what is found follows what is there");
      s.there = next->found.last.value();
      seen_.found += next->found.size().value();
      run(next->sequence, next->tokens, next->yields, next->copies);
    }
  }
  void grow(pave::sequence_id id, bool in_earnest) {
    const pave::sequence_progress at = cache_.progress(id).value();
    if (at.state != pave::sequence_state::running || (in_earnest && at.scheduled >= at.goal)) return;
    std::int64_t tokens = cache_.remaining(id)->value();
    if (!in_earnest || random_.one_in(2)) tokens = random_.between(in_earnest ? 1 : 0, tokens);
    if (at.scheduled == at.goal && find(id)->known <= at.scheduled.value()) return;
    const pave::result<pave::group_growth> grown = cache_.grow_or_reclaim(id, tokens);
    if (!grown) {
      const pave::errc why = grown.code();
      expect(why == pave::errc::shortage || why == pave::errc::never_fits, "why it does not grow");
      if (why == pave::errc::never_fits) {
        finish(static_cast<std::size_t>(find(id) - sequences_.data()));
      } else {
        expect(cache_.progress(id)->state == pave::sequence_state::parked, "it waits");
        if (!cache_type::planner_type::spares_requester) note_given_up(id);
      }
      return;
    }
    note_cuts(grown->cuts, id);
    expect(grown->tokens.size() <= tokens, "no more than was asked for");
    expect(tokens == 0 || !grown->tokens.empty(), "it goes on");
    run(id, grown->tokens, grown->yields, grown->copies);
  }
  void end_most_important_waiting() {
    std::size_t first = sequences_.size();
    for (std::size_t i = 0; i < sequences_.size(); ++i) {
      if (cache_.progress(sequences_[i].id)->state == pave::sequence_state::running) continue;
      if (first == sequences_.size() || sequences_[i].order < sequences_[first].order) first = i;
    }
    finish(first);
  }
  void run(pave::sequence_id id,
           pave::token_range tokens,
           bool yields,
           pave::span<const pave::group_block_copy> copies) {
    flights_.back().copies.insert(flights_.back().copies.end(), copies.begin(), copies.end());
    seen_.copies += static_cast<std::int64_t>(copies.size());
    if (tokens.empty()) return;
    grouped_sequence& s = *find(id);
    lengthen(s, tokens.last.value());
    expect(tokens.first == s.there, "law 7: just what is not there is computed, from the front to the back");
    s.there = tokens.last.value();
    work w{id, tokens, yields, {}, s.hashes};
    if (const auto begun = begun_work(id); begun != flights_.back().works.end()) {
      w.tokens.first = begun->tokens.first;  // the step computes both as one
      w.yields = yields;
      flights_.back().works.erase(begun);
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const auto table = cache_.block_table(id, g).value();
      w.tables.push_back({table.begin(), table.end()});
    }
    flights_.back().works.push_back(std::move(w));
  }
  auto begun_work(pave::sequence_id id) {
    auto& works = flights_.back().works;
    return std::find_if(works.begin(), works.end(), [&](const work& w) { return w.id == id; });
  }

  void launch() {
    if (!is_open_) return;
    is_open_ = false;
    for (const work& w : flights_.back().works) {
      grouped_sequence& s = *find(w.id);
      expect(w.tokens.last <= s.known, "no token is computed that nobody has said");
      expect(w.yields == (w.tokens.last == s.known), "a token comes out once, of the step that computes all before it");
      if (w.yields) ++s.known;
    }
    execute(flights_.back());
    for (const work& w : flights_.back().works) say_hashes(*find(w.id));
  }
  void complete_oldest() {
    if (flights_.size() == 1) launch();
    expect(cache_.complete(flights_.front().step).has_value(), "a step completes");
    flights_.pop_front();
  }
  void execute(flight& of) {
    for (const pave::group_block_copy& copy : of.copies) {
      auto& blocks = content_[copy.group];
      const std::size_t tokens =
          groups_[copy.group].group.checkpoint > 0 ? each(copy.group) : static_cast<std::size_t>(copy.tokens.value());
      std::copy_n(blocks[copy.from.index()].begin(), tokens, blocks[copy.to.index()].begin());
    }
    for (const work& w : of.works) {
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        if (groups_[g].group.checkpoint > 0) {
          move_state(w, g);
        } else {
          attend(w, g);
        }
      }
    }
  }
  void attend(const work& w, std::size_t g) {
    const std::int64_t window = groups_[g].group.window.value();
    const std::int64_t first = w.tokens.first.value();
    for (std::int64_t at = window > 0 ? (std::max)(std::int64_t{0}, first - window) : 0; at < first; ++at) {
      expect(entry(w, g, at) == w.hashes[static_cast<std::size_t>(at)], "law 7: no attention reads a wrong token");
    }
    for (std::int64_t at = first; at < w.tokens.last.value(); ++at) {
      entry(w, g, at) = w.hashes[static_cast<std::size_t>(at)];
    }
  }
  /// A state is updated where it lies, and stays where a checkpoint was passed.
  void move_state(const work& w, std::size_t g) {
    const std::int64_t apart = groups_[g].group.checkpoint.value();
    const std::int64_t first = w.tokens.first.value();
    if (first > 0) {
      expect(entry(w, g, first - 1) == w.hashes[static_cast<std::size_t>(first - 1)],
             "law 7: a state is the right one");
    }
    for (std::int64_t end = first + 1; end <= w.tokens.last.value(); ++end) {
      if (end % apart != 0 && end != w.tokens.last.value()) continue;
      auto& block = content_[g][block_of(w, g, end - 1).index()];
      for (std::size_t i = 0; i < each(g); ++i) {
        const std::int64_t position =
            (end - 1) / static_cast<std::int64_t>(each(g)) * static_cast<std::int64_t>(each(g)) +
            static_cast<std::int64_t>(i) + 1;
        if (position % apart != 0) block[i] = 0;
      }
      entry(w, g, end - 1) = w.hashes[static_cast<std::size_t>(end - 1)];
    }
  }
  id_type block_of(const work& w, std::size_t g, std::int64_t at) const {
    const auto logical = static_cast<std::size_t>(at) / each(g);
    expect(logical < w.tables[g].size() && w.tables[g][logical] != id_type{}, "law 7: what is used is there");
    return w.tables[g][logical];
  }
  std::uint64_t& entry(const work& w, std::size_t g, std::int64_t at) {
    return content_[g][block_of(w, g, at).index()][static_cast<std::size_t>(at) % each(g)];
  }

  void check() {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const auto& pool = cache_.pool(g);
      expect(pool.available() + pool.held() == pool.capacity(), "law 1: conservation");
      std::vector<std::uint32_t> room(pool.id_end());
      const auto broken = cache_.audit(g, pave::no_tables{}, room, [](const pave::finding&) {});
      expect(broken && *broken == 0, "the tables are all holders");
    }
    for (const grouped_sequence& s : sequences_) {
      const pave::sequence_progress at = cache_.progress(s.id).value();
      expect(at.computed <= at.scheduled && at.scheduled == at.kept, "progress");
      expect(at.scheduled.value() == s.there, "it stands where it should");
    }
  }

  random_source random_;
  pave::group_cache_options options_;
  std::vector<pave::group_pool_options> groups_;
  cache_type cache_;
  std::vector<std::vector<std::vector<std::uint64_t>>> content_;  // [groups, blocks, tokens]
  std::vector<grouped_sequence> sequences_;
  std::deque<flight> flights_;
  std::uint64_t arrivals_ = 0;
  bool is_open_ = false;
  counts seen_;
};

}  // namespace pave_tests

#endif  // PAVE_TESTS_MODEL_GROUP_WALK_HPP
