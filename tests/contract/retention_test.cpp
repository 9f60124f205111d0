// SPDX-License-Identifier: Apache-2.0
// The stock retention policies, and two of a user's, keep the contract.
#include "contract/retention_contract.hpp"
#include "support/catch.hpp"

#include <pave/policy/retention.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

struct wipes : pave::forget {};

/// A user's: it tells seven contents of a block apart, so that its count starts anew in a short test.
class tells_seven_apart {
 public:
  static constexpr bool keeps_content = true;

  bool reserve(pave::block_count ids) {
    const auto size = static_cast<std::size_t>(ids.value());
    if (size > contents_.size()) contents_.resize(size);
    return true;
  }
  void renew(pave::block_id block) {
    contents_[block.index()].count += 1;
    contents_[block.index()].is_there = true;
  }
  void lose(pave::block_id block) { contents_[block.index()].is_there = false; }
  std::uint32_t generation(pave::block_id block) const {
    const content& last = contents_[block.index()];
    return last.is_there ? static_cast<std::uint32_t>((last.count - 1) % 7 + 1) : 0;
  }

 private:
  struct content {
    std::uint64_t count = 0;  // so many were in this block
    bool is_there = false;
  };
  std::vector<content> contents_;
};

static_assert(!pave::forget::keeps_content);
static_assert(pave::keep::keeps_content);
static_assert(!pave::is_retention_v<int>);

/// The counts of a `keep`: to come to their end by calls would take 2^31 of them. An explicit instantiation may name
/// what is private.
pave::detail::buffer<std::uint32_t>& counts_of(pave::keep& retention);
template <pave::detail::buffer<std::uint32_t> pave::keep::*Counts>
struct opened {
  friend pave::detail::buffer<std::uint32_t>& counts_of(pave::keep& retention) { return retention.*Counts; }
};
template struct opened<&pave::keep::generations_>;

}  // namespace

TEMPLATE_TEST_CASE("contract: retention tells one content of a block from the next, where it keeps any",
                   "[contract][pool]",
                   pave::forget,
                   pave::keep,
                   wipes,
                   tells_seven_apart) {
  pave_tests::check_retention<TestType>();
}

TEST_CASE("keep: a block's contents are counted from 1, each block's on its own", "[pool]") {
  pave::keep retention;
  REQUIRE(retention.reserve(3));
  for (std::uint32_t i = 1; i <= 5; ++i) {
    retention.renew(2);
    CHECK(retention.generation(2) == i);
  }
  CHECK(retention.generation(0) == 0);
  CHECK(retention.generation(1) == 0);
}

TEST_CASE("keep: after 2^31 − 1 contents the count starts anew from 1, and passes over 0", "[pool]") {
  constexpr std::uint32_t most = 0x7fffffffU;
  const bool is_lost_before = GENERATE(false, true);
  pave::keep retention;
  REQUIRE(retention.reserve(2));
  counts_of(retention)[1] = most - 1;
  if (is_lost_before) retention.lose(1);
  retention.renew(1);
  CHECK(retention.generation(1) == most);
  if (is_lost_before) retention.lose(1);
  retention.renew(1);
  CHECK(retention.generation(1) == 1);
  retention.renew(1);
  CHECK(retention.generation(1) == 2);
  CHECK(retention.generation(0) == 0);
}

TEST_CASE("kept_block: equal where block and generation are", "[pool]") {
  const pave::kept_block kept{3, 7};
  CHECK(kept == pave::kept_block{3, 7});
  CHECK(kept != pave::kept_block{3, 8});
  CHECK(kept != pave::kept_block{4, 7});
  CHECK(pave::kept_block{} == pave::kept_block{pave::block_id(), 0});
  CHECK_FALSE(kept == pave::kept_block{4, 7});
  CHECK_FALSE(kept != pave::kept_block{3, 7});
}
