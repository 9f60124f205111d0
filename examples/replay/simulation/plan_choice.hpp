// SPDX-License-Identifier: Apache-2.0
// How the plans of pave's own policies are made, chosen when the program runs.
#ifndef PAVE_REPLAY_PLAN_CHOICE_HPP
#define PAVE_REPLAY_PLAN_CHOICE_HPP

#include <pave/pave.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace replay {

enum class order_choice : std::uint8_t { least_important, largest, most_slack, cheapest_restore };
enum class shape_choice : std::uint8_t { tail, head_after_shared, cheapest_range };
enum class demand_choice : std::uint8_t { exact, ahead, to_watermark };

// By the names that the command line and the results have for them.
inline constexpr std::array<std::pair<std::string_view, order_choice>, 4> order_names{
    {{"least_important", order_choice::least_important},
     {"largest", order_choice::largest},
     {"most_slack", order_choice::most_slack},
     {"cheapest_restore", order_choice::cheapest_restore}}};
inline constexpr std::array<std::pair<std::string_view, shape_choice>, 3> shape_names{
    {{"tail", shape_choice::tail},
     {"head_after_shared", shape_choice::head_after_shared},
     {"cheapest_range", shape_choice::cheapest_range}}};

template <class Choice, std::size_t Size>
std::string name_of(const std::array<std::pair<std::string_view, Choice>, Size>& names, Choice choice) {
  for (const auto& [name, one] : names) {
    if (one == choice) return std::string(name);
  }
  return {};
}

struct plan_choice {
  order_choice order = order_choice::least_important;
  shape_choice shape = shape_choice::tail;
  demand_choice demand = demand_choice::exact;
  std::int64_t amount = 0;  ///< steps ahead, or blocks of the watermark

  std::string demand_name() const {
    switch (demand) {
      case demand_choice::exact: break;
      case demand_choice::ahead: return "ahead=" + std::to_string(amount);
      case demand_choice::to_watermark: return "to_watermark=" + std::to_string(amount);
    }
    return "exact";
  }
  /// Whether plans are those of `pave::planner_policies`.
  bool is_default() const {
    return order == order_choice::least_important && shape == shape_choice::tail && demand == demand_choice::exact;
  }
};

struct chosen_demand {
  static constexpr bool whole_victims = false;
  static constexpr bool spares_requester = true;
  demand_choice choice = demand_choice::exact;
  std::int64_t amount = 0;

  template <class View>
  pave::block_count blocks(const View& view, pave::block_count shortage) const {
    switch (choice) {
      case demand_choice::exact: break;
      case demand_choice::ahead: return pave::ahead{amount}.blocks(view, shortage);
      case demand_choice::to_watermark: return pave::to_watermark{amount}.blocks(shortage);
    }
    return shortage;
  }
};

struct chosen_order {
  order_choice choice = order_choice::least_important;

  template <class View>
  bool before(const View& view, std::size_t a, std::size_t b) const {
    switch (choice) {
      case order_choice::largest: return pave::largest::before(view, a, b);
      case order_choice::most_slack: return pave::most_slack::before(view, a, b);
      case order_choice::least_important:
      case order_choice::cheapest_restore: break;
    }
    return pave::least_important::before(view, a, b);
  }
};

struct chosen_shape {
  static constexpr bool keeps_prefix = false;
  shape_choice choice = shape_choice::tail;

  template <class View, class Cost>
  pave::shaped_cut cut(const View& view, const Cost& cost, std::size_t candidate, pave::block_count wanted) const {
    switch (choice) {
      case shape_choice::tail: break;
      case shape_choice::head_after_shared: return pave::head_after_shared::cut(view, candidate, wanted);
      case shape_choice::cheapest_range: return pave::cheapest_range::cut(view, cost, candidate, wanted);
    }
    return pave::tail::cut(view, candidate, wanted);
  }
};

/// @tparam Order `chosen_order`, or `pave::cheapest_restore`, which is no order
template <class Order>
struct chosen_plans : pave::planner_policies {
  using demand = chosen_demand;
  using victim_order = Order;
  using cut_shape = chosen_shape;
};

}  // namespace replay

#endif
