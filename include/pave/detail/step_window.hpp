// SPDX-License-Identifier: Apache-2.0
// Which steps are done, where they come to their end in any order.
#ifndef PAVE_DETAIL_STEP_WINDOW_HPP
#define PAVE_DETAIL_STEP_WINDOW_HPP

#include <pave/result.hpp>
#include <pave/units.hpp>

#include <cstdint>

namespace pave {
inline namespace v0 {
namespace detail {

class step_window {
 public:
  static constexpr std::int64_t width = 64;  // steps in flight

  /// @return the last step such that it and all before it are done
  [[nodiscard]] step_id done() const noexcept { return done_; }

  /// One step is done, whatever became of those before it.
  result<void> complete(step_id step) noexcept {
    if (step < 1) return errc::no_step;
    if (step <= done_) return errc::stale;
    const std::int64_t ahead = step.value() - done_.value();
    if (ahead > width) return errc::busy;
    const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(ahead - 1);
    if ((later_ & bit) != 0) return errc::stale;
    later_ |= bit;
    absorb();
    return {};
  }
  /// All steps up to this one are done.
  void complete_through(step_id step) noexcept {
    if (step <= done_) return;
    const std::int64_t ahead = step.value() - done_.value();
    later_ = ahead < width ? later_ >> static_cast<unsigned>(ahead) : 0;
    done_ = step;
    absorb();
  }

 private:
  void absorb() noexcept {
    for (; (later_ & 1U) != 0; later_ >>= 1U) done_ = done_.value() + 1;
  }

  step_id done_;
  std::uint64_t later_ = 0;  // bit i: step done_ + 1 + i is done
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
