// SPDX-License-Identifier: Apache-2.0
// Random calls of a pool, good and bad, checked against a plain model; and against a twin that never sees the refused
// ones.
#ifndef PAVE_TESTS_MODEL_POOL_ROUND_HPP
#define PAVE_TESTS_MODEL_POOL_ROUND_HPP

#include "model/any_pool.hpp"
#include "model/pool_auditor.hpp"
#include "model/pool_choices.hpp"
#include "model/pool_model.hpp"
#include "model/random.hpp"
#include "model/steps_in_flight.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace pave_tests {

/// How often the rarer things happened, to see that the random calls come to all of them.
struct pool_tally {
  int rounds = 0;
  int revived = 0, shared_by_content = 0, stale = 0, undone = 0, busy = 0, share_refused = 0, pin_refused = 0;
  int stale_pins = 0, last_was_pin = 0, arrived = 0, waited_for_others = 0, lost_on_the_way = 0;
  int left = 0, stayed = 0, findings = 0;
};

class pool_round {
 public:
  pool_round(std::uint64_t seed, const pool_maker& maker, pool_tally& times)
      : choose_(seed),
        kind_(maker.kind),
        options_(choose_.options()),
        pool_(maker.make(options_)),
        twin_(maker.make(options_)),
        model_(kind_, options_),
        ids_((options_.first_block + options_.blocks).value()),
        times_(times) {}

  void run(int calls) {
    times_.rounds += 1;
    complete_through(choose_.steps_before());
    expect_same(*pool_);
    for (int call = 0; call < calls; ++call) {
      random_call();
      expect_same(*pool_);
      expect_same(*twin_);
      expect_seen();
      if (choose_.random.one_in(6)) audit();
      if (choose_.random.one_in(50)) pool_->move();
    }
  }

 private:
  void random_call() {
    switch (choose_.random.between(0, 18)) {
      case 0:
      case 1:
      case 2: return allocate();
      case 3:
      case 4: return acquire();
      case 5:
      case 6: return share();
      case 7: return overwrite();
      case 8: return choose_.random.one_in(25) ? forget_content() : complete();
      case 9:
      case 10: return pin();
      case 11:
      case 12: return unpin();
      case 13:
        return choose_.random.one_in(4) ? complete_through(model_.done() + choose_.random.between(-3, 3)) : complete();
      case 14: return choose_.random.one_in(3) ? resize() : complete();
      case 15: return choose_.random.one_in(20) ? complete_through(model_.done() + 3000) : complete();
      default: return release();
    }
  }

  void allocate() {
    block_list expected;
    block_list out(choose_.fresh_count(model_), 99);
    block_list twin_out = out;
    const answer should = model_.allocate(out.size(), expected);
    expect_answer(pool_->allocate(out), should, [&] { return twin_->allocate(twin_out); });
    expect_given(out, twin_out, should, expected);
  }
  void acquire() {
    const std::vector<note> notes = choose_.notes(model_, notes_);
    std::vector<kept> contents;
    std::vector<pool_model::memory> remembered;
    for (const note& one : notes) contents.push_back(one.content);
    for (const note& one : notes) remembered.push_back(one.remembered);
    block_list expected;
    block_list out(choose_.fresh_count(model_), 99);
    block_list twin_out = out;
    const pool_model before = model_;
    const answer should = model_.acquire(remembered, out.size(), expected);
    expect_answer(pool_->acquire(contents, out), should, [&] { return twin_->acquire(contents, twin_out); });
    expect_given(out, twin_out, should, expected);
    for (const pool_model::memory& one : remembered) count(one, before, should.code);
    if (!should) return;
    for (const pool_model::memory& one : remembered) {
      expect(pool_->holders(one.block) > 0, "what was acquired is held");
      expect(device_[one.block] == one.serial, "a revive finds just what was remembered");
    }
  }
  void share() {
    const block_list blocks = choose_.blocks(model_);
    const answer should = model_.share(blocks);
    expect_answer(pool_->share(blocks), should, [&] { return twin_->share(blocks); });
    if (should.code == pave::errc::table_full) times_.share_refused += 1;
  }
  void release() {
    const block_list blocks = choose_.blocks(model_);
    const auto left = choose_.random.one_in(4) ? pave::content::worthless : pave::content::worth_keeping;
    const std::int64_t last_use = choose_.last_use(model_);
    for (const std::int64_t block : blocks) {
      if (model_.holders(block) > 0 && choose_.random.one_in(2)) remember(block);
    }
    const answer should = model_.release(blocks, last_use, left);
    expect_answer(pool_->release(blocks, last_use, left), should,
                  [&] { return twin_->release(blocks, last_use, left); });
    if (should) launch(blocks, last_use);
  }
  void overwrite() {
    const std::int64_t block = choose_.block(model_);
    const answer should = model_.overwrite(block);
    if (choose_.random.one_in(2) && should.code == pave::errc::busy) remember(block);
    expect_answer(pool_->overwrite(block), should, [&] { return twin_->overwrite(block); });
    if (should) steps_.give_out({block});
    if (should) device_[block] = model_.content(block);
    if (should.code == pave::errc::busy) times_.busy += 1;
  }
  void forget_content() {
    times_.lost_on_the_way += static_cast<int>(model_.counts().fenced);
    model_.forget_content();
    pool_->forget_content();
    twin_->forget_content();
  }

