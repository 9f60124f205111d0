// SPDX-License-Identifier: Apache-2.0
// Which block has this content? Full blocks, found by the hash of all tokens up to their end.
#ifndef PAVE_PREFIX_INDEX_HPP
#define PAVE_PREFIX_INDEX_HPP

#include <pave/block_hash.hpp>
#include <pave/config.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/detail/detect.hpp>
#include <pave/policy/retention.hpp>
#include <pave/result.hpp>
#include <pave/span.hpp>
#include <pave/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace pave {
inline namespace v0 {

namespace detail {
template <class Index>
using prefix_index_finds = decltype(Index::finds);
template <class Index>
using prefix_index_reserve = decltype(std::declval<Index&>().reserve(block_count{}));
/// Whether an index has other sequences asked in place of knowing blocks itself.
template <class Index>
using prefix_index_asks_sequences = decltype(Index::asks_sequences);
template <class Index, class = void>
inline constexpr bool asks_sequences_v = false;
template <class Index>
inline constexpr bool asks_sequences_v<Index, std::void_t<prefix_index_asks_sequences<Index>>> = Index::asks_sequences;
template <class Index, class Pool>
using prefix_index_find = decltype(*std::declval<const Index&>().find(std::declval<const Pool&>(), block_hash{}));
template <class Index, class Pool>
using prefix_index_add =
    decltype(std::declval<Index&>().add(std::declval<const Pool&>(), block_hash{}, typename Pool::id_type{}));
}  // namespace detail

/// @brief The contract of a `kv_cache`'s slot `prefix_index` over a pool:
/// - `static constexpr bool finds`: whether it finds anything; the others are asked for only then
/// - `bool reserve(block_count ids)`: takes memory for the ids 0 … ids − 1, and keeps what is there; false where memory
///   is refused
/// - `std::optional<kept_block> find(const Pool&, block_hash) const`: what has this content; only what the pool says is
///   kept
/// - `void add(const Pool&, block_hash, id block)`: this block, which is held, has it
template <class Index, class Pool>
inline constexpr bool is_prefix_index_v = detail::all({
    detail::is_detected_as_v<bool, detail::prefix_index_finds, Index>,
    detail::is_detected_as_v<bool, detail::prefix_index_reserve, Index>,
    detail::is_detected_as_v<typename Pool::kept_block_type, detail::prefix_index_find, Index, Pool>,
    detail::is_detected_v<detail::prefix_index_add, Index, Pool>,
});

/// @brief Nothing is found by its tokens.
struct no_prefix_index {
  static constexpr bool finds = false;
};

/// @brief Sequences find, by their hashes, the full blocks of those that run, over a pool that forgets, too. It knows
/// nothing itself: the cache asks its sequences, so that it takes no memory. What nobody holds any more is not found.
/// @complexity linear in the admitted sequences for each one that comes in, and constant a block; plans are linear in
///   them, as where sequences share blocks
struct running_prefixes {
  static constexpr bool finds = true;
  static constexpr bool asks_sequences = true;

  [[nodiscard]] static bool reserve(block_count /*ids*/) noexcept { return true; }
  template <class Pool>
  [[nodiscard]] static std::optional<typename Pool::kept_block_type> find(const Pool& /*pool*/,
                                                                          block_hash /*hash*/) noexcept {
    return std::nullopt;
  }
  template <class Pool>
  static void add(const Pool& /*pool*/, block_hash /*hash*/, typename Pool::id_type /*block*/) noexcept {}
};

namespace detail {
/// A cache's index, once it keeps its contract; without it nothing is found, so that no other line follows its one.
template <class Index, class Pool>
constexpr bool is_whole_prefix_index() noexcept {
  constexpr bool says_it = is_detected_as_v<bool, prefix_index_finds, Index>;
  static_assert(says_it, "pave: a prefix_index policy needs `static constexpr bool finds`");
  if constexpr (!says_it) {
    return false;
  } else if constexpr (Index::finds) {
    constexpr bool is_whole = is_prefix_index_v<Index, Pool>;
    static_assert(is_whole,
                  "pave: a prefix_index policy needs `bool reserve(block_count ids)`, `std::optional<kept_block> "
                  "find(const Pool&, block_hash) const` and `add(const Pool&, block_hash, id)`, with the pool's ids");
    constexpr bool asks = asks_sequences_v<Index>;
    static_assert(
        Pool::keeps_content || asks,
        "pave: a prefix_index finds what a pool keeps: name the retention `keep` in the pool's bundle, or the "
        "index running_prefixes");
    static_assert(Pool::can_share || !asks,
                  "pave: what running_prefixes finds is shared: name a sharing policy that counts, like `counted`");
    return is_whole && (asks ? Pool::can_share : Pool::keeps_content);
  } else {
    return true;
  }
}
template <class Index, class Pool>
using prefix_index_or_none = std::conditional_t<is_whole_prefix_index<Index, Pool>(), Index, no_prefix_index>;
}  // namespace detail

/// @brief Finds full blocks by their content, held ones and free ones, as long as the pool keeps it. It holds no block:
/// one that is reused is found no more, and nobody has to say so.
///
/// Of blocks with the same content it finds the first that was added and is still there.
///
/// A pool is any type with `result<kept_block> content_of(id) const` and `bool is_kept(kept_block) const`, as a
/// `block_pool` with the retention `keep` has. Within a `kv_cache` it is the policy `prefix_index`, and the cache asks
/// and fills it; over a pool alone the engine does so: `find_prefix`, then `acquire`, and `add` once a step is complete
/// that computed a block's last token.
/// @complexity constant a block, on average over hashes; of blocks with one content those that are gone are passed over
///   one by one. 32 bytes an id, and 4 to 8 more
/// @threadsafety one thread at a time
template <class Id>
class basic_prefix_index {
 public:
  using id_type = Id;
  using kept_block_type = basic_kept_block<Id>;
  static constexpr bool finds = true;

  /// @brief Makes an empty index. No other call takes memory, but for `reserve`.
  /// @param ids one more than the largest id of the pool
  /// @error `invalid_argument`: no ids, or more than 2^32 − 2
  /// @error `out_of_memory`
  [[nodiscard]] static result<basic_prefix_index> create(block_count ids) noexcept {
    if (ids < 1 || ids > most_ids) return errc::invalid_argument;
    basic_prefix_index index;
    if (!index.reserve(ids)) return errc::out_of_memory;
    return index;
  }
  /// @brief An empty index, which knows no ids, as a moved-from one does.
  basic_prefix_index() noexcept = default;

  /// @brief Takes memory for the ids 0 … ids − 1, and keeps what is there.
  /// @return false where the host refuses; the index is then as it was
  /// @complexity linear in the ids
  [[nodiscard]] bool reserve(block_count ids) noexcept {
    if (ids > most_ids) return false;
    const auto size = static_cast<std::size_t>(ids.value());
    std::size_t buckets = 1;
    while (buckets < size) buckets *= 2;
    if (buckets <= heads_.size()) return entries_.reserve(size);
    detail::buffer<std::uint32_t> heads;
    if (!heads.reserve(buckets) || !entries_.reserve(size)) return false;
    heads_ = std::move(heads);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].generation != 0 && entries_[i].next != is_younger) list(i);
    }
    return true;
  }

  /// @return the block that has this content, for `acquire`; none where none has, or it was reused
  template <class Pool>
  [[nodiscard]] std::optional<kept_block_type> find(const Pool& pool, block_hash hash) const noexcept {
    const std::uint32_t oldest = find_oldest(hash);
    if (oldest == none) return std::nullopt;
    std::size_t block = oldest - 1;
    do {
      if (const kept_block_type kept = content(block); pool.is_kept(kept)) return kept;
      block = entries_[block].younger;
    } while (block != oldest - 1);
    return std::nullopt;
  }
  /// @brief Finds the beginning of a sequence: block after block, up to the first that is not there.
  /// @param hashes of its blocks 0, 1, …
  /// @param found [out] what `acquire` takes
  /// @return how many were found: no more than there is room for
  /// @complexity linear in the blocks found
  template <class Pool>
  [[nodiscard]] std::size_t find_prefix(const Pool& pool,
                                        span<const block_hash> hashes,
                                        span<kept_block_type> found) const noexcept {
    std::size_t size = 0;
    for (; size < hashes.size() && size < found.size(); ++size) {
      const std::optional<kept_block_type> next = find(pool, hashes[size]);
      if (!next) break;
      found[size] = *next;
    }
    return size;
  }

  /// @brief A block has this content, all of it computed by completed steps, and accepted: it is found from now on.
  /// @param block held; one that nobody holds, or the index has no room for, is passed over
  template <class Pool>
  void add(const Pool& pool, block_hash hash, Id block) noexcept {
    const result<kept_block_type> now = pool.content_of(block);
    if (!now || now->generation == 0 || block.index() >= entries_.size()) return;
    const std::size_t i = block.index();
    entry& own = entries_[i];
    if (own.generation == now->generation && own.hash == hash) return;
    if (own.generation != 0) remove(i);
    own.hash = hash;
    own.generation = now->generation;
    const std::uint32_t oldest = find_oldest(hash);
    if (oldest == none) {
      own.older = own.younger = static_cast<std::uint32_t>(i);
      list(i);
    } else {
      own.next = is_younger;
      own.younger = oldest - 1;
      own.older = entries_[oldest - 1].older;
      join(own.older, static_cast<std::uint32_t>(i));
      join(static_cast<std::uint32_t>(i), own.younger);
    }
    size_.get() += 1;
  }

  /// @return blocks that are known, those that were reused since among them
  [[nodiscard]] std::size_t size() const noexcept { return size_.get(); }

 private:
  struct entry {
    block_hash hash;
    std::uint32_t generation = 0;  // of the content that has this hash; 0: none, and it is in no list
    std::uint32_t next = none;     // in the list of its bucket, where it is the oldest of its hash; or `is_younger`
    std::uint32_t older = 0;       // of the same hash, in a ring: the one before the oldest is the youngest
    std::uint32_t younger = 0;
  };
  static constexpr std::uint32_t none = 0;  // the others are 1 more than an id
  static constexpr std::uint32_t is_younger = 0xFFFFFFFF;
  static constexpr std::int64_t most_ids = 0xFFFFFFFE;

  [[nodiscard]] std::size_t bucket(block_hash hash) const noexcept {
    // A hash of the engine's may vary in some of its bits only: a product has them all in its upper ones.
    const std::uint64_t mixed = (hash.low ^ hash.high) * 0x9E3779B97F4A7C15U;
    return static_cast<std::size_t>(mixed >> 32U) & (heads_.size() - 1);
  }
  [[nodiscard]] kept_block_type content(std::size_t block) const noexcept {
    return {Id(block), entries_[block].generation};
  }
  /// @return the oldest block of this hash, and 1
  [[nodiscard]] std::uint32_t find_oldest(block_hash hash) const noexcept {
    if (heads_.size() == 0) return none;
    std::uint32_t at = heads_[bucket(hash)];
    while (at != none && entries_[at - 1].hash != hash) at = entries_[at - 1].next;
    return at;
  }
  void list(std::size_t block) noexcept {
    std::uint32_t& head = heads_[bucket(entries_[block].hash)];
    entries_[block].next = head;
    head = static_cast<std::uint32_t>(block + 1);
  }
  void join(std::uint32_t older, std::uint32_t younger) noexcept {
    entries_[older].younger = younger;
    entries_[younger].older = older;
  }
  void remove(std::size_t block) noexcept {
    entry& own = entries_[block];
    const bool is_alone = own.younger == block;
    if (own.next != is_younger) {
      std::uint32_t* at = &heads_[bucket(own.hash)];
      while (*at != block + 1) at = &entries_[*at - 1].next;
      *at = is_alone ? own.next : own.younger + 1;
      entries_[own.younger].next = own.next;
    }
    join(own.older, own.younger);
    own.generation = 0;
    size_.get() -= 1;
  }

  detail::buffer<entry> entries_;        // by block
  detail::buffer<std::uint32_t> heads_;  // a power of two of lists
  detail::zero_on_move<std::size_t> size_;
};

/// @brief The index of a pool whose ids are `block_id`.
using prefix_index = basic_prefix_index<block_id>;

}  // namespace v0
}  // namespace pave

#endif
