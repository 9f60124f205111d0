// SPDX-License-Identifier: Apache-2.0
// The reader of Mooncake traces: known by content, every quirk survived, every fault named with its line.
#include "simulation/metrics.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"
#include "support/requests.hpp"
#include "support/trace_text.hpp"
#include "traces/trace.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using pave_tests::parse;
using pave_tests::refusal;

using ids = std::vector<std::int64_t>;

const std::string byte_order_mark = "\xEF\xBB\xBF";
const std::string first = R"({"timestamp": 27482, "input_length": 513, "output_length": 500, "hash_ids": [0, 14]})";
const std::string second = R"({"timestamp": 30535, "input_length": 512, "output_length": 1, "hash_ids": [46]})";

/// What the reader says of a row that follows a good one.
std::string refusal_of_row(const std::string& row) {
  const std::string sentence = refusal(first + "\n" + row + "\n");
  const std::string place = ", line 2: ";
  return sentence.compare(0, place.size(), place) == 0 ? sentence.substr(place.size()) : sentence;
}

/// A row like the second one, but for the JSON text of one value.
std::string with(const std::string& key, const std::string& value) {
  std::string row = "{";
  for (const auto& [name, usual] : std::vector<std::pair<std::string, std::string>>{
           {"timestamp", "30535"}, {"input_length", "512"}, {"output_length", "1"}, {"hash_ids", "[46]"}}) {
    row += (row.size() > 1 ? ", \"" : "\"") + name + "\": " + (name == key ? value : usual);
  }
  return row + "}";
}

std::string prompt_of(std::int64_t tokens, std::int64_t hashes) {
  std::string list;
  for (std::int64_t id = 0; id < hashes; ++id) list += (id == 0 ? "" : ",") + std::to_string(id);
  return R"({"timestamp":30535,"output_length":1,"input_length":)" + std::to_string(tokens) + R"(,"hash_ids":[)" +
         list + "]}";
}

const std::vector<std::string> no_whole_numbers{
    "-1",
    "-0",
    "1.0",
    "1.5",
    "1e3",
    "\"1\"",
    "null",
    "true",
    "[1]",
    "{}",
    "18446744073709551616",
    "1e300",
    "-9223372036854775808",
};

}  // namespace

TEST_CASE("pave-replay: a Mooncake trace is read whatever its lines end in", "[replay]") {
  for (const std::string& text : std::vector<std::string>{
           first + "\n" + second + "\n", first + "\n" + second, first + "\r\n" + second + "\r\n",
           first + "\r\n" + second, first + "\r\n" + second + "\r", first + " \t\n \t" + second + "\n",
           first + "\n" + second + "\n\n \t\n\r\n", byte_order_mark + first + "\r\n" + second + "\r\n",
           byte_order_mark + " \t" + first + "\n" + second + "\n"}) {
    CAPTURE(text);
    const auto requests = parse(text);
    REQUIRE(requests.size() == 2);
    CHECK(requests[0].arrival_ticks == 0);
    CHECK(requests[0].prompt_tokens == 513);
    CHECK(requests[0].output_tokens == 500);
    CHECK(requests[0].prefix_hashes == ids{0, 14});
    CHECK(requests[1].arrival_ticks == 30'530'000);
    CHECK(requests[1].prompt_tokens == 512);
    CHECK(requests[1].output_tokens == 1);
    CHECK(requests[1].prefix_hashes == ids{46});
  }
}

TEST_CASE("pave-replay: keys of a Mooncake row come in any order, among others", "[replay]") {
  const std::string deep = std::string(1500, '[') + std::string(1500, ']');
  const auto requests =
      parse(R"({"hash_ids":[7],"type":"text","output_length":3,"é":{"timestamp":-1},"input_length":2,)"
            R"("timestamp":1,"deep":)" +
            deep + "}");
  REQUIRE(requests.size() == 1);
  CHECK(requests[0].prompt_tokens == 2);
  CHECK(requests[0].output_tokens == 3);
  CHECK(requests[0].prefix_hashes == ids{7});
}

