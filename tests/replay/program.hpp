// SPDX-License-Identifier: Apache-2.0
// Runs pave-replay itself, as a shell does.
#ifndef PAVE_TESTS_REPLAY_PROGRAM_HPP
#define PAVE_TESTS_REPLAY_PROGRAM_HPP

#include "support/temporary_file.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <string>

namespace pave_tests {

struct program_outcome {
  int status = -1;
  std::string out;
  std::string err;
};

/// @param arguments as a shell takes them
inline program_outcome run_program(const std::string& arguments) {
  const temporary_file out;
  const temporary_file err;
  const std::string command =
      "'" PAVE_REPLAY_BINARY "' " + arguments + " </dev/null >'" + out.path() + "' 2>'" + err.path() + "'";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out.read(), err.read()};
}

/// The sentence of a refusal, without the name of the program; or what is wrong with how it was refused.
inline std::string refusal(const std::string& arguments) {
  const program_outcome got = run_program(arguments);
  const std::string program = "pave-replay: ";
  if (got.status != 2) return "exit status " + std::to_string(got.status);
  if (!got.out.empty()) return "standard output: " + got.out;
  if (std::count(got.err.begin(), got.err.end(), '\n') != 1 || got.err.back() != '\n') return "lines: " + got.err;
  if (got.err.compare(0, program.size(), program) != 0) return "no name of the program: " + got.err;
  return got.err.substr(program.size(), got.err.size() - program.size() - 1);
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline std::string without_wall_time(const std::string& json) {
  return std::regex_replace(json, std::regex("\"wall_s\": [-+.e0-9]+"), "\"wall_s\": 0");
}

inline const std::string azure_header = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
inline const std::string azure_row = "2023-11-16 18:15:46.6805900,374,44\n";

}  // namespace pave_tests

#endif  // PAVE_TESTS_REPLAY_PROGRAM_HPP
