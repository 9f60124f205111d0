// SPDX-License-Identifier: Apache-2.0
// A memory of slabs: which are free, who has the others, and what fits together.
#include "support/catch.hpp"

#include <pave/slab_source.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using pave::errc;
using pave::slab_lease;
using pave::slab_request;
using pave::slab_source;

constexpr std::int64_t most = (std::numeric_limits<std::int64_t>::max)();

slab_source source_of(pave::slab_count slabs, pave::byte_count bytes) {
  return slab_source::create(slabs, bytes).value();
}

std::vector<std::size_t> draw(slab_lease& lease, std::size_t count) {
  std::vector<std::size_t> slabs(count);
  for (std::size_t& slab : slabs) slab = lease.draw();
  return slabs;
}

static_assert(!std::is_copy_constructible_v<slab_source>, "two sources never have one memory");
static_assert(!std::is_copy_constructible_v<slab_lease>, "and two leases no slab");
static_assert(std::is_nothrow_move_constructible_v<slab_source> && std::is_nothrow_move_assignable_v<slab_lease>);
static_assert(!std::is_convertible_v<pave::slab_count, pave::block_count>, "slabs do not pass for blocks");

}  // namespace

TEST_CASE("slab_source: a new one has every slab free", "[slabs]") {
  const slab_source source = source_of(3, 4096);
  CHECK(source.slabs().value() == 3);
  CHECK(source.free_slabs().value() == 3);
  CHECK(source.slab_bytes().value() == 4096);
  CHECK(source.layout(1000).blocks_per_slab().value() == 4);
  CHECK(slab_source().slabs().value() == 0);
  CHECK(slab_source().free_slabs().value() == 0);
}

TEST_CASE("slab_source: create refuses what has no slabs, no bytes, or more than can be named", "[slabs]") {
  for (const std::int64_t bad : {std::int64_t{0}, std::int64_t{-1}, (std::numeric_limits<std::int64_t>::min)()}) {
    CHECK(slab_source::create(bad, 4096).code() == errc::invalid_argument);
    CHECK(slab_source::create(4, bad).code() == errc::invalid_argument);
  }
  CHECK(slab_source::create(std::int64_t{1} << 31, 1).code() == errc::invalid_argument);
  CHECK(slab_source::create(most, most).code() == errc::invalid_argument);
  CHECK(slab_source::create(2, most / 2 + 1).code() == errc::invalid_argument);
  CHECK(slab_source::create(2, most / 2).has_value());
  CHECK(slab_source::create(1, most).has_value());
}

TEST_CASE("slab_lease: it gets 0, 1, 2, … at first, then what came free last", "[slabs]") {
  slab_source source = source_of(6, 64);
  slab_lease lease(source), other(source);
  CHECK(draw(lease, 3) == std::vector<std::size_t>{0, 1, 2});
  CHECK(draw(other, 2) == std::vector<std::size_t>{3, 4});
  CHECK(source.free_slabs().value() == 1);
  lease.give_back(0);
  other.give_back(4);
  CHECK(lease.slabs().value() == 2);
  CHECK(other.slabs().value() == 1);
  CHECK(other.free_slabs().value() == 3);
  CHECK(draw(lease, 3) == std::vector<std::size_t>{4, 0, 5});
  CHECK(source.free_slabs().value() == 0);
}

TEST_CASE("slab_lease: when it ends its slabs are free, and no others", "[slabs]") {
  slab_source source = source_of(6, 64);
  slab_lease stays(source);
  REQUIRE(draw(stays, 1).front() == 0);
  {
    slab_lease ends(source);
    REQUIRE(draw(ends, 2).back() == 2);
    REQUIRE(draw(stays, 1).front() == 3);
    const slab_lease without(source);
    CHECK(source.free_slabs().value() == 2);
  }
  CHECK(source.free_slabs().value() == 4);
  CHECK(stays.slabs().value() == 2);
  CHECK(draw(stays, 4) == std::vector<std::size_t>{1, 2, 4, 5});
}

TEST_CASE("slab_lease: one that moves takes its slabs along, and one that is assigned to gives up its own", "[slabs]") {
  slab_source source = source_of(6, 64);
  slab_lease first(source), second(source);
  REQUIRE(draw(first, 2).size() == 2);
  REQUIRE(draw(second, 3).size() == 3);
  slab_lease moved(std::move(first));
  CHECK(first.slabs().value() == 0);       // NOLINT(bugprone-use-after-move)
  CHECK(first.free_slabs().value() == 0);  // NOLINT(bugprone-use-after-move)
  CHECK(first.all_slabs().value() == 0);   // NOLINT(bugprone-use-after-move)
  CHECK(moved.slabs().value() == 2);
  CHECK(source.free_slabs().value() == 1);
  second = std::move(moved);
  CHECK(second.slabs().value() == 2);
  CHECK(source.free_slabs().value() == 4);
  second.give_back(1);
  CHECK(source.free_slabs().value() == 5);
}

TEST_CASE("slab_source: what fits each pool alone may not fit them together", "[slabs]") {
  // Four slabs of 100 bytes. Pools with blocks of 50, 30 and 100 bytes: 2, 3 and 1 of them a slab.
  slab_source source = source_of(4, 100);
  const auto fit = [&source](std::vector<slab_request> requests) { return source.fits(requests); };
  CHECK(fit({}));
  CHECK(fit({{50, 8, 8}}));
  CHECK_FALSE(fit({{50, 8, 9}}));
  CHECK(fit({{50, 8, 4}, {30, 12, 6}}));
  CHECK_FALSE(fit({{50, 8, 5}, {30, 12, 6}}));
  CHECK_FALSE(fit({{50, 8, 4}, {30, 12, 7}}));
  CHECK(fit({{50, 8, 1}, {30, 12, 1}, {100, 4, 2}}));
  CHECK_FALSE(fit({{50, 8, 1}, {30, 12, 4}, {100, 4, 2}}));
  CHECK(fit({{50, 8, 0}, {30, 12, 0}, {100, 4, 4}}));

  // One slab is the first pool's, with a free block, and one the second's, with two: so much each has without a draw.
  slab_lease lease(source);
  REQUIRE(draw(lease, 2).size() == 2);
  CHECK(fit({{50, 5, 1}, {30, 8, 2}, {100, 2, 2}}));
  CHECK_FALSE(fit({{50, 5, 2}, {30, 8, 2}, {100, 2, 2}}));
  CHECK(fit({{50, 5, 3}, {30, 8, 5}}));
  CHECK_FALSE(fit({{50, 5, 3}, {30, 8, 6}}));

  CHECK_FALSE(fit({{100, 2, most}, {100, 2, most}}));
  CHECK_FALSE(fit({{1, 200, most}, {1, 200, most}}));
}
