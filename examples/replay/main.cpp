// SPDX-License-Identifier: Apache-2.0
// pave-replay: replays traces of LLM requests under several policies and compares what each frees, recomputes, delays.
#include "command_line/options.hpp"
#include "comparison.hpp"
#include "report/output.hpp"
#include "report/report.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace replay {

namespace {

template <class Report>
void write(const Report& results, bool json_alone, std::optional<output_file>& file) {
  if (file) file->write(to_json(results));
  write_standard_output(json_alone ? to_json(results) : to_table(results));
}

void replay_and_report(const options& chosen) {
  const std::vector<loaded_trace> traces = load_traces(chosen);
  const bool json_alone = chosen.json == "-";
  std::optional<output_file> file;
  if (chosen.json && !json_alone) file = open_json(*chosen.json, chosen.traces);
  const std::vector<report> points = compare(chosen, traces);
  if (chosen.is_single()) {
    write(points.front(), json_alone, file);
  } else {
    write(sweep_report{chosen.swept, points}, json_alone, file);
  }
}

/// Control characters of a file name or an argument must not break the one line.
void complain(std::string sentence) {
  std::replace_if(
      sentence.begin(), sentence.end(),
      [](char byte) { return static_cast<unsigned char>(byte) < ' ' || byte == 0x7F; }, '?');
  std::fprintf(stderr, "pave-replay: %s\n", sentence.c_str());
}

}  // namespace

}  // namespace replay

int main(int argc, char** argv) {
  constexpr int refused = 2;
  try {
    std::string text;
    const std::optional<replay::options> chosen = replay::parse_command_line(argc, argv, text);
    if (chosen) {
      replay::replay_and_report(*chosen);
    } else {
      replay::write_standard_output(text);
    }
    return 0;
  } catch (const std::bad_alloc&) {
    replay::complain("the memory does not suffice for so many requests, tokens or blocks");
  } catch (const std::exception& fault) {
    replay::complain(fault.what());
  }
  return refused;
}
