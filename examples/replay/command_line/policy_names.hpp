// SPDX-License-Identifier: Apache-2.0
// The policies by the names that the command line and the results have for them.
#ifndef PAVE_REPLAY_POLICY_NAMES_HPP
#define PAVE_REPLAY_POLICY_NAMES_HPP

#include "simulation/engine.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace replay {

std::string_view policy_name(policy which) noexcept;

std::optional<policy> find_policy(std::string_view name) noexcept;

/// All names, from the baselines to no limit, with `between` between them.
std::string known_policies(std::string_view between);

}  // namespace replay

#endif
