// SPDX-License-Identifier: Apache-2.0
// What every retention policy does, alone and in a pool.
#ifndef PAVE_TESTS_CONTRACT_RETENTION_CONTRACT_HPP
#define PAVE_TESTS_CONTRACT_RETENTION_CONTRACT_HPP

#include "support/catch.hpp"
#include "support/keeping.hpp"
#include "support/laws.hpp"

#include <pave/policy/retention.hpp>
#include <pave/pool.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace pave_tests {

template <class Retention>
struct pool_with_retention : pave::pool_policies {
  using free_list = pave::least_recently_released;
  using retention = Retention;
};

template <class Retention>
void check_retention() {
  static_assert(pave::is_retention_v<Retention>);
  static_assert(std::is_nothrow_move_constructible_v<Retention> && std::is_nothrow_move_assignable_v<Retention>);
  constexpr bool keeps = Retention::keeps_content;

  SECTION("there is no content at first") {
    Retention retention;
    REQUIRE(retention.reserve(4));
    for (int block = 0; block < 4; ++block) CHECK(retention.generation(block) == 0);
  }

  SECTION("each content has a generation that differs from the last one, and 0 only where none is kept") {
    Retention retention;
    REQUIRE(retention.reserve(3));
    std::vector<std::uint32_t> expected(3);
    for (int call = 0; call < 1000; ++call) {
      const auto renewed = static_cast<std::size_t>(call * call % 3);  // 0 and 1, and never 2
      retention.renew(renewed);
      const std::uint32_t now = retention.generation(renewed);
      CHECK((now != 0) == keeps);
      CHECK((now != expected[renewed]) == keeps);
      expected[renewed] = now;
      for (std::size_t block = 0; block < 3; ++block) CHECK(retention.generation(block) == expected[block]);
    }
    CHECK(expected[2] == 0);
  }

  SECTION("a content that is lost has no generation, and the next one none that was there before") {
    Retention retention;
    REQUIRE(retention.reserve(3));
    retention.renew(0);
    retention.renew(1);
    const std::uint32_t first = retention.generation(1);
    const std::uint32_t other = retention.generation(0);
    retention.lose(1);
    CHECK(retention.generation(1) == 0);
    retention.lose(1);
    CHECK(retention.generation(1) == 0);
    CHECK(retention.generation(0) == other);
    retention.renew(1);
    CHECK((retention.generation(1) != 0) == keeps);
    CHECK((retention.generation(1) != first) == keeps);
    retention.lose(2);  // which never had any
    CHECK(retention.generation(2) == 0);
    retention.renew(2);
    CHECK((retention.generation(2) != 0) == keeps);
  }

  SECTION("more ids keep what is there") {
    Retention retention;
    REQUIRE(retention.reserve(2));
    retention.renew(0);
    retention.renew(1);
    retention.lose(1);
    const std::uint32_t known = retention.generation(0);
    REQUIRE(retention.reserve(40));
    CHECK(retention.generation(0) == known);
    CHECK(retention.generation(1) == 0);
    for (int block = 2; block < 40; ++block) CHECK(retention.generation(block) == 0);
    retention.renew(39);
    REQUIRE(retention.reserve(1));
    CHECK((retention.generation(39) != 0) == keeps);
  }

  SECTION("it moves with all that it knows") {
    Retention retention;
    REQUIRE(retention.reserve(2));
    for (int i = 0; i < 3; ++i) retention.renew(1);
    const std::uint32_t known = retention.generation(1);
    Retention moved = std::move(retention);
    CHECK(moved.generation(1) == known);
    Retention assigned;
    assigned = std::move(moved);
    CHECK(assigned.generation(1) == known);
    CHECK(assigned.generation(0) == 0);
    assigned.renew(1);
    CHECK((assigned.generation(1) != known) == keeps);
  }

  SECTION("a pool finds a free block's content by it, or finds none") {
    using pool_type = pave::block_pool<pool_with_retention<Retention>>;
    static_assert(pool_type::keeps_content == keeps);
    auto pool = pool_of<pool_type>(3);
    const auto notes = fill_and_release(pool);
    CHECK(pool.available().value() == 3);
    check_conservation(pool);
    for (const pave::kept_block& note : notes) CHECK(pool.is_kept(note) == keeps);
    CHECK(pool.acquire({&notes[1], 1}, {}).code() == (keeps ? pave::errc::ok : pave::errc::stale));
    CHECK(pool.holders(1) == (keeps ? 1 : 0));
    check_conservation(pool);
    const auto others = drain(pool);
    CHECK(others == (keeps ? std::vector<std::int32_t>{0, 2} : counting(0, 3)));
    CHECK_FALSE(pool.is_kept(notes[0]));
    CHECK(pool.is_kept(notes[1]) == keeps);
    check_conservation(pool);
  }
}

}  // namespace pave_tests

#endif  // PAVE_TESTS_CONTRACT_RETENTION_CONTRACT_HPP
