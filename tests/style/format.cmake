# SPDX-License-Identifier: Apache-2.0
# CLANG_FORMAT leaves every C++ file of ROOT as it is.
set(patterns)
foreach(folder IN ITEMS include examples tests bench)
  foreach(ending IN ITEMS hpp cpp cuh cu)
    list(APPEND patterns "${ROOT}/${folder}/*.${ending}")
  endforeach()
endforeach()
file(GLOB_RECURSE sources ${patterns})
execute_process(COMMAND "${CLANG_FORMAT}" --dry-run -Werror ${sources} RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "clang-format would change the files above; `clang-format -i <file>` does")
endif()