  void complete() {
    const std::int64_t step = choose_.next_done(model_);
    const pool_counts before = model_.counts();
    const answer should = model_.complete(step);
    expect_answer(pool_->complete(step), should, [&] { return twin_->complete(step); });
    if (!should || !kind_.delays) return;
    steps_.complete(step);
    times_.arrived += static_cast<int>(before.fenced - model_.counts().fenced);
    if (step > model_.done()) times_.waited_for_others += 1;
  }
  void complete_through(std::int64_t step) {
    model_.complete_through(step);
    pool_->complete_through(step);
    twin_->complete_through(step);
    steps_.complete_through(step);
  }
  void launch(const block_list& blocks, std::int64_t step) {
    if (kind_.delays && !is_done(step)) steps_.use(blocks, step);
  }
  /// Steps may be named as a last use that were done out of order.
  [[nodiscard]] bool is_done(std::int64_t step) const {
    if (step <= model_.done()) return true;
    pool_model asked = model_;
    return asked.complete(step).code == pave::errc::stale;
  }

  void pin() {
    const block_list blocks = choose_.blocks(model_);
    pave::pin_token token, twin_token;
    const answer should = model_.pin(blocks, next_pin_);
    expect_answer(pool_->pin(blocks, token), should, [&] { return twin_->pin(blocks, twin_token); });
    expect(token == twin_token, "the same calls give the same tokens");
    if (should.code == pave::errc::table_full) times_.pin_refused += 1;
    if (!should) return;
    for (const auto& [pin, other] : pins_) expect(other != token, "no two pins have one token");
    for (const pave::pin_token other : ended_pins_) expect(other != token, "no token comes twice");
    pins_[next_pin_++] = token;
  }
  void unpin() {
    const std::int64_t last_use = choose_.last_use(model_);
    if (pins_.empty() || choose_.random.one_in(6)) {
      const bool is_forged = ended_pins_.empty() || choose_.random.one_in(3);
      const auto far = static_cast<std::uint32_t>(choose_.random.between(0, 30));
      const pave::pin_token stale = is_forged ? pave::pin_token{far, choose_.random.one_in(2) ? 0U : 1U << 30U}
                                              : ended_pins_[choose_.random.index(ended_pins_.size())];
      expect_answer(pool_->unpin(stale, last_use), model_.unpin(-1, last_use), [] { return answer(); });
      times_.stale_pins += 1;
      return;
    }
    const auto chosen = std::next(pins_.begin(), static_cast<std::ptrdiff_t>(choose_.random.index(pins_.size())));
    const block_list blocks = model_.pins().at(chosen->first);
    for (const std::int64_t block : blocks) {
      if (choose_.random.one_in(2)) remember(block);
    }
    const pool_counts before = model_.counts();
    const answer should = model_.unpin(chosen->first, last_use);
    expect_answer(pool_->unpin(chosen->second, last_use), should,
                  [&] { return twin_->unpin(chosen->second, last_use); });
    times_.last_was_pin += static_cast<int>(before.held - model_.counts().held);
    ended_pins_.push_back(chosen->second);
    pins_.erase(chosen);
    launch(blocks, last_use);
  }

  void resize() {
    const std::int64_t blocks = choose_.capacity(model_);
    const pool_counts before = model_.counts();
    const answer should = model_.resize(blocks);
    expect_answer(pool_->resize(blocks), should, [&] { return twin_->resize(blocks); });
    if (!should) return;
    ids_ = (std::max)(ids_, model_.first() + blocks);
    times_.stayed += model_.counts().leaving < before.leaving ? 1 : 0;
    times_.left += model_.counts().leaving > 0 ? 1 : 0;
  }
  void audit() {
    std::vector<block_list> tables = right_tables(model_, choose_.random);
    if (choose_.random.one_in(3)) spoil(tables, ids_, choose_.random);
    const std::vector<pave::finding> expected = expected_findings(model_, tables, ids_);
    std::vector<pave::finding> found;
    std::size_t broken = 0;
    const auto ids = static_cast<std::size_t>(ids_);
    expect(pool_->audit(tables, ids - 1, broken, found).code == pave::errc::buffer_too_small, "room for all ids");
    expect(found.empty(), "an audit that is refused finds nothing");
    expect(bool(pool_->audit(tables, ids, broken, found)), "an audit takes place");
    expect(are_same(found, expected), "an audit finds just what is wrong");
    const auto laws = std::count_if(expected.begin(), expected.end(), is_broken_law);
    expect(broken == static_cast<std::size_t>(laws), "an audit counts broken laws");
    times_.findings += static_cast<int>(laws);
  }

