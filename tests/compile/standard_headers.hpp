// SPDX-License-Identifier: Apache-2.0
// Every standard header that a header of pave may include; one that is not here meets hostile_macros.hpp.
#ifndef PAVE_TESTS_COMPILE_STANDARD_HEADERS_HPP
#define PAVE_TESTS_COMPILE_STANDARD_HEADERS_HPP

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#if __has_include(<version>)
#include <version>
#endif
#if __cplusplus >= 202002L
#include <bit>
#include <compare>
#include <concepts>
#include <span>
#endif

#endif  // PAVE_TESTS_COMPILE_STANDARD_HEADERS_HPP
