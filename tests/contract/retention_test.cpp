// SPDX-License-Identifier: Apache-2.0
// The stock retention policies, and one of a user's, keep the contract.
#include "contract/retention_contract.hpp"
#include "support/catch.hpp"

#include <pave/policy/retention.hpp>

namespace {

struct wipes {
  static constexpr bool keeps_content = false;
};

static_assert(!pave::forget::keeps_content);
static_assert(!pave::is_retention_v<int>);

}  // namespace

TEMPLATE_TEST_CASE("contract: retention says whether free blocks keep their content",
                   "[contract][pool]",
                   pave::forget,
                   wipes) {
  pave_tests::check_retention<TestType>();
}
