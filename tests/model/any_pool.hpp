// SPDX-License-Identifier: Apache-2.0
// A pool of any policies behind one interface, so that one engine tests every combination of them.
#ifndef PAVE_TESTS_MODEL_ANY_POOL_HPP
#define PAVE_TESTS_MODEL_ANY_POOL_HPP

#include "support/stock_policies.hpp"

#include <pave/pool.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pave_tests {

using block_list = std::vector<std::int64_t>;

/// What a model has to know of a pool's policies.
struct pool_kind {
  free_order order = free_order::last_released;
  std::uint32_t most_sequences = 1, most_pins = 1;  // of one block
  bool delays = false;
  bool keeps_content = false;
  std::int64_t most_ids = 0;
};

/// Why a call did nothing, or `ok`.
struct answer {
  pave::errc code = pave::errc::ok;
  std::int64_t missing = 0;

  explicit operator bool() const { return code == pave::errc::ok; }
  friend bool operator==(const answer& a, const answer& b) { return a.code == b.code && a.missing == b.missing; }
};

struct kept {
  std::int64_t block = -1;
  std::uint32_t generation = 0;

  friend bool operator==(const kept& a, const kept& b) { return a.block == b.block && a.generation == b.generation; }
};

struct pool_counts {
  std::int64_t capacity = 0, available = 0, fenced = 0, held = 0, leaving = 0;

  friend bool operator==(const pool_counts& a, const pool_counts& b) {
    return a.capacity == b.capacity && a.available == b.available && a.fenced == b.fenced && a.held == b.held &&
           a.leaving == b.leaving;
  }
};

/// What a pool's observer has to say: how often each kind of event happened and of how many blocks, or the latest ones.
struct sightings {
  struct tally {
    std::uint64_t events = 0;
    std::int64_t blocks = 0;
  };
  bool are_counted = false, are_logged = false;
  std::array<tally, pave::event_kinds> tallies{};
  std::uint64_t seen = 0;
  std::vector<pave::event> latest;
};

class any_pool {
 public:
  any_pool() = default;
  any_pool(const any_pool&) = delete;
  any_pool& operator=(const any_pool&) = delete;
  virtual ~any_pool() = default;

  virtual pool_counts counts() const = 0;
  virtual std::int64_t arriving(std::int64_t by) const = 0;
  virtual std::uint32_t holders(std::int64_t block) const = 0;
  virtual bool is_in_use(std::int64_t block) const = 0;

  /// @param out [out] its size says how many
  virtual answer allocate(block_list& out) = 0;
  virtual answer acquire(const std::vector<kept>& revive, block_list& out) = 0;
  virtual answer share(const block_list& blocks) = 0;
  virtual answer release(const block_list& blocks,
                         std::int64_t last_use = 0,
                         pave::content left = pave::content::worth_keeping) = 0;
  virtual answer complete(std::int64_t step) = 0;
  virtual void complete_through(std::int64_t step) = 0;
  virtual answer pin(const block_list& blocks, pave::pin_token& token) = 0;
  virtual answer unpin(pave::pin_token token, std::int64_t last_use = 0) = 0;

  virtual answer content_of(std::int64_t block, kept& content) const = 0;
  virtual bool is_kept(const kept& content) const = 0;
  virtual answer overwrite(std::int64_t block) = 0;
  virtual void forget_content() = 0;

  virtual answer resize(std::int64_t blocks) = 0;
  /// @param scratch how many counts there is room for
  virtual answer audit(const std::vector<block_list>& tables,
                       std::size_t scratch,
                       std::size_t& broken,
                       std::vector<pave::finding>& findings) const = 0;

  /// Moves the pool away, and back.
  virtual void move() = 0;
  virtual sightings seen() const = 0;
};

/// How many events an `event_log` of these pools has room for.
inline constexpr std::size_t events_logged = 8;

struct pool_maker {
  std::string name;
  pool_kind kind;
  std::unique_ptr<any_pool> (*make)(const pave::pool_options& options);
};

/// Every combination of stock policies that is not refused, and some others.
const std::vector<pool_maker>& every_pool();

}  // namespace pave_tests

#endif  // PAVE_TESTS_MODEL_ANY_POOL_HPP
