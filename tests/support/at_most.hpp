// SPDX-License-Identifier: Apache-2.0
// A sharing policy of a user's with few holders, so that a test comes to the limit that `counted` has far away.
#ifndef PAVE_TESTS_SUPPORT_AT_MOST_HPP
#define PAVE_TESTS_SUPPORT_AT_MOST_HPP

#include <pave/policy/sharing.hpp>
#include <pave/units.hpp>

#include <cstdint>
#include <map>

namespace pave_tests {

/// A map of the blocks that are held, and never more than `Most` holders of one.
template <std::uint32_t Most>
class at_most {
 public:
  bool reserve(pave::block_count) { return true; }
  std::uint32_t holders(pave::block_id block) const {
    const auto found = holders_.find(block.value());
    return found == holders_.end() ? 0 : found->second;
  }
  void hold(pave::block_id block) { holders_[block.value()] = 1; }
  bool share(pave::block_id block) {
    std::uint32_t& count = holders_[block.value()];
    if (count >= Most) return false;
    ++count;
    return true;
  }
  bool drop(pave::block_id block) {
    const auto found = holders_.find(block.value());
    if (found == holders_.end() || found->second == 0) return false;
    --found->second;
    return true;
  }
  void undo_drop(pave::block_id block) { ++holders_[block.value()]; }
  bool settle(pave::block_id block) {
    const auto found = holders_.find(block.value());
    if (found == holders_.end() || found->second != 0) return false;
    holders_.erase(found);
    return true;
  }

 private:
  std::map<std::int32_t, std::uint32_t> holders_;
};

}  // namespace pave_tests

#endif  // PAVE_TESTS_SUPPORT_AT_MOST_HPP
