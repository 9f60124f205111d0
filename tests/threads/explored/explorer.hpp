// SPDX-License-Identifier: Apache-2.0
// Runs a short program of a few threads in every order of its steps that makes a difference.
#ifndef PAVE_TESTS_THREADS_EXPLORED_EXPLORER_HPP
#define PAVE_TESTS_THREADS_EXPLORED_EXPLORER_HPP

#include "model/random.hpp"
#include "support/catch.hpp"
#include "threads/explored/fiber.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

namespace pave_tests {

/// What one step did.
struct access {
  enum class kind : std::uint8_t { read, write, begin_call, end_call };
  std::size_t where = 0;  // of atomics, the number in the order of their making; 0 for the beginnings and ends of calls
  kind what = kind::read;
};

/// Whether two steps of different threads, one right after the other, could turn out differently if exchanged. A call
/// that begins before another one ends overlaps it; one that begins after it does not.
inline bool are_dependent(access a, access b) noexcept {
  return a.where == b.where && (a.what != b.what || a.what == access::kind::write);
}

/// The bodies of the threads, and what has to hold after they all have run. A new world is made for every schedule.
struct threads_program {
  std::vector<std::function<void()>> threads;
  std::function<void()> check;  ///< throws `fault`
};

/// Explores the schedules of the steps of a program: its accesses to atomics, and the beginnings and ends of its calls.
/// Every access takes effect before the next (sequential consistency): what weaker memory orders allow besides is not
/// explored.
/// @cite P. Abdulla, S. Aronis, B. Jonsson and K. Sagonas, Optimal Dynamic Partial Order Reduction, POPL 2014, whose
/// source sets and sleep sets these are; the bound of
/// M. Musuvathi and S. Qadeer, Iterative Context Bounding for Systematic Testing of Multithreaded Programs, PLDI 2007
class explorer {
 public:
  static constexpr std::size_t most_threads = 4;
  static constexpr std::size_t any_number = 1000;

  /// All schedules; of those that differ only in the order of independent steps just one runs.
  /// @return how many ran to their end
  /// Throws `fault` where a check does, with the schedule in its message.
  std::size_t all(const std::function<threads_program()>& make) { return explore(make, true, any_number); }
  /// All schedules that take the turn from a thread at most `preemptions` times before it ends; without any reduction.
  std::size_t up_to(std::size_t preemptions, const std::function<threads_program()>& make) {
    return explore(make, false, preemptions);
  }

  /// One step of the running thread. Outside of the program's threads it is just done.
  /// @param where `new_place()` of an atomic
  /// @param act returns the kind of access that it was
  template <class Act>
  static void step(std::size_t where, Act act) {
    explorer* const self = running();
    if (self == nullptr) return static_cast<void>(act());
    self->wait_for_turn();
    self->note({where, act()});
  }
  static void begin_call() {
    step(calls, [] { return access::kind::begin_call; });
  }
  static void end_call() {
    step(calls, [] { return access::kind::end_call; });
  }
  /// @return what tells an atomic from the others, in every schedule alike
  static std::size_t new_place() noexcept { return ++places(); }
  /// @return how many steps are done, which tells what came first
  static std::size_t now() noexcept { return running() == nullptr ? 0 : running()->at_; }

 private:
  using clock = std::array<std::size_t, most_threads>;  // of each thread, up to which step it is known
  struct choice {
    std::size_t thread = 0;
    std::size_t preemptions = 0;              // so far
    std::uint32_t wanted = 0;                 // threads to choose here, sooner or later
    std::uint32_t asleep = 0;                 // threads whose next step here leads to what was explored already …
    std::array<access, most_threads> next{};  // … and that step
    access did{};
    clock seen{};
  };
  static constexpr std::size_t most_steps = 5000;
  static constexpr std::size_t calls = 0;
  static constexpr std::size_t none = ~std::size_t{0};

  static explorer*& running() noexcept {
    static explorer* self = nullptr;
    return self;
  }
  static std::size_t& places() noexcept {
    static std::size_t latest = calls;
    return latest;
  }
  static constexpr std::uint32_t bit(std::size_t thread) noexcept { return std::uint32_t{1} << thread; }
  static std::size_t lowest(std::uint32_t threads) noexcept {
    std::size_t thread = 0;
    while ((threads & bit(thread)) == 0) ++thread;
    return thread;
  }

  std::size_t explore(const std::function<threads_program()>& make, bool reduces, std::size_t preemptions) {
    path_.clear();
    reduces_ = reduces;
    most_preemptions_ = preemptions;
    std::size_t schedules = 0;
    do {
      places() = calls;
      threads_program program = make();
      if (!run(program)) continue;
      ++schedules;
      try {
        program.check();
      } catch (const fault& found) {
        throw fault(found.what() + ("\nafter " + std::to_string(schedules) + " schedules, in this one:") + schedule());
      }
    } while (next_path());
    return schedules;
  }

