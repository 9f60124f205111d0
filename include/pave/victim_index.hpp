// SPDX-License-Identifier: Apache-2.0
// The candidates of plans, kept in order, for engines with so many that looking at each for every plan is too slow.
#ifndef PAVE_VICTIM_INDEX_HPP
#define PAVE_VICTIM_INDEX_HPP

#include <pave/candidates.hpp>
#include <pave/config.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/policy/victim_order.hpp>
#include <pave/result.hpp>
#include <pave/units.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

namespace pave {
inline namespace v0 {

/// @brief Keeps the candidates of a view in the order in which a planner cuts them, so that it need not look at all of
/// them for each plan: `eviction_planner` takes one beside the view, and makes the same plans.
///
/// The engine says what changed: `insert` who came, `erase` who left, `refresh` whose blocks, parked state, or whatever
/// else the order looks at, changed; a new rank is `erase` and `insert`. It is told of each change before the next one:
/// to every call the view answers for all candidates but its own as it did when they were told of last.
/// @tparam Rank as in the view
/// @tparam Order the planner's `victim_order`, one with `before`
/// @complexity logarithmic in the candidates, and constant for a `refresh` that changes no order; `create` is linear.
///   24 bytes a candidate, and a rank. No call but `create` takes memory
/// @threadsafety one thread at a time; const members from any thread
/// @cite C. R. Aragon, R. G. Seidel: Randomized Search Trees (FOCS 1989): a treap, parked ones first and then in the
///   victim order, whose nodes know the least important of their subtree. Its shape depends on the candidates' numbers
///   and their order only
template <class Rank = rank, class Order = least_important>
class victim_index {
  static_assert(!detail::wants_cheapest_plan_v<Order>,
                "pave: a victim_index keeps candidates in an order, and cheapest_restore has none: plan without it");

 public:
  /// @brief Makes an empty index.
  /// @param candidates that it can hold: they are numbered from 0
  /// @error `invalid_argument`: more than 2^32 − 2
  /// @error `out_of_memory`
  [[nodiscard]] static result<victim_index> create(std::size_t candidates, Order order = {}) noexcept {
    if (candidates > (std::numeric_limits<std::uint32_t>::max)() - 1) return errc::invalid_argument;
    victim_index index;
    index.order_ = std::move(order);
    if (!index.nodes_.reserve(candidates + 1)) return errc::out_of_memory;
    return index;
  }

  /// @brief An index that holds none, as a moved-from one is.
  victim_index() noexcept = default;

  /// @brief Candidate `i` is there from now on.
  /// @error `invalid_argument`: no such number
  /// @error `busy`: it is there already
  template <class View>
  result<void> insert(const View& view, std::size_t i) noexcept {
    if (!is_number(i)) return errc::invalid_argument;
    const std::uint32_t x = at(i);
    if (nodes_[x].is_in) return errc::busy;
    nodes_[x] = node{};
    nodes_[x].is_in = true;
    nodes_[x].rank = view.rank(i);
    put(view, x);
    return {};
  }

  /// @brief Candidate `i` is not there any more.
  /// @error `invalid_argument`: no such number, or it is not there
  result<void> erase(std::size_t i) noexcept {
    if (!is_number(i) || !nodes_[at(i)].is_in) return errc::invalid_argument;
    take_out(at(i));
    nodes_[at(i)].is_in = false;
    return {};
  }

  /// @brief What the order, or the planner, looks at has changed for candidate `i`; but not its rank.
  /// @error `invalid_argument`: no such number, or it is not there
  template <class View>
  result<void> refresh(const View& view, std::size_t i) noexcept {
    if (!is_number(i) || !nodes_[at(i)].is_in) return errc::invalid_argument;
    const std::uint32_t x = at(i);
    look_at(view, x);
    if (is_in_place(view, x)) {
      pull_up(x);
    } else {
      take_out(x);
      put(view, x);
    }
    return {};
  }

  /// @return the most important candidate that is parked, with blocks or without: who comes in next
  /// @complexity constant
  [[nodiscard]] std::optional<std::size_t> most_important_parked() const noexcept {
    return root_.get() == nil ? std::nullopt : number(nodes_[root_.get()].next_in);
  }

  // --- for a planner: who may be cut, in order ---

  /// @param requester who is not less important than it is passed over, as is who has no blocks
  /// @return who is cut first: a parked one, if there is one that may be cut
  /// @complexity logarithmic in the candidates
  template <class Requester>
  [[nodiscard]] std::optional<std::size_t> first(const Requester& requester) const noexcept {
    return number(first_below(root_.get(), requester));
  }
  /// @return who is cut after candidate `i`
  /// @pre `i` is there
  /// @complexity logarithmic in the candidates; constant, over a plan, where nobody has to be passed over
  template <class Requester>
  [[nodiscard]] std::optional<std::size_t> next(std::size_t i, const Requester& requester) const noexcept {
    for (std::uint32_t x = at(i);;) {
      const std::uint32_t behind = first_below(nodes_[x].below[1], requester);
      if (behind != nil) return number(behind);
      std::uint32_t from = x;
      for (x = nodes_[x].above; x != nil && nodes_[x].below[1] == from; x = nodes_[x].above) from = x;
      if (x == nil || may_be_cut(x, requester)) return number(x);
    }
  }

 private:
  static constexpr std::uint32_t nil = 0;  // the node of candidate i is i + 1

  struct node {
    std::array<std::uint32_t, 2> below{nil, nil};  // who is cut before it, and after it
    std::uint32_t above = nil;
    std::uint32_t least = nil;    // of this subtree, the least important that has blocks
    std::uint32_t next_in = nil;  // of this subtree, the most important that is parked
    bool is_in = false;
    bool is_parked = false;
    bool has_blocks = false;
    Rank rank{};
  };

  [[nodiscard]] bool is_number(std::size_t i) const noexcept { return i < nodes_.size() && i + 1 < nodes_.size(); }
  [[nodiscard]] static constexpr std::uint32_t at(std::size_t i) noexcept { return static_cast<std::uint32_t>(i + 1); }
  [[nodiscard]] static constexpr std::optional<std::size_t> number(std::uint32_t x) noexcept {
    if (x == nil) return std::nullopt;
    return std::size_t{x} - 1;
  }
  /// Heap order of the treap: numbers, well mixed (the finalizer of MurmurHash3, A. Appleby).
  [[nodiscard]] static constexpr std::uint32_t priority(std::uint32_t x) noexcept {
    x = (x ^ (x >> 16U)) * 0x85EBCA6BU;
    x = (x ^ (x >> 13U)) * 0xC2B2AE35U;
    return x ^ (x >> 16U);
  }

  template <class Requester>
  [[nodiscard]] bool may_be_cut(std::uint32_t x, const Requester& requester) const noexcept {
    return nodes_[x].has_blocks && requester < nodes_[x].rank;
  }
  /// Whether somebody in the subtree of x may be cut.
  template <class Requester>
  [[nodiscard]] bool any_may_be_cut(std::uint32_t x, const Requester& requester) const noexcept {
    const std::uint32_t least = x == nil ? nil : nodes_[x].least;
    return least != nil && requester < nodes_[least].rank;
  }
  template <class Requester>
  [[nodiscard]] std::uint32_t first_below(std::uint32_t x, const Requester& requester) const noexcept {
    if (!any_may_be_cut(x, requester)) return nil;
    for (;;) {
      if (any_may_be_cut(nodes_[x].below[0], requester)) {
        x = nodes_[x].below[0];
      } else if (may_be_cut(x, requester)) {
        return x;
      } else {
        x = nodes_[x].below[1];
      }
    }
  }

  template <class View>
  void look_at(const View& view, std::uint32_t x) noexcept {
    nodes_[x].is_parked = view.parked(x - 1);
    nodes_[x].has_blocks = view.blocks(x - 1) != 0;
  }
  template <class View>
  [[nodiscard]] bool is_before(const View& view, std::uint32_t a, std::uint32_t b) const noexcept {
    if (nodes_[a].is_parked != nodes_[b].is_parked) return nodes_[a].is_parked;
    if (order_.before(view, a - 1, b - 1)) return true;
    return !order_.before(view, b - 1, a - 1) && nodes_[b].rank < nodes_[a].rank;
  }
  /// The neighbour of x in the order: 0 before it, 1 after it.
  [[nodiscard]] std::uint32_t beside(std::uint32_t x, std::size_t side) const noexcept {
    if (std::uint32_t y = nodes_[x].below[side]; y != nil) {
      while (nodes_[y].below[1 - side] != nil) y = nodes_[y].below[1 - side];
      return y;
    }
    std::uint32_t above = nodes_[x].above;
    for (; above != nil && nodes_[above].below[side] == x; above = nodes_[x].above) x = above;
    return above;
  }
  template <class View>
  [[nodiscard]] bool is_in_place(const View& view, std::uint32_t x) const noexcept {
    const std::uint32_t before = beside(x, 0);
    const std::uint32_t after = beside(x, 1);
    return (before == nil || is_before(view, before, x)) && (after == nil || is_before(view, x, after));
  }

  /// @pre x is in no subtree
  template <class View>
  void put(const View& view, std::uint32_t x) noexcept {
    look_at(view, x);
    std::uint32_t above = nil;
    std::uint32_t* link = &root_.get();
    while (*link != nil) {
      above = *link;
      link = &nodes_[above].below[is_before(view, x, above) ? 0 : 1];
    }
    *link = x;
    nodes_[x].above = above;
    pull(x);
    while (nodes_[x].above != nil && priority(nodes_[x].above) < priority(x)) raise(x);
    pull_up(nodes_[x].above);
  }
  void take_out(std::uint32_t x) noexcept {
    node& n = nodes_[x];
    n.has_blocks = n.is_parked = false;
    pull_up(x);
    while (n.below[0] != nil || n.below[1] != nil) {
      const bool is_first = n.below[1] == nil || (n.below[0] != nil && priority(n.below[1]) < priority(n.below[0]));
      raise(n.below[is_first ? 0 : 1]);
    }
    link_to(x) = nil;
  }
  std::uint32_t& link_to(std::uint32_t x) noexcept {
    const std::uint32_t above = nodes_[x].above;
    if (above == nil) return root_.get();
    return nodes_[above].below[nodes_[above].below[0] == x ? 0 : 1];
  }
  /// x changes places with the node above it.
  void raise(std::uint32_t x) noexcept {
    const std::uint32_t above = nodes_[x].above;
    link_to(above) = x;
    nodes_[x].above = nodes_[above].above;
    const std::size_t side = nodes_[above].below[0] == x ? 0 : 1;
    std::uint32_t& inner = nodes_[x].below[1 - side];
    nodes_[above].below[side] = inner;
    if (inner != nil) nodes_[inner].above = above;
    inner = above;
    nodes_[above].above = x;
    pull(above);
    pull(x);
  }

  /// What x knows of its subtree follows from its children, and from itself.
  /// @return whether that is something else than before
  bool pull(std::uint32_t x) noexcept {
    node& n = nodes_[x];
    std::uint32_t least = n.has_blocks ? x : nil;
    std::uint32_t next_in = n.is_parked ? x : nil;
    for (const std::uint32_t y : n.below) {
      const std::uint32_t its_least = nodes_[y].least;
      const std::uint32_t its_next_in = nodes_[y].next_in;
      if (least == nil || (its_least != nil && nodes_[least].rank < nodes_[its_least].rank)) least = its_least;
      if (next_in == nil || (its_next_in != nil && nodes_[its_next_in].rank < nodes_[next_in].rank)) {
        next_in = its_next_in;
      }
    }
    if (n.least == least && n.next_in == next_in) return false;
    n.least = least;
    n.next_in = next_in;
    return true;
  }
  /// What those above x know follows, as far as it changes.
  void pull_up(std::uint32_t x) noexcept {
    while (x != nil && pull(x)) x = nodes_[x].above;
  }

  detail::buffer<node> nodes_;  // the first one is nil
  detail::zero_on_move<std::uint32_t> root_;
  Order order_;
};

}  // namespace v0
}  // namespace pave

#endif
