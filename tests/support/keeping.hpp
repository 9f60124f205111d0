// SPDX-License-Identifier: Apache-2.0
// A pool whose free blocks keep their content, and what a test asks of it.
#ifndef PAVE_TESTS_SUPPORT_KEEPING_HPP
#define PAVE_TESTS_SUPPORT_KEEPING_HPP

#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/pool.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pave_tests {

template <class Sharing = pave::counted>
struct keeping : pave::pool_policies {
  using free_list = pave::least_recently_released;
  using retention = pave::keep;
  using sharing = Sharing;
};
template <class Sharing = pave::counted>
using basic_keeping_pool = pave::block_pool<keeping<Sharing>>;
using keeping_pool = basic_keeping_pool<>;

template <class Pool = keeping_pool>
Pool pool_of(pave::block_count blocks) {
  auto made = Pool::create({blocks});
  REQUIRE(made);
  return std::move(*made);
}

/// What `content_of` says of each of these held blocks.
template <class Pool>
std::vector<pave::kept_block> contents(const Pool& pool, const std::vector<pave::block_id>& blocks) {
  std::vector<pave::kept_block> all;
  for (const pave::block_id block : blocks) {
    REQUIRE(pool.content_of(block));
    all.push_back(*pool.content_of(block));
  }
  return all;
}

/// Takes the whole of a new pool, notes what is in each block, and releases all, block 0 first.
template <class Pool>
std::vector<pave::kept_block> fill_and_release(Pool& pool) {
  const auto all = take(pool, static_cast<std::size_t>(pool.capacity().value()));
  const auto notes = contents(pool, all);
  REQUIRE(pool.release(all));
  return notes;
}

/// Everything that a pool shows without being changed: to see that a refused call changed none of it.
struct pool_face {
  std::int64_t available, fenced, held;
  std::vector<std::uint32_t> holders;
  std::vector<bool> kept;                  // of the notes
  std::vector<std::uint32_t> generations;  // 0 for a block that is not held

  friend bool operator==(const pool_face& a, const pool_face& b) {
    return a.available == b.available && a.fenced == b.fenced && a.held == b.held && a.holders == b.holders &&
           a.kept == b.kept && a.generations == b.generations;
  }
};
template <class Pool>
pool_face face(const Pool& pool, const std::vector<pave::kept_block>& notes) {
  pool_face seen{pool.available().value(), pool.fenced().value(), pool.held().value(), all_holders(pool), {}, {}};
  for (const pave::kept_block& note : notes) seen.kept.push_back(pool.is_kept(note));
  for (std::int64_t block = 0; block < pool.capacity().value(); ++block) {
    const auto content = pool.content_of(block);
    seen.generations.push_back(content ? content->generation : 0);
  }
  return seen;
}

/// Takes all that is available: the order in which the blocks were to go out.
template <class Pool>
std::vector<std::int32_t> drain(Pool& pool) {
  return values(take(pool, static_cast<std::size_t>(pool.available().value())));
}

}  // namespace pave_tests

#endif  // PAVE_TESTS_SUPPORT_KEEPING_HPP
