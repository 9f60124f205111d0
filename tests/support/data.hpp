// SPDX-License-Identifier: Apache-2.0
// Where the shared traces are: they are lent to the tests, which say so when they do without.
#ifndef PAVE_TESTS_SUPPORT_DATA_HPP
#define PAVE_TESTS_SUPPORT_DATA_HPP

#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

namespace pave_tests {

/// The path of a file in PAVE_DATA_DIR; nothing where there is no such file.
inline std::optional<std::string> data_file(const std::string& name) {
  const char* const folder = std::getenv("PAVE_DATA_DIR");
  std::string path = (folder != nullptr ? std::string(folder) : std::string(PAVE_DEFAULT_DATA_DIR)) + "/" + name;
  if (!std::ifstream(path)) return std::nullopt;
  return path;
}

}  // namespace pave_tests

#endif  // PAVE_TESTS_SUPPORT_DATA_HPP
