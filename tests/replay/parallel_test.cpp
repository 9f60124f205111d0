// SPDX-License-Identifier: Apache-2.0
// Tasks over threads.
#include "parallel.hpp"

#include "support/catch.hpp"

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

/// What is thrown where the tasks in `failing` fail; `begun` is how many tasks began.
std::string failure(std::size_t count, std::size_t jobs, const std::vector<std::size_t>& failing, std::size_t& begun) {
  std::atomic<std::size_t> started{0};
  std::string words = "nothing";
  try {
    replay::run_parallel(count, jobs, [&](std::size_t index) {
      ++started;
      for (const std::size_t one : failing) {
        if (one == index) throw std::runtime_error("task " + std::to_string(index));
      }
    });
  } catch (const std::runtime_error& fault) {
    words = fault.what();
  }
  begun = started;
  return words;
}

}  // namespace

TEST_CASE("pave-replay: every task is done once, however many threads there are", "[replay]") {
  for (const std::size_t jobs : std::vector<std::size_t>{1, 2, 4, 64}) {
    for (const std::size_t count : std::vector<std::size_t>{0, 1, 2, 3, 1000}) {
      CAPTURE(jobs, count);
      std::vector<std::atomic<int>> done(count);
      replay::run_parallel(count, jobs, [&](std::size_t index) { ++done.at(index); });
      for (const std::atomic<int>& one : done) REQUIRE(one == 1);
    }
  }
}

TEST_CASE("pave-replay: one thread does the tasks in their order", "[replay]") {
  std::vector<std::size_t> order;
  replay::run_parallel(5, 1, [&](std::size_t index) { order.push_back(index); });
  CHECK(order == std::vector<std::size_t>{0, 1, 2, 3, 4});
}

TEST_CASE("pave-replay: no task begins after one that failed has ended", "[replay]") {
  std::size_t begun = 0;
  CHECK(failure(5, 1, {3}, begun) == "task 3");
  CHECK(begun == 4);
  CHECK(failure(100, 4, {7, 8, 9, 10, 11}, begun) == "task 7");
  CHECK(begun >= 8);
}

TEST_CASE("pave-replay: of the tasks that fail the first one by its place is told, whichever is the fastest",
          "[replay]") {
  for (int repetition = 0; repetition < 100; ++repetition) {
    std::atomic<bool> second_fails{false};
    const auto both_fail = [&](std::size_t index) {
      if (index == 1) second_fails = true;
      // Bounded, for a system that gives no second thread.
      for (int i = 0; i < 1'000'000 && !second_fails; ++i) std::this_thread::yield();
      throw std::runtime_error("task " + std::to_string(index));
    };
    CHECK_THROWS_WITH(replay::run_parallel(2, 2, both_fail), "task 0");
  }
}
