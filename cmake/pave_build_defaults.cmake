# SPDX-License-Identifier: Apache-2.0
# How pave's own examples, tests and benchmarks are compiled; nothing here reaches a project that uses pave.
include_guard()

option(PAVE_WARNINGS_AS_ERRORS "Stop pave's own examples, tests and benchmarks at the first warning" ON)

if(PROJECT_IS_TOP_LEVEL)
  get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(NOT CMAKE_BUILD_TYPE AND NOT multi_config)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug, RelWithDebInfo or MinSizeRel" FORCE)
  endif()
  set(CMAKE_CXX_EXTENSIONS OFF)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

# pave's headers come by -I, so that these warnings reach them too; -isystem would hide them.
add_library(pave_warnings INTERFACE)
if(NOT MSVC)
  target_compile_options(
    pave_warnings
    INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wundef
              $<$<BOOL:${PAVE_WARNINGS_AS_ERRORS}>:-Werror>
  )
endif()

# pave_find(<package> <Debian name> <vcpkg name> <Conan name>): find_package that names what to install.
macro(pave_find package debian vcpkg conan)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    message(
      FATAL_ERROR
        "pave's examples, tests and benchmarks need ${package}, which CMake does not find. "
        "Its package is '${debian}' on Debian and Ubuntu, '${vcpkg}' in vcpkg, '${conan}' in Conan. "
        "The library itself needs nothing: "
        "-DPAVE_BUILD_EXAMPLES=OFF -DPAVE_BUILD_TESTS=OFF -DPAVE_BUILD_BENCH=OFF builds without it."
    )
  endif()
endmacro()
