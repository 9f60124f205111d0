// SPDX-License-Identifier: Apache-2.0
// Ids of every width, where they begin and end, and how the integers of an engine's tables are the same memory.
#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/layout.hpp>
#include <pave/pool.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using pave::basic_block_id;
using pave::block_pool;
using pave::errc;
using pave_tests::take;

template <class Integer>
struct named_by : pave::pool_policies {
  using id = basic_block_id<Integer>;
};
template <class Integer>
using pool_named_by = block_pool<named_by<Integer>>;

static_assert(std::is_same_v<block_pool<>::id_type, pave::block_id>);
static_assert(
    std::is_same_v<pool_named_by<std::int64_t>::kept_block_type, pave::basic_kept_block<basic_block_id<std::int64_t>>>);

template <class Integer>
pave::errc made(std::int64_t blocks, std::int64_t first = 0) {
  pave::pool_options options;
  options.blocks = blocks;
  options.first_block = first;
  return pool_named_by<Integer>::create(options).code();
}

}  // namespace

TEST_CASE("block_pool: it has as many blocks as its ids can name, and not one more", "[pool]") {
  CHECK(made<std::int8_t>(128) == errc::ok);
  CHECK(made<std::int8_t>(129) == errc::invalid_argument);
  CHECK(made<std::uint8_t>(255) == errc::ok);
  CHECK(made<std::uint8_t>(256) == errc::invalid_argument);
  CHECK(made<std::int16_t>(32768) == errc::ok);
  CHECK(made<std::int16_t>(32769) == errc::invalid_argument);
  CHECK(made<std::uint16_t>(65535) == errc::ok);
  CHECK(made<std::uint16_t>(65536) == errc::invalid_argument);
  for (const std::int64_t more : {std::int64_t{1} << 31, std::int64_t{1} << 32, std::int64_t{1} << 40,
                                  (std::numeric_limits<std::int64_t>::max)()}) {
    CHECK(made<std::int32_t>(more) == errc::invalid_argument);
    CHECK(made<std::uint32_t>(more) == errc::invalid_argument);
    CHECK(made<std::int64_t>(more) == errc::invalid_argument);
    CHECK(made<std::uint64_t>(more) == errc::invalid_argument);
  }
}

TEST_CASE("block_pool: the first block counts against what its ids can name", "[pool]") {
  CHECK(made<std::int16_t>(32767, 1) == errc::ok);
  CHECK(made<std::int16_t>(32768, 1) == errc::invalid_argument);
  CHECK(made<std::int16_t>(1, 32767) == errc::ok);
  CHECK(made<std::int16_t>(2, 32767) == errc::invalid_argument);
  CHECK(made<std::int16_t>(1, 32768) == errc::invalid_argument);
  CHECK(made<std::uint8_t>(1, 254) == errc::ok);
  CHECK(made<std::uint8_t>(1, 255) == errc::invalid_argument);
  CHECK(made<std::int32_t>(4, -1) == errc::invalid_argument);
  CHECK(made<std::int32_t>(4, (std::numeric_limits<std::int64_t>::min)()) == errc::invalid_argument);
  CHECK(made<std::int32_t>(4, (std::numeric_limits<std::int64_t>::max)()) == errc::invalid_argument);
  CHECK(made<std::int32_t>((std::numeric_limits<std::int64_t>::max)(), 1) == errc::invalid_argument);
  CHECK(made<std::int32_t>(0, 4) == errc::invalid_argument);
}

TEMPLATE_TEST_CASE("block_pool: with ids of any width, every one of the smallest type's is given out, and comes back",
                   "[pool]",
                   std::uint8_t,
                   std::int16_t,
                   std::uint16_t,
                   std::int32_t,
                   std::uint32_t,
                   std::int64_t,
                   std::uint64_t) {
  auto pool = pool_named_by<TestType>::create({255}).value();
  const auto all = take(pool, 255);
  for (std::size_t i = 0; i < 255; ++i) {
    CHECK(all[i].index() == i);
    CHECK(pool.holders(all[i]) == 1);
  }
  using id = basic_block_id<TestType>;
  for (const id none : {id(), id(255), id(-1), id((std::numeric_limits<TestType>::max)())}) {
    CHECK(pool.holders(none) == 0);
    CHECK(pool.share({&none, 1}).code() == errc::not_held);
    CHECK(pool.release({&none, 1}).code() == errc::not_held);
    CHECK(pool.pin({&none, 1}).code() == errc::not_held);
    CHECK(pool.content_of(none).code() == errc::not_held);
    CHECK(pool.overwrite(none).code() == errc::not_held);
  }
  const auto token = pool.pin(all).value();
  REQUIRE(pool.release(all));
  std::vector<std::uint32_t> scratch(pool.id_end());
  const auto audit = [&] {
    return pool.audit(pave::no_tables(), scratch, [](const pave::finding& /*found*/) {}).value();
  };
  CHECK(audit() == 0);
  REQUIRE(pool.unpin(token));
  CHECK(pool.available().value() == 255);
  CHECK(audit() == 0);
  static_cast<void>(take(pool, 2));
  CHECK(audit() == 2);
}

