// SPDX-License-Identifier: Apache-2.0
// The replay's names of blocks: which blocks of whom are the same, whatever the number of tokens in a block.
#include "simulation/prompt_hashes.hpp"

#include "support/catch.hpp"
#include "traces/trace.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

replay::request prompt_of(std::int64_t tokens, std::vector<std::int64_t> hashes) {
  replay::request r;
  r.prompt_tokens = tokens;
  r.output_tokens = 100;
  r.prefix_hashes = std::move(hashes);
  return r;
}

/// How many blocks two have in common at their beginning, and whether none behind it is the same.
std::size_t in_common(const std::vector<pave::block_hash>& a, const std::vector<pave::block_hash>& b) {
  const auto ends = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  for (auto at = ends.first; at != a.end(); ++at) REQUIRE(std::count(b.begin(), b.end(), *at) == 0);
  return static_cast<std::size_t>(ends.first - a.begin());
}

}  // namespace

TEST_CASE("hashes_of: blocks are the same as far as the prefixes are", "[replay]") {
  const std::int64_t each = GENERATE(1, 16, 48, 512, 600);
  CAPTURE(each);
  const auto first = replay::hashes_of(prompt_of(1100, {1, 2, 3}), 0, each, 1150);
  const auto second = replay::hashes_of(prompt_of(1100, {1, 4, 5}), 1, each, 1150);
  const auto third = replay::hashes_of(prompt_of(1100, {6, 7, 8}), 2, each, 1150);
  const auto longer = replay::hashes_of(prompt_of(1300, {1, 2, 3}), 3, each, 1350);
  CHECK(first.size() == static_cast<std::size_t>(1150 / each));
  // A block that ends behind the first 512 tokens has others in it.
  CHECK(in_common(first, second) == static_cast<std::size_t>(512 / each));
  CHECK(in_common(first, third) == 0);
  CHECK(in_common(first, longer) == static_cast<std::size_t>(1100 / each));
  CHECK(in_common(first, replay::hashes_of(prompt_of(1100, {1, 2, 3}), 0, each, 1150)) == first.size());
}

TEST_CASE("hashes_of: without hashes, and behind its prompt, a request shares nothing", "[replay]") {
  const auto first = replay::hashes_of(prompt_of(64, {}), 0, 16, 120);
  const auto second = replay::hashes_of(prompt_of(64, {}), 1, 16, 120);
  CHECK(first.size() == 7);
  CHECK(in_common(first, second) == 0);
  const auto same = replay::hashes_of(prompt_of(64, {0}), 0, 16, 120);
  CHECK(in_common(same, replay::hashes_of(prompt_of(64, {0}), 1, 16, 120)) == 4);
  CHECK(in_common(same, second) == 0);
}
