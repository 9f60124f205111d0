// SPDX-License-Identifier: Apache-2.0
// The reader of Azure traces: every quirk survived, every fault named with its line.
#include "traces/trace.hpp"

#include "simulation/metrics.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"
#include "support/requests.hpp"
#include "support/trace_text.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using pave_tests::parse;
using pave_tests::refusal;

const std::string header = "TIMESTAMP,ContextTokens,GeneratedTokens";

bool begins_with(const std::string& text, const std::string& beginning) {
  return text.compare(0, beginning.size(), beginning) == 0;
}

/// Ticks between two timestamps, or the refusal.
std::int64_t ticks_between(const std::string& first, const std::string& second) {
  const auto requests = parse(header + "\n" + first + ",1,1\n" + second + ",1,1\n");
  return requests.at(1).arrival_ticks;
}

std::string with_timestamp(const std::string& timestamp) { return header + "\n" + timestamp + ",1,1\n"; }

std::string with_tokens(const std::string& tokens) { return header + "\n2023-11-16 18:15:46.6805900," + tokens + "\n"; }

}  // namespace

TEST_CASE("pave-replay: a trace is read whatever its lines end in", "[replay]") {
  const std::string first = "2023-11-16 18:15:46.6805900,374,44";
  const std::string second = "2023-11-16 18:15:50.9951690,396,109";
  const std::vector<std::string> texts{
      header + "\r\n" + first + "\r\n" + second,
      header + "\r\n" + first + "\r\n" + second + "\r\n",
      header + "\n" + first + "\n" + second,
      header + "\n" + first + "\n" + second + "\n",
      header + "\r\n" + first + "\n" + second + "\r",
      "\xEF\xBB\xBF" + header + "\n" + first + "\n" + second + "\n",
      "\xEF\xBB\xBF" + header + "\r\n" + first + "\r\n" + second + "\r\n\r\n",
      header + "\n" + first + "\n" + second + "\n\n \t\n\n",
  };
  for (const std::string& text : texts) {
    CAPTURE(text);
    const auto requests = parse(text);
    REQUIRE(requests.size() == 2);
    CHECK(requests[0].arrival_ticks == 0);
    CHECK(requests[0].prompt_tokens == 374);
    CHECK(requests[0].output_tokens == 44);
    CHECK(requests[1].arrival_ticks == 43145790);
    CHECK(requests[1].prompt_tokens == 396);
    CHECK(requests[1].output_tokens == 109);
  }
}

