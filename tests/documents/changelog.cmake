# SPDX-License-Identifier: Apache-2.0
# The newest version in FILE, a changelog, is VERSION.
file(READ "${FILE}" text)
if(NOT text MATCHES "\n## \\[([0-9]+\\.[0-9]+\\.[0-9]+)\\]")
  message(FATAL_ERROR "${FILE} has no line '## [<version>]'")
endif()
if(NOT CMAKE_MATCH_1 STREQUAL VERSION)
  message(FATAL_ERROR "${FILE} begins with version ${CMAKE_MATCH_1}, config.hpp says ${VERSION}")
endif()
