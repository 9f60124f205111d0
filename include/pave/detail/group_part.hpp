// SPDX-License-Identifier: Apache-2.0
// One KV group of a cache: its pool, each sequence's table of blocks from it, and what is found there by content.
#ifndef PAVE_DETAIL_GROUP_PART_HPP
#define PAVE_DETAIL_GROUP_PART_HPP

#include <pave/block_hash.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/detail/content_names.hpp>
#include <pave/groups.hpp>
#include <pave/layout.hpp>
#include <pave/pool.hpp>
#include <pave/result.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace pave {
inline namespace v0 {
namespace detail {

/// A sequence's table has `id_type{}` where it holds no block: behind its window, and where no state was kept.
template <class Pool, class Index>
class group_part {
 public:
  using id_type = typename Pool::id_type;
  using kept_block_type = typename Pool::kept_block_type;

  static constexpr std::size_t no_block = static_cast<std::size_t>(-1);

  kv_group kind;
  block_count first_block;
  Pool pool;
  Index index;
  content_names<block_hash> names;

  [[nodiscard]] bool reserve(std::size_t sequences, token_count longest) noexcept {
    const block_count width = blocks_for(longest, kind.tokens_per_block);
    width_ = static_cast<std::size_t>(width.value());
    if constexpr (Index::finds) {
      if (!names.reserve(sequences, width) || !found_.reserve(width_)) return false;
    }
    if (kind.checkpoint > 0 && !present_.reserve(sequences)) return false;
    return rows_.reserve(sequences) && blocks_.reserve(sequences, width_) && reserve_ids(pool.id_end());
  }
  /// @param ids how many the pool's ids can be
  [[nodiscard]] bool reserve_ids(std::size_t ids) noexcept {
    if constexpr (Index::finds) {
      if (!index.reserve(ids)) return false;
    }
    return takes_.reserve(ids) && let_go_.reserve(ids);
  }

  // --- what sequences hold ---

  /// All that the sequence in `slot` holds lies within.
  [[nodiscard]] block_range held(std::uint32_t slot) const noexcept { return rows_[slot]; }
  [[nodiscard]] id_type at(std::uint32_t slot, block_count logical) const noexcept {
    return blocks_[slot * width_ + static_cast<std::size_t>(logical.value())];
  }
  [[nodiscard]] bool holds(std::uint32_t slot, block_count logical) const noexcept {
    const block_range row = rows_[slot];
    return logical >= row.first && logical < row.last && at(slot, logical) != id_type{};
  }
  [[nodiscard]] span<const id_type> table(std::uint32_t slot, block_range range) const noexcept {
    return {blocks_.data() + slot * width_ + range.first.value(), static_cast<std::size_t>(range.size().value())};
  }
  /// Of a range of logical blocks: those that one takes if the sequence lets them go.
  /// @param counts called with a block's id
  template <class Counts>
  [[nodiscard]] block_count count(std::uint32_t slot, block_range range, const Counts& counts) const noexcept {
    const span<const id_type> blocks = table(slot, range);
    return std::count_if(blocks.begin(), blocks.end(), [&](id_type b) { return b != id_type{} && counts(b); });
  }
  [[nodiscard]] block_count reclaimable(std::uint32_t slot, block_range range) const noexcept {
    return count(slot, range, [this](id_type block) noexcept { return holders(block.index()) == 1; });
  }
  /// How many have to let a block go before it is a gain: more than there are, where it is none then. The one that
  /// would be copied is a gain once all others do so: whoever asks then needs no copy.
  [[nodiscard]] std::uint32_t holders(std::size_t block) const noexcept {
    const id_type id(block);
    if (takes_[block] || pool.is_leaving(id)) return 0xFFFFFFFEU;
    return pool.holders(id) - (block == copied_ ? 1 : 0);
  }
  /// By id: how many would let a block go. All are 0 but while a plan is made.
  [[nodiscard]] span<std::uint32_t> let_go() const noexcept { return let_go_.all(); }

  // --- what a step writes ---

  /// Visits the logical blocks that a step writes which computes `tokens`: of a state those that keep it at a
  /// checkpoint, and the one that has it afterwards.
  template <class Visit>
  void each_written(token_range tokens, const Visit& visit) const noexcept {
    if (tokens.empty()) return;
    const std::int64_t each = kind.tokens_per_block.value();
    const block_count end = blocks_for(tokens.last, kind.tokens_per_block);
    if (kind.checkpoint == 0) {
      for (block_count b = tokens.first.value() / each; b < end; b += 1) visit(b);
      return;
    }
    const std::int64_t apart = kind.checkpoint.value();
    block_count last = -1;
    for (std::int64_t kept = (tokens.first.value() / apart + 1) * apart; tokens.last >= kept; kept += apart) {
      const block_count b = (kept - 1) / each;
      if (b != last) visit(b);
      last = b;
    }
    if (last != end - 1) visit(end - 1);
  }
  /// Of these, and of those before `also` where all is kept: how many are not held.
  [[nodiscard]] block_count not_held(std::uint32_t slot, token_range tokens, token_count also) const noexcept {
    block_count count = 0;
    each_needed(tokens, also, [&](block_count b) noexcept { count += holds(slot, b) ? 0 : 1; });
    return count;
  }
  /// How many there have to be, so that a sequence can go on up to `end` in chunks such as the first one.
  [[nodiscard]] block_count must_fit(std::uint32_t slot, token_range chunk, token_count end) const noexcept {
    const block_count takes = not_held(slot, chunk, end);
    if (kind.window == 0) return takes;
    const block_range needed = kind.needed(chunk.first);
    const block_count most = smaller(blocks_for(end, kind.tokens_per_block),
                                     blocks_for(kind.window + chunk.size(), kind.tokens_per_block) + 1);
    const block_range ahead{smaller(larger(needed.first, rows_[slot].first), rows_[slot].last), rows_[slot].last};
    const block_count has = count(slot, ahead, [](id_type) noexcept { return true; }) + found_size_;
    return larger(takes, smaller(most, pool.capacity() - pool.leaving()) - has);
  }
  /// @pre as many are available as are not held
  void take(std::uint32_t slot, token_range tokens, token_count also) noexcept {
    each_needed(tokens, also, [&](block_count b) noexcept {
      if (holds(slot, b)) return;
      pool.allocate({&put(slot, b), 1}).value();
    });
  }
  /// The block that a sequence goes on writing into at a position: it has something already.
  [[nodiscard]] std::optional<block_count> written_on(std::uint32_t slot, token_count position) const noexcept {
    const block_count b = position.value() / kind.tokens_per_block.value();
    const bool is_at_its_start = b.value() * kind.tokens_per_block.value() == position;
    return !is_at_its_start && holds(slot, b) ? std::optional(b) : std::nullopt;
  }
  /// Whether a sequence needs a block of its own in place of the one that it goes on writing into: others hold it, too.
  [[nodiscard]] bool copies(std::uint32_t slot, token_range tokens) const noexcept {
    const auto b = tokens.empty() ? std::nullopt : written_on(slot, tokens.first);
    return b && pool.holders(at(slot, *b)) > 1;
  }
  /// The same, for whom a plan is made.
  [[nodiscard]] bool plan_copy(std::uint32_t slot, token_range tokens) noexcept {
    const bool is_one = copies(slot, tokens);
    copied_ = is_one ? at(slot, *written_on(slot, tokens.first)).index() : no_block;
    return is_one;
  }
  /// @pre it `copies`, and a block is available
  /// @return the block that it wrote into, and the one in its place
  std::array<id_type, 2> take_copy(std::uint32_t slot, token_count position, step_id step) noexcept {
    id_type& entry = put(slot, *written_on(slot, position));
    const id_type from = entry;
    pool.allocate({&entry, 1}).value();
    pool.release({&from, 1}, step).value();
    return {from, entry};
  }
  /// What was in the block that it goes on writing into is not found any more.
  void overwrite(std::uint32_t slot, token_count position) noexcept {
    if (const auto b = written_on(slot, position); b) pool.overwrite(at(slot, *b)).value();
  }

  /// The most tokens that a step can compute from a position on, if this sequence had the pool for itself.
  [[nodiscard]] token_count room(token_count position) const noexcept {
    const std::int64_t each = kind.tokens_per_block.value();
    const block_range needed = kind.needed(position);
    const block_count capacity = pool.capacity() - pool.leaving();
    if (kind.checkpoint == 0) return larger<token_count>(0, (needed.first + capacity).value() * each - position);
    const token_count own_end = needed.last.value() * each;  // the block that has the state now is written until then
    const block_count fresh = capacity - needed.size();
    if (fresh <= 0) return larger<token_count>(0, own_end - position);
    const std::int64_t apart = kind.checkpoint.value();
    const std::int64_t first = larger(position, own_end).value() / apart + 1;      // checkpoint that needs a fresh one
    const std::int64_t most = (std::numeric_limits<std::int64_t>::max)() / apart;  // whose position has a number
    return smaller(first + fresh.value() - 1, most) * apart - position;
  }

  // --- how blocks go ---

  /// Releases all beyond the first `kept` tokens, from the end.
  /// @param worth_keeping logical blocks before this one have content that is
  void drop(std::uint32_t slot, token_count kept, block_count worth_keeping, step_id last_use) noexcept {
    const block_range gone = kind.beyond(kept, rows_[slot]);
    if constexpr (Index::finds) names.lose(slot, kept.value() / kind.tokens_per_block.value());
    for (block_count b = gone.last; b > gone.first;) {
      b -= 1;
      release(slot, b, last_use, b < worth_keeping ? content::worth_keeping : content::worthless);
    }
    rows_[slot].last = gone.first;
    close_up(slot);
  }
  /// Releases what was left behind, the oldest first.
  void leave(std::uint32_t slot, block_range blocks, step_id last_use) noexcept {
    for (block_count b = blocks.first; b < blocks.last; b += 1) release(slot, b, last_use, content::worth_keeping);
    close_up(slot);
  }

  /// A sequence goes on at `position`: of a state group, the block that had its state before is given up, unless it
  /// keeps one at a checkpoint.
  void move_on(std::uint32_t slot, token_count position, step_id last_use) noexcept {
    if (kind.checkpoint == 0 || position == 0) return;
    const block_count present = kind.needed(position).first;
    const block_count before = present_[slot];
    if (before < present && !keeps_checkpoint(before)) {
      release(slot, before, last_use, content::worthless);
      close_up(slot);
    }
    present_[slot] = present;
  }

  /// The first blocks of two sequences are the same from now on, up to those that have tokens before `end`.
  [[nodiscard]] result<void> share(std::uint32_t from, std::uint32_t to, token_count end) noexcept {
    if (kind.checkpoint > 0) present_[to] = present_[from];
    block_range row = rows_[from];
    row.last = kind.beyond(end, row).first;
    for (block_count b = row.first; b < row.last; b += 1) {
      const id_type block = at(from, b);
      if (block == id_type{}) continue;
      if (const result<void> shared = pool.share({&block, 1}); !shared) {
        leave(to, rows_[to], {});
        return shared.error();
      }
      put(to, b) = block;
    }
    return {};
  }

  // --- content that is found ---

  /// @param from what the sequence has: all before that
  /// @return the last position up to `limit` at which it could go on with what is found; `from` where there is none
  [[nodiscard]] token_count last_found(std::uint32_t slot, token_count from, token_count limit) const noexcept {
    const std::int64_t each = kind.tokens_per_block.value();
    const std::int64_t apart = larger(kind.checkpoint.value(), each);
    const bool has_ends = kind.checkpoint == 0 || apart % smaller(kind.checkpoint.value(), each) == 0;
    token_count position = has_ends ? token_count(limit.value() / apart * apart) : from;
    while (position > from) {
      const block_range needed = kind.needed(position);
      block_count b =
          kind.leaves_blocks_behind() ? needed.last : larger(needed.first, block_count(from.value() / each));
      const auto is_there = [&](block_count logical) noexcept { return is_found(slot, from, logical); };
      if (!kind.leaves_blocks_behind()) {
        while (b < needed.last && is_there(b)) b += 1;
        return larger(from, token_count(b.value() * each));
      }
      while (b > needed.first && is_there(b - 1)) b -= 1;
      if (b == needed.first) return position;
      position = (b - 1).value() * each / apart * apart;  // in between, this block is needed, too
    }
    return from;
  }
  /// Names what a sequence takes that goes on at `position`, where `last_found` is that.
  /// @return false where one block would be taken twice: whoever named its content was wrong
  [[nodiscard]] bool find(std::uint32_t slot, token_count from, token_count position) noexcept {
    found_blocks_ = {first_found(from, position), position.value() / kind.tokens_per_block.value()};
    found_size_ = 0;
    found_needs_ = 0;
    for (block_count b = found_blocks_.first; b < found_blocks_.last; b += 1) {
      const kept_block_type one = *index.find(pool, names(slot, b));
      if (takes_[one.block.index()] || has(slot, one.block)) {
        forget_found();
        return false;
      }
      takes_[one.block.index()] = true;
      found_[found_size_++] = one;
      if (pool.holders(one.block) == 0) found_needs_ += 1;
    }
    const block_range row = rows_[slot];
    const block_range replaced{larger(row.first, found_blocks_.first), smaller(row.last, found_blocks_.last)};
    if (!replaced.empty()) found_needs_ -= reclaimable(slot, replaced);
    return true;
  }
  /// What they take of what is available: those that nobody holds, but for those in whose place they come.
  [[nodiscard]] block_count found_needs() const noexcept { return found_needs_; }
  void forget_found() noexcept {
    while (found_size_ > 0) takes_[found_[--found_size_].block.index()] = false;
    found_needs_ = 0;
  }
  /// Takes what was found, in place of blocks that are not filled, and gives up others of these that it passes over.
  /// @param from as of `find`
  /// @pre it is still there
  void take_found(std::uint32_t slot, token_count from, step_id last_use) noexcept {
    if (found_size_ == 0) return;
    for (block_count b = from.value() / kind.tokens_per_block.value(); b < found_blocks_.last; b += 1) {
      release(slot, b, last_use, content::worthless);
    }
    close_up(slot);
    pool.acquire(found_.all().first(found_size_), {}).value();
    for (std::size_t i = 0; i < found_size_; ++i) put(slot, found_blocks_.first + i) = found_[i].block;
    forget_found();
  }
  /// What is computed of a sequence is found from now on.
  void list_computed(std::uint32_t slot, token_count computed) noexcept {
    const std::int64_t each = kind.tokens_per_block.value();
    const block_count end = smaller<block_count>(names.end(slot), computed.value() / each);
    for (block_count b = names.listed(slot); b < end; b += 1) {
      const bool keeps = kind.is_resumable((b + 1).value() * each);
      if (keeps && holds(slot, b)) index.add(pool, names(slot, b), at(slot, b));
    }
    names.list(slot, larger(end, names.listed(slot)));
  }

 private:
  template <class Visit>
  void each_needed(token_range tokens, token_count also, const Visit& visit) const noexcept {
    each_written(tokens, visit);
    if (kind.leaves_blocks_behind() || also <= tokens.last) return;
    const block_count end = blocks_for(also, kind.tokens_per_block);
    for (block_count b = blocks_for(tokens.last, kind.tokens_per_block); b < end; b += 1) visit(b);
  }
  /// The entry of a logical block, in the row from now on. Entries outside of rows have no block.
  id_type& put(std::uint32_t slot, block_count logical) noexcept {
    block_range& row = rows_[slot];
    row = row.empty() ? block_range{logical, logical + 1}
                      : block_range{smaller(row.first, logical), larger(row.last, logical + 1)};
    return blocks_[slot * width_ + static_cast<std::size_t>(logical.value())];
  }
  /// Whether a position in a block is a checkpoint, so that a state stays there.
  [[nodiscard]] bool keeps_checkpoint(block_count logical) const noexcept {
    const std::int64_t first = logical.value() * kind.tokens_per_block.value();
    return kind.last_resumable(first + kind.tokens_per_block.value()) > first;
  }
  void release(std::uint32_t slot, block_count logical, step_id last_use, content left) noexcept {
    if (!holds(slot, logical)) return;
    id_type& entry = put(slot, logical);
    // What is taken for its content keeps it, also where its holder was to rewrite it.
    pool.release({&entry, 1}, last_use, takes_[entry.index()] ? content::worth_keeping : left).value();
    entry = id_type{};
  }
  /// The row begins and ends with a block that is held.
  void close_up(std::uint32_t slot) noexcept {
    block_range& row = rows_[slot];
    while (!row.empty() && at(slot, row.first) == id_type{}) row.first += 1;
    while (!row.empty() && at(slot, row.last - 1) == id_type{}) row.last -= 1;
    if (row.empty()) row = {};
  }
  [[nodiscard]] bool is_found(std::uint32_t slot, token_count from, block_count logical) const noexcept {
    if (from >= (logical + 1).value() * kind.tokens_per_block.value()) return holds(slot, logical);
    if (logical >= names.end(slot)) return false;
    const auto kept = index.find(pool, names(slot, logical));
    return kept && !pool.is_leaving(kept->block);  // which could come free, and be gone, by a cut for who finds it
  }
  /// Of the blocks that are needed at `position`, the first that a sequence does not have which has all before `from`.
  [[nodiscard]] block_count first_found(token_count from, token_count position) const noexcept {
    return larger<block_count>(kind.needed(position).first, from.value() / kind.tokens_per_block.value());
  }
  [[nodiscard]] bool has(std::uint32_t slot, id_type block) const noexcept {
    const span<const id_type> own = table(slot, rows_[slot]);
    return std::find(own.begin(), own.end(), block) != own.end();
  }

  buffer<block_range> rows_;       // by slot
  buffer<block_count> present_;    // by slot: the block that a state group's last step began with
  buffer<id_type> blocks_;         // [sequences, width]
  buffer<kept_block_type> found_;  // by the last `find`, in logical order
  buffer<bool> takes_;             // by id: who asks takes it itself
  mutable buffer<std::uint32_t> let_go_;
  std::size_t copied_ = no_block;
  block_range found_blocks_;
  std::size_t found_size_ = 0;
  block_count found_needs_;
  std::size_t width_ = 0;
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
