// SPDX-License-Identifier: Apache-2.0
// A progress bar on standard error, for people only: nothing is written where it is not a terminal.
#ifndef PAVE_REPLAY_PROGRESS_HPP
#define PAVE_REPLAY_PROGRESS_HPP

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>

namespace replay {

/// One line, rewritten in place, and erased when the bar goes out of scope.
class progress_bar {
 public:
  progress_bar(std::string label, std::size_t total);
  ~progress_bar();
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;

  /// Cheap enough to be called for each request: it draws ten times a second at most, and a short run not at all.
  /// Several threads may call it at the same time.
  void add(std::size_t more);

 private:
  using clock = std::chrono::steady_clock;

  static constexpr std::chrono::milliseconds redraw_after{100};

  void draw(std::size_t done);

  std::string label_;
  std::size_t total_;
  bool visible_;
  std::atomic<std::size_t> done_{0};
  std::mutex drawing_;  // for what follows
  bool drawn_ = false;
  clock::time_point start_ = clock::now();
  clock::time_point next_ = start_ + redraw_after;
};

}  // namespace replay

#endif
