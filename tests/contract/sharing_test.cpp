// SPDX-License-Identifier: Apache-2.0
// The stock sharing policies, and some of a user's, keep the contract.
#include "contract/sharing_contract.hpp"
#include "support/at_most.hpp"
#include "support/catch.hpp"

#include <pave/policy/sharing.hpp>

TEMPLATE_TEST_CASE("contract: sharing counts holders, and frees with the last",
                   "[contract][pool]",
                   pave::counted,
                   pave_tests::at_most<1>,
                   pave_tests::at_most<2>,
                   pave_tests::at_most<4>) {
  pave_tests::check_sharing<TestType>();
}
