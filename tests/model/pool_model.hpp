// SPDX-License-Identifier: Apache-2.0
// What a pool is, said as plainly as can be: a map of holders, a deque of free blocks, a list of blocks on their way,
// and what is in each block.
#ifndef PAVE_TESTS_MODEL_POOL_MODEL_HPP
#define PAVE_TESTS_MODEL_POOL_MODEL_HPP

#include "model/any_pool.hpp"

#include <pave/pool.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace pave_tests {

class pool_model {
 public:
  pool_model(const pool_kind& kind, const pave::pool_options& options)
      : kind_(kind),
        capacity_(options.blocks.value()),
        first_(options.first_block.value()),
        end_(first_ + capacity_),
        most_pinned_(options.pinned_blocks) {
    add(first_, end_);
  }

  /// What somebody remembers: this content was in this block. No two contents have the same serial number.
  struct memory {
    std::int64_t block;
    std::uint64_t serial;
  };

  answer allocate(std::size_t count, block_list& out) {
    const answer can = can_give(static_cast<std::int64_t>(count), free_.size());
    if (can) give(count, out);
    return can;
  }
  answer acquire(const std::vector<memory>& revive, std::size_t fresh, block_list& out) {
    std::map<std::int64_t, std::uint32_t> named;
    std::set<std::int64_t> revived;
    for (const memory& one : revive) {
      if (!is_kept(one)) return {pave::errc::stale};
      named[one.block] += 1;
      if (holders(one.block) == 0) revived.insert(one.block);
    }
    for (const auto& [block, times] : named) {
      if (sequences(block) + times > kind_.most_sequences) return {pave::errc::table_full};
    }
    if (fresh > free_.size() - revived.size()) {
      return can_give(static_cast<std::int64_t>(fresh + revived.size()), free_.size());
    }
    for (const std::int64_t block : revived) free_.erase(std::find(free_.begin(), free_.end(), block));
    for (const auto& [block, times] : named) held_[block].sequences += times;
    if (!revived.empty()) tell(pave::event_kind::revived, revived.size());
    if (revive.size() > revived.size()) tell(pave::event_kind::shared, revive.size() - revived.size());
    give(fresh, out);
    return {};
  }
  answer share(const block_list& blocks) {
    if (!are_held(blocks)) return {pave::errc::not_held};
    for (const auto& [block, times] : times_named(blocks)) {
      if (sequences(block) + times > kind_.most_sequences) return {pave::errc::table_full};
    }
    for (const std::int64_t block : blocks) held_[block].sequences += 1;
    if (!blocks.empty()) tell(pave::event_kind::shared, blocks.size());
    return {};
  }
  answer release(const block_list& blocks, std::int64_t last_use, pave::content left) {
    for (const auto& [block, times] : times_named(blocks)) {
      if (sequences(block) < times) return {pave::errc::not_held};
    }
    for (const std::int64_t block : blocks) {
      held_[block].sequences -= 1;
      held_[block].last_use = (std::max)(held_[block].last_use, last_use);
    }
    if (blocks.empty()) return {};
    tell(pave::event_kind::released, blocks.size(), last_use);
    std::size_t freed = 0;
    for (const std::int64_t block : blocks) freed += let_go_if_last(block, left) ? 1U : 0U;
    if (freed > 0) tell(pave::event_kind::freed, freed);
    return {};
  }

  answer complete(std::int64_t step) {
    if (!kind_.delays) return {};
    if (step < 1) return {pave::errc::no_step};
    if (step <= done_ || done_later_.count(step) != 0) return {pave::errc::stale};
    if (step > done_ + 64) return {pave::errc::busy};
    done_later_.insert(step);
    arrive();
    return {};
  }
  void complete_through(std::int64_t step) {
    if (!kind_.delays) return;
    done_ = (std::max)(done_, step);
    done_later_.erase(done_later_.begin(), done_later_.upper_bound(done_));
    arrive();
  }

