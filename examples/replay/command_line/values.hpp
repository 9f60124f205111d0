// SPDX-License-Identifier: Apache-2.0
// Numbers and lists of the command line, taken whole or refused in one sentence that says what is wanted.
#ifndef PAVE_REPLAY_VALUES_HPP
#define PAVE_REPLAY_VALUES_HPP

#include <charconv>
#include <string>
#include <system_error>
#include <vector>

namespace replay {

/// Throws `input_error`: "OPTION takes WANTED, not 'TEXT'".
[[noreturn]] void refuse(const std::string& option, const std::string& wanted, const std::string& text);

/// Throws `input_error`: "OPTION names 'ELEMENT' twice".
[[noreturn]] void refuse_repeated(const std::string& option, const std::string& element);

/// Digits only: no plus sign, no space, no fraction, no exponent.
template <class Integer>
Integer whole_number(const std::string& option, const std::string& text, Integer least, Integer most) {
  Integer value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last || value < least || value > most) {
    refuse(option, "a whole number from " + std::to_string(least) + " to " + std::to_string(most), text);
  }
  return value;
}

/// Decimal digits, with a point or an exponent where wanted, and no sign before them: hexadecimal numbers, infinities
/// and spaces are refused.
double real_number(const std::string& option, const std::string& text, double least, double most);

/// The elements between the separators, empty ones included.
std::vector<std::string> split(const std::string& list, char separator);

}  // namespace replay

#endif
