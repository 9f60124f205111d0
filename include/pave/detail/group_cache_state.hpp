// SPDX-License-Identifier: Apache-2.0
// Who holds which blocks of a cache over several KV groups, and how they come and go.
#ifndef PAVE_DETAIL_GROUP_CACHE_STATE_HPP
#define PAVE_DETAIL_GROUP_CACHE_STATE_HPP

#include <pave/detail/buffer.hpp>
#include <pave/detail/group_cuts.hpp>
#include <pave/detail/group_part.hpp>
#include <pave/detail/owned_array.hpp>
#include <pave/detail/sequence_table.hpp>
#include <pave/detail/step_ledger.hpp>
#include <pave/group_planner.hpp>
#include <pave/groups.hpp>
#include <pave/span.hpp>
#include <pave/tracker.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace pave {
inline namespace v0 {
namespace detail {

/// The parts of a cache over groups that its calls share, and the moves that keep them in step with each other.
template <class Pool, class Tracker, class Index>
struct group_cache_state {
  using id_type = typename Pool::id_type;
  using part = group_part<Pool, Index>;
  using sequence_rows = sequence_table<id_type>;  // of no blocks: each part has its own table
  using row = typename sequence_rows::row;

  owned_array<part> parts;  // a group each
  Tracker tracker;
  sequence_rows sequences;
  step_ledger steps;

  [[nodiscard]] bool is_live(sequence_id id) const noexcept { return tracker.progress(id).has_value(); }

  /// The position from which a sequence goes on, if the open step is not to run it.
  [[nodiscard]] token_count base(sequence_id id) const noexcept {
    return steps.open_start(id.slot).value_or(tracker.progress(id)->scheduled);
  }

  token_range schedule(sequence_id id, token_count tokens) noexcept {
    const token_range scheduled = tracker.schedule(id, tokens).value();
    enlist(id.slot, scheduled);
    return scheduled;
  }
  void enlist(std::uint32_t slot, token_range tokens) noexcept {
    if (tokens.empty()) return;
    for (part& p : parts.all()) p.overwrite(slot, tokens.first);
    steps.enlist(slot, tokens);
    for (part& p : parts.all()) p.move_on(slot, *steps.open_start(slot), sequences[slot].last_step);
    sequences[slot].last_step = steps.last_begun();
  }
  /// A sequence loses all beyond `kept` tokens, and parks. What it had in the open step is not run.
  void cut_back(sequence_id id, token_count kept) noexcept {
    withdraw(id);
    const token_count computed = tracker.progress(id)->computed;
    lose(id, kept);
    tracker.park(id, 0).value();
    drop(id.slot, kept, computed);
  }
  void withdraw(sequence_id id) noexcept {
    if (const auto start = steps.withdraw(id.slot); start) tracker.unschedule(id, *start).value();
  }
  void lose(sequence_id id, token_count kept) noexcept {
    steps.trim(id.slot, kept);
    static_cast<void>(tracker.lose(id, kept).value());
  }
  /// @param filled tokens that have content which is worth keeping
  void drop(std::uint32_t slot, token_count kept, token_count filled) noexcept {
    for (part& p : parts.all()) {
      p.drop(slot, kept, filled.value() / p.kind.tokens_per_block.value(), sequences[slot].last_step);
    }
  }
};

/// What a planner sees of it: its sequences.
template <class State>
class group_cache_candidates {
 public:
  /// @param requester its slot, and @param position where it will go on
  group_cache_candidates(const State& cache, std::uint32_t requester, token_count position) noexcept
      : cache_(cache), requester_(requester), position_(position) {}

  [[nodiscard]] std::size_t size() const noexcept { return cache_.sequences.size(); }
  [[nodiscard]] sequence_id key(std::size_t i) const noexcept { return cache_.sequences.id(slot(i)); }
  [[nodiscard]] pave::rank rank(std::size_t i) const noexcept { return cache_.sequences[slot(i)].order; }
  [[nodiscard]] bool parked(std::size_t i) const noexcept {
    return cache_.tracker.progress(key(i))->state != sequence_state::running;
  }
  [[nodiscard]] token_count tokens(std::size_t i) const noexcept {
    return slot(i) == requester_ ? position_ : cache_.base(key(i));
  }
  [[nodiscard]] std::int64_t slack(std::size_t i) const noexcept { return cache_.sequences[slot(i)].slack; }
  [[nodiscard]] std::size_t groups() const noexcept { return cache_.parts.size(); }
  [[nodiscard]] kv_group group(std::size_t g) const noexcept { return cache_.parts[g].kind; }
  [[nodiscard]] block_range blocks(std::size_t i, std::size_t g) const noexcept {
    return cache_.parts[g].held(slot(i));
  }
  /// @return those of all groups together
  [[nodiscard]] block_count blocks(std::size_t i) const noexcept {
    block_count sum = 0;
    for (std::size_t g = 0; g < groups(); ++g) sum += blocks(i, g).size();
    return sum;
  }
  [[nodiscard]] block_count held(std::size_t i, std::size_t g, block_count first, block_count last) const noexcept {
    return cache_.parts[g].count(slot(i), {first, last}, [](auto) noexcept { return true; });
  }
  [[nodiscard]] block_count reclaimable(std::size_t i,
                                        std::size_t g,
                                        block_count first,
                                        block_count last) const noexcept {
    return cache_.parts[g].reclaimable(slot(i), {first, last});
  }
  [[nodiscard]] std::size_t block(std::size_t i, std::size_t g, block_count logical) const noexcept {
    const auto id = cache_.parts[g].at(slot(i), logical);
    return id == typename State::id_type{} ? State::part::no_block : id.index();
  }
  [[nodiscard]] std::uint32_t holders(std::size_t g, std::size_t block) const noexcept {
    return cache_.parts[g].holders(block);
  }
  [[nodiscard]] span<std::uint32_t> let_go(std::size_t g) const noexcept { return cache_.parts[g].let_go(); }

 private:
  [[nodiscard]] std::uint32_t slot(std::size_t i) const noexcept { return cache_.sequences.slot_at(i); }

  const State& cache_;
  std::uint32_t requester_;
  token_count position_;
};

/// Who holds blocks of one group, for an audit.
template <class State>
struct group_tables {
  const State& cache;
  std::size_t group;

  [[nodiscard]] std::size_t size() const noexcept { return cache.sequences.size(); }
  [[nodiscard]] span<const typename State::id_type> blocks(std::size_t i) const noexcept {
    const std::uint32_t slot = cache.sequences.slot_at(i);
    return cache.parts[group].table(slot, cache.parts[group].held(slot));
  }
};
/// No block is where the sequence holds none.
template <class State, class Visit>
void each_named(const group_tables<State>& tables, std::size_t i, Visit&& visit) noexcept {
  for (const auto block : tables.blocks(i)) {
    if (block != typename State::id_type{}) visit(block);
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
