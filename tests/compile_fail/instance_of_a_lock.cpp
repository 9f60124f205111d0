// expect: pave: a pool makes its lock itself: create takes no instance of it
// SPDX-License-Identifier: Apache-2.0
// An instance of the lock of a pool is refused.
#include <pave/pave.hpp>

struct locked_policies : pave::pool_policies {
  using lock = pave::mutex;
};
bool made() {
  pave::mutex mine;
  return pave::block_pool<locked_policies>::create({8}, mine).has_value();
}