  /// @param pin what the pin is to be called in `unpin`
  answer pin(const block_list& blocks, int pin) {
    if (blocks.empty()) return {pave::errc::invalid_argument};
    if (!are_held(blocks)) return {pave::errc::not_held};
    if (pinned() + blocks.size() > most_pinned_) return {pave::errc::table_full};
    for (const auto& [block, times] : times_named(blocks)) {
      if (held_[block].pins + times > kind_.most_pins) return {pave::errc::table_full};
    }
    for (const std::int64_t block : blocks) held_[block].pins += 1;
    pins_[pin] = blocks;
    tell(pave::event_kind::pinned, blocks.size());
    return {};
  }
  answer unpin(int pin, std::int64_t last_use) {
    if (pins_.count(pin) == 0) return {pave::errc::stale};
    const block_list blocks = pins_[pin];
    pins_.erase(pin);
    tell(pave::event_kind::unpinned, blocks.size(), last_use);
    std::size_t freed = 0;
    for (const std::int64_t block : blocks) {
      held_[block].pins -= 1;
      held_[block].last_use = (std::max)(held_[block].last_use, last_use);
      freed += let_go_if_last(block, pave::content::worth_keeping) ? 1U : 0U;
    }
    if (freed > 0) tell(pave::event_kind::freed, freed);
    return {};
  }

  answer overwrite(std::int64_t block) {
    if (holders(block) == 0) return {pave::errc::not_held};
    if (holders(block) > 1 || is_in_use(block)) return {pave::errc::busy};
    write(block);
    return {};
  }
  void forget_content() {
    lost_.insert(free_.begin(), free_.end());
    for (const on_its_way& one : fenced_) lost_.insert(one.block);
  }

  answer resize(std::int64_t blocks) {
    if (blocks < 1 || blocks > kind_.most_ids - first_) return {pave::errc::invalid_argument};
    const std::int64_t end = first_ + blocks;
    const std::int64_t end_before = std::exchange(end_, end);
    for (std::int64_t block = end_before; block < end;) {
      const std::int64_t first = block;
      while (block < end && !is_here(block)) ++block;
      add(first, block);
      capacity_ += block - first;
      while (block < end && is_here(block)) ++block;  // it was to leave, and stays
    }
    for (std::int64_t block = end; block < end_before; ++block) {
      const auto found = std::find(free_.begin(), free_.end(), block);
      if (found == free_.end()) continue;
      free_.erase(found);
      leave(block);
    }
    tell(pave::event_kind::resized, static_cast<std::size_t>(blocks));
    return {};
  }

  [[nodiscard]] bool is_kept(const memory& one) const {
    return kind_.keeps_content && content(one.block) == one.serial && lost_.count(one.block) == 0 &&
           !is_fenced(one.block);
  }
  [[nodiscard]] std::uint32_t sequences(std::int64_t block) const {
    const auto found = held_.find(block);
    return found == held_.end() ? 0 : found->second.sequences;
  }
  [[nodiscard]] std::uint32_t holders(std::int64_t block) const {
    const auto found = held_.find(block);
    return found == held_.end() ? 0 : found->second.sequences + found->second.pins;
  }
  /// Whether those who let go of a held block may still use it.
  [[nodiscard]] bool is_in_use(std::int64_t block) const {
    const auto found = held_.find(block);
    return kind_.delays && found != held_.end() && found->second.last_use > done_;
  }
  /// @return the serial number of what is in `block`; 0 where nothing was ever written
  [[nodiscard]] std::uint64_t content(std::int64_t block) const {
    const auto found = contents_.find(block);
    return found == contents_.end() ? 0 : found->second;
  }
  [[nodiscard]] pool_counts counts() const {
    const auto size = [](const auto& all) { return static_cast<std::int64_t>(all.size()); };
    return {capacity_, size(free_), size(fenced_), size(held_), capacity_ - (end_ - first_)};
  }
  [[nodiscard]] std::int64_t arriving(std::int64_t by) const {
    return std::count_if(fenced_.begin(), fenced_.end(), [by](const on_its_way& one) { return one.step <= by; });
  }
  [[nodiscard]] bool is_fenced(std::int64_t block) const {
    return std::any_of(fenced_.begin(), fenced_.end(), [block](const on_its_way& one) { return one.block == block; });
  }
  [[nodiscard]] std::int64_t done() const { return done_; }
  [[nodiscard]] std::int64_t first() const { return first_; }
  [[nodiscard]] const std::deque<std::int64_t>& free() const { return free_; }
  [[nodiscard]] const std::map<int, block_list>& pins() const { return pins_; }
  [[nodiscard]] block_list held() const {
    block_list blocks;
    for (const auto& [block, by] : held_) blocks.push_back(block);
    return blocks;
  }
  /// What happened since they were asked for last.
  std::vector<pave::event> events() { return std::exchange(events_, {}); }

 private:
  struct holding {
    std::uint32_t sequences = 0, pins = 0;
    std::int64_t last_use = 0;  // the latest of its holders'
  };
  struct on_its_way {
    std::int64_t block, step;
    pave::content left;
  };

