// SPDX-License-Identifier: Apache-2.0
// Writes through C streams, which say in errno what went wrong.
#include "report/output.hpp"

#include "traces/trace.hpp"

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

output_file open_json(const std::string& path, const std::vector<std::string>& inputs) {
  std::error_code unknown;
  for (const std::string& input : inputs) {
    if (std::filesystem::equivalent(input, path, unknown)) {
      throw input_error("--json would overwrite the trace " + input);
    }
  }
  if (std::filesystem::is_regular_file(path, unknown) && std::filesystem::equivalent(path, "/dev/stdout", unknown)) {
    throw input_error("--json " + path + " is standard output, which the table goes to; --json - is for JSON alone");
  }
  return output_file(path);
}

void write_standard_output(const std::string& text) {
  if (!put(text, stdout)) refuse_output("standard output", errno);
}

}  // namespace replay
