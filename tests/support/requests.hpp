// SPDX-License-Identifier: Apache-2.0
// One column of a trace, to compare with what is known of its distribution.
#ifndef PAVE_TESTS_SUPPORT_REQUESTS_HPP
#define PAVE_TESTS_SUPPORT_REQUESTS_HPP

#include "traces/trace.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace pave_tests {

using token_field = std::int64_t replay::request::*;

/// One field of all requests, sorted.
inline std::vector<double> column(const std::vector<replay::request>& requests, token_field member) {
  std::vector<double> values;
  for (const replay::request& one : requests) values.push_back(static_cast<double>(one.*member));
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace pave_tests

#endif  // PAVE_TESTS_SUPPORT_REQUESTS_HPP
