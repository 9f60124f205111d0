// SPDX-License-Identifier: Apache-2.0
// What a call gives back: its value, or why it changed nothing.
#ifndef PAVE_RESULT_HPP
#define PAVE_RESULT_HPP

#include <pave/units.hpp>

#include <cstdlib>
#include <optional>
#include <type_traits>
#include <utility>

namespace pave {
inline namespace v0 {

/// @brief Why a call did nothing.
enum class errc : std::uint8_t {
  ok,             ///< no error
  shortage,       ///< too few blocks are available, or can be reclaimed; `error::missing` says how many
  never_fits,     ///< the whole pool is smaller than what was asked; `error::missing` says by how much
  table_full,     ///< no room for another sequence, for another block of a sequence, or for another cut in the buffer
  stale,          ///< the sequence has ended, or what a plan relies on has changed
  not_held,       ///< a block that is free or out of range
  waits,          ///< the sequence is parked or waiting: it comes in by `next_restore`
  nothing_waits,  ///< no sequence is parked or waiting
  no_step,        ///< no step is open for scheduling, or the step was never begun
  busy,           ///< too many steps are in flight
  invalid_argument,  ///< a size that is negative, zero or over its limit
  out_of_memory,     ///< the host refused the memory for the tables
};

/// @return a short sentence for logs; never null
[[nodiscard]] constexpr const char* to_string(errc code) noexcept {
  switch (code) {
    case errc::ok: return "no error";
    case errc::shortage: return "too few blocks are available";
    case errc::never_fits: return "the pool is smaller than what was asked";
    case errc::table_full: return "a table is full";
    case errc::stale: return "the sequence or the plan is out of date";
    case errc::not_held: return "a block is not held";
    case errc::waits: return "the sequence waits for blocks";
    case errc::nothing_waits: return "no sequence waits for blocks";
    case errc::no_step: return "no such step is open";
    case errc::busy: return "too many steps are in flight";
    case errc::invalid_argument: return "a size is out of its range";
    case errc::out_of_memory: return "the host is out of memory";
  }
  return "unknown error";
}

/// @brief An `errc` with the size that was missing.
struct error {
  errc code = errc::ok;
  block_count missing;  ///< blocks; 0 where the code has no size
};

namespace detail {

/// Stops the process: a value was asked of an error.
[[noreturn]] inline void trap() noexcept { std::abort(); }

}  // namespace detail

/// @brief A value of type `Value`, or an `error`. A `Value` of void has only the error.
template <class Value>
class [[nodiscard]] result {
 public:
  template <class From,
            std::enable_if_t<std::is_convertible_v<From&&, Value> && !std::is_same_v<std::decay_t<From>, result> &&
                                 !std::is_same_v<std::decay_t<From>, errc>,
                             int> = 0>
  constexpr result(From&& value) noexcept : value_(std::forward<From>(value)) {}  // NOLINT
  constexpr result(errc code) noexcept : error_{code, 0} {}                       // NOLINT(google-explicit-constructor)
  constexpr result(struct error why) noexcept : error_(why) {}                    // NOLINT(google-explicit-constructor)

  [[nodiscard]] constexpr bool has_value() const noexcept { return value_.has_value(); }
  constexpr explicit operator bool() const noexcept { return has_value(); }

  /// @return the value; stops the process on an error, in every build
  [[nodiscard]] constexpr Value& value() & noexcept { return checked(*this); }
  [[nodiscard]] constexpr const Value& value() const& noexcept { return checked(*this); }
  [[nodiscard]] constexpr Value&& value() && noexcept { return std::move(checked(*this)); }
  [[nodiscard]] constexpr Value& operator*() & noexcept { return checked(*this); }
  [[nodiscard]] constexpr const Value& operator*() const& noexcept { return checked(*this); }
  [[nodiscard]] constexpr Value&& operator*() && noexcept { return std::move(checked(*this)); }
  [[nodiscard]] constexpr Value* operator->() noexcept { return &checked(*this); }
  [[nodiscard]] constexpr const Value* operator->() const noexcept { return &checked(*this); }

  /// @return why there is no value; `errc::ok` where there is one
  [[nodiscard]] constexpr struct error error() const noexcept { return error_; }
  [[nodiscard]] constexpr errc code() const noexcept { return error_.code; }

 private:
  template <class Self>
  static constexpr auto& checked(Self& self) noexcept {
    if (!self.value_) detail::trap();
    return *self.value_;
  }

  std::optional<Value> value_;
  struct error error_;
};

template <>
class [[nodiscard]] result<void> {
 public:
  constexpr result() noexcept = default;
  constexpr result(errc code) noexcept : error_{code, 0} {}     // NOLINT(google-explicit-constructor)
  constexpr result(struct error why) noexcept : error_(why) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] constexpr bool has_value() const noexcept { return error_.code == errc::ok; }
  constexpr explicit operator bool() const noexcept { return has_value(); }
  /// @brief Stops the process on an error, in every build.
  constexpr void value() const noexcept {
    if (!has_value()) detail::trap();
  }
  [[nodiscard]] constexpr struct error error() const noexcept { return error_; }
  [[nodiscard]] constexpr errc code() const noexcept { return error_.code; }

 private:
  struct error error_;
};

}  // namespace v0
}  // namespace pave

#endif
