// SPDX-License-Identifier: Apache-2.0
// group_planner over tables that share blocks, against an exhaustive search: a block that several let go counts once.
#include "model/random.hpp"
#include "support/catch.hpp"
#include "support/plain_group_view.hpp"

#include <pave/group_candidates.hpp>
#include <pave/group_planner.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using pave::errc;
using pave::kv_group;
using pave::victims;
using pave_tests::expect;
using pave_tests::plan_over_groups;
using pave_tests::random_source;

constexpr std::int64_t uncut = (std::numeric_limits<std::int64_t>::max)();
constexpr std::size_t stride = 16;

using amounts = std::vector<std::int64_t>;  // one a group

struct tables {
  std::vector<pave::group_table_candidates<>::row> rows;
  std::vector<std::vector<std::int32_t>> ids, ends;
  std::vector<std::vector<std::uint32_t>> holders, let_go;
  std::vector<pave::group_table> groups;

  [[nodiscard]] pave::group_table_candidates<> view() const { return {rows, groups}; }
  [[nodiscard]] std::int32_t id(std::size_t g, std::size_t row, std::int64_t block) const {
    return ids[g][row * stride + static_cast<std::size_t>(block)];
  }
};

/// Rows begin with what others begin with, by some blocks or by all.
void fill(tables& of, random_source& random) {
  const std::size_t size = 1 + random.index(3);
  for (std::size_t i = 0; i < size; ++i) {
    of.rows.push_back(
        {{static_cast<std::int64_t>(i), i}, static_cast<std::int32_t>(random.between(0, 10)), random.one_in(3)});
  }
  std::vector<kv_group> kinds;
  for (std::int64_t left = random.between(1, 2); left > 0; --left) {
    const std::int64_t each = random.between(1, 4);
    const std::int64_t kind = random.between(0, 2);
    kinds.push_back({each, kind == 1 ? random.between(1, 6) : 0, kind == 2 ? each * random.between(1, 2) : 0});
  }
  of.ids.resize(kinds.size());
  of.ends.resize(kinds.size());
  of.holders.resize(kinds.size());
  of.let_go.resize(kinds.size());
  for (std::size_t g = 0; g < kinds.size(); ++g) {
    of.ids[g].assign(size * stride, -1);
    const std::int64_t shared_of_ten = random.between(0, 10);
    for (std::size_t i = 0; i < size; ++i) {
      const pave::block_range needed = kinds[g].needed(of.rows[i].tokens);
      std::int64_t end = needed.last.value();
      const std::size_t like = random.index(size);
      for (std::int64_t at = 0; at < end; ++at) {
        std::int32_t& id = of.ids[g][i * stride + static_cast<std::size_t>(at)];
        if (at < needed.first.value() && random.one_in(3)) continue;
        const std::int32_t other = like < i ? of.id(g, like, at) : -1;
        if (other >= 0 && random.between(1, 10) <= shared_of_ten) {
          id = other;
          of.holders[g][static_cast<std::size_t>(other)] += 1;
        } else {
          id = static_cast<std::int32_t>(of.holders[g].size());
          of.holders[g].push_back(random.one_in(12) ? 2 : 1);  // a cache of the engine holds some, too
        }
      }
      if (random.one_in(4) && end < static_cast<std::int64_t>(stride)) {  // a block for tokens to come
        of.ids[g][i * stride + static_cast<std::size_t>(end)] = static_cast<std::int32_t>(of.holders[g].size());
        of.holders[g].push_back(1);
        end += 1;
      }
      of.ends[g].push_back(static_cast<std::int32_t>(end));
    }
    of.let_go[g].assign(of.holders[g].size() + 1, 0);
  }
  for (std::size_t g = 0; g < kinds.size(); ++g) {
    of.groups.push_back({kinds[g], of.ids[g].data(), stride, of.ends[g], of.holders[g], {}, of.let_go[g]});
  }
}

/// Which blocks of a row are read to go on at a position.
bool needs(const kv_group& group, std::int64_t position, std::int64_t block) {
  const pave::block_range needed = group.needed(position);
  return block >= needed.first.value() && block < needed.last.value();
}
bool can_go_on(const tables& of, std::size_t row, std::int64_t kept) {
  if (kept >= of.rows[row].tokens) return true;
  for (std::size_t g = 0; g < of.groups.size(); ++g) {
    if (!of.groups[g].group.is_resumable(kept)) return false;
    for (std::int64_t at = 0; at < static_cast<std::int64_t>(stride); ++at) {
      const bool is_held = at < of.ends[g][row] && of.id(g, row, at) >= 0;
      if (needs(of.groups[g].group, kept, at) && !is_held) return false;
    }
  }
  return true;
}

