// SPDX-License-Identifier: Apache-2.0
// What a planner sees of a cache: its sequences, and which of their blocks come free.
#ifndef PAVE_DETAIL_CACHE_CANDIDATES_HPP
#define PAVE_DETAIL_CACHE_CANDIDATES_HPP

#include <pave/detail/buffer.hpp>
#include <pave/detail/lost_content.hpp>
#include <pave/detail/sequence_table.hpp>
#include <pave/span.hpp>
#include <pave/tracker.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace pave {
inline namespace v0 {
namespace detail {

/// The slots of a cache, with whoever is admitted; those without blocks have nothing to give.
template <class Pool, class Tracker>
class cache_candidates {
 public:
  using id_type = typename Pool::id_type;

  cache_candidates(const Pool& pool,
                   const Tracker& tracker,
                   const sequence_table<id_type>& sequences,
                   token_count tokens_per_block) noexcept
      : pool_(pool), tracker_(tracker), sequences_(sequences), tokens_per_block_(tokens_per_block) {}

  [[nodiscard]] std::size_t size() const noexcept { return sequences_.slots(); }
  [[nodiscard]] sequence_id key(std::size_t i) const noexcept { return sequences_.id(i); }
  [[nodiscard]] pave::rank rank(std::size_t i) const noexcept { return sequences_[i].order; }
  [[nodiscard]] bool parked(std::size_t i) const noexcept {
    const result<sequence_progress> at = tracker_.progress(key(i));
    return !at || at->state != sequence_state::running;
  }
  [[nodiscard]] block_count blocks(std::size_t i) const noexcept { return sequences_[i].held; }
  [[nodiscard]] block_count reclaimable(std::size_t i, block_count first, block_count last) const noexcept {
    block_count count = 0;
    for (const id_type block : table(i, {first, last})) {
      if (holders(block) == 1) count += 1;
    }
    return count;
  }

  [[nodiscard]] token_count tokens_per_block() const noexcept { return tokens_per_block_; }
  [[nodiscard]] token_count tokens(std::size_t i) const noexcept {
    const result<sequence_progress> at = tracker_.progress(key(i));
    return at ? at->kept : 0;
  }
  [[nodiscard]] block_count missing(std::size_t i, block_count first, block_count last) const noexcept {
    const std::int64_t each = tokens_per_block_.value();
    return tracker_.missing(key(i), {first.value() * each, last.value() * each})->value() / each;
  }
  [[nodiscard]] std::int64_t slack(std::size_t i) const noexcept { return sequences_[i].slack; }
  [[nodiscard]] span<const id_type> table(std::size_t i, block_range range) const noexcept {
    return sequences_.blocks(i, range);
  }

 protected:
  /// As many as have to let a block go before it is available: more than there are, where it then leaves the pool.
  [[nodiscard]] std::uint32_t holders(id_type block) const noexcept {
    return block == id_type{} || pool_.is_leaving(block) ? never_free : pool_.holders(block);
  }
  static constexpr std::uint32_t never_free = 0xFFFFFFFEU;

 private:
  const Pool& pool_;
  const Tracker& tracker_;
  const sequence_table<id_type>& sequences_;
  token_count tokens_per_block_;
};

/// The same for a victim order, which is kept: only what changes where the cache asks the order again. Whether a block
/// comes free depends on others, too.
template <class Candidates>
class candidates_to_order {
 public:
  explicit candidates_to_order(const Candidates& all) noexcept : all_(all) {}

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  [[nodiscard]] sequence_id key(std::size_t i) const noexcept { return all_.key(i); }
  [[nodiscard]] pave::rank rank(std::size_t i) const noexcept { return all_.rank(i); }
  [[nodiscard]] bool parked(std::size_t i) const noexcept { return all_.parked(i); }
  [[nodiscard]] block_count blocks(std::size_t i) const noexcept { return all_.blocks(i); }
  [[nodiscard]] token_count tokens_per_block() const noexcept { return all_.tokens_per_block(); }
  [[nodiscard]] token_count tokens(std::size_t i) const noexcept { return all_.tokens(i); }
  [[nodiscard]] block_count missing(std::size_t i, block_count first, block_count last) const noexcept {
    return all_.missing(i, first, last);
  }
  [[nodiscard]] std::int64_t slack(std::size_t i) const noexcept { return all_.slack(i); }
  template <class Asks = void>
  [[nodiscard]] block_count reclaimable(std::size_t /*i*/, block_count /*first*/, block_count /*last*/) const noexcept {
    static_assert(
        !std::is_void_v<Asks>,
        "pave: within a kv_cache a victim_order goes by rank, blocks, parked, tokens, missing and slack: what "
        "is reclaimable changes with others, and the cache does not ask the order again then");
    return 0;
  }

 private:
  const Candidates& all_;
};

/// The same where sequences share blocks with each other: such a block comes free with the last of its holders, and
/// what the requester takes is no gain. While a plan is made, each block counts those who would let it go.
template <class Pool, class Tracker>
class sharing_candidates : public cache_candidates<Pool, Tracker> {
  using base = cache_candidates<Pool, Tracker>;

 public:
  using id_type = typename Pool::id_type;

  /// @param taken what the requester takes itself while others give up theirs: blocks that have its content
  sharing_candidates(const base& plain, span<const id_type> taken, release_counts& counts) noexcept
      : base(plain), taken_(taken), counts_(counts) {
    for (const id_type block : taken_) counts_.takes[block.index()] = true;
  }
  ~sharing_candidates() {
    start_anew();
    for (const id_type block : taken_) counts_.takes[block.index()] = false;
  }
  sharing_candidates(const sharing_candidates&) = delete;
  sharing_candidates& operator=(const sharing_candidates&) = delete;

  [[nodiscard]] block_count reclaimable(std::size_t i, block_count first, block_count last) const noexcept {
    block_count count = 0;
    each_gain(i, {first, last}, [&](id_type block) noexcept {
      if (this->holders(block) == counts_.goes[block.index()] + 1) count += 1;
    });
    return count;
  }
  void passed(std::size_t i, block_range range) const noexcept {
    note_asked(i);
    each_gain(i, range, [&](id_type block) noexcept { counts_.goes[block.index()] += 1; });
  }

  /// @return how many blocks come free when these of candidate `i` go after all that went before
  block_count let_go(std::size_t i, block_range range) const noexcept {
    note_asked(i);
    block_count freed = 0;
    each_gain(i, range, [&](id_type block) noexcept {
      if (++counts_.goes[block.index()] == this->holders(block)) freed += 1;
    });
    return freed;
  }
  /// Of the blocks that a candidate would let go, names those as free whose holders would all do so.
  /// @return whether one of them is shared
  bool name_free(std::size_t i, block_range range) const noexcept {
    bool is_shared = false;
    each_gain(i, range, [&](id_type block) noexcept {
      if (counts_.goes[block.index()] != this->holders(block)) return;
      is_shared = is_shared || counts_.goes[block.index()] > 1;
      counts_.goes[block.index()] = comes_free;
    });
    return is_shared;
  }
  /// @return the candidates whose blocks were counted, in this order
  [[nodiscard]] span<const std::uint32_t> asked() const noexcept { return counts_.asked.all().first(asked_); }
  [[nodiscard]] bool is_named_free(id_type block) const noexcept {
    return block != id_type{} && counts_.goes[block.index()] == comes_free;
  }
  [[nodiscard]] bool is_let_go(id_type block) const noexcept {
    return block != id_type{} && counts_.goes[block.index()] == this->holders(block);
  }

  /// Forgets who would let go of what.
  void start_anew() const noexcept {
    for (; asked_ > 0; --asked_) {
      const std::size_t i = counts_.asked[asked_ - 1];
      for (const id_type block : this->table(i, {0, this->blocks(i)})) {
        if (block != id_type{}) counts_.goes[block.index()] = 0;
      }
    }
  }

 private:
  static constexpr std::uint32_t comes_free = 0xFFFFFFFFU;  // no block has so many holders

  void note_asked(std::size_t i) const noexcept { counts_.asked[asked_++] = static_cast<std::uint32_t>(i); }

  template <class Visit>
  void each_gain(std::size_t i, block_range range, Visit&& visit) const noexcept {
    for (const id_type block : this->table(i, range)) {
      if (block != id_type{} && !counts_.takes[block.index()]) visit(block);
    }
  }

  span<const id_type> taken_;
  release_counts& counts_;
  mutable std::size_t asked_ = 0;
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
