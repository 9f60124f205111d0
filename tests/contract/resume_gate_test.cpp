// SPDX-License-Identifier: Apache-2.0
// The stock resume gates, and one of a user's in between, keep the contract.
#include "contract/resume_gate_contract.hpp"
#include "support/catch.hpp"

#include <pave/policy/resume_gate.hpp>

namespace {

/// A user's: half of what remains must fit, and only the chunk is taken.
struct half_gap {
  static constexpr pave::token_count must_fit(pave::token_count remaining, pave::token_count chunk) {
    const pave::token_count half = remaining.value() / 2;
    return half < chunk ? chunk : half;
  }
  static constexpr pave::token_count allocates(pave::token_count /*remaining*/, pave::token_count chunk) {
    return chunk;
  }
};

static_assert(!pave::is_resume_gate_v<int>);

}  // namespace

TEMPLATE_TEST_CASE("contract: a resume gate lets a sequence in, and it comes to its end",
                   "[contract][tracker]",
                   pave::whole_gap,
                   pave::first_chunk,
                   half_gap) {
  pave_tests::check_resume_gate<TestType>();
}
