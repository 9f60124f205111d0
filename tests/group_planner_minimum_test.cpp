// SPDX-License-Identifier: Apache-2.0
// group_planner against an exhaustive search: it finds a plan where there is one, and none that could be smaller.
#include "model/random.hpp"
#include "support/catch.hpp"
#include "support/plain_group_view.hpp"
#include "support/plain_view.hpp"

#include <pave/group_planner.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

using pave::errc;
using pave::kv_group;
using pave::victims;
using pave_tests::expect;
using pave_tests::plain_group_candidate;
using pave_tests::plain_group_view;
using pave_tests::plan_over_groups;
using pave_tests::random_source;

constexpr std::int64_t uncut = (std::numeric_limits<std::int64_t>::max)();

using amounts = std::vector<std::int64_t>;  // one a group

/// A group of any of the three kinds.
kv_group random_group(random_source& random) {
  const std::int64_t each = random.between(1, 4);
  switch (random.between(0, 2)) {
    case 0: return {each};
    case 1: return {each, random.between(1, 7)};
    default: return {each, 0, random.one_in(2) ? each : random.between(1, 6)};
  }
}

/// Some positions of a sequence, with what it needs to go on held, and what it has left behind mostly gone or mostly
/// not.
plain_group_view random_view(random_source& random, std::size_t most_candidates) {
  std::vector<kv_group> groups;
  for (std::int64_t left = random.between(1, 3); left > 0; --left) groups.push_back(random_group(random));
  std::vector<plain_group_candidate> all;
  const std::size_t size = 1 + random.index(most_candidates);
  for (std::size_t i = 0; i < size; ++i) {
    plain_group_candidate one;
    one.name = static_cast<std::int32_t>(100 + i);
    one.rank = static_cast<std::int64_t>(i);
    one.parked = random.one_in(3);
    one.tokens = random.between(0, 12);
    const std::int64_t kept_of_ten = random.between(0, 10);
    const std::int64_t shared_in = random.one_in(2) ? 3 : 12;
    for (const kv_group& group : groups) {
      std::string shape;
      const pave::block_range needed = group.needed(one.tokens);
      for (std::int64_t at = 0; at < needed.last.value(); ++at) {
        const bool is_held = at >= needed.first.value() || random.between(1, 10) <= kept_of_ten;
        shape += !is_held ? '.' : random.one_in(shared_in) ? 's' : '1';
      }
      while (random.one_in(3)) shape += '1';  // blocks for tokens to come
      one.shapes.push_back(shape);
    }
    all.push_back(one);
  }
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random.index(i)]);
  return {groups, all};
}

bool is_read(const kv_group& group, std::int64_t position, std::int64_t at) {
  if (at < 0 || at >= position) return false;
  if (group.window > 0) return at >= position - group.window.value();
  return group.checkpoint == 0 || at == position - 1;
}

/// Whether every token, or state, is held that is read to go on at a position.
bool has_what_it_needs(const std::string& shape, const kv_group& group, std::int64_t position) {
  for (std::int64_t at = 0; at < position; ++at) {
    if (!is_read(group, position, at)) continue;
    const auto block = static_cast<std::size_t>(at / group.tokens_per_block.value());
    if (block >= shape.size() || shape[block] == '.') return false;
  }
  return true;
}

bool can_go_on(const plain_group_view& view, std::size_t i, std::int64_t kept) {
  if (kept >= view.tokens(i).value()) return true;
  for (std::size_t g = 0; g < view.groups(); ++g) {
    const kv_group group = view.group(g);
    if (group.checkpoint > 0 && kept % group.checkpoint.value() != 0) return false;
    if (!has_what_it_needs(view.all()[i].shapes[g], group, kept)) return false;
  }
  return true;
}

