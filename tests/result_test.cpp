// SPDX-License-Identifier: Apache-2.0
// Results: a value or an error, never both, and an error carries the size that was missing.
#include "support/catch.hpp"

#include <pave/result.hpp>

#include <sys/types.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using pave::errc;
using pave::result;

static_assert(!std::is_convertible_v<result<int>, bool>, "a result is asked, it does not turn into a number");
static_assert(!std::is_constructible_v<result<pave::block_count>, pave::token_count>);
static_assert(std::is_nothrow_move_constructible_v<result<int>>);

struct only_moves {
  explicit only_moves(int number) : number_(std::make_unique<int>(number)) {}
  std::unique_ptr<int> number_;
};

/// Whether `body` stops the process.
/// @param standard_error where its words go
template <class Body>
bool stops(Body body, int standard_error = STDERR_FILENO) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    dup2(standard_error, STDERR_FILENO);
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace

TEST_CASE("result: a value is there, and the code says that nothing went wrong", "[result]") {
  result<int> number = 41;
  REQUIRE(number);
  CHECK(number.has_value());
  CHECK(number.value() == 41);
  CHECK(*number == 41);
  CHECK(number.code() == errc::ok);
  CHECK(number.error().code == errc::ok);
  CHECK(number.error().missing.value() == 0);
  number.value() = 42;
  CHECK(*number == 42);
}

TEST_CASE("result: a value of zero or false is a value", "[result]") {
  const result<int> zero = 0;
  CHECK(zero.has_value());
  const result<bool> no = false;
  REQUIRE(no.has_value());
  CHECK_FALSE(no.value());
}

TEST_CASE("result: an error has no value, and carries what was missing", "[result]") {
  const result<int> short_of = pave::error{errc::shortage, 7};
  CHECK_FALSE(short_of);
  CHECK_FALSE(short_of.has_value());
  CHECK(short_of.code() == errc::shortage);
  CHECK(short_of.error().missing.value() == 7);
  const result<int> plain = errc::stale;
  CHECK_FALSE(plain.has_value());
  CHECK(plain.code() == errc::stale);
  CHECK(plain.error().missing.value() == 0);
}

TEST_CASE("result: one without a value type is an error or none", "[result]") {
  const result<void> fine;
  CHECK(fine);
  CHECK(fine.code() == errc::ok);
  fine.value();
  const result<void> refused = pave::error{errc::never_fits, 3};
  CHECK_FALSE(refused);
  CHECK(refused.error().missing.value() == 3);
  const result<void> busy = errc::busy;
  CHECK_FALSE(busy.has_value());
}

TEST_CASE("result: a value moves out, and is reached by arrow and star", "[result]") {
  result<only_moves> held = only_moves(5);
  REQUIRE(held);
  CHECK(*held->number_ == 5);
  result<only_moves> moved = std::move(held);
  REQUIRE(moved);
  const only_moves taken = std::move(moved).value();
  CHECK(*taken.number_ == 5);
  result<only_moves> again = only_moves(6);
  const only_moves star = *std::move(again);
  CHECK(*star.number_ == 6);
  const result<std::string> text = std::string("kept");
  CHECK(text->size() == 4);
  CHECK((*text) == "kept");
}

TEST_CASE("result: the value of an error stops the process, in every build", "[result]") {
  CHECK(stops([] {
    result<int> none = errc::shortage;
    static_cast<void>(none.value());
  }));
  CHECK(stops([] {
    const result<int> none = errc::shortage;
    static_cast<void>(*none);
  }));
  CHECK(stops([] {
    const result<std::string> none = errc::shortage;
    static_cast<void>(none->size());
  }));
  CHECK(stops([] { result<void>(errc::stale).value(); }));
  CHECK_FALSE(stops([] { result<void>().value(); }));
  CHECK_FALSE(stops([] { static_cast<void>(result<int>(1).value()); }));
}

TEST_CASE("result: who asks an error for its value is told why there is none, and how much is missing", "[result]") {
  const auto words_of = [](pave::error why) {
    int ends[2] = {-1, -1};
    REQUIRE(pipe(ends) == 0);
    CHECK(stops([why] { result<void>(why).value(); }, ends[1]));
    close(ends[1]);
    std::string words(256, ' ');
    words.resize(static_cast<std::size_t>((std::max<ssize_t>)(0, read(ends[0], words.data(), words.size()))));
    close(ends[0]);
    return words;
  };
  CHECK(words_of({errc::shortage, 7}) ==
        "pave: there is no value, since too few blocks are available, or can be reclaimed (7 missing)\n");
  CHECK(words_of({errc::stale}) ==
        "pave: there is no value, since " + std::string(pave::to_string(errc::stale)) + "\n");
}

TEST_CASE("result: one that is about to go gives its value away, so that a loop over it does not dangle", "[result]") {
  const auto make = [] { return result<std::vector<int>>(std::vector<int>{1, 2, 3}); };
  int sum = 0;
  for (const int each : *make()) sum += each;
  for (const int each : make().value()) sum += each;
  CHECK(sum == 12);
  static_assert(std::is_same_v<decltype(*make()), std::vector<int>>);
  static_assert(std::is_same_v<decltype(make().value()), std::vector<int>>);
}

TEST_CASE("result: every code has a sentence of its own", "[result]") {
  constexpr errc codes[] = {errc::ok,
                            errc::shortage,
                            errc::never_fits,
                            errc::table_full,
                            errc::buffer_too_small,
                            errc::stale,
                            errc::not_held,
                            errc::waits,
                            errc::nothing_waits,
                            errc::no_budget,
                            errc::no_step,
                            errc::busy,
                            errc::invalid_argument,
                            errc::out_of_memory};
  const std::string unknown = pave::to_string(static_cast<errc>(250));
  for (const errc one : codes) {
    REQUIRE(pave::to_string(one) != nullptr);
    CHECK(std::string(pave::to_string(one)) != unknown);
    for (const errc another : codes) {
      if (one != another) CHECK(std::string(pave::to_string(one)) != pave::to_string(another));
    }
  }
}
