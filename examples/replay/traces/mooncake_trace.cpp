// SPDX-License-Identifier: Apache-2.0
// Rows of a Mooncake trace: nlohmann-json parses them, and every number is checked here.
#include "traces/mooncake_trace.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace replay {

namespace {

using json = nlohmann::json;

constexpr std::int64_t ticks_per_millisecond = 10'000;
constexpr std::int64_t greatest_id = (std::numeric_limits<std::int64_t>::max)();
constexpr std::int64_t latest_millisecond = greatest_id / ticks_per_millisecond;

input_error broken_at(std::size_t byte) {
  return input_error("the row stops being JSON at byte " + std::to_string(byte));
}

json to_json(std::string_view line) {
  // The parser would take a zero byte for the end of the row.
  const std::size_t zero = line.find('\0');
  if (zero != std::string_view::npos) throw broken_at(zero + 1);
  try {
    return json::parse(line);
  } catch (const json::parse_error& fault) {
    throw broken_at(fault.byte);
  } catch (const json::exception&) {
    throw input_error("the row holds a number out of range");
  }
}

std::int64_t whole_number(const json& value, const std::string& name, std::int64_t least, std::int64_t most) {
  // What has a sign, a fraction, an exponent or more than 64 bits, the parser does not hold as unsigned.
  const std::uint64_t* const number = value.get_ptr<const std::uint64_t*>();
  if (number == nullptr || *number < static_cast<std::uint64_t>(least) || *number > static_cast<std::uint64_t>(most)) {
    throw input_error(name + " is not a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return static_cast<std::int64_t>(*number);
}

std::int64_t field(const json& row, const char* key, std::int64_t least, std::int64_t most) {
  const auto found = row.find(key);
  if (found == row.end()) throw input_error(std::string(key) + " is missing");
  return whole_number(*found, key, least, most);
}

std::vector<std::int64_t> hashes(const json& ids, std::int64_t prompt_tokens) {
  if (!ids.is_array()) throw input_error("hash_ids is not a list");
  const auto blocks = static_cast<std::size_t>((prompt_tokens - 1) / tokens_per_hash + 1);
  if (ids.size() != blocks) {
    throw input_error("hash_ids has " + std::to_string(ids.size()) + " ids instead of " + std::to_string(blocks) +
                      ", one for each " + std::to_string(tokens_per_hash) + " tokens begun of input_length " +
                      std::to_string(prompt_tokens));
  }
  std::vector<std::int64_t> taken;
  taken.reserve(blocks);
  for (const json& id : ids) taken.push_back(whole_number(id, "an id of hash_ids", 0, greatest_id));
  return taken;
}

}  // namespace

bool begins_mooncake_row(std::string_view line) noexcept {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != std::string_view::npos && line[first] == '{';
}

request mooncake_row(std::string_view line) {
  if (!begins_mooncake_row(line)) throw input_error("the row is not a JSON object");
  const json row = to_json(line);
  request read;
  read.arrival_ticks = field(row, "timestamp", 0, latest_millisecond) * ticks_per_millisecond;
  read.prompt_tokens = field(row, "input_length", 1, max_tokens);
  read.output_tokens = field(row, "output_length", 1, max_tokens);
  const auto ids = row.find("hash_ids");
  if (ids != row.end()) read.prefix_hashes = hashes(*ids, read.prompt_tokens);
  return read;
}

}  // namespace replay
