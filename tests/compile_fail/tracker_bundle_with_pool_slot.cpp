// expect: pave: a bundle names a slot of another part, and nothing reads it there
// SPDX-License-Identifier: Apache-2.0
// A tracker would not look at a pool's lock.
#include <pave/pave.hpp>

struct policies : pave::tracker_policies {
  using lock = pave::mutex;
};

pave::restore_tracker<policies> tracker;