TEST_CASE("pave-replay: Mooncake's requests may arrive at the same time, but none before the one above it",
          "[replay]") {
  const auto at = [](std::int64_t milliseconds) { return with("timestamp", std::to_string(milliseconds)) + "\n"; };
  const auto requests = parse(at(5) + at(5) + at(6) + at(922'337'203'685'477));
  REQUIRE(requests.size() == 4);
  CHECK(requests[1].arrival_ticks == 0);
  CHECK(requests[2].arrival_ticks == 10'000);
  CHECK(requests[3].arrival_ticks == 9'223'372'036'854'720'000);
  CHECK(refusal(at(5) + at(7) + at(6)) == ", line 3: the timestamp goes backwards");
  CHECK(refusal(at(5) + at(4)) == ", line 2: the timestamp goes backwards");
}

TEST_CASE("pave-replay: timestamps of a Mooncake trace are whole milliseconds that ticks can count", "[replay]") {
  const std::string sentence = "timestamp is not a whole number from 0 to 922337203685477";
  CHECK(refusal_of_row(with("timestamp", "922337203685478")) == sentence);
  CHECK(refusal_of_row(with("timestamp", "18446744073709551615")) == sentence);
  for (const std::string& value : no_whole_numbers) {
    CAPTURE(value);
    CHECK(refusal_of_row(with("timestamp", value)) == sentence);
  }
}

TEST_CASE("pave-replay: lengths of a Mooncake trace are whole numbers from 1 on", "[replay]") {
  const std::string sentence = " is not a whole number from 1 to 1000000";
  CHECK(parse(with("output_length", "1000000")).at(0).output_tokens == 1'000'000);
  for (const std::string& key : std::vector<std::string>{"input_length", "output_length"}) {
    CHECK(refusal_of_row(with(key, "0")) == key + sentence);
    CHECK(refusal_of_row(with(key, "1000001")) == key + sentence);
    CHECK(refusal_of_row(with(key, "4294967297")) == key + sentence);
    CHECK(refusal_of_row(with(key, "18446744073709551615")) == key + sentence);
    for (const std::string& value : no_whole_numbers) {
      CAPTURE(key, value);
      CHECK(refusal_of_row(with(key, value)) == key + sentence);
    }
  }
}

TEST_CASE("pave-replay: there is one hash id for each 512 tokens begun", "[replay]") {
  for (const auto& [tokens, hashes] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {511, 1}, {512, 1}, {513, 2}, {1024, 2}, {1025, 3}, {6758, 14}, {500'000, 977}}) {
    CAPTURE(tokens, hashes);
    CHECK(parse(prompt_of(tokens, hashes)).at(0).prefix_hashes.size() == static_cast<std::size_t>(hashes));
    for (const std::int64_t wrong : {hashes - 1, hashes + 1}) {
      CHECK(refusal(prompt_of(tokens, wrong)) ==
            ", line 1: hash_ids has " + std::to_string(wrong) + " ids instead of " + std::to_string(hashes) +
                ", one for each 512 tokens begun of input_length " + std::to_string(tokens));
    }
  }
}

TEST_CASE("pave-replay: hash ids are whole numbers of 63 bits", "[replay]") {
  CHECK(parse(with("hash_ids", "[0]")).at(0).prefix_hashes == ids{0});
  CHECK(parse(with("hash_ids", "[9223372036854775807]")).at(0).prefix_hashes == ids{9'223'372'036'854'775'807});
  const std::string sentence = "an id of hash_ids is not a whole number from 0 to 9223372036854775807";
  CHECK(refusal_of_row(with("hash_ids", "[9223372036854775808]")) == sentence);
  CHECK(refusal_of_row(with("hash_ids", "[18446744073709551615]")) == sentence);
  for (const std::string& value : no_whole_numbers) {
    CAPTURE(value);
    CHECK(refusal_of_row(with("hash_ids", "[" + value + "]")) == sentence);
  }
  for (const std::string& value : std::vector<std::string>{"46", "\"46\"", "null", "{\"0\": 46}", "true"}) {
    CAPTURE(value);
    CHECK(refusal_of_row(with("hash_ids", value)) == "hash_ids is not a list");
  }
}

TEST_CASE("pave-replay: a row of the longest prompt with the longest hash ids fits a line", "[replay]") {
  std::string hashes;
  const std::int64_t count = (replay::max_tokens + 511) / 512;
  for (std::int64_t i = 0; i < count; ++i)
    hashes += (i == 0 ? "" : ", ") + std::to_string(9'000'000'000'000'000'000 + i);
  const std::string row = "{\"timestamp\": 0, \"input_length\": " + std::to_string(replay::max_tokens) +
                          ", \"output_length\": 1, \"hash_ids\": [" + hashes + "]}";
  const std::vector<replay::request> requests = parse(row + "\n" + row + "\n");
  REQUIRE(requests.size() == 2);
  CHECK(requests[1].prefix_hashes.size() == static_cast<std::size_t>(count));
}

TEST_CASE("pave-replay: a Mooncake row without a key that it needs is refused", "[replay]") {
  CHECK(refusal_of_row("{}") == "timestamp is missing");
  CHECK(refusal_of_row(R"({"Timestamp": 1, "input_length": 1, "output_length": 1})") == "timestamp is missing");
  CHECK(refusal_of_row(R"({"timestamp": 1, "output_length": 1, "hash_ids": [1]})") == "input_length is missing");
  CHECK(refusal_of_row(R"({"timestamp": 1, "input_length": 1, "hash_ids": [1]})") == "output_length is missing");
}

TEST_CASE("pave-replay: a Mooncake trace has hash ids in every row or in none", "[replay]") {
  const std::string without = R"({"timestamp": 30535, "input_length": 1025, "output_length": 1})";
  const auto requests = parse(without + "\n" + without + "\n");
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].prefix_hashes.empty());
  CHECK(requests[1].prefix_hashes.empty());
  const std::string sentence = ", line 2: either every row has hash_ids or none has";
  CHECK(refusal(without + "\n" + second + "\n") == sentence);
  CHECK(refusal(second + "\n" + without + "\n") == sentence);
}

