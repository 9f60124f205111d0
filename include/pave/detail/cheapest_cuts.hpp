// SPDX-License-Identifier: Apache-2.0
// How many blocks each of some victims gives, so that together they give just what is wanted, and their restores cost
// the least.
#ifndef PAVE_DETAIL_CHEAPEST_CUTS_HPP
#define PAVE_DETAIL_CHEAPEST_CUTS_HPP

#include <pave/span.hpp>
#include <pave/units.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace pave {
inline namespace v0 {
namespace detail {

/// A knapsack that has to be filled exactly: minimize Σ cost(v, k_v) over Σ k_v = wanted. What k blocks of one
/// candidate cost is neither convex nor concave: a fixed part, a partly filled last block that is cheap, and a slope
/// that falls towards the front of a sequence. Dynamic programming over the blocks finds the optimum where that takes
/// up to `most_steps` steps: for 64 blocks from 32 candidates, or 250 blocks from a few. Beyond it works on the
/// candidates with the least cost a block, and in coarser units, and then shifts blocks between victims while that
/// helps.
/// @cite S. Martello, P. Toth: Knapsack Problems (1990), chapter 2 on the recursion, and 2.9 on a core of candidates
/// @tparam First (a, b): whether candidate a comes first among equals
/// @tparam Most (v): blocks that candidate v can give, but no more than are wanted
/// @tparam CostOf (v, blocks): what it costs to take so many from candidate v
template <class First, class Most, class CostOf>
class cheapest_cuts {
 public:
  static constexpr std::size_t most_victims = 32;
  static constexpr std::int64_t most_units = 255;
  static constexpr std::int64_t most_steps = 1 << 17;  // of the recursion: a tenth of a millisecond

  cheapest_cuts(const First& first, const Most& most, const CostOf& cost) noexcept
      : first_(first), most_(most), cost_(cost) {}

  /// @param group candidates; their order is lost
  /// @param take called with (candidate, blocks) for each victim, in an order that depends on nothing but costs and
  ///   `First`; false ends it
  /// @pre together they can give as many as are wanted
  template <class Take>
  void operator()(span<std::uint32_t> group, block_count wanted, Take&& take) noexcept {
    while (wanted > 0) {
      choose_core(group, wanted);
      if (size_ == 0) return;
      block_count room = 0;
      for (std::size_t i = 0; i < size_; ++i) room += core_[i].most;
      if (room >= wanted) break;
      // Too few for what is wanted: the better half goes whole, and others come in its place.
      const std::size_t certain = size_ < group.size() ? (size_ + 1) / 2 : size_;
      for (std::size_t i = 0; i < certain; ++i) {
        const block_count blocks = smaller(core_[i].most, wanted);
        if (!take(core_[i].victim, blocks)) return;
        wanted -= blocks;
        std::uint32_t* const at = std::find(group.begin(), group.end(), core_[i].victim);
        std::swap(*at, group[group.size() - 1]);
        group = group.first(group.size() - 1);
      }
    }
    if (wanted == 0) return;
    leave_out_the_dearest(wanted);
    divide(wanted);
    std::sort(core_.begin(), core_.begin() + size_,
              [this](const choice& a, const choice& b) noexcept { return first_(a.victim, b.victim); });
    for (std::size_t i = 0; i < size_; ++i) {
      if (core_[i].blocks > 0 && !take(core_[i].victim, core_[i].blocks)) return;
    }
  }

 private:
  struct choice {
    std::uint32_t victim = 0;
    block_count most;    // that it can give
    block_count blocks;  // that it gives
    double density = 0;  // the least cost of a block, of those that were looked at
  };

  /// The candidates with the least cost a block, up to `most_victims`, the cheapest first.
  void choose_core(span<const std::uint32_t> group, block_count wanted) noexcept {
    size_ = 0;
    alone_ = {};
    double least = (std::numeric_limits<double>::infinity)();
    for (const std::uint32_t v : group) {
      choice one{v, smaller(most_(v), wanted), 0, 0};
      if (one.most == 0) continue;
      one.density = least_density(one);
      if (one.most == wanted) {
        const double all = cost_(v, wanted);
        if (all < least || (!(least < all) && first_(v, alone_.victim))) {
          least = all;
          alone_ = one;
        }
      }
      insert(one);
    }
  }

  [[nodiscard]] double least_density(const choice& one) const noexcept {
    double least = cost_(one.victim, one.most) / static_cast<double>(one.most.value());
    for (block_count k = 1; k < one.most; k = k.value() * 2) {
      least = smaller(least, cost_(one.victim, k) / static_cast<double>(k.value()));
    }
    return least;
  }

  void insert(const choice& one) noexcept {
    const auto is_better = [this](const choice& a, const choice& b) noexcept {
      return a.density < b.density || (!(b.density < a.density) && first_(a.victim, b.victim));
    };
    if (size_ == most_victims && !is_better(one, core_[size_ - 1])) return;
    std::size_t at = size_ == most_victims ? size_ - 1 : size_++;
    for (; at > 0 && is_better(one, core_[at - 1]); --at) core_[at] = core_[at - 1];
    core_[at] = one;
  }

  /// A core that is not much larger than what is wanted can be divided in finer units. Whoever could give it all at the
  /// least cost stays in it.
  void leave_out_the_dearest(block_count wanted) noexcept {
    if (wanted > 64) {
      block_count room = 0;
      std::size_t kept = 0;
      while (kept < size_ && (kept < 12 || room.value() / 4 < wanted)) room += core_[kept++].most;
      size_ = kept;
    }
    if (alone_.most == 0) return;
    for (std::size_t i = 0; i < size_; ++i) {
      if (core_[i].victim == alone_.victim) return;
    }
    core_[size_ == most_victims ? size_ - 1 : size_++] = alone_;
  }

  /// Divides what is wanted among the core. @pre it has as many
  void divide(block_count wanted) noexcept {
    const std::int64_t unit = finest_unit(wanted);
    std::int64_t units = 0;
    for (std::size_t i = 0; i < size_; ++i) units += core_[i].most.value() / unit;
    units = smaller(units, wanted.value() / unit);
    block_count rest = wanted;
    fill(unit, static_cast<std::size_t>(units));
    for (std::size_t i = 0; i < size_; ++i) rest -= core_[i].blocks;
    while (rest > 0) rest -= add_cheapest(rest);
    if (unit > 1) shift_while_it_helps();
  }

  [[nodiscard]] std::int64_t finest_unit(block_count wanted) const noexcept {
    std::int64_t unit = (wanted.value() + most_units - 1) / most_units;
    block_count room = 0;
    for (std::size_t i = 0; i < size_; ++i) room += core_[i].most;
    while (room.value() / unit > most_steps / (wanted.value() / unit)) ++unit;
    return unit;
  }

  /// costs_of_[u]: the least cost of u units of the victims so far; taken_[v][u]: how many of them are v's.
  void fill(std::int64_t unit, std::size_t units) noexcept {
    std::array<double, most_units + 1> least;
    least.fill((std::numeric_limits<double>::infinity)());
    least[0] = 0;
    std::array<double, most_units + 1> own;
    for (std::size_t v = 0; v < size_; ++v) {
      const std::size_t most = smaller(units, static_cast<std::size_t>(core_[v].most.value() / unit));
      own[0] = 0;
      for (std::size_t k = 1; k <= most; ++k) {
        own[k] = cost_(core_[v].victim, static_cast<std::int64_t>(k) * unit);
      }
      for (std::size_t u = units + 1; u-- > 0;) {
        std::size_t best = 0;
        for (std::size_t k = 1; k <= smaller(most, u); ++k) {
          if (least[u - k] + own[k] < least[u - best] + own[best]) best = k;
        }
        least[u] = least[u - best] + own[best];
        taken_[v][u] = static_cast<std::uint8_t>(best);
      }
    }
    for (std::size_t v = size_; v-- > 0;) {
      core_[v].blocks = taken_[v][units] * unit;
      units -= taken_[v][units];
    }
  }

  [[nodiscard]] double cost(const choice& one, block_count blocks) const noexcept {
    return blocks == 0 ? 0 : cost_(one.victim, blocks);
  }

  /// What is left over by the units goes where it costs the least a block.
  /// @return how many blocks found a place
  block_count add_cheapest(block_count rest) noexcept {
    choice* best = nullptr;
    double least = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      choice& one = core_[i];
      const block_count more = smaller(rest, one.most - one.blocks);
      if (more == 0) continue;
      const double each = (cost(one, one.blocks + more) - cost(one, one.blocks)) / static_cast<double>(more.value());
      if (best != nullptr && !(each < least)) continue;
      best = &one;
      least = each;
    }
    const block_count more = smaller(rest, best->most - best->blocks);
    best->blocks += more;
    return more;
  }

  /// One victim less, or one whole: all that one can take of another's.
  void shift_while_it_helps() noexcept {
    bool helped = true;
    for (int round = 0; helped && round < 4; ++round) {
      helped = false;
      for (std::size_t a = 0; a < size_; ++a) {
        for (std::size_t b = 0; b < size_; ++b) {
          if (a != b && core_[b].blocks > 0) helped = shift(core_[b], core_[a]) || helped;
        }
      }
    }
  }
  bool shift(choice& from, choice& to) noexcept {
    const block_count blocks = smaller(from.blocks, to.most - to.blocks);
    if (blocks == 0) return false;
    const double now = cost(from, from.blocks) + cost(to, to.blocks);
    if (!(cost(from, from.blocks - blocks) + cost(to, to.blocks + blocks) < now * (1 - 1e-12))) return false;
    from.blocks -= blocks;
    to.blocks += blocks;
    return true;
  }

  const First& first_;
  const Most& most_;
  const CostOf& cost_;
  std::size_t size_ = 0;
  std::array<choice, most_victims> core_;
  choice alone_;  // whoever can give it all at the least cost
  std::array<std::array<std::uint8_t, most_units + 1>, most_victims> taken_;
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
