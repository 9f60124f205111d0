// SPDX-License-Identifier: Apache-2.0
// Blocks on their way are promised to whom they were cut for: what is left for the others.
#ifndef PAVE_DETAIL_PROMISES_HPP
#define PAVE_DETAIL_PROMISES_HPP

#include <pave/detail/sequence_table.hpp>
#include <pave/detail/step_ledger.hpp>
#include <pave/units.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace pave {
inline namespace v0 {
namespace detail {

/// What one sequence can count on.
struct supply {
  block_count now;     ///< available, and not needed for promises to more important ones
  block_count coming;  ///< with the steps in flight, and not promised to more important ones
};

/// The promises are in the rows of the sequences; each holds against those who are less important.
template <class Pool, bool Delays = Pool::delays>
class promises {
 public:
  using sequences = sequence_table<typename Pool::id_type>;
  using row = typename sequences::row;

  [[nodiscard]] static supply for_one(const Pool& pool,
                                      const sequences& /*all*/,
                                      const step_ledger& /*steps*/,
                                      const row& /*asker*/) noexcept {
    return {pool.available(), 0};
  }
  [[nodiscard]] static step_id when(const Pool& /*pool*/,
                                    const sequences& /*all*/,
                                    const step_ledger& /*steps*/,
                                    const row& /*asker*/,
                                    block_count /*blocks*/) noexcept {
    return {};
  }
  static void keep_to_what_is_there(const Pool& /*pool*/, sequences& /*all*/, const step_ledger& /*steps*/) noexcept {}
  static void promise(row& /*to*/, block_count /*blocks*/, step_id /*by*/) noexcept {}
  static void end(row& /*to*/) noexcept {}
};

template <class Pool>
class promises<Pool, true> {
 public:
  using sequences = sequence_table<typename Pool::id_type>;
  using row = typename sequences::row;

  [[nodiscard]] supply for_one(const Pool& pool,
                               const sequences& all,
                               const step_ledger& steps,
                               const row& asker) const noexcept {
    const due_steps due = before(all, steps, asker);
    const std::int64_t done = steps.last_complete().value();
    block_count needed = 0;  // of what is available, so that each promise is kept in time
    block_count promised = 0;
    for (std::size_t i = 0; i < due.blocks.size(); ++i) {
      if (due.blocks[i] == 0) continue;
      promised += due.blocks[i];
      needed = larger(needed, promised - pool.arriving(done + static_cast<std::int64_t>(i)));
    }
    const block_count now = larger<block_count>(0, pool.available() - needed);
    const block_count all_told = pool.available() + pool.arriving(steps.last_begun()) - promised;
    return {now, larger<block_count>(0, all_told - now)};
  }

  /// @return the first step with which `blocks` blocks are there for the asker, what they count on included
  [[nodiscard]] step_id when(const Pool& pool,
                             const sequences& all,
                             const step_ledger& steps,
                             const row& asker,
                             block_count blocks) const noexcept {
    const due_steps due = before(all, steps, asker);
    block_count promised = 0;
    for (const block_count one : due.blocks) promised += one;
    std::int64_t by = steps.last_complete().value();
    while (by < steps.last_begun().value() && pool.available() + pool.arriving(by) - promised < blocks) ++by;
    return by;
  }

  /// Where more important ones took what was promised to others, the least important lose their promises first.
  void keep_to_what_is_there(const Pool& pool, sequences& all, const step_ledger& steps) noexcept {
    if (total_.get() == 0) return;
    const block_count there = pool.available() + pool.arriving(steps.last_begun());
    while (total_.get() > there) {
      row* last = nullptr;
      for (std::size_t place = 0; place < all.size(); ++place) {
        row& other = all[all.slot_at(place)];
        if (other.promised > 0 && (last == nullptr || last->order < other.order)) last = &other;
      }
      const block_count less = smaller(last->promised, total_.get() - there);
      last->promised -= less;
      total_.get() -= less;
    }
  }

  /// In place of what was promised to it before.
  void promise(row& to, block_count blocks, step_id by) noexcept {
    end(to);
    to.promised = blocks;
    to.promised_by = by;
    total_.get() += blocks;
  }
  void end(row& to) noexcept {
    total_.get() -= to.promised;
    to.promised = 0;
  }

 private:
  struct due_steps {
    std::array<block_count, step_ledger::most_steps + 1> blocks;  // by how many steps after the last complete one
  };

  /// What is promised to more important ones.
  [[nodiscard]] due_steps before(const sequences& all, const step_ledger& steps, const row& asker) const noexcept {
    due_steps due;
    if (total_.get() == 0) return due;
    for (std::size_t place = 0; place < all.size(); ++place) {
      const row& other = all[all.slot_at(place)];
      if (other.promised == 0 || !(other.order < asker.order)) continue;
      const std::int64_t ahead = larger<std::int64_t>(0, other.promised_by.value() - steps.last_complete().value());
      due.blocks[static_cast<std::size_t>(ahead)] += other.promised;
    }
    return due;
  }

  zero_on_move<block_count> total_;
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
