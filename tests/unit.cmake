# SPDX-License-Identifier: Apache-2.0
# pave_tests: every *_test.cpp below tests/ (with the pools of model/every_pool*.cpp) in one program, so that two
# definitions of one thing would clash; and pave_thread_tests: those that start threads, for the thread sanitizer.
pave_find(Catch2 catch2 catch2 catch2)

if(Catch2_VERSION VERSION_LESS 3)
  set(catch2_library Catch2::Catch2)
  set(catch2_main support/main.cpp)
  # Its macro must come before Catch2's header, and the runner's own speed tells nothing.
  set_source_files_properties(support/main.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS -O0)
else()
  set(catch2_library Catch2::Catch2WithMain)
  set(catch2_main)
  # Catch2 3 is compiled against one standard library, and links with no other.
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LIBRARIES Catch2::Catch2WithMain)
  check_cxx_source_compiles(
    "#include <catch2/catch_test_macros.hpp>
     #include <string>
     TEST_CASE(\"links\") { REQUIRE(std::string(1, 'a') == \"a\"); }"
    PAVE_CATCH2_LINKS
  )
  unset(CMAKE_REQUIRED_LIBRARIES)
  if(NOT PAVE_CATCH2_LINKS)
    set(reason "the installed Catch2 was built for another standard library")
    if(NOT CMAKE_CXX_FLAGS MATCHES "-stdlib=libc\\+\\+")
      message(FATAL_ERROR "${PAVE_TEST_PREFIX}: ${Catch2_DIR} does not link")
    endif()
    message(WARNING "${PAVE_TEST_PREFIX}: ${reason}, so that only the tests without Catch2 are built")
    pave_add_test("the Catch2 tests (${reason})" "${CMAKE_COMMAND}" -E echo skipped)
    set_tests_properties(
      "${PAVE_TEST_PREFIX}: the Catch2 tests (${reason})" PROPERTIES SKIP_REGULAR_EXPRESSION skipped
    )
    return()
  endif()
endif()

# clang 19 holds it against C++17 that Catch2's own macros omit an argument, and must hear of it after -Wpedantic;
# what pave's headers use, tests/compile sees.
add_library(pave_catch2 INTERFACE)
target_link_libraries(pave_catch2 INTERFACE ${catch2_library})
target_compile_options(pave_catch2 INTERFACE $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wno-c++20-extensions>)

list(APPEND CMAKE_MODULE_PATH "${Catch2_DIR}")
include(Catch)
find_package(Threads REQUIRED)

# pave_add_test_program(<target> <source>...): a program of Catch2 tests, and a test of ctest for each of its cases.
function(pave_add_test_program target)
  add_executable(${target} ${ARGN} ${catch2_main})
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/bench")
  target_link_libraries(${target} PRIVATE pave::pave pave_warnings pave_catch2 Threads::Threads)
  target_precompile_headers(${target} PRIVATE support/catch.hpp)
  # The inner quotes keep the prefix's last space on its way through a command line of cmake.
  catch_discover_tests(
    ${target}
    TEST_PREFIX "'${PAVE_TEST_PREFIX}: '"
    PROPERTIES LABELS "${PAVE_TEST_PREFIX}"
  )
endfunction()

if("threads" IN_LIST PAVE_TEST_GROUPS)
  file(GLOB sources CONFIGURE_DEPENDS threads/*_test.cpp)
  pave_add_test_program(pave_thread_tests ${sources})
endif()
if(NOT "unit" IN_LIST PAVE_TEST_GROUPS)
  return()
endif()

file(GLOB_RECURSE sources CONFIGURE_DEPENDS *_test.cpp model/every_pool*.cpp)
if(NOT PAVE_BUILD_EXAMPLES)
  message(STATUS "PAVE_BUILD_EXAMPLES is off: the tests of the replay (tests/replay) are left out")
  list(FILTER sources EXCLUDE REGEX "/tests/replay/")
endif()

pave_add_test_program(pave_tests ${sources})
target_compile_definitions(
  pave_tests PRIVATE PAVE_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                     PAVE_DEFAULT_DATA_DIR="${PROJECT_SOURCE_DIR}/../shared/data"
)
if(PAVE_BUILD_EXAMPLES)
  pave_find(nlohmann_json nlohmann-json3-dev nlohmann-json nlohmann_json)
  target_link_libraries(pave_tests PRIVATE pave_replay_lib nlohmann_json::nlohmann_json)
  target_compile_definitions(pave_tests PRIVATE PAVE_REPLAY_BINARY="$<TARGET_FILE:pave-replay>")
  add_dependencies(pave_tests pave-replay)
endif()
