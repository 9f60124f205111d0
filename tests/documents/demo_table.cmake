# SPDX-License-Identifier: Apache-2.0
# The table in ROOT/README.md is what REPLAY, pave-replay, prints for `./run demo`.
execute_process(COMMAND "${REPLAY}" --rate 0.5 OUTPUT_VARIABLE printed RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "pave-replay --rate 0.5 ended with ${status}")
endif()
file(READ "${ROOT}/README.md" readme)
string(FIND "${readme}" "```text\n${printed}```\n" found)
if(found EQUAL -1)
  message(FATAL_ERROR "README.md does not show what ./run demo prints today:\n${printed}")
endif()