TEST_CASE("pave-replay: what is no JSON is refused with its place", "[replay]") {
  CHECK(refusal_of_row(second + "x") == "the row stops being JSON at byte " + std::to_string(second.size() + 1));
  CHECK(refusal_of_row(second.substr(0, 20)) == "the row stops being JSON at byte 21");
  CHECK(refusal_of_row(second + '\0' + "nonsense") ==
        "the row stops being JSON at byte " + std::to_string(second.size() + 1));
  CHECK(refusal_of_row(with("timestamp", "1e999")) == "the row holds a number out of range");
  for (const std::string& row : std::vector<std::string>{
           second + "," + second, second + second, second + ",", second.substr(0, second.size() - 1), "{", "{nonsense",
           "{'timestamp': 1}", "{\"name\": \"\xFF\"}", "{/**/}", second + " // comment", with("timestamp", "nan"),
           with("timestamp", "+1"), with("timestamp", "0x1"), with("timestamp", "01"), with("hash_ids", "[46,]"),
           with("hash_ids", "[46"), with("timestamp", "")}) {
    CAPTURE(row);
    CHECK(refusal_of_row(row).compare(0, 33, "the row stops being JSON at byte ") == 0);
  }
}

TEST_CASE("pave-replay: what is JSON but no object is refused", "[replay]") {
  for (const std::string& row : std::vector<std::string>{"[]", "[" + second + "]", "1", "null", "\"{}\"", "nonsense",
                                                         byte_order_mark + second, std::string(1, '\0')}) {
    CAPTURE(row);
    CHECK(refusal_of_row(row) == "the row is not a JSON object");
  }
}

