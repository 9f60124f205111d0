// SPDX-License-Identifier: Apache-2.0
// Random calls of a pool, good and bad, against a plain model; and against a twin that never sees the refused ones.
#include "model/pool_model.hpp"

#include "model/random.hpp"
#include "support/at_most.hpp"
#include "support/catch.hpp"
#include "support/keeping.hpp"

#include <pave/pool.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

namespace {

using pave::errc;
using pave_tests::expect;
using pave_tests::pool_kind;
using pave_tests::pool_model;
using pave_tests::random_source;

constexpr std::uint64_t rounds = 150;
constexpr int calls_of_a_round = 400;

struct queued : pave::pool_policies {
  using free_list = pave::least_recently_released;
};
using few_holders = pave_tests::keeping<pave_tests::at_most<3>>;

template <class Policies>
constexpr pool_kind kind_of = {};
template <>
constexpr pool_kind kind_of<queued> = {true, false};
template <>
constexpr pool_kind kind_of<pave_tests::keeping<>> = {true, true};
template <>
constexpr pool_kind kind_of<few_holders> = {true, true, 3};

/// What an engine remembers of a content: by what it asks the pool, and by what the model knows it.
struct note {
  pave::kept_block kept;
  pool_model::memory remembered;
};

/// How often the rarer things happened, to see that the random calls come to all of them.
struct tally {
  int revived = 0, shared_by_content = 0, stale = 0, table_full = 0, undone = 0, busy = 0;
};

std::vector<pave::block_id> ids(const std::vector<int>& blocks) { return {blocks.begin(), blocks.end()}; }

template <class Policies>
class pool_round {
 public:
  pool_round(std::uint64_t seed, tally& times)
      : random_(seed),
        capacity_(static_cast<int>(random_.one_in(8) ? 1 : random_.between(1, 40))),
        pool_(pave::block_pool<Policies>::create({capacity_}).value()),
        twin_(pave::block_pool<Policies>::create({capacity_}).value()),
        model_(capacity_, kind_of<Policies>),
        device_(static_cast<std::size_t>(capacity_)),
        times_(times) {}

  void run() {
    expect_same(pool_);
    for (int call = 0; call < calls_of_a_round; ++call) {
      random_call();
      expect_same(pool_);
      expect_same(twin_);
      if (random_.one_in(50)) {
        pave::block_pool<Policies> moved(std::move(pool_));
        pool_ = std::move(moved);
      }
      if (random_.one_in(10)) pool_.complete(random_.between(0, 20));
    }
  }

 private:
  using answer = pool_model::answer;

  /// One random call of the pool, checked against the model; and of the twin, unless it is refused.
  void random_call() {
    switch (random_.between(0, 11)) {
      case 0:
      case 1:
      case 2: allocate(); break;
      case 3:
      case 4: acquire(); break;
      case 5:
      case 6: share(); break;
      case 7: overwrite(); break;
      case 8:
        if (random_.one_in(25)) forget_content();
        break;
      default: release(); break;
    }
  }

