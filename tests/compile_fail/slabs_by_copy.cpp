// expect: pave: a policy that cannot be copied goes into its pool: give create a temporary, or move
// SPDX-License-Identifier: Apache-2.0
// Slabs are one pool's: a free list that has some is moved into it, and not copied.
#include <pave/pave.hpp>

struct in_slabs : pave::pool_policies {
  using free_list = pave::from_slabs;
};
bool refused(pave::slab_source& source) {
  pave::from_slabs slabs(source, 64);
  return pave::block_pool<in_slabs>::create({}, slabs).has_value();
}
