// SPDX-License-Identifier: Apache-2.0
// Decimal numbers and lists of the command line.
#include "command_line/values.hpp"

#include "traces/trace.hpp"

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

void refuse_repeated(const std::string& option, const std::string& element) {
  throw input_error(option + " names '" + element + "' twice");
}

double real_number(const std::string& option, const std::string& text, double least, double most) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  // Letters of "nan" and "inf" are none of these, and what overflows is infinite and out of range.
  const bool decimal = !text.empty() && text.find_first_not_of("0123456789.eE+-") == std::string::npos &&
                       text.find_first_of("+-") != 0 && end == text.c_str() + text.size();
  if (!decimal || value < least || value > most) {
    refuse(option, "a number from " + plain(least) + " to " + plain(most), text);
  }
  return value;
}

std::vector<std::string> split(const std::string& list, char separator) {
  std::vector<std::string> elements;
  std::size_t begin = 0;
  for (std::size_t end = list.find(separator); end != std::string::npos; end = list.find(separator, begin)) {
    elements.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  elements.push_back(list.substr(begin));
  return elements;
}

}  // namespace replay
