// SPDX-License-Identifier: Apache-2.0
// Writes through C streams, which say in errno what went wrong.
#include "output.hpp"

#include "trace.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace replay {

namespace {

[[noreturn]] void refuse_output(const std::string& name, int error) {
  throw input_error(name + " cannot be written: " + std::strerror(error));
}

std::FILE* open(const std::string& path, const char* mode) {
  std::FILE* const file = std::fopen(path.c_str(), mode);
  if (file == nullptr) refuse_output(path, errno);
  return file;
}

/// Whether all of it has reached the system.
bool put(const std::string& text, std::FILE* file) {
  return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
}

}  // namespace

void check_writable(const std::string& path) {
  if (std::fclose(open(path, "ab")) != 0) refuse_output(path, errno);
}

void write_file(const std::string& path, const std::string& text) {
  std::FILE* const file = open(path, "wb");
  const bool written = put(text, file);
  const int error = errno;
  const bool closed = std::fclose(file) == 0;
  if (!written) refuse_output(path, error);
  if (!closed) refuse_output(path, errno);
}

void write_standard_output(const std::string& text) {
  if (!put(text, stdout)) refuse_output("standard output", errno);
}

}  // namespace replay
