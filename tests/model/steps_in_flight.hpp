// SPDX-License-Identifier: Apache-2.0
// Steps that still write into the blocks that they were launched over: whoever gets such a block too early is found
// out.
#ifndef PAVE_TESTS_MODEL_STEPS_IN_FLIGHT_HPP
#define PAVE_TESTS_MODEL_STEPS_IN_FLIGHT_HPP

#include "model/any_pool.hpp"
#include "model/random.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace pave_tests {

class steps_in_flight {
 public:
  /// These blocks were let go, and are written to until this step is done.
  void use(const block_list& blocks, std::int64_t step) {
    for (const std::int64_t block : blocks) writes_.push_back({step, block, tenants_[block]});
  }
  /// These blocks were given out, and begin to be written to by somebody else.
  void give_out(const block_list& blocks) {
    for (const std::int64_t block : blocks) {
      for (const write& one : writes_) expect(one.block != block, "no block is given out that a step still writes to");
      tenants_[block] += 1;
    }
  }
  void complete(std::int64_t step) {
    finish([step](const write& one) { return one.step == step; });
  }
  void complete_through(std::int64_t step) {
    finish([step](const write& one) { return one.step <= step; });
  }

 private:
  struct write {
    std::int64_t step, block, tenant;
  };

  template <class IsDone>
  void finish(IsDone is_done) {
    for (const write& one : writes_) {
      if (is_done(one)) expect(tenants_[one.block] == one.tenant, "a step writes into its own blocks to its end");
    }
    writes_.erase(std::remove_if(writes_.begin(), writes_.end(), is_done), writes_.end());
  }

  std::vector<write> writes_;
  std::map<std::int64_t, std::int64_t> tenants_;  // how often each block was given out
};

}  // namespace pave_tests

#endif  // PAVE_TESTS_MODEL_STEPS_IN_FLIGHT_HPP
