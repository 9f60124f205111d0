// SPDX-License-Identifier: Apache-2.0
// Blocks, tokens, bytes, sequences and steps as types of their own: they come from integers, never from each other.
#ifndef PAVE_UNITS_HPP
#define PAVE_UNITS_HPP

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace pave {
inline namespace v0 {

namespace detail {

template <class Integer>
inline constexpr bool is_integer_v = std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>;

/// An integer as 64 bits; one that does not fit becomes the nearest that does, which every limit refuses.
template <class Integer>
constexpr std::int64_t to_int64(Integer value) noexcept {
  constexpr std::int64_t most = (std::numeric_limits<std::int64_t>::max)();
  constexpr std::int64_t least = (std::numeric_limits<std::int64_t>::min)();
  constexpr bool is_wider = sizeof(Integer) > sizeof(std::int64_t);
  if constexpr (is_wider || (std::is_unsigned_v<Integer> && sizeof(Integer) == sizeof(std::int64_t))) {
    if (value > static_cast<Integer>(most)) return most;
  }
  if constexpr (is_wider && std::is_signed_v<Integer>) {
    if (value < static_cast<Integer>(least)) return least;
  }
  return static_cast<std::int64_t>(value);
}

/// A signed 64-bit amount of one thing. Signed, so that a difference is right before it is checked.
template <class Tag>
class amount {
 public:
  constexpr amount() noexcept = default;
  template <class Integer, std::enable_if_t<is_integer_v<Integer>, int> = 0>
  constexpr amount(Integer value) noexcept : value_(to_int64(value)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] constexpr std::int64_t value() const noexcept { return value_; }

  constexpr amount& operator+=(amount other) noexcept {
    value_ += other.value_;
    return *this;
  }
  constexpr amount& operator-=(amount other) noexcept {
    value_ -= other.value_;
    return *this;
  }
  friend constexpr amount operator+(amount a, amount b) noexcept { return a += b; }
  friend constexpr amount operator-(amount a, amount b) noexcept { return a -= b; }
  friend constexpr bool operator==(amount a, amount b) noexcept { return a.value_ == b.value_; }
  friend constexpr bool operator!=(amount a, amount b) noexcept { return a.value_ != b.value_; }
  friend constexpr bool operator<(amount a, amount b) noexcept { return a.value_ < b.value_; }
  friend constexpr bool operator>(amount a, amount b) noexcept { return a.value_ > b.value_; }
  friend constexpr bool operator<=(amount a, amount b) noexcept { return a.value_ <= b.value_; }
  friend constexpr bool operator>=(amount a, amount b) noexcept { return a.value_ >= b.value_; }

 private:
  std::int64_t value_ = 0;
};

template <class Amount>
constexpr Amount smaller(Amount a, Amount b) noexcept {
  return b < a ? b : a;
}

template <class Amount>
constexpr Amount larger(Amount a, Amount b) noexcept {
  return a < b ? b : a;
}

}  // namespace detail

using block_count = detail::amount<struct block_tag>;
using token_count = detail::amount<struct token_tag>;
using byte_count = detail::amount<struct byte_tag>;
using slab_count = detail::amount<struct slab_tag>;  ///< equal pieces of one memory: see `slab_source`

/// @brief The name of one block of a pool, as wide as `Integer`: as an engine's block tables hold it. An integer that
/// is no id (negative, or over `most`) becomes `basic_block_id{}`, which no pool holds.
template <class Integer>
class basic_block_id {
  static_assert(detail::is_integer_v<Integer>, "pave: a block id needs an integer type");

 public:
  using value_type = Integer;

  /// The largest id: of an unsigned type, the largest value is no id.
  static constexpr std::int64_t most = std::is_signed_v<Integer> || sizeof(Integer) == sizeof(std::int64_t)
                                           ? detail::to_int64((std::numeric_limits<Integer>::max)())
                                           : detail::to_int64((std::numeric_limits<Integer>::max)()) - 1;

  constexpr basic_block_id() noexcept = default;
  template <class From, std::enable_if_t<detail::is_integer_v<From>, int> = 0>
  constexpr basic_block_id(From value) noexcept {  // NOLINT(google-explicit-constructor)
    const std::int64_t wide = detail::to_int64(value);
    if (wide >= 0 && wide <= most) value_ = static_cast<Integer>(wide);
  }

  [[nodiscard]] constexpr Integer value() const noexcept { return value_; }
  /// @return the id as an index; @pre it is not `basic_block_id{}`
  [[nodiscard]] constexpr std::size_t index() const noexcept { return static_cast<std::size_t>(value_); }

  friend constexpr bool operator==(basic_block_id a, basic_block_id b) noexcept { return a.value_ == b.value_; }
  friend constexpr bool operator!=(basic_block_id a, basic_block_id b) noexcept { return a.value_ != b.value_; }
  friend constexpr bool operator<(basic_block_id a, basic_block_id b) noexcept { return a.value_ < b.value_; }

 private:
  Integer value_ = static_cast<Integer>(-1);
};

/// @brief The id of a block as most kernels' block tables hold it: 32 bits, signed.
using block_id = basic_block_id<std::int32_t>;

namespace detail {

/// The same block under an id of another width; no id where that cannot name it.
template <class To, class From>
constexpr To id_cast(From block) noexcept {
  if constexpr (std::is_same_v<To, From>) {
    return block;
  } else {
    return To(block.value());
  }
}

}  // namespace detail

/// @brief One engine step (one forward pass over a batch), counted from 1; 0 is "before the first".
class step_id {
 public:
  constexpr step_id() noexcept = default;
  template <class Integer, std::enable_if_t<detail::is_integer_v<Integer>, int> = 0>
  constexpr step_id(Integer value) noexcept : value_(detail::to_int64(value)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] constexpr std::int64_t value() const noexcept { return value_; }

  friend constexpr bool operator==(step_id a, step_id b) noexcept { return a.value_ == b.value_; }
  friend constexpr bool operator!=(step_id a, step_id b) noexcept { return a.value_ != b.value_; }
  friend constexpr bool operator<(step_id a, step_id b) noexcept { return a.value_ < b.value_; }
  friend constexpr bool operator<=(step_id a, step_id b) noexcept { return a.value_ <= b.value_; }

 private:
  std::int64_t value_ = 0;
};

/// @brief One sequence: a slot, and how often that slot was given out, so that an id outlives its sequence as `stale`.
struct sequence_id {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;  ///< live sequences count from 1

  friend constexpr bool operator==(sequence_id a, sequence_id b) noexcept {
    return a.slot == b.slot && a.generation == b.generation;
  }
  friend constexpr bool operator!=(sequence_id a, sequence_id b) noexcept { return !(a == b); }
};

/// @brief Who matters more. A lower rank is more important; ties are broken by arrival, which preemption does not
/// change.
struct rank {
  std::int64_t value = 0;     ///< the engine's: arrival time, or priority
  std::uint64_t arrival = 0;  ///< distinct for each sequence

  friend constexpr bool operator==(rank a, rank b) noexcept { return a.value == b.value && a.arrival == b.arrival; }
  friend constexpr bool operator!=(rank a, rank b) noexcept { return !(a == b); }
  friend constexpr bool operator<(rank a, rank b) noexcept {
    return a.value != b.value ? a.value < b.value : a.arrival < b.arrival;
  }
};

/// @brief The half-open range [first, last) of one thing.
template <class Amount>
struct basic_range {
  Amount first;
  Amount last;

  [[nodiscard]] constexpr Amount size() const noexcept { return last - first; }
  [[nodiscard]] constexpr bool empty() const noexcept { return last <= first; }

  friend constexpr bool operator==(basic_range a, basic_range b) noexcept {
    return a.first == b.first && a.last == b.last;
  }
  friend constexpr bool operator!=(basic_range a, basic_range b) noexcept { return !(a == b); }
};

using block_range = basic_range<block_count>;  ///< logical blocks of one sequence
using token_range = basic_range<token_count>;  ///< token positions of one sequence

}  // namespace v0
}  // namespace pave

#endif
