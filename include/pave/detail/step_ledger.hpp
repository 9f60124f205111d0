// SPDX-License-Identifier: Apache-2.0
// Which tokens of which sequence each step in flight computes.
#ifndef PAVE_DETAIL_STEP_LEDGER_HPP
#define PAVE_DETAIL_STEP_LEDGER_HPP

#include <pave/detail/buffer.hpp>
#include <pave/result.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace pave {
inline namespace v0 {
namespace detail {

/// A ring of steps. The latest is open for scheduling until it completes; those before it are launched.
class step_ledger {
 public:
  static constexpr std::size_t most_steps = 64;  // in flight

  [[nodiscard]] bool reserve(std::size_t sequences, std::size_t steps) noexcept {
    return entries_.reserve(sequences, steps) && rosters_.reserve(steps, sequences) && steps_.reserve(steps);
  }

  result<step_id> begin() noexcept {
    if (steps_.size() == 0) return errc::no_step;
    if (last_begun_.get() - last_complete_.get() >= static_cast<std::int64_t>(steps_.size())) return errc::busy;
    last_begun_.get() += 1;
    steps_[ring(last_begun_.get())] = {};
    is_open_.get() = true;
    return last_begun();
  }

  [[nodiscard]] bool is_open() const noexcept { return is_open_.get(); }
  [[nodiscard]] step_id last_begun() const noexcept { return last_begun_.get(); }
  [[nodiscard]] step_id last_complete() const noexcept { return last_complete_.get(); }

  /// What the launched steps compute of one sequence, they compute of another, too, which has just begun in its slot.
  void fork(std::uint32_t from, std::uint32_t to) noexcept {
    const std::int64_t open = is_open_.get() ? last_begun_.get() : last_begun_.get() + 1;
    for (std::int64_t s = last_complete_.get() + 1; s < open; ++s) {
      const entry& e = at(from, s);
      if (e.step == s && !e.tokens.empty()) write(to, s, e.tokens);
    }
  }

  /// The open step computes `tokens` of the sequence in `slot`.
  void enlist(std::uint32_t slot, token_range tokens) noexcept {
    const entry& e = at(slot, last_begun_.get());
    const bool goes_on = e.step == last_begun_.get() && !e.tokens.empty();
    write(slot, last_begun_.get(), {goes_on ? e.tokens.first : tokens.first, tokens.last});
  }

  /// What the sequence in `slot` kept before `start` follows on what the last step computes of it.
  void pass_over(std::uint32_t slot, token_count start) noexcept {
    for (std::int64_t s = last_begun_.get(); s > last_complete_.get(); --s) {
      entry& e = at(slot, s);
      if (e.step != s || e.tokens.empty()) continue;
      e.tokens.last = larger(e.tokens.last, start);
      return;
    }
  }

  /// The open step does not run the sequence in `slot`, after all.
  /// @return where its tokens of that step began, if it had any
  std::optional<token_count> withdraw(std::uint32_t slot) noexcept {
    const std::optional<token_count> start = open_start(slot);
    if (start) at(slot, last_begun_.get()).tokens = {};
    return start;
  }

  /// @return where the open step's tokens of the sequence in `slot` begin, if it has any
  [[nodiscard]] std::optional<token_count> open_start(std::uint32_t slot) const noexcept {
    if (!is_open_.get()) return std::nullopt;
    const entry& e = at(slot, last_begun_.get());
    if (e.step != last_begun_.get() || e.tokens.empty()) return std::nullopt;
    return e.tokens.first;
  }

  /// Where the tokens end that the open step computes of the sequence in `slot`, if it has any.
  [[nodiscard]] std::optional<token_count> open_end(std::uint32_t slot) const noexcept {
    if (!open_start(slot)) return std::nullopt;
    return at(slot, last_begun_.get()).tokens.last;
  }

  /// Of the sequence in `slot`, only [0, kept) will be of use.
  void trim(std::uint32_t slot, token_count kept) noexcept {
    for (std::int64_t s = last_complete_.get() + 1; s <= last_begun_.get(); ++s) {
      entry& e = at(slot, s);
      if (e.step == s) e.tokens = {smaller(e.tokens.first, kept), smaller(e.tokens.last, kept)};
    }
  }

  /// The sequence in `slot` has ended; the next one there has nothing in flight.
  void leave(std::uint32_t slot) noexcept { trim(slot, 0); }

  /// @param computed called with (slot, end) for each sequence whose tokens up to `end` are computed now
  template <class Computed>
  result<void> complete(step_id which, Computed&& computed) noexcept {
    if (which < 1 || step_id{last_begun_.get()} < which) return errc::no_step;
    if (which <= last_complete() || steps_[ring(which.value())].is_done) return errc::stale;
    steps_[ring(which.value())].is_done = true;
    if (which == last_begun()) is_open_.get() = false;
    while (last_complete_.get() < last_begun_.get() && steps_[ring(last_complete_.get() + 1)].is_done) {
      const std::int64_t oldest = ++last_complete_.get();
      for (std::size_t i = 0; i < steps_[ring(oldest)].size; ++i) {
        const std::uint32_t slot = rosters_[ring(oldest) * sequences() + i];
        const token_range tokens = at(slot, oldest).tokens;
        if (!tokens.empty()) computed(slot, tokens.last);
      }
    }
    return {};
  }

 private:
  struct entry {
    std::int64_t step = 0;
    token_range tokens;  // empty: nothing that counts
  };
  struct step_state {
    std::size_t size = 0;  // of its roster
    bool is_done = false;
  };

  [[nodiscard]] std::size_t ring(std::int64_t step) const noexcept {
    return static_cast<std::size_t>(step) % steps_.size();
  }
  [[nodiscard]] std::size_t sequences() const noexcept { return entries_.size() / steps_.size(); }
  /// What a step computes of the sequence in `slot`, which is on the step's roster from now on.
  void write(std::uint32_t slot, std::int64_t step, token_range tokens) noexcept {
    entry& e = at(slot, step);
    if (e.step != step) rosters_[ring(step) * sequences() + steps_[ring(step)].size++] = slot;
    e = {step, tokens};
  }
  entry& at(std::uint32_t slot, std::int64_t step) noexcept { return entries_[slot * steps_.size() + ring(step)]; }
  [[nodiscard]] const entry& at(std::uint32_t slot, std::int64_t step) const noexcept {
    return entries_[slot * steps_.size() + ring(step)];
  }

  buffer<entry> entries_;          // [sequences, steps]
  buffer<std::uint32_t> rosters_;  // [steps, sequences]: the slots that a step runs
  buffer<step_state> steps_;
  zero_on_move<std::int64_t> last_begun_;
  zero_on_move<std::int64_t> last_complete_;
  zero_on_move<bool> is_open_;
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