/// What a sequence gives that keeps so many tokens, block by block.
struct option {
  std::int64_t kept = uncut;
  amounts taken;        // by the cut
  amounts left_behind;  // if that is taken, too
};
option option_at(const plain_group_view& view, std::size_t i, std::int64_t kept) {
  option made{kept, amounts(view.groups()), amounts(view.groups())};
  const std::int64_t position = (std::min)(kept, view.tokens(i).value());
  for (std::size_t g = 0; g < view.groups(); ++g) {
    const kv_group group = view.group(g);
    const std::int64_t each = group.tokens_per_block.value();
    const std::string& shape = view.all()[i].shapes[g];
    for (std::int64_t block = 0; block < static_cast<std::int64_t>(shape.size()); ++block) {
      if (shape[static_cast<std::size_t>(block)] != '1') continue;
      bool is_needed = false;
      bool is_before = true;
      for (std::int64_t at = block * each; at < (block + 1) * each; ++at) {
        is_needed = is_needed || is_read(group, position, at);
        is_before = is_before && at < position;
      }
      if (block * each >= kept) {
        made.taken[g] += 1;
      } else if (is_before && !is_needed) {
        made.left_behind[g] += 1;
      }
    }
  }
  return made;
}

/// All there are, the latest first: not cut, then position after position.
std::vector<option> options_of(const plain_group_view& view, std::size_t i) {
  std::vector<option> all{option_at(view, i, uncut)};
  for (std::int64_t kept = 80; kept >= 0; --kept) {
    if (!can_go_on(view, i, kept)) continue;
    all.push_back(option_at(view, i, kept));
    const std::size_t last = all.size() - 1;  // one that takes what the one before does is the same cut, but earlier
    if (last > 0 && all[last].taken == all[last - 1].taken && all[last].left_behind == all[last - 1].left_behind) {
      all.pop_back();
    }
  }
  return all;
}

struct search {
  std::vector<std::size_t> asked;            // candidates
  std::vector<std::vector<option>> options;  // of each of them
  amounts shortage;

  /// Whether there is any way, with the options from `next` on, to give at least what is `missing`.
  [[nodiscard]] bool is_possible(std::size_t next, const amounts& missing) const {
    const bool is_met = std::all_of(missing.begin(), missing.end(), [](std::int64_t each) { return each <= 0; });
    if (next == options.size()) return is_met;
    for (const option& each : options[next]) {
      amounts then = missing;
      for (std::size_t g = 0; g < then.size(); ++g) then[g] -= each.taken[g] + each.left_behind[g];
      if (is_possible(next + 1, then)) return true;
    }
    return false;
  }
  /// The same with one option for each.
  [[nodiscard]] bool is_met_by(const std::vector<option>& chosen) const {
    amounts sum(shortage.size());
    for (const option& each : chosen) {
      for (std::size_t g = 0; g < sum.size(); ++g) sum[g] += each.taken[g] + each.left_behind[g];
    }
    for (std::size_t g = 0; g < sum.size(); ++g) {
      if (sum[g] < shortage[g]) return false;
    }
    return true;
  }
};

