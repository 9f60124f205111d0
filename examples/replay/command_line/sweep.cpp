// SPDX-License-Identifier: Apache-2.0
// Ranges in decimal arithmetic: binary fractions would miss the last value, or print 0.7000000000000001.
#include "command_line/sweep.hpp"

#include "command_line/limits.hpp"
#include "command_line/values.hpp"
#include "traces/trace.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace replay {

namespace {

constexpr std::array<const char*, variable_count> names{"rate", "blocks", "reserve", "watermark"};

constexpr std::size_t most_digits = 9;  // before the point and after it: 10^18 units fit 64 bits

/// A number in units of its last decimal: 0.30 is 30 units at two decimals.
struct decimal {
  std::int64_t units = 0;
  std::size_t decimals = 0;
};

/// Nothing for anything but digits with at most one point among or beside them.
std::optional<decimal> to_decimal(const std::string& text) {
  const std::size_t point = (std::min)(text.find('.'), text.size());
  const std::string before = text.substr(0, point);
  const std::string after = point < text.size() ? text.substr(point + 1) : std::string();
  const std::string digits = before + after;
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  if (before.size() > most_digits || after.size() > most_digits) return std::nullopt;
  return decimal{std::stoll(digits), after.size()};
}

/// The same number in units of a later decimal.
std::int64_t units_at(const decimal& number, std::size_t decimals) {
  std::int64_t units = number.units;
  for (std::size_t i = number.decimals; i < decimals; ++i) units *= 10;
  return units;
}

std::string to_text(std::int64_t units, std::size_t decimals) {
  std::string digits = std::to_string(units);
  if (decimals == 0) return digits;
  if (digits.size() <= decimals) digits.insert(0, decimals + 1 - digits.size(), '0');
  return digits.insert(digits.size() - decimals, 1, '.');
}

[[noreturn]] void refuse_points() {
  throw input_error("--sweep takes " + std::to_string(most_points) + " points at most");
}

/// The value as the option itself would take it; of --reserve the pool's blocks are not known yet.
double checked_value(variable which, const std::string& option, const std::string& text) {
  switch (which) {
    case variable::rate: return real_number(option, text, lowest_rate, highest_rate);
    case variable::watermark: return real_number(option, text, 0, highest_watermark_percent);
    case variable::blocks: return static_cast<double>(whole_number<std::int64_t>(option, text, 1, most_blocks));
    case variable::reserve: break;
  }
  return static_cast<double>(whole_number<std::int64_t>(option, text, 0, most_blocks));
}

std::vector<std::string> range_values(variable which, const std::string& option, const std::string& range) {
  const std::vector<std::string> parts = split(range, ':');
  if (parts.size() != 3) refuse(option, "FIRST:LAST:STEP or A,B,C", range);
  checked_value(which, option, parts[0]);
  checked_value(which, option, parts[1]);
  const std::optional<decimal> first = to_decimal(parts[0]);
  const std::optional<decimal> last = to_decimal(parts[1]);
  const std::optional<decimal> step = to_decimal(parts[2]);
  const std::string in_digits = " in decimal digits, at most nine before the point and nine after it";
  if (!step || step->units == 0) refuse(option, "a step above 0" + in_digits, parts[2]);
  if (!first || !last) refuse(option, "FIRST:LAST:STEP" + in_digits, range);

  const std::size_t decimals = (std::max)({first->decimals, last->decimals, step->decimals});
  const std::int64_t begin = units_at(*first, decimals);
  const std::int64_t end = units_at(*last, decimals);
  const std::int64_t each = units_at(*step, decimals);
  if (begin > end) refuse(option, "a range that goes up", range);
  const std::int64_t steps = (end - begin) / each;
  if (steps >= static_cast<std::int64_t>(most_points)) refuse_points();
  std::vector<std::string> values;
  for (std::int64_t i = 0; i <= steps; ++i) values.push_back(to_text(begin + i * each, decimals));
  return values;
}

variable variable_named(const std::string& name) {
  const auto known = std::find(names.begin(), names.end(), name);
  if (known == names.end()) refuse("--sweep", "one of rate, blocks, reserve, watermark", name);
  return static_cast<variable>(known - names.begin());
}

sweep read_sweep(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) refuse("--sweep", "NAME=FIRST:LAST:STEP or NAME=A,B,C", text);
  sweep read;
  read.varied = variable_named(text.substr(0, equals));
  const std::string option = "--sweep " + variable_name(read.varied);
  const std::string list = text.substr(equals + 1);
  if (list.empty()) refuse(option, "FIRST:LAST:STEP or A,B,C", list);
  const bool is_range = list.find(':') != std::string::npos;
  read.values = is_range ? range_values(read.varied, option, list) : split(list, ',');

  if (read.values.size() > most_points) refuse_points();

  std::vector<double> known;
  for (const std::string& value : read.values) {
    known.push_back(checked_value(read.varied, option, value));
    if (std::find(known.begin(), known.end() - 1, known.back()) != known.end() - 1) refuse_repeated(option, value);
  }
  return read;
}

}  // namespace

std::string variable_name(variable which) { return names[static_cast<std::size_t>(which)]; }

std::vector<sweep> read_sweeps(const std::vector<std::string>& texts) {
  std::vector<sweep> sweeps;
  std::size_t points = 1;
  for (const std::string& text : texts) {
    sweep next = read_sweep(text);
    for (const sweep& other : sweeps) {
      if (other.varied == next.varied) refuse_repeated("--sweep", variable_name(next.varied));
    }
    points *= next.values.size();
    if (points > most_points) refuse_points();
    sweeps.push_back(std::move(next));
  }
  return sweeps;
}

}  // namespace replay
