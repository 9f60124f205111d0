// SPDX-License-Identifier: Apache-2.0
// Candidates whose blocks have a price: each says how many tokens it has, and which of its blocks would come free.
#ifndef PAVE_TESTS_SUPPORT_PRICED_VIEW_HPP
#define PAVE_TESTS_SUPPORT_PRICED_VIEW_HPP

#include "support/plain_view.hpp"

#include <pave/candidates.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pave_tests {

class priced_view : public plain_view {
 public:
  priced_view(std::vector<plain_candidate> candidates, std::vector<std::int64_t> tokens, std::int64_t tokens_per_block)
      : plain_view(std::move(candidates)), tokens_(std::move(tokens)), tokens_per_block_(tokens_per_block) {}

  pave::token_count tokens_per_block() const { return tokens_per_block_; }
  pave::token_count tokens(std::size_t i) const { return tokens_[i]; }

 private:
  std::vector<std::int64_t> tokens_;
  std::int64_t tokens_per_block_;
};
static_assert(pave::is_candidate_view_v<priced_view>);

}  // namespace pave_tests

#endif  // PAVE_TESTS_SUPPORT_PRICED_VIEW_HPP
