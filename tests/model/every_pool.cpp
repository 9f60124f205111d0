// SPDX-License-Identifier: Apache-2.0
// All pools of the parts.
#include "model/any_pool.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace pave_tests {

template <std::size_t Part>
void add_pools(std::vector<pool_maker>& makers);

const std::vector<pool_maker>& every_pool() {
  static const std::vector<pool_maker> all = [] {
    std::vector<pool_maker> makers;
    add_pools<0>(makers);
    add_pools<1>(makers);
    add_pools<2>(makers);
    add_pools<3>(makers);
    return makers;
  }();
  return all;
}

}  // namespace pave_tests