  [[nodiscard]] answer can_give(std::int64_t wanted, std::size_t free) {
    const auto there = static_cast<std::int64_t>(free);
    if (wanted > end_ - first_) return {pave::errc::never_fits, wanted - (end_ - first_)};
    if (wanted <= there) return {};
    tell(pave::event_kind::refused, static_cast<std::size_t>(wanted - there));
    return {pave::errc::shortage, wanted - there};
  }
  void give(std::size_t count, block_list& out) {
    for (std::size_t i = 0; i < count; ++i) {
      out.push_back(free_.front());
      free_.pop_front();
      held_[out.back()] = {1, 0, 0};
      write(out.back());
    }
    if (count > 0) tell(pave::event_kind::allocated, count);
  }
  bool let_go_if_last(std::int64_t block, pave::content left) {
    const auto found = held_.find(block);
    if (found == held_.end() || holders(block) > 0) return false;
    const std::int64_t last_use = found->second.last_use;
    held_.erase(found);
    if (left == pave::content::worthless) lost_.insert(block);
    if (kind_.delays && last_use > done_) {
      fenced_.push_back({block, last_use, left});
    } else {
      put(block, left);
    }
    return true;
  }
  void arrive() {
    for (; done_later_.count(done_ + 1) != 0; done_later_.erase(done_)) ++done_;
    const auto waits = [this](const on_its_way& one) { return one.step > done_; };
    const auto first = std::stable_partition(fenced_.begin(), fenced_.end(), waits);
    std::stable_sort(first, fenced_.end(), [](const on_its_way& a, const on_its_way& b) {
      return a.step != b.step ? a.step < b.step : a.left < b.left;  // what is worthless comes first
    });
    const std::vector<on_its_way> arrived(first, fenced_.end());
    fenced_.erase(first, fenced_.end());
    for (const on_its_way& one : arrived) put(one.block, one.left);
    if (!arrived.empty()) tell(pave::event_kind::arrived, arrived.size(), done_);
  }

  void put(std::int64_t block, pave::content left) {
    if (block >= end_) return leave(block);
    const bool worthless = left == pave::content::worthless;
    if (kind_.order == free_order::lowest) {
      free_.insert(std::lower_bound(free_.begin(), free_.end(), block), block);
    } else if (kind_.order == free_order::longest_released && !worthless) {
      free_.push_back(block);
    } else {
      free_.push_front(block);
    }
  }
  /// New blocks go out before the others, and in their order.
  void add(std::int64_t first, std::int64_t last) {
    for (std::int64_t block = last; block > first; --block) put(block - 1, pave::content::worthless);
  }
  void leave(std::int64_t block) {
    lost_.insert(block);
    capacity_ -= 1;
  }
  [[nodiscard]] bool is_here(std::int64_t block) const { return holders(block) != 0 || is_fenced(block); }
  [[nodiscard]] bool are_held(const block_list& blocks) const {
    return std::all_of(blocks.begin(), blocks.end(), [this](std::int64_t block) { return holders(block) > 0; });
  }
  [[nodiscard]] std::size_t pinned() const {
    std::size_t count = 0;
    for (const auto& [pin, blocks] : pins_) count += blocks.size();
    return count;
  }
  static std::map<std::int64_t, std::uint32_t> times_named(const block_list& blocks) {
    std::map<std::int64_t, std::uint32_t> times;
    for (const std::int64_t block : blocks) times[block] += 1;
    return times;
  }
  void write(std::int64_t block) {
    contents_[block] = ++contents_written_;
    lost_.erase(block);
  }
  void tell(pave::event_kind kind, std::size_t blocks, std::int64_t step = 0) {
    events_.push_back({kind, blocks, step});
  }

  pool_kind kind_;
  std::int64_t capacity_, first_, end_;  // blocks from `end_` on leave as they come free
  std::size_t most_pinned_;
  std::map<std::int64_t, holding> held_;
  std::deque<std::int64_t> free_;  // the next one to go out is the first
  std::vector<on_its_way> fenced_;
  std::int64_t done_ = 0;
  std::set<std::int64_t> done_later_;  // steps that are done before one that was to be done first
  std::map<int, block_list> pins_;
  std::map<std::int64_t, std::uint64_t> contents_;  // serial numbers, of the blocks that were ever written
  std::set<std::int64_t> lost_;                     // blocks whose content nobody may ask for
  std::uint64_t contents_written_ = 0;
  std::vector<pave::event> events_;
};

}  // namespace pave_tests

#endif  // PAVE_TESTS_MODEL_POOL_MODEL_HPP
