// SPDX-License-Identifier: Apache-2.0
// The explorer finds what it is there to find: lost updates, real time, and the stack that forgets its tags.
#include "threads/explored/explorer.hpp"

#include "model/random.hpp"
#include "support/catch.hpp"
#include "threads/explored/explored_atomics.hpp"

#include <pave/detail/block_stacks.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using pave_tests::expect;
using pave_tests::explored_atomic;
using pave_tests::explorer;
using pave_tests::fault;
using pave_tests::threads_program;
using number = explored_atomic<std::uint64_t, ~std::uint64_t{0}>;

/// A few numbers, what the threads read of them, and all that was ever read in some schedule.
struct numbers {
  number a, b;
  std::uint64_t read[3] = {};
};
using outcomes = std::set<std::string>;

std::pair<std::size_t, outcomes> outcomes_of(bool every, const std::vector<std::function<void(numbers&)>>& bodies) {
  outcomes seen;
  const auto make = [&] {
    const auto world = std::make_shared<numbers>();
    threads_program program;
    for (const auto& body : bodies) program.threads.emplace_back([=] { body(*world); });
    program.check = [world, &seen] {
      std::string text = std::to_string(world->a.load()) + '/' + std::to_string(world->b.load());
      for (const std::uint64_t read : world->read) text += ' ' + std::to_string(read);
      seen.insert(text);
    };
    return program;
  };
  explorer runs;
  const std::size_t schedules = every ? runs.up_to(explorer::any_number, make) : runs.all(make);
  return {schedules, seen};
}
/// A few loads, stores and exchanges, each of which may depend on what was read before.
std::function<void(numbers&)> random_body(pave_tests::random_source& random, std::size_t thread) {
  struct action {
    std::int64_t kind;
    bool is_a;
  };
  std::vector<action> actions;
  for (std::int64_t left = random.between(1, 3); left > 0; --left)
    actions.push_back({random.between(0, 2), random.one_in(2)});
  return [=](numbers& n) {
    std::uint64_t& seen = n.read[thread];
    for (const action& one : actions) {
      number& where = one.is_a ? n.a : n.b;
      if (one.kind == 0) seen = 10 * seen + where.load();
      if (one.kind == 1) where.store(seen + thread + 1);
      if (one.kind == 2) where.compare_exchange_strong(seen, seen + thread + 1);
    }
  };
}

/// One pops a block while another one pops two and pushes the first again.
template <std::uint64_t Compared>
std::size_t explore_stack() {
  using stacks_type = pave::detail::block_stacks<pave_tests::explored_atomics<Compared>>;
  struct world {
    stacks_type stacks;
    std::array<pave::block_id, 1> first, rest;
    std::array<pave::block_id, 2> second;
  };
  explorer runs;
  return runs.all([] {
    const auto shared = std::make_shared<world>();
    expect(shared->stacks.reserve(1, 3), "memory");
    threads_program program;
    program.threads = {[=] { shared->stacks.pop(0, shared->first); },
                       [=] {
                         shared->stacks.pop(0, {shared->second.data(), 1});
                         shared->stacks.pop(0, {shared->second.data() + 1, 1});
                         typename stacks_type::chain back;
                         shared->stacks.add(back, shared->second[0]);
                         shared->stacks.push(back);
                       }};
    program.check = [=] {
      const pave::block_id taken = shared->second[1];
      expect(shared->first[0] != taken, "two have the same block");
      shared->stacks.pop(0, shared->rest);
      expect(shared->rest[0] != taken && shared->rest[0] != shared->first[0], "a block that is held is on the stack");
    };
    return program;
  });
}

}  // namespace

TEST_CASE("explorer: independent steps are run in one order, and dependent ones in each", "[explored]") {
  const auto write_a = [](numbers& n) { n.a.store(1); };
  const auto write_b = [](numbers& n) { n.b.store(1); };
  const auto read_a = [](numbers& n) { n.read[0] = n.a.load(); };
  const auto read_a_too = [](numbers& n) { n.read[1] = n.a.load(); };
  CHECK(outcomes_of(false, {write_a, write_b}).first == 1);
  CHECK(outcomes_of(false, {read_a, read_a_too}).first == 1);
  CHECK(outcomes_of(false, {write_a, write_a}).first == 2);
  CHECK(outcomes_of(false, {write_a, read_a}).first == 2);
  CHECK(outcomes_of(false, {write_a, read_a, read_a_too}).first == 4);
  CHECK(outcomes_of(false, {write_a, write_a, write_a}).first == 6);
  CHECK(outcomes_of(true, {write_a, write_b}).first == 2);
  CHECK(outcomes_of(true, {write_a, write_b, read_a}).first == 6);
}

TEST_CASE("explorer: the reduction leaves no outcome out", "[explored]") {
  pave_tests::for_each_seed(300, [](std::uint64_t seed) {
    pave_tests::random_source random(seed);
    std::vector<std::function<void(numbers&)>> bodies;
    for (std::size_t thread = 0; thread < 3; ++thread) bodies.push_back(random_body(random, thread));
    const auto every = outcomes_of(true, bodies);
    const auto reduced = outcomes_of(false, bodies);
    REQUIRE(reduced.first <= every.first);
    REQUIRE(reduced.second == every.second);
  });
}

TEST_CASE("explorer: it finds an update that is lost, and none where it is atomic", "[explored]") {
  const auto sums = [](bool is_atomic) {
    std::vector<std::function<void(numbers&)>> bodies;
    for (const std::uint64_t more : {1U, 2U, 4U}) {
      bodies.emplace_back([=](numbers& n) {
        std::uint64_t seen = n.a.load();
        if (!is_atomic) return n.a.store(seen + more);
        while (!n.a.compare_exchange_strong(seen, seen + more)) {
        }
      });
    }
    return outcomes_of(false, bodies).second;
  };
  CHECK(sums(false).size() == 7);
  CHECK(sums(true).size() == 1);
}

TEST_CASE("explorer: it finds the order in which a call ended before another one began, and the one in which not",
          "[explored]") {
  std::set<bool> seen;
  explorer runs;
  runs.all([&seen] {
    const auto ends = std::make_shared<std::size_t>(0), begins = std::make_shared<std::size_t>(0);
    threads_program program;
    program.threads = {[=] {
                         explorer::begin_call();
                         explorer::end_call();
                         *ends = explorer::now();
                       },
                       [=] {
                         explorer::begin_call();
                         *begins = explorer::now();
                         explorer::end_call();
                       }};
    program.check = [=, &seen] { seen.insert(*ends < *begins); };
    return program;
  });
  CHECK(seen.size() == 2);
}

TEST_CASE("explorer: a thread that waits for another one is a fault", "[explored]") {
  const auto wait = [](numbers& n) {
    while (n.a.load() == 0) {
    }
  };
  CHECK_THROWS_AS(outcomes_of(false, {wait, [](numbers& n) { n.a.store(1); }}), fault);
}

TEST_CASE("explored: the stacks of blocks need their tags", "[explored]") {
  constexpr std::uint64_t all_bits = ~std::uint64_t{0}, without_tag = (std::uint64_t{1} << 31U) - 1;
  const std::size_t schedules = explore_stack<all_bits>();
  pave_tests::tell(schedules);
  CHECK(schedules > 10);
  CHECK_THROWS_AS(explore_stack<without_tag>(), fault);
}
