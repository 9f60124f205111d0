// SPDX-License-Identifier: Apache-2.0
// Numbers in decimal digits, grouped.
#include "report/figures.hpp"

#include <algorithm>
#include <cstdio>

namespace replay {

namespace {

/// `digits`, with a comma before each group of three of its whole part.
std::string grouped(std::string digits) {
  const std::size_t whole = (std::min)(digits.find('.'), digits.size());
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  for (std::size_t at = whole; at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

}  // namespace

std::string number(double value, int decimals) {
  // The largest double has 309 digits before its point.
  char digits[330];
  const int size = std::snprintf(digits, sizeof digits, "%.*f", decimals, value);
  return grouped(std::string(digits, static_cast<std::size_t>(size)));
}

std::string whole(double value) { return number(value, 0); }
std::string whole(std::int64_t value) { return grouped(std::to_string(value)); }
std::string tenths(double value) { return number(value, 1); }

std::string as_typed(double value) {
  std::string digits = number(value, 9);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return digits;
}

}  // namespace replay
