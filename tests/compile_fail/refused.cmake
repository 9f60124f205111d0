# SPDX-License-Identifier: Apache-2.0
# Runs the command after `--`; passes if it fails with the text that SOURCE's first line expects.
file(STRINGS "${SOURCE}" lines LIMIT_COUNT 1)
if(NOT lines MATCHES "^// expect: (.+)$")
  message(FATAL_ERROR "${SOURCE}: the first line must be '// expect: <text of the compiler's message>'")
endif()
set(expected "${CMAKE_MATCH_1}")

set(command)
set(seen OFF)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(index RANGE ${last})
  if(seen)
    list(APPEND command "${CMAKE_ARGV${index}}")
  elseif(CMAKE_ARGV${index} STREQUAL "--")
    set(seen ON)
  endif()
endforeach()

# No language of the machine's may change the message.
set(ENV{LC_ALL} C.UTF-8)
execute_process(COMMAND ${command} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(code EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles, and must not; expected: ${expected}")
endif()
string(FIND "${output}" "${expected}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "${SOURCE} is refused, but not with the words '${expected}':\n${output}")
endif()
