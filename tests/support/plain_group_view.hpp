// SPDX-License-Identifier: Apache-2.0
// Candidates over several KV groups as plainly as can be: each block says itself whether it is there, and comes free.
#ifndef PAVE_TESTS_SUPPORT_PLAIN_GROUP_VIEW_HPP
#define PAVE_TESTS_SUPPORT_PLAIN_GROUP_VIEW_HPP

#include <pave/group_candidates.hpp>
#include <pave/group_planner.hpp>
#include <pave/groups.hpp>
#include <pave/planner.hpp>
#include <pave/result.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace pave_tests {

/// A shape has a character a logical block: '1' comes free, 's' is shared, '.' is not held.
struct plain_group_candidate {
  std::int32_t name = 0;
  std::int64_t rank = 0;
  std::int64_t tokens = 0;
  std::vector<std::string> shapes;  // one a group
  bool parked = false;
};

class plain_group_view {
 public:
  plain_group_view(std::vector<pave::kv_group> groups, std::vector<plain_group_candidate> candidates)
      : groups_(std::move(groups)), candidates_(std::move(candidates)) {}

  std::size_t size() const { return candidates_.size(); }
  std::int32_t key(std::size_t i) const { return candidates_[i].name; }
  std::int64_t rank(std::size_t i) const { return candidates_[i].rank; }
  bool parked(std::size_t i) const { return candidates_[i].parked; }
  pave::token_count tokens(std::size_t i) const { return candidates_[i].tokens; }
  std::size_t groups() const { return groups_.size(); }
  pave::kv_group group(std::size_t g) const { return groups_[g]; }
  pave::block_range blocks(std::size_t i, std::size_t g) const {
    const std::string& shape = candidates_[i].shapes[g];
    const std::size_t first = shape.find_first_not_of('.');
    return {first == std::string::npos ? shape.size() : first, shape.size()};
  }
  pave::block_count held(std::size_t i, std::size_t g, pave::block_count first, pave::block_count last) const {
    return count(i, g, first, last, "1s");
  }
  pave::block_count reclaimable(std::size_t i, std::size_t g, pave::block_count first, pave::block_count last) const {
    return count(i, g, first, last, "1");
  }

  std::int64_t slack(std::size_t i) const { return candidates_[i].name % 3; }

  const std::vector<plain_group_candidate>& all() const { return candidates_; }

 private:
  pave::block_count count(
      std::size_t i, std::size_t g, pave::block_count first, pave::block_count last, const std::string& kinds) const {
    pave::block_count sum = 0;
    for (std::int64_t at = first.value(); at < last.value(); ++at) {
      if (kinds.find(candidates_[i].shapes[g].at(static_cast<std::size_t>(at))) != std::string::npos) sum += 1;
    }
    return sum;
  }

  std::vector<pave::kv_group> groups_;
  std::vector<plain_group_candidate> candidates_;
};
static_assert(pave::is_group_candidate_view_v<plain_group_view>);

/// A plan over groups, in buffers of its own.
template <class Key>
struct planned_groups {
  pave::error error;
  std::vector<pave::basic_group_cut<Key>> cuts;
  std::vector<pave::basic_blocks_left_behind<Key>> left_behind;
  std::vector<pave::plan> groups;

  explicit operator bool() const { return error.code == pave::errc::ok; }
};

template <class Policies = pave::group_planner_policies, class View, class Rank>
auto plan_over_groups(const View& view,
                      const Rank& requester,
                      const std::vector<pave::block_count>& shortage,
                      pave::victims from = pave::victims::parked_then_running) {
  using key = std::decay_t<decltype(view.key(0))>;
  std::vector<pave::basic_group_cut<key>> cuts(view.size());
  std::vector<pave::basic_blocks_left_behind<key>> left_behind(view.size() * view.groups());
  std::vector<pave::group_victim> scratch(view.size());
  planned_groups<key> planned;
  planned.groups.resize(view.groups());
  const auto answer = pave::group_planner<Policies>()(
      view, requester, shortage, from, pave::basic_group_plan_room<key>{cuts, left_behind, planned.groups, scratch});
  planned.error = answer.error();
  if (!answer) return planned;
  planned.cuts.assign(answer->cuts.begin(), answer->cuts.end());
  planned.left_behind.assign(answer->left_behind.begin(), answer->left_behind.end());
  return planned;
}

}  // namespace pave_tests

#endif  // PAVE_TESTS_SUPPORT_PLAIN_GROUP_VIEW_HPP
