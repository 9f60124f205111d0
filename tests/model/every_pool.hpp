// SPDX-License-Identifier: Apache-2.0
// Every combination of the stock policies, made, in parts that are compiled at the same time.
#ifndef PAVE_TESTS_MODEL_EVERY_POOL_HPP
#define PAVE_TESTS_MODEL_EVERY_POOL_HPP

#include "model/any_pool.hpp"
#include "model/pool_adapter.hpp"
#include "support/stock_policies.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace pave_tests {

inline constexpr std::size_t parts = 4;

template <class Type>
std::string full_name() {
  return __PRETTY_FUNCTION__;
}
/// The type's name without the rest of the sentence in which a compiler says it, and without namespaces.
template <class Type>
std::string name_of() {
  const std::string all = full_name<Type>();
  const std::string nothing = full_name<void>();
  const auto first = static_cast<std::size_t>(
      std::mismatch(all.begin(), all.end(), nothing.begin(), nothing.end()).first - all.begin());
  const std::string name = all.substr(first, all.size() + 4 - nothing.size());
  const std::size_t arguments = (std::min)(name.find('<'), name.size());
  const std::size_t colon = name.rfind(':', arguments);
  return colon == std::string::npos ? name : name.substr(colon + 1);
}

template <class Policies>
std::unique_ptr<any_pool> make(const pave::pool_options& options) {
  return std::make_unique<pool_adapter<Policies>>(options);
}

/// About one in so many combinations, so that several files share the work of the compiler.
template <std::size_t Part>
struct add_part {
  std::vector<pool_maker>& makers;

  template <class Policies>
  void operator()(type<Policies> /*which*/) const {
    if constexpr (Policies::is_run && Policies::sum % parts == Part) {
      constexpr std::int64_t most_of_32_bits = (std::numeric_limits<std::int32_t>::max)();
      const std::int64_t largest = Policies::id::most;
      const std::int64_t most_ids = largest < most_of_32_bits ? largest + 1 : most_of_32_bits;
      makers.push_back({name_of<typename Policies::free_list>() + ", " + name_of<typename Policies::sharing>() + ", " +
                            name_of<typename Policies::fence>() + ", " + name_of<typename Policies::retention>() +
                            ", " + name_of<typename Policies::lock>() + ", " + name_of<typename Policies::observer>() +
                            ", " + name_of<typename Policies::id>(),
                        {Policies::order, Policies::most_sequences, Policies::most_pins, Policies::fence::delays,
                         Policies::retention::keeps_content, most_ids},
                        make<Policies>});
    }
  }
};

/// Each is instantiated by a file of its own.
template <std::size_t Part>
void add_pools(std::vector<pool_maker>& makers) {
  const add_part<Part> add{makers};
  each_combination(add);
  each_other_combination(add);
}

}  // namespace pave_tests

#endif  // PAVE_TESTS_MODEL_EVERY_POOL_HPP
