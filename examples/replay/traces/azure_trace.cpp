// SPDX-License-Identifier: Apache-2.0
// Rows of an Azure trace, checked to the last character; ticks by calendar arithmetic in 64 bits.
#include "traces/azure_trace.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

namespace replay {

namespace {

constexpr std::int64_t ticks_per_second = 10'000'000;
constexpr std::size_t fraction_digits = 7;

bool is_digit(char character) noexcept { return character >= '0' && character <= '9'; }

/// All of `text` as a decimal number; nothing for an empty text, a sign, a space or a number of more than 64 bits.
std::optional<std::int64_t> to_integer(std::string_view text) noexcept {
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_leap(std::int64_t year) noexcept { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

std::int64_t days_of_month(std::int64_t year, std::int64_t month) noexcept {
  constexpr std::array<std::int64_t, 12> days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return days[static_cast<std::size_t>(month - 1)] + (month == 2 && is_leap(year) ? 1 : 0);
}

/// Days since the first day of the year 1, in the Gregorian calendar.
std::int64_t days_since_year_one(std::int64_t year, std::int64_t month, std::int64_t day) noexcept {
  const std::int64_t years = year - 1;
  std::int64_t days = 365 * years + years / 4 - years / 100 + years / 400 + day - 1;
  for (std::int64_t earlier = 1; earlier < month; ++earlier) days += days_of_month(year, earlier);
  return days;
}

/// Ticks of `YYYY-MM-DD HH:MM:SS[.f…]` since the year 1; nothing where the text is not such a time.
std::optional<std::int64_t> to_ticks(std::string_view text) noexcept {
  constexpr std::string_view shape = "dddd-dd-dd dd:dd:dd";
  if (text.size() < shape.size()) return std::nullopt;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 'd' ? !is_digit(text[i]) : text[i] != shape[i]) return std::nullopt;
  }
  const auto field = [text](std::size_t first, std::size_t size) {
    std::int64_t value = 0;
    for (const char character : text.substr(first, size)) value = 10 * value + (character - '0');
    return value;
  };
  const std::int64_t year = field(0, 4);
  const std::int64_t month = field(5, 2);
  const std::int64_t day = field(8, 2);
  const std::int64_t hour = field(11, 2);
  const std::int64_t minute = field(14, 2);
  const std::int64_t second = field(17, 2);
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > days_of_month(year, month)) return std::nullopt;
  if (hour > 23 || minute > 59 || second > 59) return std::nullopt;

  std::int64_t fraction = 0;
  const std::string_view rest = text.substr(shape.size());
  if (!rest.empty()) {
    const std::string_view digits = rest.substr(1);
    if (rest.front() != '.' || digits.empty() || digits.size() > fraction_digits) return std::nullopt;
    for (const char character : digits) {
      if (!is_digit(character)) return std::nullopt;
      fraction = 10 * fraction + (character - '0');
    }
    for (std::size_t i = digits.size(); i < fraction_digits; ++i) fraction *= 10;
  }
  const std::int64_t seconds = ((days_since_year_one(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
  return seconds * ticks_per_second + fraction;
}

std::int64_t tokens(std::string_view text, const char* column) {
  const std::optional<std::int64_t> value = to_integer(text);
  if (!value || *value < 1 || *value > max_tokens) {
    throw input_error(std::string(column) + " is not a whole number from 1 to " + std::to_string(max_tokens));
  }
  return *value;
}

}  // namespace

request azure_row(std::string_view line) {
  const std::size_t first_comma = line.find(',');
  const std::size_t second_comma =
      first_comma == std::string_view::npos ? first_comma : line.find(',', first_comma + 1);
  if (second_comma == std::string_view::npos || line.find(',', second_comma + 1) != std::string_view::npos) {
    throw input_error("a row has three columns, " + std::string(azure_header));
  }
  const std::optional<std::int64_t> ticks = to_ticks(line.substr(0, first_comma));
  if (!ticks) {
    throw input_error("the timestamp is not a time of the form YYYY-MM-DD HH:MM:SS with up to seven fraction digits");
  }
  request row;
  row.arrival_ticks = *ticks;
  row.prompt_tokens = tokens(line.substr(first_comma + 1, second_comma - first_comma - 1), "ContextTokens");
  row.output_tokens = tokens(line.substr(second_comma + 1), "GeneratedTokens");
  return row;
}

}  // namespace replay
