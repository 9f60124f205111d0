// SPDX-License-Identifier: Apache-2.0
// A pool whose calls the explorer interleaves, with what it has to keep to.
#ifndef PAVE_TESTS_THREADS_EXPLORED_WORLD_HPP
#define PAVE_TESTS_THREADS_EXPLORED_WORLD_HPP

#include "model/random.hpp"
#include "support/laws.hpp"
#include "threads/explored/explored_atomics.hpp"
#include "threads/explored/explorer.hpp"
#include "threads/explored/history.hpp"

#include <pave/pool.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace pave_tests {

struct explored_policies : pave::pool_policies {
  using lock = pave::basic_per_thread<explored_atomics<>>;
};
using explored_pool = pave::block_pool<explored_policies>;
using explored_handle = explored_pool::local_handle;
using block_list = std::vector<pave::block_id>;

/// A pool of few blocks, its handles, and the calls that were made of them since `begin`.
class explored_world {
 public:
  explored_world(std::size_t blocks, std::size_t handles)
      : most_handles_(handles),
        pool_(explored_pool::create({blocks, 0, 0, handles}).value()),
        loans_(blocks, no_loan) {}

  explored_pool& pool() { return pool_; }
  /// A handle of the setup: it opens with its first use.
  explored_handle& handle(std::size_t i) {
    if (!handles_[i]) handles_[i].emplace(pool_.local().value());
    return *handles_[i];
  }
  /// In the setup: blocks of this handle.
  block_list hold(std::size_t i, std::size_t count) {
    block_list blocks(count);
    handle(i).allocate(blocks).value();
    return blocks;
  }
  /// In the setup: the handle takes blocks and gives them back, so that they are in its account and on its stack.
  void stock(std::size_t i, std::size_t count) { handle(i).release(hold(i, count)).value(); }
  /// What comes now is explored.
  void begin() {
    for (std::size_t block = 0; block < loans_.size(); ++block) {
      if (pool_.holders(block) != 0) loans_[block] = ++latest_loan_;
    }
    before_ = state();
  }

  // The calls, for the bodies of threads; `caller` is the pool or a handle.

  template <class Caller>
  block_list allocate(Caller& caller, std::size_t count) {
    call one = begun(call_kind::allocate);
    one.number = static_cast<std::int64_t>(count);
    block_list out(count);
    const auto answer = caller.allocate(out);
    if (!answer) out.clear();
    for (const pave::block_id block : out) one.loans.push_back(loans_[block.index()] = ++latest_loan_);
    end(one, answer);
    return out;
  }
  template <class Caller>
  void release(Caller& caller, const block_list& blocks) {
    call one = begun(call_kind::release, blocks);
    end(one, caller.release(blocks));
  }
  template <class Caller>
  void share(Caller& caller, const block_list& blocks) {
    call one = begun(call_kind::share, blocks);
    end(one, caller.share(blocks));
  }
  void available() {
    call one = begun(call_kind::available);
    one.number = pool_.available().value();
    end(one, {});
  }
  bool open(std::size_t i) {
    call one = begun(call_kind::open);
    auto made = pool_.local();
    if (made) handles_[i].emplace(std::move(*made));
    end(one, made ? pave::result<void>() : made.error());
    return made.has_value();
  }
  void close(std::size_t i) {
    call one = begun(call_kind::close);
    handles_[i].reset();
    end(one, {});
  }

  /// @return how many of the calls succeeded
  [[nodiscard]] std::ptrdiff_t successes() const {
    const auto& calls = calls_.calls();
    return std::count_if(calls.begin(), calls.end(), [](const call& one) { return one.code == pave::errc::ok; });
  }

  /// What holds after every schedule. The handles are open still, and the blocks that the bodies took are held.
  void check() {
    const plain_pool after = state();
    expect(after.available + distinct_held(pool_).value() == pool_.capacity().value(), "conservation");
    plain_pool before = before_;
    before.holders.resize(after.holders.size());
    if (!calls_.is_explained(before, after)) {
      throw fault("no order of these calls explains what they did:" + calls_.text());
    }
    check_stacks(after);
  }

 private:
  call begun(call_kind kind, const block_list& named = {}) {
    explorer::begin_call();
    call one;
    one.kind = kind;
    one.first = explorer::now();
    for (const pave::block_id block : named) one.loans.push_back(loans_[block.index()]);
    return one;
  }
  void end(call& one, const pave::result<void>& answer) {
    explorer::end_call();
    one.last = explorer::now();
    one.code = answer.code();
    one.missing = answer.error().missing.value();
    calls_.add(one);
  }

  /// The pool as it is. A loan whose block was given out again must have ended.
  [[nodiscard]] plain_pool state() {
    plain_pool seen;
    seen.holders.resize(latest_loan_ + 1);
    for (std::size_t block = 0; block < loans_.size(); ++block) {
      if (pool_.holders(block) != 0) seen.holders[loans_[block]] = pool_.holders(block);
    }
    seen.available = pool_.available().value();
    seen.most_handles = most_handles_;
    std::vector<explored_handle> others;
    for (auto made = pool_.local(); made; made = pool_.local()) others.push_back(std::move(*made));
    seen.handles = most_handles_ - others.size();
    return seen;
  }

  /// The available blocks are there, each once, and no more; and so are all of them once everything is released.
  void check_stacks(const plain_pool& after) {
    const std::vector<std::uint32_t> held = all_holders(pool_);
    for (const pave::block_id block : take_all(static_cast<std::size_t>(after.available))) {
      expect(held[block.index()] == 0, "a block that is given out was free");
    }
    for (std::size_t block = 0; block < loans_.size(); ++block) {
      pool_.release(block_list(pool_.holders(block), block)).value();
    }
    take_all(loans_.size());
  }
  block_list take_all(std::size_t count) {
    block_list all(count), more(1);
    expect(pool_.allocate(all).has_value(), "what is available can be allocated");
    expect(!pool_.allocate(more), "and no more");
    block_list sorted = all;
    std::sort(sorted.begin(), sorted.end());
    expect(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(), "each block is given out once");
    return all;
  }

  std::size_t most_handles_;
  explored_pool pool_;
  std::array<std::optional<explored_handle>, 4> handles_;  // open or not
  std::vector<loan> loans_;                                // the latest of each block
  loan latest_loan_ = no_loan;
  history calls_;
  plain_pool before_;
};

}  // namespace pave_tests

#endif