TEMPLATE_TEST_CASE("block_pool: the ids begin with the first block, and none before it is ever given out",
                   "[pool]",
                   std::uint8_t,
                   std::int32_t,
                   std::int64_t) {
  using id = basic_block_id<TestType>;
  const std::int64_t first = GENERATE(0, 1, 2, 100);
  pave::pool_options options;
  options.blocks = 5;
  options.first_block = first;
  auto pool = pool_named_by<TestType>::create(options).value();
  CHECK(pool.capacity().value() == 5);
  for (int turn = 0; turn < 3; ++turn) {
    const auto all = take(pool, 5);
    std::vector<std::int64_t> numbers;
    for (const id block : all) numbers.push_back(static_cast<std::int64_t>(block.value()));
    std::sort(numbers.begin(), numbers.end());
    CHECK(numbers == std::vector<std::int64_t>{first, first + 1, first + 2, first + 3, first + 4});
    pave_tests::check_conservation(pool, first + 5);
    REQUIRE(pool.release(all));
  }
  for (std::int64_t block = 0; block < first; ++block) {
    const id before = block;
    CHECK(pool.holders(before) == 0);
    CHECK(pool.release({&before, 1}).code() == errc::not_held);
    CHECK(pool.share({&before, 1}).code() == errc::not_held);
    CHECK(pool.pin({&before, 1}).code() == errc::not_held);
  }
  std::vector<id> six(6);
  CHECK(pool.allocate(six).code() == errc::never_fits);
  CHECK(pool.allocate(six).error().missing.value() == 1);
}

TEST_CASE("block_pool: content is kept and revived by ids of another width", "[pool]") {
  struct wide : named_by<std::int64_t> {
    using free_list = pave::least_recently_released;
    using retention = pave::keep;
  };
  auto pool = block_pool<wide>::create({3}).value();
  const auto all = take(pool, 3);
  const auto note = pool.content_of(all[1]).value();
  CHECK(note.block == all[1]);
  REQUIRE(pool.release(all));
  for (const std::int64_t same_in_32_bits : {(std::int64_t{1} << 32) + 1, (std::int64_t{1} << 62) + 1}) {
    const block_pool<wide>::kept_block_type forged{same_in_32_bits, note.generation};
    CHECK_FALSE(pool.is_kept(forged));
    CHECK(pool.acquire({&forged, 1}, {}).code() == errc::stale);
  }
  REQUIRE(pool.acquire({&note, 1}, {}));
  CHECK(pool.holders(1) == 1);
  const basic_block_id<std::int64_t> beyond = (std::int64_t{1} << 32) + 1;
  CHECK(pool.holders(beyond) == 0);
  CHECK(pool.release({&beyond, 1}).code() == errc::not_held);
}

TEMPLATE_TEST_CASE("as_integers: the same memory, with nothing copied",
                   "[pool]",
                   std::uint8_t,
                   std::int16_t,
                   std::int32_t,
                   std::uint32_t,
                   std::int64_t) {
  using id = basic_block_id<TestType>;
  static_assert(std::is_same_v<decltype(pave::as_integers(pave::span<const id>())), pave::span<const TestType>>);
  static_assert(sizeof(id) == sizeof(TestType) && alignof(id) == alignof(TestType));
  std::vector<id> ids{3, 0, 127, 5};
  const auto numbers = pave::as_integers(pave::span<const id>(ids));
  REQUIRE(numbers.size() == 4);
  CHECK(static_cast<const void*>(numbers.data()) == static_cast<const void*>(ids.data()));
  for (std::size_t i = 0; i < 4; ++i) CHECK(numbers[i] == ids[i].value());
  ids[2] = 9;
  CHECK(numbers[2] == 9);
  CHECK(pave::as_integers(pave::span<const id>()).empty());
}

TEST_CASE("block_id: a block has the same number in every width that can name it, and no name in any other", "[pool]") {
  CHECK(pave::detail::id_cast<basic_block_id<std::int64_t>>(pave::block_id(7)) == basic_block_id<std::int64_t>(7));
  CHECK(pave::detail::id_cast<basic_block_id<std::int64_t>>(pave::block_id()) == basic_block_id<std::int64_t>());
  CHECK(pave::detail::id_cast<basic_block_id<std::uint8_t>>(pave::block_id(255)) == basic_block_id<std::uint8_t>());
  CHECK(pave::detail::id_cast<pave::block_id>(basic_block_id<std::uint8_t>(254)) == pave::block_id(254));
}