  /// Follows the path, and goes on beyond its end.
  /// @return false where all that could follow was explored already
  bool run(threads_program& program) {
    const std::size_t size = program.threads.size();
    while (fibers_.size() < size) fibers_.emplace_back();
    alive_ = 0;
    at_ = 0;
    seen_.fill({});
    is_new_ = true;
    is_starting_ = true;
    for (thread_ = 0; thread_ < size; ++thread_) {
      fibers_[thread_].start(program.threads[thread_]);
      resume();
    }
    is_starting_ = false;
    if (alive_ != 0) pick(lowest(alive_));
    while (alive_ != 0) {
      const std::size_t before = thread_;
      resume();
      if (at_ >= most_steps) throw fault("some thread never ends, in this schedule:" + schedule());
      if (fibers_[before].has_ended() && alive_ != 0) pick(lowest(alive_));
    }
    return is_new_;
  }
  void resume() {
    const std::size_t thread = thread_;
    alive_ |= bit(thread);
    running() = this;
    fibers_[thread].resume();
    running() = nullptr;
    if (fibers_[thread].has_ended()) alive_ &= ~bit(thread);
  }
  /// In a thread that stands before a step.
  void wait_for_turn() {
    const std::size_t self = thread_;
    if (!is_starting_) pick(self);
    if (is_starting_ || thread_ != self || at_ >= most_steps) fibers_[self].leave();
  }
  /// Decides whose step is next.
  void pick(std::size_t otherwise) {
    if (is_new_ && at_ == path_.size()) is_new_ = choose();
    thread_ = is_new_ ? path_[at_].thread : otherwise;
  }

  /// A choice at the end of the path: the thread that ran last, if it may.
  bool choose() {
    choice made;
    std::uint32_t awake = alive_;
    bool goes_on = false;
    if (!path_.empty()) {
      const choice& last = path_.back();
      for (std::size_t thread = 0; reduces_ && thread < most_threads; ++thread) {
        if (thread == last.thread || (last.asleep & bit(thread)) == 0) continue;
        if (are_dependent(last.next[thread], last.did)) continue;
        made.asleep |= bit(thread);
        made.next[thread] = last.next[thread];
      }
      awake &= ~made.asleep;
      if (awake == 0) return false;
      goes_on = (awake & bit(last.thread)) != 0;
      made.preemptions = last.preemptions;
      if (goes_on && last.preemptions == most_preemptions_) awake = bit(last.thread);
    }
    made.thread = goes_on ? path_.back().thread : lowest(awake);
    made.wanted = reduces_ ? bit(made.thread) : awake;
    path_.push_back(made);
    return true;
  }

  /// Notes what the step did, and asks for the other order of it and of those before it that it depends on.
  void note(access did) {
    if (!is_new_) return static_cast<void>(++at_);
    choice& now = path_[at_];
    now.did = did;
    clock& seen = seen_[now.thread];
    for (std::size_t i = at_; reduces_ && i-- > 0;) {
      choice& before = path_[i];
      if (i < seen[before.thread] || !are_dependent(before.did, did)) continue;
      const std::uint32_t first = could_come_first(i, now.thread, seen);
      if (((before.wanted | before.asleep) & first) == 0) before.wanted |= bit(lowest(first));
      for (std::size_t thread = 0; thread < most_threads; ++thread) {
        seen[thread] = (std::max)(seen[thread], before.seen[thread]);
      }
    }
    seen[now.thread] = ++at_;
    now.seen = seen;
  }

  /// The threads that could take the first step instead of step `i`, towards a schedule that has what came after it and
  /// does not depend on it, and then the latest step, of `self`, before it. (The initials of a source set.)
  [[nodiscard]] std::uint32_t could_come_first(std::size_t i, std::size_t self, const clock& seen) const {
    std::array<std::size_t, most_threads> first;  // of each thread
    first.fill(none);
    for (std::size_t k = at_; k-- > i + 1;) {
      const choice& later = path_[k];
      if (later.seen[path_[i].thread] <= i) first[later.thread] = k;
    }
    if (first[self] == none) first[self] = at_;
    std::uint32_t threads = 0;
    for (std::size_t thread = 0; thread < most_threads; ++thread) {
      if (first[thread] == none) continue;
      const clock& known = first[thread] == at_ ? seen : path_[first[thread]].seen;
      bool is_first = true;
      for (std::size_t other = 0; other < most_threads; ++other) {
        if (other != thread && first[other] < known[other]) is_first = false;
      }
      if (is_first) threads |= bit(thread);
    }
    return threads;
  }

  /// Turns to the last choice that has something else to try. @return false where none has
  bool next_path() {
    for (; !path_.empty(); path_.pop_back()) {
      choice& last = path_.back();
      last.asleep |= bit(last.thread);
      last.next[last.thread] = last.did;
      const std::uint32_t untried = last.wanted & ~last.asleep;
      if (untried == 0) continue;
      // The first try went on with the thread that ran before, if it could: all others preempt it.
      const bool could_go_on = path_.size() > 1 && (last.asleep & bit(path_[path_.size() - 2].thread)) != 0;
      if (could_go_on && !reduces_) last.preemptions = path_[path_.size() - 2].preemptions + 1;
      last.thread = lowest(untried);
      return true;
    }
    return false;
  }

  [[nodiscard]] std::string schedule() const {
    std::string text;
    for (const choice& made : path_) text += ' ' + std::to_string(made.thread);
    return text;
  }

  std::deque<fiber> fibers_;
  std::vector<choice> path_;
  bool reduces_ = true;
  std::size_t most_preemptions_ = any_number;

  // Of the schedule that runs:
  std::uint32_t alive_ = 0;  // threads that have a step before them
  std::array<clock, most_threads> seen_{};
  bool is_new_ = true;        // no other schedule was the same up to here
  bool is_starting_ = false;  // each thread goes up to its first step
  std::size_t thread_ = 0;    // the one that runs
  std::size_t at_ = 0;        // steps done
};

/// Prints how many schedules a test explored.
inline void tell(std::size_t schedules) {
  std::cout << "explored " << schedules << " schedules of: " << Catch::getResultCapture().getCurrentTestName() << '\n';
}

}  // namespace pave_tests

#endif