TEST_CASE("pave-replay: a trace has one format", "[replay]") {
  const std::string header = "TIMESTAMP,ContextTokens,GeneratedTokens";
  const std::string azure = "2023-11-16 18:15:46.6805900,374,44";
  CHECK(refusal_of_row(azure) == "the row is not a JSON object");
  CHECK(refusal_of_row(header) == "the row is not a JSON object");
  CHECK(refusal(header + "\n" + azure + "\n" + first + "\n") == ", line 3: a row has three columns, " + header);
  CHECK(refusal(header + "\n" + first + "\n") == ", line 2: a row has three columns, " + header);
  const std::string neither =
      ", line 1: the header is not " + header + " of an Azure trace, nor is the line a JSON object of a Mooncake trace";
  CHECK(refusal("[" + first + "]") == neither);
  CHECK(refusal("\n" + first) == neither);
  CHECK(refusal(byte_order_mark + byte_order_mark + first) == neither);
}

TEST_CASE("pave-replay: a blank line is accepted only at the end of a Mooncake trace", "[replay]") {
  CHECK(refusal(first + "\n\n" + second + "\n") == ", line 3: a row follows a blank line");
  CHECK(refusal(first + "\n \t\r\n\n" + second) == ", line 4: a row follows a blank line");
}

TEST_CASE("pave-replay: rows of a Mooncake trace after the limit are not looked at", "[replay]") {
  const std::string text = first + "\n" + second + "\nnonsense\n";
  CHECK(parse(text, 1).size() == 1);
  CHECK(parse(text, 2).size() == 2);
  CHECK(parse(first + "\n" + std::string(1'000'000, ' '), 1).size() == 1);
  CHECK(refusal(text, 3) == ", line 3: the row is not a JSON object");
  CHECK(parse(first, 5).size() == 1);
}

TEST_CASE("pave-replay: Mooncake Conversation has the figures that are known of it", "[replay]") {
  const auto path = pave_tests::data_file("mooncake_conversation_trace.jsonl");
  if (!path) {
    WARN("skipped: PAVE_DATA_DIR holds no mooncake_conversation_trace.jsonl");
    return;
  }
  const auto requests = replay::read_trace(*path);
  REQUIRE(requests.size() == 12'031);
  CHECK(requests.front().prefix_hashes == ids{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13});
  CHECK(requests[9].arrival_ticks == 0);
  CHECK(requests[10].arrival_ticks > 0);
  CHECK(requests.back().arrival_ticks == 35'369'990'000);
  CHECK(requests.back().prefix_hashes.back() == 182'789);
  const auto prompts = pave_tests::column(requests, &replay::request::prompt_tokens);
  CHECK(replay::describe(prompts).mean.value() == Approx(12'035.06).margin(0.005));
  CHECK(replay::percentile(prompts, 50) == 6909);
  CHECK(prompts.back() == 126'195);
  const auto outputs = pave_tests::column(requests, &replay::request::output_tokens);
  CHECK(replay::describe(outputs).mean.value() == Approx(342.62).margin(0.005));
  CHECK(replay::percentile(outputs, 50) == 350);
  CHECK(outputs.back() == 2000);
  std::vector<std::int64_t> hashes;
  for (const replay::request& one : requests) {
    hashes.insert(hashes.end(), one.prefix_hashes.begin(), one.prefix_hashes.end());
  }
  CHECK(hashes.size() == 288'500);
  std::sort(hashes.begin(), hashes.end());
  CHECK(std::unique(hashes.begin(), hashes.end()) - hashes.begin() == 182'790);
}

TEST_CASE("pave-replay: Mooncake's synthetic trace has the figures that are known of it", "[replay]") {
  const auto path = pave_tests::data_file("mooncake_synthetic_trace.jsonl");
  if (!path) {
    WARN("skipped: PAVE_DATA_DIR holds no mooncake_synthetic_trace.jsonl");
    return;
  }
  const auto requests = replay::read_trace(*path);
  REQUIRE(requests.size() == 3993);
  CHECK(requests.back().arrival_ticks == 10'220'250'000);
  const auto prompts = pave_tests::column(requests, &replay::request::prompt_tokens);
  CHECK(replay::describe(prompts).mean.value() == Approx(15'325.48).margin(0.005));
  CHECK(prompts.front() == 13);
  CHECK(prompts.back() == 191'378);
  CHECK(replay::describe(pave_tests::column(requests, &replay::request::output_tokens)).mean.value() ==
        Approx(149.12).margin(0.005));
}
