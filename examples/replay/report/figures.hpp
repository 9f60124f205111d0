// SPDX-License-Identifier: Apache-2.0
// Numbers as a table shows them.
#ifndef PAVE_REPLAY_FIGURES_HPP
#define PAVE_REPLAY_FIGURES_HPP

#include <cstdint>
#include <string>

namespace replay {

inline constexpr const char* unknown_figure = "–";

/// With a comma before each group of three digits of its whole part.
std::string number(double value, int decimals);

std::string whole(double value);
std::string whole(std::int64_t value);
std::string tenths(double value);

/// A figure as it is typed: 0.5, 75, 2,000.
std::string as_typed(double value);

}  // namespace replay

#endif
