// SPDX-License-Identifier: Apache-2.0
// What an audit of a pool finds: blocks that leaked or went too early, and who holds them, in words.
#ifndef PAVE_AUDIT_HPP
#define PAVE_AUDIT_HPP

#include <pave/detail/detect.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace pave {
inline namespace v0 {

/// @brief What an audit can find. All but the last two are broken laws.
enum class finding_kind : std::uint8_t {
  counts_differ,  ///< available + fenced + held is not the capacity
  leaked,         ///< a block has more holders than name it: nobody is left to release it
  over_named,     ///< a block is named more often than it has holders: it comes free too early
  not_held,       ///< a block is named, and nobody holds it: it is free, or on its way
  out_of_range,   ///< what is named is no block of the pool
  table_names,    ///< follows one of the others: this table names that block
  pin_names,      ///< follows one of the others: a pin names that block
};

/// @brief One thing that an audit found.
struct finding {
  static constexpr std::size_t no_table = static_cast<std::size_t>(-1);

  finding_kind kind = finding_kind::counts_differ;
  std::int64_t block = -1;       ///< its id; -1 where the finding is of the pool as a whole
  std::int64_t holders = 0;      ///< that the pool counts; of `counts_differ`: available + fenced + held
  std::int64_t named = 0;        ///< times that tables and pins name it; of `counts_differ`: the capacity
  std::size_t table = no_table;  ///< of `out_of_range` and `table_names`: the table's index
};

namespace detail {

inline void append(span<char> room, std::size_t& size, const char* words) noexcept {
  for (; *words != '\0' && size + 1 < room.size(); ++words) room[size++] = *words;
}
template <class Integer, std::enable_if_t<is_integer_v<Integer>, int> = 0>
void append(span<char> room, std::size_t& size, Integer number) noexcept {
  std::array<char, 24> digits{};  // the last of them stays a null
  std::to_chars(digits.data(), digits.data() + digits.size() - 1, number);
  append(room, size, digits.data());
}

/// Writes words and numbers one behind the other, and a null, as far as there is room; `snprintf` would draw warnings
/// of a short one. @pre room is not empty
template <class... Parts>
const char* write(span<char> room, const Parts&... parts) noexcept {
  std::size_t size = 0;
  (append(room, size, parts), ...);
  room[size] = '\0';
  return room.data();
}

}  // namespace detail

/// @brief Says a finding in one sentence, without a full stop.
/// @param room [out] for the sentence, `[characters]`; 128 are enough for each
/// @return the sentence, which ends with a null; cut off where there is too little room
inline const char* to_words(const finding& found, span<char> room) noexcept {
  if (room.empty()) return "";
  const char* const holders = found.holders == 1 ? " holder" : " holders";
  const char* const times = found.named == 1 ? " time" : " times";
  switch (found.kind) {
    case finding_kind::counts_differ:
      return detail::write(room, "available, fenced and held blocks are ", found.holders, ", but the capacity is ",
                           found.named);
    case finding_kind::leaked:
      return detail::write(room, "block ", found.block, " is leaked: it has ", found.holders, holders,
                           ", and is named ", found.named, times);
    case finding_kind::over_named:
      return detail::write(room, "block ", found.block, " would come free too early: it has ", found.holders, holders,
                           ", and is named ", found.named, times);
    case finding_kind::not_held:
      return detail::write(room, "block ", found.block, " is named ", found.named, times, ", but nobody holds it");
    case finding_kind::out_of_range:
      return detail::write(room, "table ", found.table, " names block ", found.block, ", which the pool does not have");
    case finding_kind::table_names: return detail::write(room, "table ", found.table, " names block ", found.block);
    case finding_kind::pin_names: return detail::write(room, "a pin names block ", found.block);
  }
  return detail::write(room, "unknown finding");
}

namespace detail {
template <class Tables>
using tables_size = decltype(std::declval<const Tables&>().size());
template <class Tables>
using tables_blocks = decltype(*std::declval<const Tables&>().blocks(std::size_t{}).begin());
}  // namespace detail

/// @brief The contract of the tables that an audit looks through; both members are const.
/// - `std::size_t size()`: how many tables
/// - `blocks(i)`: the ids that table `i` names, something with `begin()` and `end()`; one for each holder
template <class Tables, class Id = block_id>
inline constexpr bool is_audit_tables_v = detail::all({
    detail::is_detected_as_v<std::size_t, detail::tables_size, Tables>,
    detail::is_detected_as_v<Id, detail::tables_blocks, Tables>,
});

/// @brief No tables, of ids of any width: where only pins hold blocks, or none should be held.
struct no_tables {
  [[nodiscard]] static constexpr std::size_t size() noexcept { return 0; }
};
template <class Id>
inline constexpr bool is_audit_tables_v<no_tables, Id> = true;

/// @brief Two sets of tables as one: the second's are counted after the first's.
template <class First, class Second>
struct joined_tables {
  const First& first;
  const Second& second;

  [[nodiscard]] std::size_t size() const noexcept { return first.size() + second.size(); }
};
template <class First, class Second, class Id>
inline constexpr bool is_audit_tables_v<joined_tables<First, Second>, Id> =
    is_audit_tables_v<First, Id>&& is_audit_tables_v<Second, Id>;

namespace detail {

/// Calls `visit` with each id that table `i` names.
template <class Tables, class Visit>
void each_named(const Tables& tables, std::size_t i, Visit&& visit) noexcept {
  for (const auto block : tables.blocks(i)) visit(block);
}
template <class Visit>
void each_named(const no_tables& /*tables*/, std::size_t /*i*/, Visit&& /*visit*/) noexcept {}
template <class First, class Second, class Visit>
void each_named(const joined_tables<First, Second>& tables, std::size_t i, Visit&& visit) noexcept {
  if (const std::size_t first = tables.first.size(); i < first) {
    each_named(tables.first, i, visit);
  } else {
    each_named(tables.second, i - first, visit);
  }
}

}  // namespace detail

}  // namespace v0
}  // namespace pave

#endif