/// Carries a plan out, and looks at what is left.
void check_blocks(const plain_group_view& view,
                  const amounts& shortage,
                  const pave_tests::planned_groups<std::int32_t>& found) {
  std::vector<plain_group_candidate> after = view.all();
  std::vector<std::int64_t> kept(view.size(), uncut);
  amounts freed(view.groups());
  amounts given_up(view.groups());
  const auto number = [&](std::int32_t name) {
    std::size_t i = 0;
    while (view.key(i) != name) ++i;
    return i;
  };
  const auto give_up = [&](std::size_t i, std::size_t g, std::size_t block) {
    char& each = after[i].shapes[g].at(block);
    if (each != '.') (each == '1' ? freed : given_up)[g] += 1;
    each = '.';
  };
  for (const auto& cut : found.cuts) {
    const std::size_t i = number(cut.sequence);
    expect(kept[i] == uncut, "one cut a victim");
    kept[i] = cut.kept.value();
    expect(cut.was_parked == view.parked(i), "it says who waited");
    for (std::size_t g = 0; g < view.groups(); ++g) {
      for (std::size_t block = 0; block < after[i].shapes[g].size(); ++block) {
        const std::int64_t first = static_cast<std::int64_t>(block) * view.group(g).tokens_per_block.value();
        if (first >= kept[i]) give_up(i, g, block);
      }
    }
  }
  const amounts by_cuts = freed;
  for (const auto& each : found.left_behind) {
    const std::int64_t before = freed[each.group];
    for (std::int64_t block = each.blocks.first.value(); block < each.blocks.last.value(); ++block) {
      give_up(number(each.sequence), each.group, static_cast<std::size_t>(block));
    }
    expect(each.freed == freed[each.group] - before, "what is left behind frees what it says");
    expect(each.freed > 0, "and frees something");
  }
  for (std::size_t i = 0; i < view.size(); ++i) {
    const std::int64_t position = (std::min)(kept[i], view.tokens(i).value());
    for (std::size_t g = 0; g < view.groups(); ++g) {
      expect(has_what_it_needs(after[i].shapes[g], view.group(g), position), "everybody has what it needs to go on");
    }
  }
  for (std::size_t g = 0; g < view.groups(); ++g) {
    expect(found.groups[g].demand == shortage[g], "the demand of each group is its shortage");
    expect(found.groups[g].freed == freed[g], "as many blocks come free as it says");
    expect(found.groups[g].given_up == given_up[g], "as many references go without gain as it says");
    expect(freed[g] >= shortage[g], "each group has enough");
    expect(freed[g] == (std::max)(by_cuts[g], shortage[g]) || freed[g] == by_cuts[g],
           "of what is left behind goes what is missing");
  }
}

void check_minimum(const plain_group_view& view,
                   std::int64_t requester,
                   const amounts& shortage,
                   victims from,
                   const pave_tests::planned_groups<std::int32_t>& found) {
  search all;
  search parked;
  all.shortage = parked.shortage = shortage;
  for (std::size_t i = 0; i < view.size(); ++i) {
    all.asked.push_back(i);
    all.options.push_back(options_of(view, i));
    const bool may_be_cut = view.rank(i) > requester && (from == victims::parked_then_running || view.parked(i));
    if (!may_be_cut) all.options.back().resize(1);
    parked.options.push_back(view.parked(i) ? all.options.back() : std::vector<option>{all.options.back().front()});
  }
  expect(all.is_possible(0, shortage) == (found.error.code == errc::ok), "a plan where there is one");
  if (found.error.code != errc::ok) {
    expect(found.error.code == errc::shortage, "a shortage");
    amounts most(shortage.size());
    for (const auto& options : all.options) {
      for (std::size_t g = 0; g < most.size(); ++g) most[g] += options.back().taken[g] + options.back().left_behind[g];
    }
    std::int64_t first_missing = 0;
    for (std::size_t g = 0; g < most.size(); ++g) {
      expect(found.groups[g].demand == shortage[g], "what each group was to have");
      expect(found.groups[g].freed == (std::min)(most[g], shortage[g]), "and what it could have");
      if (first_missing == 0) first_missing = (std::max)(std::int64_t{0}, shortage[g] - most[g]);
    }
    expect(found.error.missing == first_missing, "and what is missing in the first that lacks blocks");
    return;
  }

  // What was chosen of the options.
  std::vector<option> chosen;
  bool is_running_cut = false;
  std::size_t cuts = 0;
  for (std::size_t k = 0; k < all.asked.size(); ++k) {
    chosen.push_back(all.options[k].front());
    for (const auto& cut : found.cuts) {
      if (cut.sequence != view.key(all.asked[k])) continue;
      const auto same = [&](const option& each) { return each.kept == cut.kept.value(); };
      const auto at = std::find_if(all.options[k].begin(), all.options[k].end(), same);
      expect(at != all.options[k].end(), "a cut is where every group can go on, and as late as it takes the same");
      chosen.back() = *at;
      is_running_cut = is_running_cut || !cut.was_parked;
      ++cuts;
    }
  }
  expect(cuts == found.cuts.size(), "only those that may be cut are cut");
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    for (const option& later : all.options[k]) {
      if (later.kept <= chosen[k].kept) break;
      std::vector<option> other = chosen;
      other[k] = later;
      expect(!all.is_met_by(other), "no cut could be later, or left out");
      if (view.parked(all.asked[k])) continue;
      for (std::size_t p = 0; p < other.size(); ++p) {
        if (view.parked(all.asked[p])) other[p] = all.options[p].back();
      }
      expect(!all.is_met_by(other), "no running one could be cut later with all that the parked ones have");
    }
  }
  if (is_running_cut) expect(!parked.is_possible(0, shortage), "parked ones alone would not do");
}