  void allocate() {
    std::vector<int> expected_ids;
    std::vector<pave::block_id> out(fresh_count());
    std::vector<pave::block_id> twin_out(out.size());
    const answer expected = model_.allocate(out.size(), expected_ids);
    expect_answer(pool_.allocate(out), expected, [&] { return twin_.allocate(twin_out); });
    expect_given(out, twin_out, expected, expected_ids);
  }
  void acquire() {
    const std::vector<note> notes = random_notes();
    std::vector<pave::kept_block> kept;
    std::vector<pool_model::memory> remembered;
    for (const note& one : notes) kept.push_back(one.kept);
    for (const note& one : notes) remembered.push_back(one.remembered);
    std::vector<int> expected_ids;
    std::vector<pave::block_id> out(fresh_count());
    std::vector<pave::block_id> twin_out(out.size());
    const pool_model before = model_;
    const answer expected = model_.acquire(remembered, out.size(), expected_ids);
    expect_answer(pool_.acquire(kept, out), expected, [&] { return twin_.acquire(kept, twin_out); });
    expect_given(out, twin_out, expected, expected_ids);
    for (const pool_model::memory& one : remembered) count(one, before, expected.code);
    if (expected.code != errc::ok) return;
    for (const pool_model::memory& one : remembered) {
      expect(pool_.holders(one.block) > 0, "what was acquired is held");
      expect(device_[static_cast<std::size_t>(one.block)] == one.serial, "a revive finds just what was remembered");
    }
  }
  void share() {
    const std::vector<int> blocks = random_blocks();
    expect_answer(pool_.share(ids(blocks)), model_.share(blocks), [&] { return twin_.share(ids(blocks)); });
  }
  void release() {
    const std::vector<int> blocks = random_blocks();
    const auto left = random_.one_in(4) ? pave::content::worthless : pave::content::worth_keeping;
    for (const int block : blocks) {
      if (model_.holders(block) > 0 && random_.one_in(2)) remember(block);
    }
    expect_answer(pool_.release(ids(blocks), random_.between(0, 9), left), model_.release(blocks, left),
                  [&] { return twin_.release(ids(blocks), {}, left); });
  }
  void overwrite() {
    const int block = random_block();
    const answer expected = model_.overwrite(block);
    if (random_.one_in(2) && expected.code == errc::busy) remember(block);
    expect_answer(pool_.overwrite(block), expected, [&] { return twin_.overwrite(block); });
    if (expected.code == errc::ok) device_[static_cast<std::size_t>(block)] = model_.content(block);
    if (expected.code == errc::busy) times_.busy += 1;
  }
  void forget_content() {
    model_.forget_content();
    pool_.forget_content();
    twin_.forget_content();
  }

  /// @param twins the same call of the twin, which sees only what is done
  template <class Twins>
  void expect_answer(pave::result<void> got, const answer& expected, Twins twins) {
    expect(got.code() == expected.code, "the pool and the model give the same answer");
    expect(got.error().missing == expected.missing, "the pool and the model miss the same number of blocks");
    if (got) expect(twins().has_value(), "the same calls get the same answers");
  }
  /// The fresh blocks are the expected ones; and the engine writes something new into each.
  void expect_given(const std::vector<pave::block_id>& out,
                    const std::vector<pave::block_id>& twin_out,
                    const answer& expected,
                    std::vector<int> expected_ids) {
    if (expected.code != errc::ok) expected_ids.assign(out.size(), -1);
    expect(out == ids(expected_ids), "the blocks come in the order of the free list, or `out` is left as it was");
    expect(twin_out == out, "a refused call leaves no trace in the order of the blocks");
    if (expected.code != errc::ok) return;
    for (const pave::block_id block : out) device_[block.index()] = model_.content(block.value());
  }

  void expect_same(const pave::block_pool<Policies>& pool) const {
    expect(pool.capacity() == model_.capacity(), "the capacity never changes");
    expect(pool.available() == model_.free().size(), "available counts the free blocks");
    expect(pool.held() == model_.held().size(), "held counts distinct blocks");
    expect(pool.fenced() == 0, "at_once fences nothing");
    expect(pool.available() + pool.fenced() + pool.held() == pool.capacity(), "law 1: conservation");
    for (int block = -2; block < model_.capacity() + 2; ++block) {
      expect(pool.holders(block) == model_.holders(block), "each block has its holders");
      const auto content = pool.content_of(block);
      expect(content.has_value() == (model_.holders(block) > 0), "what is held has content, and nothing else");
      if (!content) {
        expect(content.code() == errc::not_held, "what is not held says so");
        continue;
      }
      expect(content->block == block, "a content names its block");
      expect(pool.is_kept(*content) == kind_of<Policies>.keeps_content, "what is held is kept");
      expect(*content == twin_.content_of(block).value(), "the same calls give the same generations");
    }
    for (const note& one : notes_) {
      expect(pool.is_kept(one.kept) == model_.is_kept(one.remembered), "content is kept until it is lost");
    }
  }

  /// The engine notes the content of a block that is held.
  void remember(int block) {
    const pave::kept_block kept = pool_.content_of(block).value();
    const pool_model::memory remembered{block, model_.content(block)};
    for (const note& one : notes_) {
      const bool is_known = one.remembered.block == block && one.remembered.serial == remembered.serial;
      expect(!is_known || one.kept == kept, "one content has one name");
    }
    if (notes_.size() < 60) {
      notes_.push_back({kept, remembered});
    } else {
      notes_[random_.index(notes_.size())] = {kept, remembered};
    }
  }

