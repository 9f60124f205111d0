// SPDX-License-Identifier: Apache-2.0
// A progress bar on standard error, for people only: nothing is written where it is not a terminal.
#ifndef PAVE_REPLAY_PROGRESS_HPP
#define PAVE_REPLAY_PROGRESS_HPP

#include <chrono>
#include <cstddef>
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
  void update(std::size_t done);

 private:
  using clock = std::chrono::steady_clock;

  static constexpr std::chrono::milliseconds redraw_after{100};

  std::string label_;
  std::size_t total_;
  bool visible_;
  bool drawn_ = false;
  clock::time_point start_ = clock::now();
  clock::time_point next_ = start_ + redraw_after;
};

}  // namespace replay

#endif