/// What comes free of each group where rows keep so many tokens, and give all that they have then left behind.
amounts freed_by(const tables& of, const std::vector<std::int64_t>& kept) {
  amounts freed;
  for (std::size_t g = 0; g < of.groups.size(); ++g) {
    const kv_group group = of.groups[g].group;
    std::vector<std::uint32_t> left = of.holders[g];
    std::int64_t count = 0;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const std::int64_t position = (std::min<std::int64_t>)(kept[i], of.rows[i].tokens);
      for (std::int64_t at = 0; at < of.ends[g][i]; ++at) {
        const bool is_cut = kept[i] != uncut && at * group.tokens_per_block.value() >= kept[i];
        const bool is_behind = at < group.needed(position).first.value();
        if (of.id(g, i, at) < 0 || (!is_cut && !is_behind)) continue;
        if (--left[static_cast<std::size_t>(of.id(g, i, at))] == 0) count += 1;
      }
    }
    freed.push_back(count);
  }
  return freed;
}
bool is_enough(const amounts& freed, const amounts& shortage) {
  for (std::size_t g = 0; g < freed.size(); ++g) {
    if (freed[g] < shortage[g]) return false;
  }
  return true;
}

std::vector<std::int64_t> options_of(const tables& of, std::size_t row, bool may_be_cut) {
  std::vector<std::int64_t> all{uncut};
  for (std::int64_t kept = 70; may_be_cut && kept >= 0; --kept) {
    if (can_go_on(of, row, kept)) all.push_back(kept);
  }
  return all;
}

/// Gives back blocks as the plan says, and counts.
void check_blocks(const tables& of, const amounts& shortage, const pave_tests::planned_groups<std::size_t>& found) {
  std::vector<std::vector<std::int32_t>> after = of.ids;
  std::vector<std::vector<std::uint32_t>> left = of.holders;
  amounts freed(of.groups.size());
  amounts given_up(of.groups.size());
  const auto give_up = [&](std::size_t g, std::size_t row, std::int64_t block) {
    std::int32_t& id = after[g][row * stride + static_cast<std::size_t>(block)];
    if (id < 0) return;
    (--left[g][static_cast<std::size_t>(id)] == 0 ? freed : given_up)[g] += 1;
    id = -1;
  };
  for (const auto& cut : found.cuts) {
    for (std::size_t g = 0; g < of.groups.size(); ++g) {
      for (std::int64_t at = 0; at < of.ends[g][cut.sequence]; ++at) {
        if (at * of.groups[g].group.tokens_per_block.value() >= cut.kept.value()) give_up(g, cut.sequence, at);
      }
    }
  }
  const amounts by_cuts = freed;
  for (const auto& each : found.left_behind) {
    for (auto at = each.blocks.first; at < each.blocks.last; at += 1) give_up(each.group, each.sequence, at.value());
  }
  for (std::size_t i = 0; i < of.rows.size(); ++i) {
    std::int64_t position = of.rows[i].tokens;
    for (const auto& cut : found.cuts) {
      if (cut.sequence == i) position = (std::min)(position, cut.kept.value());
    }
    for (std::size_t g = 0; g < of.groups.size(); ++g) {
      for (std::int64_t at = 0; at < of.ends[g][i]; ++at) {
        const std::int32_t id = after[g][i * stride + static_cast<std::size_t>(at)];
        expect(id >= 0 || !needs(of.groups[g].group, position, at), "everybody has what it needs to go on");
      }
    }
  }
  for (std::size_t g = 0; g < of.groups.size(); ++g) {
    expect(found.groups[g].freed == freed[g], "as many blocks come free as it says");
    expect(found.groups[g].given_up == given_up[g], "as many references go without gain as it says");
    expect(freed[g] >= shortage[g], "each group has enough");
  }
}

}  // namespace

