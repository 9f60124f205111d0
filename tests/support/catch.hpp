// SPDX-License-Identifier: Apache-2.0
// The one place that includes Catch2, so that its major versions 2 and 3 both do.
#ifndef PAVE_TESTS_SUPPORT_CATCH_HPP
#define PAVE_TESTS_SUPPORT_CATCH_HPP

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#endif  // PAVE_TESTS_SUPPORT_CATCH_HPP
