// expect: pave: a group_cache takes a bundle of its parts' bundles
// SPDX-License-Identifier: Apache-2.0
// The bundle of one part is not that of the cache.
#include <pave/pave.hpp>

template class pave::group_cache<pave::pool_policies>;