  /// @param twins the same call of the twin, which sees only what is done
  template <class Twins>
  void expect_answer(const answer& got, const answer& expected, Twins twins) {
    expect(got.code == expected.code, "the pool and the model give the same answer");
    expect(got.missing == expected.missing, "the pool and the model miss the same number of blocks");
    if (got) expect(bool(twins()), "the same calls get the same answers");
  }
  /// The fresh blocks are the expected ones; and the engine writes something new into each.
  void expect_given(const block_list& out, const block_list& twin_out, const answer& given, block_list expected) {
    if (!given) expected.assign(out.size(), 99);
    expect(out == expected, "the blocks come in the order of the free list, or `out` is left as it was");
    expect(twin_out == out, "a refused call leaves no trace in the order of the blocks");
    if (!given) return;
    steps_.give_out(out);
    for (const std::int64_t block : out) device_[block] = model_.content(block);
  }

  void expect_same(const any_pool& pool) {
    const pool_counts seen = pool.counts();
    expect(seen == model_.counts(), "the pool counts as the model does");
    expect(seen.available + seen.fenced + seen.held == seen.capacity, "law 1: conservation");
    const std::int64_t by = model_.done() + choose_.random.between(-2, 15);
    expect(pool.arriving(by) == model_.arriving(by), "what is on its way is known by step");
    for (std::int64_t block = -2; block < ids_ + 2; ++block) {
      expect(pool.holders(block) == model_.holders(block), "each block has its holders");
      expect(pool.is_in_use(block) == model_.is_in_use(block), "a block is known to be in use");
      kept content, twins;
      const answer got = pool.content_of(block, content);
      expect(bool(got) == (model_.holders(block) > 0), "what is held has content, and nothing else");
      if (!got) {
        expect(got.code == pave::errc::not_held, "what is not held says so");
        continue;
      }
      expect(content.block == block, "a content names its block");
      expect(pool.is_kept(content) == kind_.keeps_content, "what is held is kept");
      expect(bool(twin_->content_of(block, twins)) && content == twins, "the same calls give the same generations");
      expect(device_[block] == model_.content(block), "nobody wrote into a block of somebody else's");
    }
    for (const note& one : notes_) {
      expect(pool.is_kept(one.content) == model_.is_kept(one.remembered), "content is kept until it is lost");
    }
  }
  /// The observer heard of all that happened, and of nothing else.
  void expect_seen() {
    for (const pave::event& event : model_.events()) {
      sightings::tally& tally = expected_.tallies[static_cast<std::size_t>(event.kind)];
      tally.events += 1;
      tally.blocks += event.blocks.value();
      expected_.latest.push_back(event);
      expected_.seen += 1;
    }
    std::vector<pave::event>& latest = expected_.latest;
    if (latest.size() > events_logged) latest.erase(latest.begin(), latest.end() - std::ptrdiff_t{events_logged});
    const sightings seen = pool_->seen();
    for (std::size_t kind = 0; seen.are_counted && kind < pave::event_kinds; ++kind) {
      expect(seen.tallies[kind].events == expected_.tallies[kind].events, "each event is counted");
      expect(seen.tallies[kind].blocks == expected_.tallies[kind].blocks, "with its blocks");
    }
    if (!seen.are_logged) return;
    expect(seen.seen == expected_.seen && seen.latest.size() == latest.size(), "each event is logged");
    for (std::size_t i = 0; i < latest.size(); ++i) {
      const bool is_same = seen.latest[i].kind == latest[i].kind && seen.latest[i].blocks == latest[i].blocks &&
                           seen.latest[i].step == latest[i].step;
      expect(is_same, "the latest events are those that happened");
    }
  }

  /// The engine notes the content of a block that is held.
  void remember(std::int64_t block) {
    kept content;
    expect(bool(pool_->content_of(block, content)), "what is held has content");
    const pool_model::memory remembered{block, model_.content(block)};
    for (const note& one : notes_) {
      const bool is_known = one.remembered.block == block && one.remembered.serial == remembered.serial;
      expect(!is_known || one.content == content, "one content has one name");
    }
    if (notes_.size() < 60) {
      notes_.push_back({content, remembered});
    } else {
      notes_[choose_.random.index(notes_.size())] = {content, remembered};
    }
  }
  void count(const pool_model::memory& one, const pool_model& before, pave::errc code) {
    const bool was_free = before.holders(one.block) == 0;
    if (code == pave::errc::ok) (was_free ? times_.revived : times_.shared_by_content) += 1;
    if (code == pave::errc::stale) times_.stale += 1;
    if (code == pave::errc::shortage && was_free) times_.undone += 1;
  }

  pool_choices choose_;
  pool_kind kind_;
  pave::pool_options options_;
  std::unique_ptr<any_pool> pool_, twin_;
  pool_model model_;
  std::int64_t ids_;                              // the most that there ever were
  std::map<std::int64_t, std::uint64_t> device_;  // what was last written into the block of each id that the pool gave
  steps_in_flight steps_;
  std::vector<note> notes_;
  std::map<int, pave::pin_token> pins_;
  std::vector<pave::pin_token> ended_pins_;
  int next_pin_ = 0;
  sightings expected_;
  pool_tally& times_;
};

}  // namespace pave_tests

#endif  // PAVE_TESTS_MODEL_POOL_ROUND_HPP
