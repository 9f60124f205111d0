// SPDX-License-Identifier: Apache-2.0
// When is a released block safe to give out again? The pool's slot `fence`.
#ifndef PAVE_POLICY_FENCE_HPP
#define PAVE_POLICY_FENCE_HPP

#include <pave/config.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/detail/detect.hpp>
#include <pave/policy/free_list.hpp>
#include <pave/units.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace pave {
inline namespace v0 {

namespace detail {

/// What a fence hands its blocks to when they are safe: the pool's free list.
struct any_sink {
  void operator()(block_id, content) const noexcept {}
};

template <class Policy>
using fence_reserve = decltype(std::declval<Policy&>().reserve(block_count{}));
template <class Policy>
using fence_used = decltype(std::declval<Policy&>().used(block_id{}, step_id{}));
template <class Policy>
using fence_release = decltype(std::declval<Policy&>().release(block_id{}, content{}, any_sink{}));
template <class Policy>
using fence_complete = decltype(std::declval<Policy&>().complete(step_id{}, any_sink{}));
template <class Policy>
using fence_fenced = decltype(std::declval<const Policy&>().fenced());
template <class Policy>
using fence_arriving = decltype(std::declval<const Policy&>().arriving(step_id{}));
template <class Policy>
using fence_is_fenced = decltype(std::declval<const Policy&>().is_fenced(block_id{}));
template <class Policy>
using fence_is_in_use = decltype(std::declval<const Policy&>().is_in_use(block_id{}));
template <class Policy>
using fence_delays = decltype(Policy::delays);

/// Whether a fence says that it delays; one that does not say is refused elsewhere.
template <class Policy, class = void>
inline constexpr bool fence_delays_v = false;
template <class Policy>
inline constexpr bool fence_delays_v<Policy, std::void_t<fence_delays<Policy>>> = Policy::delays;
}  // namespace detail

/// @brief The contract of a fence. A sink is called with each block that is safe now, and with what was left in it.
/// - `bool reserve(block_count ids)`: takes memory for the ids 0 … ids − 1, and keeps what is there; false where memory
///   is refused
/// - `void used(block_id, step_id last_use)`: a holder lets go, and used the block in that step last; each holder says
///   so before `release`, and the latest step counts
/// - `void release(block_id, content left, Sink&&)`: the last holder has let go
/// - `void complete(step_id, Sink&&)`: this step and all before it are done
/// - `block_count fenced() const`: blocks that were released and are not safe yet
/// - `block_count arriving(step_id by) const`: how many of these are safe once `by` and all steps before it are done
/// - `bool is_fenced(block_id) const`: whether a block that nobody holds is one of these
/// - `bool is_in_use(block_id) const`: whether a step that is not done, of a holder that has let go, may still use a
///   block that somebody holds
/// - `static constexpr bool delays`: whether a released block may be safe later than at once
template <class Policy>
inline constexpr bool is_fence_v = detail::all({
    detail::is_detected_as_v<bool, detail::fence_reserve, Policy>,
    detail::is_detected_v<detail::fence_used, Policy>,
    detail::is_detected_v<detail::fence_release, Policy>,
    detail::is_detected_as_v<bool, detail::fence_delays, Policy>,
    detail::is_detected_v<detail::fence_complete, Policy>,
    detail::is_detected_as_v<block_count, detail::fence_fenced, Policy>,
    detail::is_detected_as_v<block_count, detail::fence_arriving, Policy>,
    detail::is_detected_as_v<bool, detail::fence_is_fenced, Policy>,
    detail::is_detected_as_v<bool, detail::fence_is_in_use, Policy>,
});

#if PAVE_HAS_CONCEPTS
template <class Policy>
concept fence_policy = is_fence_v<Policy>;
#endif

/// @brief A released block is available at once. Right wherever all that reads or writes blocks runs on one stream,
/// also with several steps in flight: what is launched later runs later.
class at_once {
 public:
  static constexpr bool delays = false;

  [[nodiscard]] static bool reserve(block_count /*ids*/) noexcept { return true; }
  static void used(block_id /*block*/, step_id /*last_use*/) noexcept {}
  template <class Sink>
  static void release(block_id block, content left, Sink&& available) noexcept {
    available(block, left);
  }
  template <class Sink>
  static void complete(step_id /*step*/, Sink&& /*available*/) noexcept {}
  [[nodiscard]] static block_count fenced() noexcept { return 0; }
  [[nodiscard]] static block_count arriving(step_id /*by*/) noexcept { return 0; }
  [[nodiscard]] static bool is_fenced(block_id /*block*/) noexcept { return false; }
  [[nodiscard]] static bool is_in_use(block_id /*block*/) noexcept { return false; }
};
static_assert(is_fence_v<at_once>);

/// @brief A released block is available when the last step that used it is done, and all steps before that one. For
/// engines whose steps run on several streams, or whose transfers touch blocks beside them.
///
/// Blocks on their way wait in a chain for each step, in the order in which they were released. Up to 64 steps can have
/// such a chain at the same time; with more of them, the latest two wait for the later one: too long, and never too
/// short.
/// @complexity constant a block, and linear in the steps that have blocks on their way; 4 bytes a block
class after_step {
 public:
  static constexpr bool delays = true;

  [[nodiscard]] bool reserve(block_count ids) noexcept { return words_.reserve(static_cast<std::size_t>(ids.value())); }
  void used(block_id block, step_id last_use) noexcept {
    latest_ = detail::larger(latest_, last_use);
    std::uint32_t& word = words_[block.index()];
    if (noted(word) < last_use) word = note_of(last_use);
  }
  template <class Sink>
  void release(block_id block, content left, Sink&& available) noexcept {
    std::uint32_t& word = words_[block.index()];
    const step_id last_use = noted(word);
    if (last_use <= done_) {
      word = none;
      available(block, left);
      return;
    }
    waiting& w = waiting_for(last_use);
    append(left == content::worthless ? w.worthless : w.worth_keeping, {block, block});
    w.count += 1;
    fenced_.get() += 1;
  }
  template <class Sink>
  void complete(step_id step, Sink&& available) noexcept {
    done_ = detail::larger(done_, step);
    const auto is_later = [this](const waiting& w) noexcept { return done_ < w.step; };
    waiting* const first = waiting_.data();
    waiting* const last = first + size_.get();
    waiting* const later = std::find_if(first, last, is_later);
    for (const waiting* w = first; w != later; ++w) {
      fenced_.get() -= w->count;
      give(w->worthless, content::worthless, available);
      give(w->worth_keeping, content::worth_keeping, available);
    }
    size_ = static_cast<std::size_t>(std::move(later, last, first) - first);
  }
  [[nodiscard]] block_count fenced() const noexcept { return fenced_.get(); }
  [[nodiscard]] block_count arriving(step_id by) const noexcept {
    block_count count = 0;
    for (std::size_t i = 0; i < size_.get() && waiting_[i].step <= by; ++i) count += waiting_[i].count;
    return count;
  }
  [[nodiscard]] bool is_fenced(block_id block) const noexcept { return (words_[block.index()] & on_its_way) != 0; }
  [[nodiscard]] bool is_in_use(block_id block) const noexcept { return done_ < noted(words_[block.index()]); }

 private:
  struct chain {
    block_id first, last;  // none: empty
  };
  struct waiting {
    step_id step;
    chain worthless, worth_keeping;
    block_count count;
  };

  // The word of a block that is on its way: the next one of its chain. Of any other: the latest step that used it since
  // it was given out, as its last 30 bits; `too_far` where these cannot tell it from others; `none` where it has none.
  static constexpr std::uint32_t on_its_way = std::uint32_t{1} << 31U;
  static constexpr std::uint32_t a_step = std::uint32_t{1} << 30U;
  static constexpr std::uint32_t none = 0;
  static constexpr std::uint32_t too_far = 1;
  static constexpr std::int64_t window = std::int64_t{1} << 29U;

  [[nodiscard]] std::uint32_t note_of(step_id step) const noexcept {
    if (step.value() - done_.value() >= window) return too_far;
    return a_step | (static_cast<std::uint32_t>(step.value()) & (a_step - 1));
  }
  /// @return the step that was noted; one that is done where that is so. Never one that is too early
  [[nodiscard]] step_id noted(std::uint32_t word) const noexcept {
    if (word == none) return done_;
    if (word == too_far) return latest_;
    const std::uint32_t ahead = (word - static_cast<std::uint32_t>(done_.value())) & (a_step - 1);
    const step_id step = done_.value() + (ahead < window ? ahead : 0);
    return latest_ < step ? done_ : step;  // an old one that looks like a step to come
  }

  /// @return the chains of `step`, or of a later one
  waiting& waiting_for(step_id step) noexcept {
    const auto is_before = [](const waiting& w, step_id s) noexcept { return w.step < s; };
    waiting* const first = waiting_.data();
    waiting* at = std::lower_bound(first, first + size_.get(), step, is_before);
    if (at != first + size_.get() && at->step == step) return *at;
    if (size_.get() == waiting_.size()) {
      join_latest_two();
      return waiting_for(step);
    }
    std::move_backward(at, first + size_.get(), first + size_.get() + 1);
    size_.get() += 1;
    *at = waiting{step, {}, {}, 0};
    return *at;
  }
  void join_latest_two() noexcept {
    waiting& earlier = waiting_[size_.get() - 2];
    const waiting latest = waiting_[size_.get() - 1];
    earlier.step = latest.step;
    append(earlier.worthless, latest.worthless);
    append(earlier.worth_keeping, latest.worth_keeping);
    earlier.count += latest.count;
    size_.get() -= 1;
  }
  void append(chain& to, chain more) noexcept {
    if (more.first == block_id{}) return;
    if (to.first == block_id{}) {
      to.first = more.first;
    } else {
      words_[to.last.index()] = on_its_way | static_cast<std::uint32_t>(more.first.value());
    }
    words_[more.last.index()] |= on_its_way;
    to.last = more.last;
  }
  template <class Sink>
  void give(const chain& all, content left, Sink& available) noexcept {
    block_id block = all.first;
    while (block != block_id{}) {
      const bool is_last = block == all.last;
      const block_id next = is_last ? block_id{} : block_id(words_[block.index()] & ~on_its_way);
      words_[block.index()] = none;
      available(block, left);
      block = next;
    }
  }

  detail::buffer<std::uint32_t> words_;
  std::array<waiting, 64> waiting_;  // [0, size_), by step
  detail::zero_on_move<std::size_t> size_;
  detail::zero_on_move<block_count> fenced_;
  step_id done_, latest_;
};
static_assert(is_fence_v<after_step>);

}  // namespace v0
}  // namespace pave

#endif
