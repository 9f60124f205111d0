// SPDX-License-Identifier: Apache-2.0
// Draws the progress bar: label, bar, per cent, and the time that is left at the pace so far.
#include "report/progress.hpp"

#include <algorithm>
#include <cstdio>
#include <unistd.h>
#include <utility>

namespace replay {

namespace {

constexpr std::size_t cells = 30;
constexpr const char* erase_line = "\r\x1b[K";

}  // namespace

progress_bar::progress_bar(std::string label, std::size_t total)
    : label_(std::move(label)), total_(total), visible_(total > 0 && isatty(STDERR_FILENO) == 1) {}

progress_bar::~progress_bar() {
  if (drawn_) std::fputs(erase_line, stderr);
}

void progress_bar::add(std::size_t more) {
  const std::size_t done = done_ += more;
  if (!visible_ || done == 0) return;
  // Whoever finds another thread drawing leaves it to that one.
  const std::unique_lock<std::mutex> lock(drawing_, std::try_to_lock);
  if (lock) draw(done);
}

void progress_bar::draw(std::size_t done) {
  const clock::time_point now = clock::now();
  if (now < next_) return;
  next_ = now + redraw_after;
  drawn_ = true;
  const double share = static_cast<double>((std::min)(done, total_)) / static_cast<double>(total_);
  const std::chrono::duration<double> elapsed = now - start_;
  const std::size_t filled = static_cast<std::size_t>(share * static_cast<double>(cells));
  const std::string bar = std::string(filled, '#') + std::string(cells - filled, '.');
  std::fprintf(stderr, "%s%s [%s] %3.0f %%, %.0f s left", erase_line, label_.c_str(), bar.c_str(), share * 100,
               elapsed.count() * (1 - share) / share);
}

}  // namespace replay
