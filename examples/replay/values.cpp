// SPDX-License-Identifier: Apache-2.0
// Decimal numbers and comma lists of the command line.
#include "values.hpp"

#include "trace.hpp"

#include <cstddef>
#include <cstdlib>

namespace replay {

namespace {

/// A bound as a person writes it: no trailing zeros, no exponent.
std::string plain(double bound) {
  std::string digits = std::to_string(bound);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return digits;
}

}  // namespace

void refuse(const std::string& option, const std::string& wanted, const std::string& text) {
  throw input_error(option + " takes " + wanted + ", not '" + text + "'");
}

double real_number(const std::string& option, const std::string& text, double least, double most) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  // Letters of "nan" and "inf" are none of these, and what overflows is infinite and out of range.
  const bool decimal = !text.empty() && text.find_first_not_of("0123456789.eE+-") == std::string::npos &&
                       text.front() != '+' && end == text.c_str() + text.size();
  if (!decimal || value < least || value > most) {
    refuse(option, "a number from " + plain(least) + " to " + plain(most), text);
  }
  return value;
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> elements;
  std::size_t begin = 0;
  for (std::size_t comma = list.find(','); comma != std::string::npos; comma = list.find(',', begin)) {
    elements.push_back(list.substr(begin, comma - begin));
    begin = comma + 1;
  }
  elements.push_back(list.substr(begin));
  return elements;
}

}  // namespace replay
