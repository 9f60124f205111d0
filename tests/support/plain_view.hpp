// SPDX-License-Identifier: Apache-2.0
// Candidates as plainly as can be: each block says itself whether it would come free.
#ifndef PAVE_TESTS_SUPPORT_PLAIN_VIEW_HPP
#define PAVE_TESTS_SUPPORT_PLAIN_VIEW_HPP

#include <pave/candidates.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pave_tests {

struct plain_candidate {
  std::int32_t name = 0;
  std::int64_t rank = 0;
  bool parked = false;
  std::vector<bool> comes_free;  // one a logical block
};

/// `shape` has a character a block: '1' comes free, 's' is shared.
inline plain_candidate candidate(std::int32_t name, std::int64_t rank, const std::string& shape, bool parked = false) {
  plain_candidate made{name, rank, parked, {}};
  for (const char block : shape) made.comes_free.push_back(block == '1');
  return made;
}
inline plain_candidate parked_candidate(std::int32_t name, std::int64_t rank, const std::string& shape) {
  return candidate(name, rank, shape, true);
}

class plain_view {
 public:
  explicit plain_view(std::vector<plain_candidate> candidates) : candidates_(std::move(candidates)) {}

  std::size_t size() const { return candidates_.size(); }
  std::int32_t key(std::size_t i) const { return candidates_[i].name; }
  std::int64_t rank(std::size_t i) const { return candidates_[i].rank; }
  bool parked(std::size_t i) const { return candidates_[i].parked; }
  pave::block_count blocks(std::size_t i) const { return candidates_[i].comes_free.size(); }
  pave::block_count reclaimable(std::size_t i, pave::block_count first, pave::block_count last) const {
    pave::block_count count = 0;
    for (std::int64_t at = first.value(); at < last.value(); ++at) {
      if (candidates_[i].comes_free.at(static_cast<std::size_t>(at))) count += 1;
    }
    return count;
  }

  std::int64_t slack(std::size_t i) const { return candidates_[i].name % 3; }

  const std::vector<plain_candidate>& all() const { return candidates_; }

 private:
  std::vector<plain_candidate> candidates_;
};
static_assert(pave::is_candidate_view_v<plain_view>);

using plain_cut = pave::basic_cut<std::int32_t>;
using plain_cut_list = pave::basic_cut_list<std::int32_t>;

}  // namespace pave_tests

#endif  // PAVE_TESTS_SUPPORT_PLAIN_VIEW_HPP
