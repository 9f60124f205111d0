// SPDX-License-Identifier: Apache-2.0
// What a pool is, said as plainly as can be: a map of holders, a deque of free blocks, and what is in each block.
#ifndef PAVE_TESTS_MODEL_POOL_MODEL_HPP
#define PAVE_TESTS_MODEL_POOL_MODEL_HPP

#include <pave/pool.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <vector>

namespace pave_tests {

/// Which pool is modelled.
struct pool_kind {
  bool is_queue = false;       // of free blocks; a stack if not
  bool keeps_content = false;  // of free blocks
  std::uint32_t most_holders = (std::numeric_limits<std::uint32_t>::max)() - 1;
};

class pool_model {
 public:
  pool_model(int blocks, pool_kind kind) : kind_(kind), capacity_(blocks) {
    for (int block = 0; block < blocks; ++block) free_.push_back(block);
  }

  struct answer {
    pave::errc code = pave::errc::ok;
    std::int64_t missing = 0;
  };
  /// What somebody remembers: this content was in this block. No two contents have the same serial number.
  struct memory {
    int block;
    std::uint64_t serial;
  };

  answer allocate(std::size_t count, std::vector<int>& out) {
    const auto wanted = static_cast<std::int64_t>(count);
    if (wanted > capacity_) return {pave::errc::never_fits, wanted - capacity_};
    if (count > free_.size()) return {pave::errc::shortage, wanted - static_cast<std::int64_t>(free_.size())};
    for (std::size_t i = 0; i < count; ++i) {
      out.push_back(free_.front());
      free_.pop_front();
      holders_[out.back()] = 1;
      write(out.back());
    }
    return {};
  }
  answer acquire(const std::vector<memory>& revive, std::size_t fresh, std::vector<int>& out) {
    const auto wanted = static_cast<std::int64_t>(fresh);
    if (wanted > capacity_) return {pave::errc::never_fits, wanted - capacity_};
    for (const memory& one : revive) {
      if (!is_kept(one)) return {pave::errc::stale};
    }
    pool_model after = *this;
    for (const memory& one : revive) {
      if (after.holders_.count(one.block) == 0) {
        after.free_.erase(std::find(after.free_.begin(), after.free_.end(), one.block));
        after.holders_[one.block] = 1;
      } else if (!after.add_holder(one.block)) {
        return {pave::errc::table_full};
      }
    }
    const answer taken = after.allocate(fresh, out);
    if (taken.code == pave::errc::ok) *this = after;
    return taken;
  }
  answer share(const std::vector<int>& blocks) {
    for (const int block : blocks) {
      if (holders(block) == 0) return {pave::errc::not_held};
    }
    pool_model after = *this;
    for (const int block : blocks) {
      if (!after.add_holder(block)) return {pave::errc::table_full};
    }
    *this = after;
    return {};
  }
  answer release(const std::vector<int>& blocks, pave::content left) {
    pool_model after = *this;
    for (const int block : blocks) {
      if (after.holders(block) == 0) return {pave::errc::not_held};
      after.holders_[block] -= 1;
    }
    for (const int block : blocks) {
      if (after.holders_.count(block) == 0 || after.holders_[block] > 0) continue;
      after.holders_.erase(block);
      const bool worthless = left == pave::content::worthless;
      if (worthless) after.lost_.insert(block);
      if (after.kind_.is_queue && !worthless) {
        after.free_.push_back(block);
      } else {
        after.free_.push_front(block);
      }
    }
    *this = after;
    return {};
  }
  answer overwrite(int block) {
    if (holders(block) == 0) return {pave::errc::not_held};
    if (holders(block) > 1) return {pave::errc::busy};
    write(block);
    return {};
  }
  void forget_content() { lost_.insert(free_.begin(), free_.end()); }

  [[nodiscard]] bool is_kept(const memory& one) const {
    return kind_.keeps_content && content(one.block) == one.serial && lost_.count(one.block) == 0;
  }
  [[nodiscard]] std::uint32_t holders(int block) const {
    const auto found = holders_.find(block);
    return found == holders_.end() ? 0 : found->second;
  }
  /// @return the serial number of what is in `block`; 0 where nothing was ever written
  [[nodiscard]] std::uint64_t content(int block) const {
    const auto found = contents_.find(block);
    return found == contents_.end() ? 0 : found->second;
  }
  [[nodiscard]] std::int64_t capacity() const { return capacity_; }
  [[nodiscard]] const std::deque<int>& free() const { return free_; }
  [[nodiscard]] std::vector<int> held() const {
    std::vector<int> blocks;
    for (const auto& [block, holders] : holders_) blocks.push_back(block);
    return blocks;
  }

 private:
  void write(int block) {
    contents_[block] = ++contents_written_;
    lost_.erase(block);
  }
  bool add_holder(int block) {
    if (holders_[block] >= kind_.most_holders) return false;
    holders_[block] += 1;
    return true;
  }

  pool_kind kind_;
  std::int64_t capacity_;
  std::map<int, std::uint32_t> holders_;   // of the blocks that have any
  std::deque<int> free_;                   // the next one to go out is the first
  std::map<int, std::uint64_t> contents_;  // serial numbers, of the blocks that were ever written
  std::set<int> lost_;                     // free blocks whose content nobody may ask for
  std::uint64_t contents_written_ = 0;
};

}  // namespace pave_tests

#endif  // PAVE_TESTS_MODEL_POOL_MODEL_HPP
