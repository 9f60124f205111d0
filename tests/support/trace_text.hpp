// SPDX-License-Identifier: Apache-2.0
// What the reader of traces makes of a text.
#ifndef PAVE_TESTS_SUPPORT_TRACE_TEXT_HPP
#define PAVE_TESTS_SUPPORT_TRACE_TEXT_HPP

#include "support/temporary_file.hpp"
#include "traces/trace.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace pave_tests {

inline std::vector<replay::request> parse(const std::string& text, std::size_t limit = replay::every_row) {
  const temporary_file file(text);
  return replay::read_trace(file.path(), limit);
}

/// What the reader says of `text`, without the name of the file.
inline std::string refusal(const std::string& text, std::size_t limit = replay::every_row) {
  const temporary_file file(text);
  try {
    static_cast<void>(replay::read_trace(file.path(), limit));
  } catch (const replay::input_error& fault) {
    const std::string sentence = fault.what();
    if (sentence.compare(0, file.path().size(), file.path()) != 0) return "the file is not named: " + sentence;
    return sentence.substr(file.path().size());
  }
  return "accepted";
}

}  // namespace pave_tests

#endif  // PAVE_TESTS_SUPPORT_TRACE_TEXT_HPP