  [[nodiscard]] std::size_t fresh_count() {
    return static_cast<std::size_t>(random_.between(0, random_.one_in(8) ? capacity_ + 2 : 5));
  }
  /// What to acquire: contents that are there, some of them twice, and now and then one that is gone or never was.
  std::vector<note> random_notes() {
    std::vector<note> good, free;
    for (const note& one : notes_) {
      if (!model_.is_kept(one.remembered)) continue;
      good.push_back(one);
      if (model_.holders(one.remembered.block) == 0) free.push_back(one);
    }
    std::vector<note> chosen;
    const std::int64_t size = random_.one_in(10) ? 0 : random_.between(1, 6);
    while (static_cast<std::int64_t>(chosen.size()) < size) {
      if (random_.one_in(30) && !notes_.empty()) {
        chosen.push_back(notes_[random_.index(notes_.size())]);
      } else if (random_.one_in(60)) {
        chosen.push_back(forged_note());
      } else if (random_.one_in(5) && !chosen.empty()) {
        chosen.push_back(chosen[random_.index(chosen.size())]);
      } else if (random_.one_in(2) && !free.empty()) {
        chosen.push_back(free[random_.index(free.size())]);
      } else if (!good.empty()) {
        chosen.push_back(good[random_.index(good.size())]);
      } else {
        break;
      }
    }
    return chosen;
  }
  /// One that no pool gave: out of range, without a generation, or of one that is far away.
  note forged_note() {
    const int block = random_block();
    const bool in_range = block >= 0 && block < capacity_;
    const std::int64_t far = std::int64_t{1} << 31;
    const std::int64_t generation = in_range ? (random_.one_in(2) ? 0 : far + random_.between(0, 9)) : 1;
    return {{block, static_cast<std::uint32_t>(generation)}, {block, ~std::uint64_t{0}}};
  }

  /// Mostly one that is held; now and then one that is free or out of range.
  int random_block() {
    const std::vector<int> held = model_.held();
    if (random_.one_in(25) && !model_.free().empty()) return model_.free()[random_.index(model_.free().size())];
    if (random_.one_in(50) || held.empty())
      return static_cast<int>(random_.one_in(2) ? capacity_ + random_.between(0, 5) : -random_.between(1, 5));
    return held[random_.index(held.size())];
  }
  /// A list to share or release, with some of its blocks twice.
  std::vector<int> random_blocks() {
    std::vector<int> blocks;
    for (std::int64_t size = random_.one_in(20) ? 0 : random_.between(1, 6); size > 0; --size) {
      const bool again = random_.one_in(6) && !blocks.empty();
      blocks.push_back(again ? blocks[random_.index(blocks.size())] : random_block());
    }
    return blocks;
  }

  void count(const pool_model::memory& one, const pool_model& before, errc code) {
    const bool was_free = before.holders(one.block) == 0;
    if (code == errc::ok) (was_free ? times_.revived : times_.shared_by_content) += 1;
    if (code == errc::stale) times_.stale += 1;
    if (code == errc::table_full) times_.table_full += 1;
    if (code == errc::shortage && was_free) times_.undone += 1;
  }

  random_source random_;
  int capacity_;
  pave::block_pool<Policies> pool_, twin_;
  pool_model model_;
  std::vector<std::uint64_t> device_;  // what was last written into the block of each id that the pool gave
  std::vector<note> notes_;
  tally& times_;
};

}  // namespace

TEMPLATE_TEST_CASE("block_pool: any stream of calls, good and bad, does what a plain model does",
                   "[pool][model]",
                   pave::pool_policies,
                   queued,
                   pave_tests::keeping<>,
                   few_holders) {
  tally times;
  pave_tests::for_each_seed(rounds, [&times](std::uint64_t seed) { pool_round<TestType>(seed, times).run(); });
  if (std::getenv("PAVE_TEST_SEED") != nullptr) return;
  constexpr pool_kind kind = kind_of<TestType>;
  CAPTURE(times.revived, times.shared_by_content, times.stale, times.table_full, times.undone, times.busy);
  CHECK(times.stale > 100);
  CHECK(times.busy > 100);
  CHECK((times.revived > 1000) == kind.keeps_content);
  CHECK((times.shared_by_content > 1000) == kind.keeps_content);
  CHECK((times.undone > 1000) == kind.keeps_content);
  CHECK((times.table_full > 100) == (kind.most_holders == 3));
}
