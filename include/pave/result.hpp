// SPDX-License-Identifier: Apache-2.0
// What a call gives back: its value, or why it changed nothing.
#ifndef PAVE_RESULT_HPP
#define PAVE_RESULT_HPP

#include <pave/units.hpp>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <type_traits>
#include <utility>

namespace pave {
inline namespace v0 {

/// @brief Why a call did nothing.
enum class errc : std::uint8_t {
  ok,          ///< no error
  shortage,    ///< too few blocks are available, or can be reclaimed; `error::missing` says how many
  never_fits,  ///< the pool, or a row of the block table, is smaller than what was asked; `error::missing`: by how much
  table_full,  ///< no room for another sequence, pin, handle, or holder of a block: one has to go first
  buffer_too_small,  ///< the caller's buffer for cuts, or scratch, has too little room
  stale,             ///< the sequence or the pin has ended, the step is complete already, what a plan relies on has
                     ///< changed, or a block has lost its content
  not_held,          ///< a block that is free or out of range
  waits,             ///< the sequence is parked or waiting: it comes in by `next_restore`
  nothing_waits,     ///< no sequence is parked or waiting
  no_budget,         ///< the step has room for no more tokens
  no_step,           ///< no step is open for scheduling, the step was never begun, or an empty cache has none
  busy,              ///< as many steps are in flight as may be, a slot is in use, its sequence runs, or others hold the
                     ///< block
  invalid_argument,  ///< a size, an option or a slot that is out of its range
  out_of_memory,     ///< the host refused the memory for the tables
};

/// @return a short sentence for logs; never null
[[nodiscard]] constexpr const char* to_string(errc code) noexcept {
  switch (code) {
    case errc::ok: return "no error";
    case errc::shortage: return "too few blocks are available, or can be reclaimed";
    case errc::never_fits: return "what was asked can never fit";
    case errc::table_full: return "there is no room for another sequence, pin, handle or holder of a block";
    case errc::buffer_too_small: return "a buffer of the caller is too small";
    case errc::stale: return "the sequence, the pin, the step, the plan or the content is out of date";
    case errc::not_held: return "a block is free, or out of range";
    case errc::waits: return "the sequence waits for blocks";
    case errc::nothing_waits: return "no sequence waits for blocks";
    case errc::no_budget: return "the step has room for no more tokens";
    case errc::no_step: return "no step is open, or none was begun under this number";
    case errc::busy: return "too many steps are in flight, or the sequence, the slot or the block is in use";
    case errc::invalid_argument: return "an argument or an option is out of its range";
    case errc::out_of_memory: return "the host is out of memory";
  }
  return "unknown error";
}

/// @brief An `errc` with the size that was missing, and what of it is on its way.
struct error {
  errc code = errc::ok;
  block_count missing = 0;   ///< blocks; 0 where the code has no size
  block_count arriving = 0;  ///< of these: promised to whom was refused, and available once the step `by` is done
  step_id by = 0;            ///< and all steps before it
};

namespace detail {

/// Stops the process: a value was asked of an error.
[[noreturn]] inline void trap(const error& why) noexcept {
  static_cast<void>(std::fputs("pave: there is no value, since ", stderr));
  static_cast<void>(std::fputs(to_string(why.code), stderr));
  if (why.missing > 0) {
    static_cast<void>(std::fprintf(stderr, " (%lld missing)", static_cast<long long>(why.missing.value())));
  }
  static_cast<void>(std::fputs("\n", stderr));
  std::abort();
}

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
  constexpr result(errc code) noexcept : error_{code, 0, 0, 0} {}                 // NOLINT(google-explicit-constructor)
  constexpr result(struct error why) noexcept : error_(why) {}                    // NOLINT(google-explicit-constructor)

  [[nodiscard]] constexpr bool has_value() const noexcept { return value_.has_value(); }
  constexpr explicit operator bool() const noexcept { return has_value(); }

  /// @return the value; stops the process on an error, in every build. A result that is about to go gives its value
  ///   away, so that a loop over `*call()` does not dangle
  constexpr Value& value() & noexcept { return checked(*this); }
  constexpr const Value& value() const& noexcept { return checked(*this); }
  constexpr Value value() && noexcept { return std::move(checked(*this)); }
  constexpr void value() const&& = delete;
  [[nodiscard]] constexpr Value& operator*() & noexcept { return checked(*this); }
  [[nodiscard]] constexpr const Value& operator*() const& noexcept { return checked(*this); }
  [[nodiscard]] constexpr Value operator*() && noexcept { return std::move(checked(*this)); }
  constexpr void operator*() const&& = delete;
  [[nodiscard]] constexpr Value* operator->() noexcept { return &checked(*this); }
  [[nodiscard]] constexpr const Value* operator->() const noexcept { return &checked(*this); }

  /// @return why there is no value; `errc::ok` where there is one
  [[nodiscard]] constexpr struct error error() const noexcept { return error_; }
  [[nodiscard]] constexpr errc code() const noexcept { return error_.code; }

 private:
  template <class Self>
  static constexpr auto& checked(Self& self) noexcept {
    if (!self.value_) detail::trap(self.error_);
    return *self.value_;
  }

  std::optional<Value> value_;
  struct error error_;
};

template <>
class [[nodiscard]] result<void> {
 public:
  constexpr result() noexcept = default;
  constexpr result(errc code) noexcept : error_{code, 0, 0, 0} {}  // NOLINT(google-explicit-constructor)
  constexpr result(struct error why) noexcept : error_(why) {}     // NOLINT(google-explicit-constructor)

  [[nodiscard]] constexpr bool has_value() const noexcept { return error_.code == errc::ok; }
  constexpr explicit operator bool() const noexcept { return has_value(); }
  /// @brief Stops the process on an error, in every build.
  constexpr void value() const noexcept {
    if (!has_value()) detail::trap(error_);
  }
  [[nodiscard]] constexpr struct error error() const noexcept { return error_; }
  [[nodiscard]] constexpr errc code() const noexcept { return error_.code; }

 private:
  struct error error_;
};

}  // namespace v0
}  // namespace pave

#endif
