// SPDX-License-Identifier: Apache-2.0
// Units: what converts into them, what does not, and how they compare.
#include "support/catch.hpp"

#include <pave/units.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace {

using pave::block_count;
using pave::block_id;
using pave::byte_count;
using pave::sequence_id;
using pave::step_id;
using pave::token_count;

constexpr std::int64_t most = (std::numeric_limits<std::int64_t>::max)();

template <class From, class To>
constexpr bool converts = std::is_convertible_v<From, To> || std::is_constructible_v<To, From>;

static_assert(!converts<token_count, block_count>, "tokens do not pass for blocks");
static_assert(!converts<block_count, token_count>);
static_assert(!converts<byte_count, block_count>);
static_assert(!converts<block_count, byte_count>);
static_assert(!converts<token_count, byte_count>);
static_assert(!converts<byte_count, token_count>);
static_assert(!converts<block_id, block_count>, "a name is no amount");
static_assert(!converts<block_count, block_id>);
static_assert(!converts<token_count, block_id>);
static_assert(!converts<step_id, block_id>);
static_assert(!converts<step_id, token_count>);
static_assert(!converts<token_count, step_id>);
static_assert(!converts<sequence_id, block_id>);
static_assert(!converts<block_count, std::int64_t>, "a number comes out by value() only");
static_assert(!converts<block_id, std::int32_t>);
static_assert(std::is_same_v<block_id, pave::basic_block_id<std::int32_t>>);
static_assert(!converts<block_id, pave::basic_block_id<std::int64_t>>, "nor does one width pass for another");
static_assert(!converts<pave::basic_block_id<std::int64_t>, block_id>);
static_assert(!converts<bool, pave::basic_block_id<std::uint8_t>>);
static_assert(!converts<bool, block_count>, "a truth is no amount");
static_assert(!converts<bool, block_id>);
static_assert(!converts<double, block_count>, "half a block is none");
static_assert(!converts<float, token_count>);
static_assert(!std::is_assignable_v<block_count&, token_count>);
static_assert(!std::is_assignable_v<token_count&, block_count>);
static_assert(std::is_convertible_v<int, block_count>);
static_assert(std::is_convertible_v<std::size_t, block_count>);
static_assert(std::is_convertible_v<std::uint8_t, block_id>);
static_assert(std::is_convertible_v<std::int64_t, step_id>);

static_assert(std::is_trivially_copyable_v<block_count> && sizeof(block_count) == 8);
static_assert(std::is_trivially_copyable_v<block_id> && sizeof(block_id) == 4, "as kernels' block tables hold it");
static_assert(std::is_trivially_copyable_v<sequence_id> && sizeof(sequence_id) == 8);
static_assert(std::is_standard_layout_v<block_id>);

template <class Left, class Right, class = void>
constexpr bool adds = false;
template <class Left, class Right>
constexpr bool adds<Left, Right, std::void_t<decltype(std::declval<Left>() + std::declval<Right>())>> = true;

static_assert(adds<block_count, block_count> && adds<block_count, int> && adds<int, block_count>);
static_assert(!adds<block_count, token_count>);
static_assert(!adds<block_id, block_id>, "names are not added");

}  // namespace

TEMPLATE_TEST_CASE("units: an amount takes every integer, and what does not fit becomes the largest",
                   "[units]",
                   block_count,
                   token_count,
                   byte_count) {
  CHECK(TestType().value() == 0);
  CHECK(TestType(std::int8_t{-7}).value() == -7);
  CHECK(TestType(std::uint8_t{200}).value() == 200);
  CHECK(TestType((std::numeric_limits<std::uint32_t>::max)()).value() == 4294967295);
  CHECK(TestType((std::numeric_limits<std::int64_t>::min)()).value() == (std::numeric_limits<std::int64_t>::min)());
  CHECK(TestType(most).value() == most);
  CHECK(TestType(static_cast<std::uint64_t>(most)).value() == most);
  CHECK(TestType(static_cast<std::uint64_t>(most) + 1U).value() == most);
  CHECK(TestType((std::numeric_limits<std::uint64_t>::max)()).value() == most);
  CHECK(TestType((std::numeric_limits<unsigned long long>::max)()).value() == most);
}

TEMPLATE_TEST_CASE("units: amounts of one thing add, subtract and compare, and a difference may be negative",
                   "[units]",
                   block_count,
                   token_count,
                   byte_count) {
  constexpr TestType three = 3;
  constexpr TestType five = 5;
  CHECK((three + five).value() == 8);
  CHECK((three - five).value() == -2);
  TestType sum = three;
  sum += five;
  CHECK(sum == TestType(8));
  sum -= 10;
  CHECK(sum == TestType(-2));
  CHECK(three < five);
  CHECK(three <= three);
  CHECK(five > three);
  CHECK(five >= five);
  CHECK(three != five);
  CHECK_FALSE(three == five);
  static_assert(three < five && three + 2 == five && five - 2 == three);
}

TEST_CASE("units: an integer that is no id becomes the id that no pool holds", "[units]") {
  CHECK(block_id().value() == -1);
  CHECK(block_id(0).value() == 0);
  CHECK(block_id((std::numeric_limits<std::int32_t>::max)()).value() == (std::numeric_limits<std::int32_t>::max)());
  CHECK(block_id(-1) == block_id());
  CHECK(block_id(-5) == block_id());
  CHECK(block_id((std::numeric_limits<std::int64_t>::min)()) == block_id());
  CHECK(block_id(std::int64_t{1} << 31) == block_id());
  CHECK(block_id(std::int64_t{1} << 32) == block_id());
  CHECK(block_id((std::int64_t{1} << 32) + 7) == block_id());
  CHECK(block_id(std::uint32_t{0xffffffff}) == block_id());
  CHECK(block_id((std::numeric_limits<std::uint64_t>::max)()) == block_id());
  CHECK(block_id(std::uint64_t{41}).value() == 41);
  CHECK(block_id(2'999'999).index() == 2'999'999U);
  CHECK(block_id(3) < block_id(4));
  CHECK(block_id(3) != block_id(4));
}