/// Rows of block tables for each group, from a plain view.
struct tables {
  explicit tables(const plain_group_view& view, random_source& random) {
    const std::size_t stride = 40;
    for (std::size_t i = 0; i < view.size(); ++i) {
      rows.push_back({{view.rank(i), i}, static_cast<std::int32_t>(view.tokens(i).value()), view.parked(i)});
    }
    const bool says_where_rows_begin = random.one_in(2);
    ids.resize(view.groups());
    holders.resize(view.groups());
    begins.resize(view.groups());
    ends.resize(view.groups());
    for (std::size_t g = 0; g < view.groups(); ++g) {
      ids[g].assign(view.size() * stride, -1);
      for (std::size_t i = 0; i < view.size(); ++i) {
        const std::string& shape = view.all()[i].shapes[g];
        for (std::size_t at = 0; at < shape.size(); ++at) {
          if (shape[at] == '.') continue;
          ids[g][i * stride + at] = static_cast<std::int32_t>(holders[g].size());
          holders[g].push_back(shape[at] == '1' ? 1U : static_cast<std::uint32_t>(random.between(2, 4)));
        }
        if (says_where_rows_begin) begins[g].push_back(static_cast<std::int32_t>(view.blocks(i, g).first.value()));
        ends[g].push_back(static_cast<std::int32_t>(shape.size()));
      }
      groups.push_back({view.group(g), ids[g].data(), stride, ends[g], holders[g], begins[g]});
    }
  }
  tables(const tables&) = delete;
  tables& operator=(const tables&) = delete;
  [[nodiscard]] pave::group_table_candidates<> view() const { return {rows, groups}; }

  std::vector<pave::group_table_candidates<>::row> rows;
  std::vector<std::vector<std::int32_t>> ids, begins, ends;
  std::vector<std::vector<std::uint32_t>> holders;
  std::vector<pave::group_table> groups;
};

void check_same_over_tables(const plain_group_view& view,
                            const tables& of,
                            std::int64_t requester,
                            const std::vector<pave::block_count>& shortage,
                            victims from,
                            const pave_tests::planned_groups<std::int32_t>& found) {
  // A row's own number is its arrival; the requester's comes after them all, so that its equals are not asked.
  const auto same = plan_over_groups(of.view(), pave::rank{requester, view.size()}, shortage, from);
  expect(same.error.code == found.error.code && same.error.missing == found.error.missing, "tables: the same answer");
  expect(same.cuts.size() == found.cuts.size(), "tables: as many cuts");
  for (std::size_t c = 0; c < same.cuts.size(); ++c) {
    expect(view.key(same.cuts[c].sequence) == found.cuts[c].sequence && same.cuts[c].kept == found.cuts[c].kept &&
               same.cuts[c].was_parked == found.cuts[c].was_parked,
           "tables: the same cuts");
  }
  expect(same.left_behind.size() == found.left_behind.size(), "tables: as much is taken that was left behind");
  for (std::size_t c = 0; c < same.left_behind.size(); ++c) {
    const auto& one = same.left_behind[c];
    const auto& other = found.left_behind[c];
    expect(view.key(one.sequence) == other.sequence && one.group == other.group && one.blocks == other.blocks &&
               one.freed == other.freed,
           "tables: the same of it");
  }
}

}  // namespace

