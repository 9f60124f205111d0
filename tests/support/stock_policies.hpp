// SPDX-License-Identifier: Apache-2.0
// Every stock policy of a pool, and every combination of them: a new policy is one line here.
#ifndef PAVE_TESTS_SUPPORT_STOCK_POLICIES_HPP
#define PAVE_TESTS_SUPPORT_STOCK_POLICIES_HPP

#include "support/at_most.hpp"

#include <pave/pool.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace pave_tests {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool is_sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif
#else
inline constexpr bool is_sanitized = false;
#endif

template <class... Types>
struct types {};
template <class... Types>
constexpr std::size_t size_of(types<Types...>) {
  return sizeof...(Types);
}
template <class Type>
struct type {};

/// Which free block is the next to go out.
enum class free_order { last_released, longest_released, lowest };

template <class Policy, free_order Order>
struct free_list {
  using policy = Policy;
  static constexpr free_order order = Order;
};
template <class Policy, std::uint32_t MostSequences, std::uint32_t MostPins>
struct sharing {
  using policy = Policy;
  static constexpr std::uint32_t most_sequences = MostSequences, most_pins = MostPins;
};

/// Those of a pool that has its memory to itself; `from_slabs` has a model of its own (slab_model_test.cpp).
using stock_free_lists = types<free_list<pave::last_released, free_order::last_released>,
                               free_list<pave::least_recently_released, free_order::longest_released>,
                               free_list<pave::lowest_first, free_order::lowest>>;
using stock_sharings =
    types<sharing<pave::counted, (std::uint32_t{1} << 24U) - 1, 254>, sharing<pave::exclusive, 1, 126>>;
using stock_fences = types<pave::at_once, pave::after_step>;
using stock_retentions = types<pave::forget, pave::keep>;
using stock_locks = types<pave::unlocked, pave::mutex>;  // a pool under `per_thread` is another one
using stock_observers = types<pave::silent, pave::counters, pave::event_log>;

/// One of each slot: the policies of a pool. `Sum` adds up which of each list they are.
template <std::size_t Sum,
          class FreeList,
          class Sharing,
          class Fence,
          class Retention,
          class Lock,
          class Observer,
          class Id>
struct combination {
  using free_list = typename FreeList::policy;
  using sharing = typename Sharing::policy;
  using fence = Fence;
  using retention = Retention;
  using lock = Lock;
  using observer = Observer;
  using id = Id;

  static constexpr std::size_t sum = Sum;
  static constexpr free_order order = FreeList::order;
  static constexpr std::uint32_t most_sequences = Sharing::most_sequences, most_pins = Sharing::most_pins;
  /// What a worded assertion refuses; tests/compile_fail has a test of each.
  static constexpr bool is_refused = Retention::keeps_content && !pave::can_revive_v<free_list>;
  /// Under a sanitizer a third is run, in which every two policies still meet.
  static constexpr bool is_left_out = is_sanitized && Sum % 3 != 0;
  static constexpr bool is_run = !is_refused && !is_left_out;
};

template <std::size_t Sum, class... Chosen>
struct choices {
  template <class Visit>
  static constexpr void each(Visit& visit) {
    visit(type<combination<Sum, Chosen...>>());
  }
  template <class Visit, class... Options, class... Lists>
  static constexpr void each(Visit& visit, types<Options...> options, Lists... others) {
    each(visit, std::index_sequence_for<Options...>(), options, others...);
  }

 private:
  template <class Visit, std::size_t... At, class... Options, class... Lists>
  static constexpr void each(Visit& visit,
                             std::index_sequence<At...> /*at*/,
                             types<Options...> /*options*/,
                             Lists... others) {
    (choices<Sum + At, Chosen..., Options>::each(visit, others...), ...);
  }
};

/// How many combinations there are, by multiplication.
template <class... Lists>
constexpr std::size_t product_of(Lists... lists) {
  return (size_of(lists) * ...);
}

/// Calls `visit(type<combination>())` for all combinations of the stock policies, those that are refused among them.
template <class Visit>
constexpr void each_combination(Visit& visit) {
  choices<0>::each(visit, stock_free_lists(), stock_sharings(), stock_fences(), stock_retentions(), stock_locks(),
                   stock_observers(), types<pave::block_id>());
}
inline constexpr std::size_t combinations = product_of(
    stock_free_lists(), stock_sharings(), stock_fences(), stock_retentions(), stock_locks(), stock_observers());

using other_ids = types<pave::basic_block_id<std::int16_t>,
                        pave::basic_block_id<std::uint8_t>,
                        pave::basic_block_id<std::uint32_t>,
                        pave::basic_block_id<std::int64_t>>;
using few_holders = sharing<at_most<3>, 3, 3>;

/// The same for some with ids of another width; and some with a user's sharing, whose limits are near.
template <class Visit>
constexpr void each_other_combination(Visit& visit) {
  using counted = types<sharing<pave::counted, (std::uint32_t{1} << 24U) - 1, 254>>;
  choices<0>::each(visit, stock_free_lists(), counted(), types<pave::after_step>(), stock_retentions(),
                   types<pave::unlocked>(), types<pave::counters>(), other_ids());
  choices<0>::each(visit, stock_free_lists(), types<few_holders>(), stock_fences(), stock_retentions(),
                   types<pave::unlocked>(), types<pave::counters>(), types<pave::block_id>());
}
inline constexpr std::size_t other_combinations = product_of(stock_free_lists(), stock_retentions(), other_ids()) +
                                                  product_of(stock_free_lists(), stock_retentions(), stock_fences());

}  // namespace pave_tests

#endif  // PAVE_TESTS_SUPPORT_STOCK_POLICIES_HPP
