// SPDX-License-Identifier: Apache-2.0
// Who watches the pool? Its slot `observer`, given by reference.
#ifndef PAVE_POLICY_OBSERVER_HPP
#define PAVE_POLICY_OBSERVER_HPP

#include <pave/config.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/detail/detect.hpp>
#include <pave/units.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace pave {
inline namespace v0 {

/// @brief What happened.
enum class event_kind : std::uint8_t {
  allocated,  ///< blocks were given out
  revived,    ///< free blocks were taken by their content
  shared,     ///< held blocks got one more holder each
  released,   ///< a holder let go of blocks
  freed,      ///< of these, blocks without another holder: they are available, or on their way
  arrived,    ///< blocks that were on their way became available
  pinned,     ///< blocks got a pin
  unpinned,   ///< a pin ended
  refused,    ///< a call was refused for want of blocks: so many were missing
  resized,    ///< the pool was told to have so many blocks from now on
};
inline constexpr std::size_t event_kinds = 10;

/// @return a word for logs; never null
[[nodiscard]] constexpr const char* to_string(event_kind kind) noexcept {
  switch (kind) {
    case event_kind::allocated: return "allocated";
    case event_kind::revived: return "revived";
    case event_kind::shared: return "shared";
    case event_kind::released: return "released";
    case event_kind::freed: return "freed";
    case event_kind::arrived: return "arrived";
    case event_kind::pinned: return "pinned";
    case event_kind::unpinned: return "unpinned";
    case event_kind::refused: return "refused";
    case event_kind::resized: return "resized";
  }
  return "unknown event";
}

/// @brief One event. Calls that change nothing, and were not refused for want of blocks, make none.
struct event {
  event_kind kind = event_kind::allocated;
  block_count blocks;
  step_id step;  ///< of `released` and `unpinned`: the last use; of `arrived`: what was completed; else 0
};

namespace detail {
template <class Policy>
using observer_notice = decltype(std::declval<Policy&>().notice(event{}));
}  // namespace detail

/// @brief The contract of an observer: `void notice(const event&)`, which does not call what it watches. It is called
/// under the lock of the pool, once what it tells is done.
template <class Policy>
inline constexpr bool is_observer_v = detail::is_detected_v<detail::observer_notice, Policy>;

#if PAVE_HAS_CONCEPTS
template <class Policy>
concept observer_policy = is_observer_v<Policy>;
#endif

/// @brief Nobody watches, at no cost.
struct silent {
  static constexpr void notice(const event& /*what*/) noexcept {}
};
static_assert(is_observer_v<silent>);

/// @brief How often each kind of event happened, and of how many blocks.
/// @complexity constant
class counters {
 public:
  void notice(const event& what) noexcept {
    tally& t = tallies_[static_cast<std::size_t>(what.kind)];
    t.events += 1;
    t.blocks += what.blocks;
  }
  /// @return how many events of this kind there were
  [[nodiscard]] std::uint64_t events(event_kind kind) const noexcept { return of(kind).events; }
  /// @return the sum of their blocks
  [[nodiscard]] block_count blocks(event_kind kind) const noexcept { return of(kind).blocks; }

 private:
  struct tally {
    std::uint64_t events = 0;
    block_count blocks;
  };
  [[nodiscard]] const tally& of(event_kind kind) const noexcept { return tallies_[static_cast<std::size_t>(kind)]; }

  std::array<tally, event_kinds> tallies_;
};
static_assert(is_observer_v<counters>);

/// @brief The latest events, in a ring of fixed size.
/// @complexity constant an event
class event_log {
 public:
  /// @brief A log that has room for none, until `reserve`.
  event_log() noexcept = default;

  /// @brief Takes memory for the latest `events` events; it may be called once.
  /// @return false where the host refuses it
  [[nodiscard]] bool reserve(std::size_t events) noexcept { return ring_.reserve(events); }

  void notice(const event& what) noexcept {
    if (ring_.size() != 0) ring_[static_cast<std::size_t>(seen_.get() % ring_.size())] = what;
    seen_.get() += 1;
  }

  /// @return how many events there were; those before the last `size()` are lost
  [[nodiscard]] std::uint64_t seen() const noexcept { return seen_.get(); }
  /// @return how many are still there
  [[nodiscard]] std::size_t size() const noexcept {
    return seen_.get() < ring_.size() ? static_cast<std::size_t>(seen_.get()) : ring_.size();
  }
  /// @return the event `i` of those that are there, the oldest at 0. @pre i < size()
  [[nodiscard]] const event& operator[](std::size_t i) const noexcept {
    return ring_[static_cast<std::size_t>((seen_.get() - size() + i) % ring_.size())];
  }

 private:
  detail::buffer<event> ring_;
  detail::zero_on_move<std::uint64_t> seen_;
};
static_assert(is_observer_v<event_log>);

namespace detail {

/// The observer that a pool was given; none yet says nothing. A silent one takes no room to speak of.
template <class Observer>
class observer_ref {
 public:
  void watch_by(Observer& observer) noexcept { observer_ = &observer; }
  void notice(const event& what) const noexcept {
    if (observer_ != nullptr) observer_->notice(what);
  }

 private:
  Observer* observer_ = nullptr;
};

template <>
class observer_ref<silent> {
 public:
  static void watch_by(silent& /*observer*/) noexcept {}
  static constexpr void notice(const event& /*what*/) noexcept {}
};

}  // namespace detail

}  // namespace v0
}  // namespace pave

#endif
