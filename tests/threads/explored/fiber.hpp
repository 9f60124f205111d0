// SPDX-License-Identifier: Apache-2.0
// A function that can be left in its midst and resumed: a thread whose every step the test decides.
#ifndef PAVE_TESTS_THREADS_EXPLORED_FIBER_HPP
#define PAVE_TESTS_THREADS_EXPLORED_FIBER_HPP

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <ucontext.h>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define PAVE_TESTS_HAVE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PAVE_TESTS_HAVE_ASAN 1
#endif
#endif
#ifdef PAVE_TESTS_HAVE_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace pave_tests {

/// Runs one body after the other, each on the fiber's own stack. Its body must not throw.
class fiber {
 public:
  fiber() : stack_(stack_size) {
    if (getcontext(&inside_) != 0) throw std::runtime_error("getcontext failed");
    inside_.uc_stack.ss_sp = stack_.data();
    inside_.uc_stack.ss_size = stack_.size();
    inside_.uc_link = nullptr;
    makecontext(&inside_, &fiber::run, 0);
  }
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  /// @pre the last body has ended
  void start(std::function<void()> body) {
    body_ = std::move(body);
    has_ended_ = false;
  }
  [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }

  /// Goes into the body, until it calls `leave` or ends.
  void resume() {
    current() = this;
    before_switch(&outside_fake_stack_, stack_.data(), stack_.size());
    static_cast<void>(swapcontext(&outside_, &inside_));
    after_switch(outside_fake_stack_, nullptr, nullptr);
    current() = nullptr;
  }
  /// From within a body: back to whoever resumed it.
  void leave() {
    before_switch(&inside_fake_stack_, outside_stack_, outside_size_);
    static_cast<void>(swapcontext(&inside_, &outside_));
    after_switch(inside_fake_stack_, &outside_stack_, &outside_size_);
  }

 private:
  static constexpr std::size_t stack_size = std::size_t{1} << 17U;

  static fiber*& current() noexcept {
    static fiber* running = nullptr;
    return running;
  }
  static void run() {
    fiber& self = *current();
    self.after_switch(nullptr, &self.outside_stack_, &self.outside_size_);
    for (;;) {
      self.body_();
      self.has_ended_ = true;
      self.leave();
    }
  }

#ifdef PAVE_TESTS_HAVE_ASAN
  static void before_switch(void** own_fake_stack, const void* stack, std::size_t size) {
    __sanitizer_start_switch_fiber(own_fake_stack, stack, size);
  }
  static void after_switch(void* own_fake_stack, const void** stack, std::size_t* size) {
    __sanitizer_finish_switch_fiber(own_fake_stack, stack, size);
  }
#else
  static void before_switch(void** /*own_fake_stack*/, const void* /*stack*/, std::size_t /*size*/) {}
  static void after_switch(void* /*own_fake_stack*/, const void** /*stack*/, std::size_t* /*size*/) {}
#endif

  std::vector<char> stack_;
  ucontext_t inside_{}, outside_{};
  std::function<void()> body_;
  bool has_ended_ = true;
  void* inside_fake_stack_ = nullptr;
  void* outside_fake_stack_ = nullptr;
  const void* outside_stack_ = nullptr;
  std::size_t outside_size_ = 0;
};

}  // namespace pave_tests

#endif