TEMPLATE_TEST_CASE(
    "units: an id of any width names what its integer can, and the rest becomes the id that no pool holds",
    "[units]",
    std::int8_t,
    std::uint8_t,
    std::int16_t,
    std::uint16_t,
    std::int32_t,
    std::uint32_t,
    std::int64_t,
    std::uint64_t) {
  using id = pave::basic_block_id<TestType>;
  static_assert(std::is_same_v<typename id::value_type, TestType>);
  static_assert(sizeof(id) == sizeof(TestType) && std::is_trivially_copyable_v<id> && std::is_standard_layout_v<id>);
  CHECK(id().value() == static_cast<TestType>(-1));
  CHECK(id(0).value() == 0);
  CHECK(id(0) != id());
  CHECK(id(id::most) != id());
  CHECK(static_cast<std::int64_t>(id(id::most).value()) == id::most);
  CHECK(id(id::most).index() == static_cast<std::size_t>(id::most));
  if (id::most < most) CHECK(id(id::most + 1) == id());
  CHECK(id(std::int64_t{-1}) == id());
  CHECK(id(-128) == id());
  CHECK(id((std::numeric_limits<std::int64_t>::min)()) == id());
  CHECK(id(std::int8_t{100}).value() == 100);
  CHECK(id(std::uint64_t{100}).value() == 100);
  CHECK(id(3) < id(4));
  CHECK_FALSE(id(4) < id(4));
  CHECK(id(4) == id(std::int64_t{4}));
  if (sizeof(TestType) < 8) {
    CHECK(id((std::numeric_limits<std::uint64_t>::max)()) == id());
    CHECK(id((std::int64_t{1} << (8 * sizeof(TestType))) + 7) == id());  // and is not cut to 7
    CHECK(id(std::int64_t{1} << 62) == id());
  }
}

TEST_CASE("units: the largest id of each width", "[units]") {
  CHECK(pave::basic_block_id<std::int8_t>::most == 127);
  CHECK(pave::basic_block_id<std::uint8_t>::most == 254);
  CHECK(pave::basic_block_id<std::int16_t>::most == 32767);
  CHECK(pave::basic_block_id<std::uint16_t>::most == 65534);
  CHECK(block_id::most == 2147483647);
  CHECK(pave::basic_block_id<std::uint32_t>::most == 4294967294);
  CHECK(pave::basic_block_id<std::int64_t>::most == most);
  CHECK(pave::basic_block_id<std::uint64_t>::most == most);
}

#ifdef __SIZEOF_INT128__
namespace {
// With the GNU dialects these are integers, too.
__extension__ typedef __int128 wide_signed;             // NOLINT(modernize-use-using)
__extension__ typedef unsigned __int128 wide_unsigned;  // NOLINT(modernize-use-using)

template <class Wide>
void check_wide() {
  if constexpr (std::is_integral_v<Wide>) {
    CHECK(block_count(Wide{1} << 64).value() == most);
    CHECK(block_count(Wide{1} << 63).value() == most);
    CHECK(block_count(Wide{12}).value() == 12);
    CHECK(block_id(Wide{1} << 64) == block_id());
    CHECK(block_id((Wide{1} << 64) + 3) == block_id());
    CHECK(step_id(Wide{1} << 64).value() == most);
  } else {
    SUCCEED("this dialect does not call it an integer");
  }
}
}  // namespace

TEST_CASE("units: an integer wider than 64 bits is not cut to its low half", "[units]") {
  check_wide<wide_signed>();
  check_wide<wide_unsigned>();
}
#endif

TEST_CASE("units: a sequence id is its slot and its generation", "[units]") {
  CHECK(sequence_id{3, 1} == sequence_id{3, 1});
  CHECK(sequence_id{3, 1} != sequence_id{3, 2});
  CHECK(sequence_id{3, 1} != sequence_id{4, 1});
  CHECK(sequence_id() == sequence_id{0, 0});
}

TEST_CASE("units: ranks order by value, then by arrival", "[units]") {
  using pave::rank;
  CHECK(rank{1, 9} < rank{2, 1});
  CHECK(rank{2, 1} < rank{2, 2});
  CHECK_FALSE(rank{2, 2} < rank{2, 1});
  CHECK_FALSE(rank{2, 1} < rank{2, 1});
  CHECK(rank{-5, 0} < rank{0, 0});
  CHECK(rank{2, 1} == rank{2, 1});
  CHECK(rank{2, 1} != rank{2, 2});
  CHECK(rank{(std::numeric_limits<std::int64_t>::min)(), 0} < rank{most, 0});
}

TEST_CASE("units: a range is half open", "[units]") {
  const pave::block_range range{2, 5};
  CHECK(range.size().value() == 3);
  CHECK_FALSE(range.empty());
  CHECK(pave::block_range{4, 4}.empty());
  CHECK(pave::block_range{5, 4}.empty());
  CHECK(range == pave::block_range{2, 5});
  CHECK(range != pave::block_range{2, 6});
  static_assert(!std::is_same_v<pave::block_range, pave::token_range>);
}

TEST_CASE("units: steps compare by number, and the default is before the first", "[units]") {
  CHECK(step_id().value() == 0);
  CHECK(step_id() < step_id(1));
  CHECK(step_id(2) <= step_id(2));
  CHECK(step_id(2) != step_id(3));
  CHECK(step_id((std::numeric_limits<std::uint64_t>::max)()).value() == most);
}
