// SPDX-License-Identifier: Apache-2.0
// Workers that take the next index until none is left, or a task has failed.
#include "parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace replay {

namespace {

using indexed_task = std::function<void(std::size_t)>;

class task_queue {
 public:
  task_queue(std::size_t count, const indexed_task& task) : count_(count), task_(task) {}

  /// What every thread does.
  void work() noexcept {
    while (!has_failed_) {
      const std::size_t index = next_++;
      if (index >= count_) return;
      try {
        task_(index);
      } catch (...) {
        note_failure(index);
      }
    }
  }

  /// Of the failures the one with the least index: whatever came before it has begun, and so has ended.
  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void note_failure(std::size_t index) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_ || index < failed_index_) {
      failure_ = std::current_exception();
      failed_index_ = index;
    }
    has_failed_ = true;
  }

  std::size_t count_;
  const indexed_task& task_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> has_failed_{false};
  std::mutex mutex_;  // for what follows
  std::exception_ptr failure_;
  std::size_t failed_index_ = 0;
};

/// Whether the system gave another thread; without it those that are there do the same work.
bool add_helper(std::vector<std::thread>& helpers, task_queue& queue) {
  try {
    helpers.emplace_back([&queue] { queue.work(); });
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

void run_parallel(std::size_t count, std::size_t jobs, const indexed_task& task) {
  task_queue queue(count, task);
  std::vector<std::thread> helpers;
  const std::size_t wanted = (std::min)(jobs, count);
  while (helpers.size() + 1 < wanted && add_helper(helpers, queue)) {
  }
  queue.work();
  for (std::thread& helper : helpers) helper.join();
  queue.rethrow_failure();
}

}  // namespace replay
