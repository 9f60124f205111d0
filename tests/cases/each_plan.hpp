// SPDX-License-Identifier: Apache-2.0
// Caches with every stock order of victims and every stock shape of a cut.
#ifndef PAVE_TESTS_CASES_EACH_PLAN_HPP
#define PAVE_TESTS_CASES_EACH_PLAN_HPP

#include <pave/cache.hpp>

#include <tuple>

namespace pave_tests {

template <class Order, class Shape>
struct plan_policies : pave::cache_policies {
  struct planner : pave::planner_policies {
    using victim_order = Order;
    using cut_shape = Shape;
  };
};

template <class Shape>
using each_order = std::tuple<plan_policies<pave::least_important, Shape>,
                              plan_policies<pave::largest, Shape>,
                              plan_policies<pave::most_slack, Shape>,
                              plan_policies<pave::cheapest_restore, Shape>>;
using each_plan = decltype(std::tuple_cat(
    each_order<pave::tail>{}, each_order<pave::head_after_shared>{}, each_order<pave::cheapest_range>{}));

}  // namespace pave_tests

#endif  // PAVE_TESTS_CASES_EACH_PLAN_HPP
