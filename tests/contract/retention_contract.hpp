// SPDX-License-Identifier: Apache-2.0
// What every retention policy says.
#ifndef PAVE_TESTS_CONTRACT_RETENTION_CONTRACT_HPP
#define PAVE_TESTS_CONTRACT_RETENTION_CONTRACT_HPP

#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/policy/retention.hpp>
#include <pave/pool.hpp>

#include <utility>

namespace pave_tests {

template <class Retention>
struct pool_with_retention : pave::pool_policies {
  using retention = Retention;
};

template <class Retention>
void check_retention() {
  static_assert(pave::is_retention_v<Retention>);
  [[maybe_unused]] constexpr bool known_when_compiled = Retention::keeps_content;

  auto made = pave::block_pool<pool_with_retention<Retention>>::create({3});
  REQUIRE(made);
  auto pool = std::move(*made);
  const auto blocks = take(pool, 3);
  REQUIRE(pool.release(blocks));
  CHECK(pool.available().value() == 3);
  check_conservation(pool);
  static_cast<void>(take(pool, 3));
  check_conservation(pool);
}

}  // namespace pave_tests

#endif  // PAVE_TESTS_CONTRACT_RETENTION_CONTRACT_HPP
