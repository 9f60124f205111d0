// expect: pave: a pool's id is a basic_block_id of some integer
// SPDX-License-Identifier: Apache-2.0
// A pool whose ids would be plain integers is refused, and told what they are.
#include <pave/pave.hpp>

struct wrong_policies : pave::pool_policies {
  using id = std::int32_t;
};
template class pave::block_pool<wrong_policies>;
