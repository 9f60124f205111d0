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
/// else the order looks at, changed; a new rank is `erase` and `insert`. Between such calls the view has to answer as
/// it did at the last one for each candidate.
/// @tparam Rank as in the view
/// @tparam Order the planner's `victim_order`, one with `before`
/// @complexity logarithmic in the candidates, and constant for most calls of `refresh`; `create` is linear. 32 bytes a
///   candidate, and a rank. No call but `create` takes memory
/// @threadsafety one thread at a time
/// @cite C. R. Aragon, R. G. Seidel: Randomized Search Trees (FOCS 1989): a treap, ordered by rank, whose nodes know
///   the first of their subtree in the victim order. Its shape depends on the candidates' numbers and ranks only
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
    std::uint32_t above = nil;
    std::uint32_t* link = &root_.get();
    while (*link != nil) {
      above = *link;
      link = nodes_[x].rank < nodes_[above].rank ? &nodes_[above].left : &nodes_[above].right;
    }
    *link = x;
    nodes_[x].above = above;
    look_at(view, x);
    while (nodes_[x].above != nil && priority(nodes_[x].above) < priority(x)) raise(view, x);
    for (std::uint32_t up = x; up != nil; up = nodes_[up].above) pull(view, up);
    return {};
  }

  /// @brief Candidate `i` is not there any more.
  /// @error `invalid_argument`: no such number, or it is not there
  template <class View>
  result<void> erase(const View& view, std::size_t i) noexcept {
    if (!is_number(i) || !nodes_[at(i)].is_in) return errc::invalid_argument;
    const std::uint32_t x = at(i);
    node& n = nodes_[x];
    n.is_in = n.is_candidate = n.is_parked = false;
    while (n.left != nil || n.right != nil) {
      const bool is_left = n.right == nil || (n.left != nil && priority(n.right) < priority(n.left));
      raise(view, is_left ? n.left : n.right);
    }
    link_to(x) = nil;
    for (std::uint32_t up = n.above; up != nil; up = nodes_[up].above) pull(view, up);
    return {};
  }

  /// @brief What the order, or the planner, looks at has changed for candidate `i`; but not its rank.
  /// @error `invalid_argument`: no such number, or it is not there
  template <class View>
  result<void> refresh(const View& view, std::size_t i) noexcept {
    if (!is_number(i) || !nodes_[at(i)].is_in) return errc::invalid_argument;
    update(view, at(i));
    return {};
  }

  /// @return the most important candidate that is parked, with blocks or without: who comes in next
  /// @complexity constant
  [[nodiscard]] std::optional<std::size_t> most_important_parked() const noexcept {
    return nodes_.size() == 0 ? std::nullopt : number(nodes_[root_.get()].next_in);
  }

  // --- for a planner: between `hide` and `show_all` no other call changes the index ---

  /// @param requester who is not less important than it is passed over
  /// @param parked among the parked ones, or those that run
  /// @return who is cut first
  template <class View, class Requester>
  [[nodiscard]] std::optional<std::size_t> first(const View& view,
                                                 const Requester& requester,
                                                 bool parked) const noexcept {
    std::uint32_t best = nil;
    for (std::uint32_t x = root_.get(); x != nil;) {
      const node& n = nodes_[x];
      const std::uint32_t below = n.first[parked ? 1 : 0];
      if (below == nil || requester < nodes_[below].rank) {  // none, or the first of all of them may be cut
        best = earlier(view, best, below);
        break;
      }
      if (requester < n.rank) {
        if (n.is_candidate && n.is_parked == parked) best = earlier(view, best, x);
        best = earlier(view, best, nodes_[n.right].first[parked ? 1 : 0]);
        x = n.left;
      } else {
        x = n.right;
      }
    }
    return number(best);
  }

  /// @brief Passes over candidate `i` until `show_all`. @pre it is there
  template <class View>
  void hide(const View& view, std::size_t i) noexcept {
    node& n = nodes_[at(i)];
    n.is_hidden = true;
    n.hidden_before = last_hidden_.get();
    last_hidden_.get() = at(i);
    update(view, at(i));
  }
  /// @brief The index is as it was before the first `hide`.
  template <class View>
  void show_all(const View& view) noexcept {
    while (last_hidden_.get() != nil) {
      const std::uint32_t x = last_hidden_.get();
      last_hidden_.get() = nodes_[x].hidden_before;
      nodes_[x].is_hidden = false;
      update(view, x);
    }
  }

 private:
  static constexpr std::uint32_t nil = 0;  // the node of candidate i is i + 1

  struct node {
    std::uint32_t left = nil;   // more important ones
    std::uint32_t right = nil;  // less important ones
    std::uint32_t above = nil;
    std::array<std::uint32_t, 2> first{nil, nil};  // of this subtree, who is cut first: running, parked
    std::uint32_t next_in = nil;                   // of this subtree, the most important that is parked
    std::uint32_t hidden_before = nil;
    bool is_in = false;
    bool is_parked = false;
    bool is_candidate = false;  // it has blocks, and is not hidden
    bool is_hidden = false;
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

  std::uint32_t& link_to(std::uint32_t x) noexcept {
    const std::uint32_t above = nodes_[x].above;
    if (above == nil) return root_.get();
    return nodes_[above].left == x ? nodes_[above].left : nodes_[above].right;
  }

  /// x changes places with the node above it.
  template <class View>
  void raise(const View& view, std::uint32_t x) noexcept {
    const std::uint32_t above = nodes_[x].above;
    link_to(above) = x;
    nodes_[x].above = nodes_[above].above;
    const bool is_left = nodes_[above].left == x;
    std::uint32_t& inner = is_left ? nodes_[x].right : nodes_[x].left;
    (is_left ? nodes_[above].left : nodes_[above].right) = inner;
    if (inner != nil) nodes_[inner].above = above;
    inner = above;
    nodes_[above].above = x;
    pull(view, above);
    pull(view, x);
  }

  template <class View>
  void look_at(const View& view, std::uint32_t x) noexcept {
    node& n = nodes_[x];
    n.is_parked = view.parked(x - 1);
    n.is_candidate = !n.is_hidden && view.blocks(x - 1) != 0;
  }

  /// What x knows of its subtree follows from its children, and from itself.
  template <class View>
  void pull(const View& view, std::uint32_t x) noexcept {
    node& n = nodes_[x];
    for (const bool parked : {false, true}) {
      const std::size_t of = parked ? 1 : 0;
      n.first[of] = earlier(view, nodes_[n.left].first[of], nodes_[n.right].first[of]);
      if (n.is_candidate && n.is_parked == parked) n.first[of] = earlier(view, n.first[of], x);
    }
    n.next_in = nodes_[n.left].next_in;
    if (n.next_in == nil) n.next_in = n.is_in && n.is_parked ? x : nodes_[n.right].next_in;
  }

  template <class View>
  void update(const View& view, std::uint32_t x) noexcept {
    look_at(view, x);
    for (std::uint32_t up = x; up != nil; up = nodes_[up].above) {
      const node& n = nodes_[up];
      const auto first = n.first;
      const std::uint32_t next_in = n.next_in;
      pull(view, up);
      if (n.first == first && n.next_in == next_in && first[0] != x && first[1] != x) return;
    }
  }

  /// Of two that are both parked, or both run: who is cut first.
  template <class View>
  [[nodiscard]] std::uint32_t earlier(const View& view, std::uint32_t a, std::uint32_t b) const noexcept {
    if (a == nil || b == nil) return a == nil ? b : a;
    if (order_.before(view, a - 1, b - 1)) return a;
    if (order_.before(view, b - 1, a - 1)) return b;
    return nodes_[b].rank < nodes_[a].rank ? a : b;
  }

  detail::buffer<node> nodes_;  // the first one is nil
  detail::zero_on_move<std::uint32_t> root_;
  detail::zero_on_move<std::uint32_t> last_hidden_;
  Order order_;
};

}  // namespace v0
}  // namespace pave

#endif
