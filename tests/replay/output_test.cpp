// SPDX-License-Identifier: Apache-2.0
// Files that results go to.
#include "output.hpp"

#include "support/catch.hpp"
#include "support/temporary_file.hpp"
#include "trace.hpp"

TEST_CASE("pave-replay: asking whether a file can be written leaves it as it is", "[replay]") {
  const pave_tests::temporary_file file("precious");
  replay::check_writable(file.path());
  CHECK(file.read() == "precious");
  CHECK_THROWS_AS(replay::check_writable("/nonexistent/file"), replay::input_error);
  CHECK_THROWS_AS(replay::check_writable("/"), replay::input_error);
}

TEST_CASE("pave-replay: results replace all that a file held", "[replay]") {
  const pave_tests::temporary_file file("longer than the new text");
  replay::write_file(file.path(), "new");
  CHECK(file.read() == "new");
  CHECK_THROWS_AS(replay::write_file("/nonexistent/file", "new"), replay::input_error);
}