TEST_CASE("pave-replay: ticks follow the calendar, with up to seven digits of a fraction", "[replay]") {
  constexpr std::int64_t second = 10'000'000;
  constexpr std::int64_t day = 86'400 * second;
  CHECK(ticks_between("2023-11-16 18:15:46", "2023-11-16 18:15:46.0000001") == 1);
  CHECK(ticks_between("2023-11-16 18:15:46.5", "2023-11-16 18:15:46.6000000") == 1'000'000);
  CHECK(ticks_between("2023-11-16 18:15:46.12", "2023-11-16 18:15:46.123") == 30'000);
  CHECK(ticks_between("2023-11-16 18:15:46.123456", "2023-11-16 18:15:46.1234567") == 7);
  CHECK(ticks_between("2023-11-16 23:59:59.9999999", "2023-11-17 00:00:00") == 1);
  CHECK(ticks_between("2023-02-28 00:00:00", "2023-03-01 00:00:00") == day);
  CHECK(ticks_between("2024-02-28 00:00:00", "2024-03-01 00:00:00") == 2 * day);
  CHECK(ticks_between("2100-02-28 00:00:00", "2100-03-01 00:00:00") == day);
  CHECK(ticks_between("2000-02-28 00:00:00", "2000-03-01 00:00:00") == 2 * day);
  CHECK(ticks_between("2023-12-31 23:00:00", "2024-01-01 00:00:00") == 3600 * second);
  CHECK(ticks_between("2024-01-01 00:00:00", "2025-01-01 00:00:00") == 366 * day);
  CHECK(ticks_between("1970-01-01 00:00:00", "2000-01-01 00:00:00") == 946'684'800 * second);
  CHECK(ticks_between("0001-01-01 00:00:00", "9999-12-31 23:59:59") == 315'537'897'599 * second);
}

TEST_CASE("pave-replay: requests may arrive at the same time, but none before the one above it", "[replay]") {
  CHECK(ticks_between("2023-11-16 18:15:46.5", "2023-11-16 18:15:46.5000000") == 0);
  const std::string backwards =
      header + "\n2023-11-16 18:15:46,1,1\n2023-11-16 18:15:47.0000000,1,1\n2023-11-16 18:15:46.9999999,1,1\n";
  CHECK(refusal(backwards) == ", line 4: the timestamp goes backwards");
}

TEST_CASE("pave-replay: a timestamp that is no time is refused with its line", "[replay]") {
  const std::vector<std::string> timestamps{
      "",
      "2023-11-16",
      "2023-11-16 18:15",
      "2023-11-16T18:15:46.6805900",
      "2023/11/16 18:15:46",
      "2023-11-16 18:15:46.",
      "2023-11-16 18:15:46.12345678",
      "2023-11-16 18:15:46.12345a7",
      "2023-11-16 18:15:46,5",
      "2023-11-16 18:15:46Z",
      "2023-11-16 18:15:46.5+00:00",
      " 2023-11-16 18:15:46",
      "2023-11-16 18:15:46 ",
      "\"2023-11-16 18:15:46\"",
      "2023-00-16 18:15:46",
      "2023-13-16 18:15:46",
      "2023-11-00 18:15:46",
      "2023-11-31 18:15:46",
      "2023-02-29 18:15:46",
      "1900-02-29 18:15:46",
      "2023-11-16 24:00:00",
      "2023-11-16 18:60:00",
      "2023-11-16 18:15:60",
      "0000-01-01 00:00:00",
      "2023-11-16 -1:15:46",
      "20231116 18:15:46.000",
      "\xEF\xBB\xBF"
      "2023-11-16 18:15:46",
  };
  for (const std::string& timestamp : timestamps) {
    CAPTURE(timestamp);
    CHECK(begins_with(refusal(with_timestamp(timestamp)), ", line 2: "));
  }
}

TEST_CASE("pave-replay: token counts are whole numbers from 1 on", "[replay]") {
  CHECK(parse(with_tokens("1,1000000")).at(0).output_tokens == 1'000'000);
  CHECK(refusal(with_tokens("0,44")) == ", line 2: ContextTokens is not a whole number from 1 to 1000000");
  CHECK(refusal(with_tokens("374,0")) == ", line 2: GeneratedTokens is not a whole number from 1 to 1000000");
  for (const std::string& tokens : std::vector<std::string>{
           "0,0", "-3,44", "+3,44", "3.0,44", " 3,44", "3 ,44", "3,44 ", ",44", "374,", "1e3,44", "0x10,44",
           "1000001,44", "4294967297,44", "9223372036854775808,44", "99999999999999999999999,44", "nan,44", "abc,44"}) {
    CAPTURE(tokens);
    CHECK(begins_with(refusal(with_tokens(tokens)), ", line 2: "));
  }
}

TEST_CASE("pave-replay: a row has exactly three columns", "[replay]") {
  for (const std::string& tokens : std::vector<std::string>{"374", "374,44,1", "374,44,", "374;44"}) {
    CAPTURE(tokens);
    CHECK(refusal(with_tokens(tokens)) == ", line 2: a row has three columns, " + header);
  }
  CHECK(refusal(header + "\nnonsense\n") == ", line 2: a row has three columns, " + header);
}

TEST_CASE("pave-replay: a blank line is accepted only at the end", "[replay]") {
  const std::string row = "2023-11-16 18:15:46.6805900,374,44\n";
  CHECK(refusal(header + "\n" + row + "\n" + row) == ", line 4: a row follows a blank line");
  CHECK(refusal(header + "\n\n" + row) == ", line 3: a row follows a blank line");
}

TEST_CASE("pave-replay: the header must be there, exactly", "[replay]") {
  const std::string row = "2023-11-16 18:15:46.6805900,374,44\n";
  for (const std::string& text : std::vector<std::string>{
           row, "\n" + header + "\n" + row, "timestamp,ContextTokens,GeneratedTokens\n" + row, header + ",More\n" + row,
           " " + header + "\n" + row, header + "\r" + row, "\xEF\xBB\xBF\xEF\xBB\xBF" + header + "\n" + row, "nonsense",
           "\n\n", "[]", std::string(1, '\0')}) {
    CAPTURE(text);
    CHECK(refusal(text) == ", line 1: the header is not " + header +
                               " of an Azure trace, nor is the line a JSON object of a Mooncake trace");
  }
}

TEST_CASE("pave-replay: a trace without requests is refused", "[replay]") {
  CHECK(refusal("") == " holds no requests: it is empty");
  CHECK(refusal(header) == " holds no requests");
  CHECK(refusal(header + "\r\n") == " holds no requests");
  CHECK(refusal(header + "\n\n\n") == " holds no requests");
}

TEST_CASE("pave-replay: what is no readable file is refused", "[replay]") {
  for (const std::string& path : std::vector<std::string>{"/nonexistent/trace.csv", "/"}) {
    std::string sentence;
    try {
      static_cast<void>(replay::read_trace(path));
    } catch (const replay::input_error& fault) {
      sentence = fault.what();
    }
    CHECK(begins_with(sentence, std::string(path) + " cannot be read: "));
  }
}

TEST_CASE("pave-replay: a line without an end does not fill the memory", "[replay]") {
  CHECK(begins_with(refusal(std::string(1'000'000, 'x')), ", line 1: the line is longer"));
  CHECK(begins_with(refusal(header + "\n" + std::string(1'000'000, '1')), ", line 2: the line is longer"));
  CHECK(begins_with(refusal(header + "\n" + std::string(200'000, '\0')), ", line 2: "));
}

TEST_CASE("pave-replay: rows after the limit are not looked at", "[replay]") {
  const std::string text = with_tokens("374,44") + "2023-11-16 18:15:50,396,109\nnonsense\n";
  CHECK(parse(text, 1).size() == 1);
  CHECK(parse(text, 2).size() == 2);
  CHECK(begins_with(refusal(text, 3), ", line 4: "));
  CHECK(parse(with_tokens("374,44"), 5).size() == 1);
}

TEST_CASE("pave-replay: a trace longer than the buffer of the reader is read whole", "[replay]") {
  std::string text = header + "\r\n";
  for (int row = 0; row < 10'000; ++row) {
    const std::string minute = std::to_string(100 + row % 10'000 / 200).substr(1);
    text += "2023-11-16 18:" + minute + ":00.0000000," + std::to_string(1 + row) + "," + std::to_string(1 + row % 997) +
            (row % 3 == 0 ? "\n" : "\r\n");
  }
  const auto requests = parse(text);
  REQUIRE(requests.size() == 10'000);
  for (std::size_t row = 0; row < requests.size(); ++row) {
    REQUIRE(requests[row].prompt_tokens == static_cast<std::int64_t>(row) + 1);
    REQUIRE(requests[row].output_tokens == static_cast<std::int64_t>(row % 997) + 1);
    REQUIRE(requests[row].arrival_ticks == static_cast<std::int64_t>(row / 200) * 600'000'000);
  }
}

TEST_CASE("pave-replay: Azure Conversation has the figures that are known of it", "[replay]") {
  const auto path = pave_tests::data_file("AzureLLMInferenceTrace_conv.csv");
  if (!path) {
    WARN("skipped: PAVE_DATA_DIR holds no AzureLLMInferenceTrace_conv.csv");
    return;
  }
  const auto requests = replay::read_trace(*path);
  REQUIRE(requests.size() == 19'366);
  CHECK(requests.back().arrival_ticks == 35'017'219'370);
  for (std::size_t i = 1; i < requests.size(); ++i) {
    REQUIRE(requests[i - 1].arrival_ticks < requests[i].arrival_ticks);
  }
  const auto prompts = pave_tests::column(requests, &replay::request::prompt_tokens);
  CHECK(replay::describe(prompts).mean.value() == Approx(1154.7).margin(0.05));
  CHECK(replay::percentile(prompts, 50) == 1020);
  CHECK(replay::percentile(prompts, 95) == 4083);
  CHECK(replay::percentile(prompts, 99) == 4142);
  CHECK(prompts.back() == 14'050);
  const auto outputs = pave_tests::column(requests, &replay::request::output_tokens);
  CHECK(replay::describe(outputs).mean.value() == Approx(211.1).margin(0.05));
  CHECK(replay::percentile(outputs, 50) == 129);
  CHECK(replay::percentile(outputs, 95) == 451);
  CHECK(replay::percentile(outputs, 99) == 601);
  CHECK(outputs.back() == 1000);
}

TEST_CASE("pave-replay: Azure Code has the figures that are known of it", "[replay]") {
  const auto path = pave_tests::data_file("AzureLLMInferenceTrace_code.csv");
  if (!path) {
    WARN("skipped: PAVE_DATA_DIR holds no AzureLLMInferenceTrace_code.csv");
    return;
  }
  const auto requests = replay::read_trace(*path);
  REQUIRE(requests.size() == 8819);
  CHECK(requests.front().prompt_tokens == 4808);
  CHECK(requests.front().output_tokens == 10);
  CHECK(requests.back().prompt_tokens == 549);
  CHECK(requests.back().output_tokens == 173);
  CHECK(requests.back().arrival_ticks == 34'359'480'560);
  for (std::size_t i = 1; i < requests.size(); ++i) {
    REQUIRE(requests[i - 1].arrival_ticks < requests[i].arrival_ticks);
  }
  const auto prompts = pave_tests::column(requests, &replay::request::prompt_tokens);
  CHECK(replay::describe(prompts).mean.value() == Approx(2047.85).margin(0.005));
  CHECK(prompts.front() == 3);
  CHECK(replay::percentile(prompts, 50) == 1469);
  CHECK(replay::percentile(prompts, 95) == 7315);
  CHECK(replay::percentile(prompts, 99) == 7436);
  CHECK(prompts.back() == 7437);
  const auto outputs = pave_tests::column(requests, &replay::request::output_tokens);
  CHECK(replay::describe(outputs).mean.value() == Approx(27.88).margin(0.005));
  CHECK(outputs.front() == 6);
  CHECK(replay::percentile(outputs, 50) == 13);
  CHECK(replay::percentile(outputs, 95) == 90);
  CHECK(replay::percentile(outputs, 99) == 252);
  CHECK(outputs.back() == 1899);
}
