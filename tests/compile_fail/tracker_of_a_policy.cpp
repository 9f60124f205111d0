// expect: pave: a restore_tracker takes a bundle of its policies: derive from tracker_policies
// SPDX-License-Identifier: Apache-2.0
// A tracker of a policy in place of a bundle is refused, and told what to derive from.
#include <pave/pave.hpp>

template class pave::restore_tracker<pave::first_chunk>;
