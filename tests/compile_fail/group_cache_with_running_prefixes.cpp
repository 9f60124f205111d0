// expect: pave: a group_cache finds blocks by an index that knows them
// SPDX-License-Identifier: Apache-2.0
// A cache over groups does not ask its sequences.
#include <pave/pave.hpp>

struct policies : pave::group_cache_policies {
  using prefix_index = pave::running_prefixes;
};
template class pave::group_cache<policies>;
