// SPDX-License-Identifier: Apache-2.0
// The stock sharing policies, and some of a user's, keep the contract.
#include "contract/sharing_contract.hpp"
#include "support/catch.hpp"

#include <pave/policy/sharing.hpp>

#include <cstdint>
#include <map>

namespace {

/// A user's: a map of those that are held, and never more than `Most` holders.
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

}  // namespace

TEMPLATE_TEST_CASE("contract: sharing counts holders, and frees with the last",
                   "[contract][pool]",
                   pave::counted,
                   at_most<1>,
                   at_most<2>,
                   at_most<4>) {
  pave_tests::check_sharing<TestType>();
}
