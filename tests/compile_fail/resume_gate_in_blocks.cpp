// expect: pave: a resume_gate policy needs `token_count must_fit(token_count remaining, token_count chunk) const`
// SPDX-License-Identifier: Apache-2.0
// A resume gate that answers in blocks is refused, and told what it lacks.
#include <pave/pave.hpp>

struct in_blocks : pave::whole_gap {
  static constexpr pave::block_count must_fit(pave::token_count remaining, pave::token_count) noexcept {
    return remaining.value();
  }
};
struct in_blocks_policies : pave::tracker_policies {
  using resume_gate = in_blocks;
};
template class pave::restore_tracker<in_blocks_policies>;
