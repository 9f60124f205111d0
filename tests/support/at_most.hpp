// SPDX-License-Identifier: Apache-2.0
// A sharing policy of a user's with few holders, so that a test comes to the limits that `counted` has far away.
#ifndef PAVE_TESTS_SUPPORT_AT_MOST_HPP
#define PAVE_TESTS_SUPPORT_AT_MOST_HPP

#include <pave/policy/sharing.hpp>
#include <pave/units.hpp>

#include <cstdint>
#include <map>

namespace pave_tests {

/// A map of the blocks that are held, with never more than `Most` sequences that hold one, nor pins of it.
template <std::uint32_t Most>
class at_most {
 public:
  bool reserve(pave::block_count) { return true; }
  std::uint32_t holders(pave::block_id block) const {
    const auto found = held_.find(block.value());
    return found == held_.end() ? 0 : found->second.sequences + found->second.pins;
  }
  void hold(pave::block_id block) { held_[block.value()] = {1, 0}; }
  bool share(pave::block_id block) {
    one& held = held_[block.value()];
    if (held.sequences >= Most) return false;
    ++held.sequences;
    return true;
  }
  bool drop(pave::block_id block) {
    const auto found = held_.find(block.value());
    if (found == held_.end() || found->second.sequences == 0) return false;
    --found->second.sequences;
    return true;
  }
  void undo_drop(pave::block_id block) { ++held_[block.value()].sequences; }
  bool pin(pave::block_id block) {
    one& held = held_[block.value()];
    if (held.pins >= Most) return false;
    ++held.pins;
    return true;
  }
  void unpin(pave::block_id block) { --held_[block.value()].pins; }
  bool settle(pave::block_id block) {
    const auto found = held_.find(block.value());
    if (found == held_.end() || found->second.sequences + found->second.pins != 0) return false;
    held_.erase(found);
    return true;
  }

 private:
  struct one {
    std::uint32_t sequences = 0, pins = 0;
  };
  std::map<std::int32_t, one> held_;
};

}  // namespace pave_tests

#endif  // PAVE_TESTS_SUPPORT_AT_MOST_HPP
