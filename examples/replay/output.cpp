// SPDX-License-Identifier: Apache-2.0
// Writes through C streams, which say in errno what went wrong.
#include "output.hpp"

#include "trace.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace replay {

namespace {

[[noreturn]] void refuse_output(const std::string& name, int error) {
  throw input_error(name + " cannot be written: " + std::strerror(error));
}

/// Whether all of it has reached the system.
bool put(const std::string& text, std::FILE* file) {
  return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
}

}  // namespace

output_file::output_file(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "ab")) {
  if (!file_) refuse_output(path_, errno);
}

void output_file::write(const std::string& text) {
  std::error_code failed;
  if (std::filesystem::is_regular_file(path_, failed)) {
    std::filesystem::resize_file(path_, 0, failed);
    if (failed) refuse_output(path_, failed.value());
  }
  if (!put(text, file_.get())) refuse_output(path_, errno);
  if (std::fclose(file_.release()) != 0) refuse_output(path_, errno);
}

void write_standard_output(const std::string& text) {
  if (!put(text, stdout)) refuse_output("standard output", errno);
}

}  // namespace replay