TEST_CASE("group_planner: it finds a plan where an exhaustive search does, and none of its cuts could be later",
          "[planner][random]") {
  pave_tests::for_each_seed(6000, [](std::uint64_t seed) {
    random_source random(seed);
    const plain_group_view view = random_view(random, 4);
    const tables of(view, random);
    for (int round = 0; round < 6; ++round) {
      const std::int64_t requester = random.between(-1, 1);
      const victims from = random.one_in(4) ? victims::parked_only : victims::parked_then_running;
      amounts shortage;
      for (std::size_t g = 0; g < view.groups(); ++g) shortage.push_back(random.one_in(4) ? 0 : random.between(0, 9));
      const std::vector<pave::block_count> counts(shortage.begin(), shortage.end());
      const auto found = plan_over_groups(view, requester, counts, from);
      if (found) check_blocks(view, shortage, found);
      check_minimum(view, requester, shortage, from, found);
      check_same_over_tables(view, of, requester, counts, from, found);
    }
  });
}

TEST_CASE("group_planner: over one full-attention group it plans as an eviction_planner does", "[planner][random]") {
  pave_tests::for_each_seed(3000, [](std::uint64_t seed) {
    random_source random(seed);
    const std::int64_t each = random.between(1, 4);
    std::vector<plain_group_candidate> candidates;
    std::vector<pave_tests::plain_candidate> same;
    const std::int64_t size = random.between(1, 7);
    for (std::int64_t i = 0; i < size; ++i) {
      std::string shape;
      for (std::int64_t blocks = random.between(0, 6); blocks > 0; --blocks) shape += random.one_in(3) ? 's' : '1';
      const auto name = static_cast<std::int32_t>(i);
      const std::int64_t tokens = random.between(0, static_cast<std::int64_t>(shape.size()) * each);
      candidates.push_back({name, (i * 5) % 7, tokens, {shape}, random.one_in(3)});
      same.push_back(pave_tests::candidate(name, (i * 5) % 7, shape, candidates.back().parked));
    }
    const plain_group_view view({kv_group{each}}, candidates);
    const pave_tests::plain_view one_group(same);
    const std::int64_t requester = random.between(-1, 4);
    const victims from = random.one_in(3) ? victims::parked_only : victims::parked_then_running;
    for (std::int64_t shortage = 0; shortage < 20; ++shortage) {
      std::vector<pave_tests::plain_cut> room(one_group.size());
      std::vector<std::uint32_t> scratch(one_group.size());
      pave_tests::plain_cut_list cuts(room);
      const auto plan = pave::eviction_planner<>()(one_group, requester, shortage, from, cuts, scratch);
      const auto found = plan_over_groups(view, requester, {shortage}, from);
      expect(plan.code() == found.error.code, "the same answer");
      expect(plan.error().missing == found.error.missing, "the same is missing");
      expect(found.left_behind.empty(), "nothing is left behind");
      expect(cuts.used().size() == found.cuts.size(), "as many cuts");
      for (std::size_t c = 0; c < found.cuts.size(); ++c) {
        expect(found.cuts[c].sequence == cuts.used()[c].sequence, "the same victim");
        expect(found.cuts[c].was_parked == cuts.used()[c].was_parked, "in the same state");
        expect(found.cuts[c].kept == cuts.used()[c].blocks.first.value() * each, "cut at the same block");
      }
      if (!plan) continue;
      expect(found.groups[0].freed == plan->freed, "as many come free");
      expect(found.groups[0].given_up == plan->given_up, "as many go without gain");
    }
  });
}
