// SPDX-License-Identifier: Apache-2.0
// The only macros of pave: its version, its assertion and its feature tests.
#ifndef PAVE_CONFIG_HPP
#define PAVE_CONFIG_HPP

#define PAVE_VERSION_MAJOR 0
#define PAVE_VERSION_MINOR 1
#define PAVE_VERSION_PATCH 0

/// Checks what the types cannot; define it before the first include to use your own. No data member depends on it.
#ifndef PAVE_ASSERT
#ifdef NDEBUG
#define PAVE_ASSERT(condition) static_cast<void>(0)
#else
#include <cassert>
#define PAVE_ASSERT(condition) assert(condition)
#endif
#endif

/// 1 where the compiler offers C++20 concepts: each policy contract then exists as a concept, too.
#if defined(__cpp_concepts)
#if __cpp_concepts >= 201907L
#define PAVE_HAS_CONCEPTS 1
#endif
#endif
#ifndef PAVE_HAS_CONCEPTS
#define PAVE_HAS_CONCEPTS 0
#endif

/// 1 where the compiler finds the lowest and the highest one of a word in one instruction.
#if defined(__GNUC__) || defined(__clang__)
#define PAVE_HAS_BIT_BUILTINS 1
#else
#define PAVE_HAS_BIT_BUILTINS 0
#endif

#endif