TEST_CASE("group_planner: over shared blocks it finds a plan where an exhaustive search does, as late as can be",
          "[planner][random]") {
  std::int64_t shared_plans = 0;
  pave_tests::for_each_seed(20000, [&](std::uint64_t seed) {
    random_source random(seed);
    tables of;
    fill(of, random);
    const std::int64_t requester = random.between(-1, 1);
    const victims from = random.one_in(4) ? victims::parked_only : victims::parked_then_running;
    amounts shortage;
    for (std::size_t g = 0; g < of.groups.size(); ++g) shortage.push_back(random.between(0, 8));
    const auto found =
        plan_over_groups(of.view(), pave::rank{requester, of.rows.size()}, {shortage.begin(), shortage.end()}, from);
    for (const auto& counts : of.let_go) {
      expect(std::all_of(counts.begin(), counts.end(), [](std::uint32_t n) { return n == 0; }), "no count stays");
    }

    std::vector<std::vector<std::int64_t>> options;
    std::vector<std::int64_t> whole;
    for (std::size_t i = 0; i < of.rows.size(); ++i) {
      const bool may_be_cut =
          of.rows[i].rank.value > requester && (from == victims::parked_then_running || of.rows[i].parked);
      options.push_back(options_of(of, i, may_be_cut));
      whole.push_back(options.back().back());
    }
    // Whole, everybody gives the most: so there is a plan just where that is enough.
    const amounts most = freed_by(of, whole);
    expect(is_enough(most, shortage) == (found.error.code == errc::ok), "a plan where there is one");
    if (!found) {
      expect(found.error.code == errc::shortage, "a shortage");
      for (std::size_t g = 0; g < most.size(); ++g) {
        expect(found.groups[g].freed == (std::min)(most[g], shortage[g]), "what each group could have");
      }
      return;
    }
    check_blocks(of, shortage, found);
    std::vector<std::int64_t> kept(of.rows.size(), uncut);
    for (const auto& cut : found.cuts) {
      const auto& all = options[cut.sequence];
      expect(std::find(all.begin(), all.end(), cut.kept.value()) != all.end(), "a cut is where all groups can go on");
      kept[cut.sequence] = cut.kept.value();
    }
    expect(is_enough(freed_by(of, kept), shortage), "the cuts are early enough");
    for (std::size_t i = 0; i < kept.size(); ++i) {
      for (const std::int64_t later : options[i]) {
        if (later <= kept[i]) break;
        std::vector<std::int64_t> other = kept;
        other[i] = later;
        const bool takes_as_much = freed_by(of, other) == freed_by(of, kept);  // the same cut, named otherwise
        expect(takes_as_much || !is_enough(freed_by(of, other), shortage), "no cut could be later, or left out");
      }
    }
    for (std::size_t g = 0; g < of.groups.size(); ++g) {
      if (found.groups[g].given_up > 0 && found.groups[g].freed > 0) ++shared_plans;
    }
  });
  CHECK(shared_plans > 0);
}

TEST_CASE("group_planner: a block that all its holders let go counts once", "[planner]") {
  const std::vector<pave::group_table_candidates<>::row> rows{{{1, 1}, 4}, {{2, 2}, 4}};
  const std::vector<std::int32_t> ids{0, 1, 0, 1};
  const std::vector<std::int32_t> ends{2, 2};
  const std::vector<std::uint32_t> holders{2, 2};
  std::vector<std::uint32_t> let_go(2);
  const auto plan = [&](std::int64_t requester, std::int64_t shortage, pave::span<std::uint32_t> room) {
    const std::vector<pave::group_table> groups{{{2}, ids.data(), 2, ends, holders, {}, room}};
    return plan_over_groups(pave::group_table_candidates<>(rows, groups), pave::rank{requester, 9}, {shortage});
  };
  const auto found = plan(0, 1, let_go);
  REQUIRE(found.cuts.size() == 2);
  CHECK(found.cuts[0].kept == 2);
  CHECK(found.cuts[1].kept == 2);
  CHECK(found.groups[0].freed == 1);
  CHECK(found.groups[0].given_up == 1);
  CHECK(plan(0, 2, let_go).groups[0].freed == 2);
  CHECK(plan(0, 3, let_go).error.missing == 1);
  CHECK(plan(1, 1, let_go).error.code == errc::shortage);  // one of them is not less important
  CHECK(plan(0, 1, {}).error.code == errc::shortage);      // without room they count for nobody
}
