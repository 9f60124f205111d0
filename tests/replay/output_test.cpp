// SPDX-License-Identifier: Apache-2.0
// Files that results go to.
#include "report/output.hpp"

#include "support/catch.hpp"
#include "support/temporary_file.hpp"
#include "traces/trace.hpp"

TEST_CASE("pave-replay: a file for results stays as it is until they come, and then holds nothing else", "[replay]") {
  const pave_tests::temporary_file file("longer than the new text");
  replay::output_file results(file.path());
  CHECK(file.read() == "longer than the new text");
  results.write("new");
  CHECK(file.read() == "new");
}

TEST_CASE("pave-replay: a file that cannot be written is refused before the work", "[replay]") {
  CHECK_THROWS_AS(replay::output_file("/nonexistent/file"), replay::input_error);
  CHECK_THROWS_AS(replay::output_file("/"), replay::input_error);
}

TEST_CASE("pave-replay: the file for the JSON is none of the inputs", "[replay]") {
  const pave_tests::temporary_file first("first");
  const pave_tests::temporary_file second("second");
  CHECK_THROWS_AS(replay::open_json(second.path(), {first.path(), second.path()}), replay::input_error);
  CHECK_NOTHROW(replay::open_json(second.path(), {first.path()}));
  CHECK(second.read() == "second");
}
