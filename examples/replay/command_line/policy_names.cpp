// SPDX-License-Identifier: Apache-2.0
// One table of names, read both ways.
#include "command_line/policy_names.hpp"

#include <algorithm>
#include <array>

namespace replay {

namespace {

struct named_policy {
  std::string_view name;
  policy which;
};

constexpr std::array<named_policy, 6> names{{
    {"whole", policy::whole},
    {"whole+cache", policy::whole_cache},
    {"whole+cache+back", policy::whole_cache_back},
    {"partial", policy::partial},
    {"partial+cache", policy::partial_cache},
    {"unlimited", policy::unlimited},
}};

}  // namespace

std::string_view policy_name(policy which) noexcept {
  const auto known =
      std::find_if(names.begin(), names.end(), [which](const named_policy& one) { return one.which == which; });
  return known->name;
}

std::optional<policy> find_policy(std::string_view name) noexcept {
  const auto known =
      std::find_if(names.begin(), names.end(), [name](const named_policy& one) { return one.name == name; });
  if (known == names.end()) return std::nullopt;
  return known->which;
}

std::string known_policies(std::string_view between) {
  std::string list;
  for (const named_policy& one : names) {
    if (!list.empty()) list += between;
    list += one.name;
  }
  return list;
}

}  // namespace replay
