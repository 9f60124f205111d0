// SPDX-License-Identifier: Apache-2.0
// A 32-bit id times a stride that overflowed (vLLM 50427, FlashInfer 3136).
#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/layout.hpp>
#include <pave/pool.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

template <class Integer>
struct plain : pave::pool_policies {
  using id = pave::basic_block_id<Integer>;
};
struct queued : plain<std::int32_t> {
  using free_list = pave::least_recently_released;
  using retention = pave::keep;
};
struct waiting : plain<std::int64_t> {
  using fence = pave::after_step;
  using sharing = pave::exclusive;
};

constexpr std::int64_t blocks = 3'000'000;
constexpr std::int64_t stride = std::int64_t{2} << 20;  // 2 MiB

}  // namespace

TEMPLATE_TEST_CASE(
    "case 14: 3,000,000 blocks of 2 MiB: the address of the last one is exact in 64 bits (vLLM 50427, FlashInfer 3136)",
    "[cases]",
    plain<std::int32_t>,
    plain<std::uint32_t>,
    plain<std::int64_t>,
    queued,
    waiting) {
  auto pool = pave::block_pool<TestType>::create({blocks}).value();
  const auto all = pave_tests::take(pool, static_cast<std::size_t>(blocks));
  const auto last = *std::max_element(all.begin(), all.end());
  CHECK(static_cast<std::int64_t>(last.value()) == blocks - 1);
  CHECK(pave::block_offset(last, stride).value() == 6'291'453'902'848);
  const auto first = *std::min_element(all.begin(), all.end());
  CHECK(pave::block_offset(first, stride).value() == 0);
  CHECK(pool.release(all));
}

TEMPLATE_TEST_CASE("case 14: more blocks than an id can name are refused when the pool is made (vLLM 50427)",
                   "[cases]",
                   plain<std::int16_t>,
                   plain<std::uint16_t>,
                   plain<std::int32_t>,
                   plain<std::uint32_t>,
                   plain<std::int64_t>,
                   queued,
                   waiting) {
  using id = typename TestType::id;
  const std::int64_t named = (std::min)(id::most, std::int64_t{(std::numeric_limits<std::int32_t>::max)()} - 1) + 1;
  for (const std::int64_t more :
       {named + 1, named * 2, std::int64_t{1} << 32, (std::int64_t{1} << 32) + 5, std::int64_t{1} << 62})
    CHECK(pave::block_pool<TestType>::create({more}).code() == pave::errc::invalid_argument);
}
