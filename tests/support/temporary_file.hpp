// SPDX-License-Identifier: Apache-2.0
// A file for one test, removed after it.
#ifndef PAVE_TESTS_SUPPORT_TEMPORARY_FILE_HPP
#define PAVE_TESTS_SUPPORT_TEMPORARY_FILE_HPP

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace pave_tests {

class temporary_file {
 public:
  explicit temporary_file(const std::string& text = std::string()) {
    const char* const folder = std::getenv("TMPDIR");
    path_ = (folder != nullptr ? std::string(folder) : std::string("/tmp")) + "/pave_test_XXXXXX";
    const int file = mkstemp(&path_[0]);
    if (file == -1) throw std::runtime_error("no temporary file " + path_);
    close(file);
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~temporary_file() { static_cast<void>(std::remove(path_.c_str())); }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;

  const std::string& path() const { return path_; }

  std::string read() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

 private:
  std::string path_;
};

}  // namespace pave_tests

#endif  // PAVE_TESTS_SUPPORT_TEMPORARY_FILE_HPP
