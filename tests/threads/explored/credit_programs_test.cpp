// SPDX-License-Identifier: Apache-2.0
// The credits of a per_thread pool alone: programs with more transfers than a whole pool leaves time for.
#include "support/catch.hpp"
#include "threads/explored/explored_atomics.hpp"
#include "threads/explored/explorer.hpp"
#include "threads/explored/history.hpp"

#include <pave/detail/block_credits.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace {

using pave_tests::call;
using pave_tests::call_kind;
using pave_tests::expect;
using pave_tests::explorer;
using pave_tests::loan;
using credits_type = pave::detail::block_credits<pave_tests::explored_atomics<>>;
constexpr std::size_t till = credits_type::till;

/// Credits, each of which is a loan while it is taken.
class credits_world {
 public:
  credits_world(std::size_t accounts, std::size_t credits) { expect(credits_.reserve(accounts, credits), "memory"); }

  /// In the setup: moves credits from the till into an account.
  void stock(std::size_t account, std::size_t count) {
    expect(credits_.take(till, count) == 0, "the till has them");
    credits_.give(account, count);
  }
  void begin() { before_.available = credits_.available().value(); }

  std::vector<loan> take(std::size_t account, std::size_t count) {
    call one = begun(call_kind::allocate);
    one.number = static_cast<std::int64_t>(count);
    one.missing = credits_.take(account, count).value();
    if (one.missing > 0) one.code = pave::errc::shortage;
    while (one.missing == 0 && one.loans.size() < count) one.loans.push_back(++latest_loan_);
    return end(one);
  }
  void give(std::size_t account, const std::vector<loan>& loans) {
    if (loans.empty()) return;
    call one = begun(call_kind::release);
    one.loans = loans;
    credits_.give(account, loans.size());
    end(one);
  }
  void available() {
    call one = begun(call_kind::available);
    one.number = credits_.available().value();
    end(one);
  }

  void check() {
    pave_tests::plain_pool before = before_, after;
    before.holders.resize(latest_loan_ + 1);
    after.holders.resize(latest_loan_ + 1);
    after.available = credits_.available().value();
    for (const call& one : calls_.calls()) {
      for (const loan taken : one.loans) after.holders[taken] = one.kind == call_kind::allocate ? 1 : 0;
    }
    if (!calls_.is_explained(before, after))
      throw pave_tests::fault("no order of these calls explains what they did:" + calls_.text());
    // Nothing stays behind in an account that was brought in.
    expect(credits_.take(till, static_cast<std::size_t>(after.available)) == 0, "what is available can be taken");
    expect(credits_.available() == 0, "and no more");
  }

 private:
  static call begun(call_kind kind) {
    explorer::begin_call();
    call one;
    one.kind = kind;
    one.first = explorer::now();
    return one;
  }
  std::vector<loan> end(call& one) {
    explorer::end_call();
    one.last = explorer::now();
    calls_.add(one);
    return one.loans;
  }

  credits_type credits_;
  loan latest_loan_ = pave_tests::no_loan;
  pave_tests::history calls_;
  pave_tests::plain_pool before_;
};
using world_pointer = std::shared_ptr<credits_world>;
using bodies = std::vector<std::function<void()>>;

/// @param stocked the credits of each account; the till has none
void explore(std::size_t preemptions,
             std::size_t least,
             const std::vector<std::size_t>& stocked,
             const std::function<bodies(const world_pointer&)>& prepare) {
  const auto make = [&] {
    std::size_t credits = 0;
    for (const std::size_t count : stocked) credits += count;
    const auto world = std::make_shared<credits_world>(stocked.size(), credits);
    for (std::size_t i = 0; i < stocked.size(); ++i) world->stock(i + 1, stocked[i]);
    bodies threads = prepare(world);
    world->begin();
    return pave_tests::threads_program{std::move(threads), [world] { world->check(); }};
  };
  explorer runs;
  const std::size_t schedules = preemptions == explorer::any_number ? runs.all(make) : runs.up_to(preemptions, make);
  pave_tests::tell(schedules);
  CHECK(schedules >= least);
}

}  // namespace

TEST_CASE("explored: an account is brought in, filled and brought in again", "[explored]") {
  const std::size_t wanted = GENERATE(1U, 2U);
  explore(4, 30000, {1}, [&](const world_pointer& world) {
    return bodies{[=] { world->take(till, wanted); },
                  [=] {
                    const auto taken = world->take(till, 1);
                    world->give(1, taken);
                    world->take(till, 1);
                  }};
  });
}

TEST_CASE("explored: two accounts are brought in at the same time", "[explored]") {
  explore(3, 20000, {1, 1}, [&](const world_pointer& world) {
    return bodies{[=] { world->take(1, 2); }, [=] { world->take(2, 2); }};
  });
}

TEST_CASE("explored: two threads bring in the account of a third one, which uses it", "[explored]") {
  explore(3, 90000, {2}, [&](const world_pointer& world) {
    return bodies{[=] { world->take(till, 2); }, [=] { world->give(till, world->take(till, 1)); },
                  [=] { world->give(1, world->take(1, 1)); }};
  });
}

TEST_CASE("explored: what is available while two accounts are brought in", "[explored]") {
  explore(3, 4900, {1, 1}, [&](const world_pointer& world) {
    return bodies{[=] { world->available(); }, [=] { world->give(1, world->take(till, 2)); }};
  });
}

TEST_CASE("explored: what is available is never promised twice, however often it moves meanwhile", "[explored]") {
  // One credit goes to and fro, so that every try to count it is disturbed. No calls are told apart: that would make
  // too many schedules.
  explorer runs;
  const std::size_t schedules = runs.all([] {
    struct shared {
      credits_type credits;
      std::int64_t most = 0;
    };
    const auto world = std::make_shared<shared>();
    expect(world->credits.reserve(1, 1), "memory");
    pave_tests::threads_program program;
    program.threads = {[=] { world->most = world->credits.available().value(); },
                       [=] {
                         static_cast<void>(world->credits.take(till, 1));
                         world->credits.give(1, 1);
                         for (int i = 0; i < 2; ++i) {
                           static_cast<void>(world->credits.take(1, 1));
                           world->credits.give(1, 1);
                         }
                       }};
    program.check = [=] { expect(world->most <= 1, "there is one credit, and never two"); };
    return program;
  });
  pave_tests::tell(schedules);
  CHECK(schedules >= 229);
}
