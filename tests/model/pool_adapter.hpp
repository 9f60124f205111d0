// SPDX-License-Identifier: Apache-2.0
// A pool of given policies as any pool.
#ifndef PAVE_TESTS_MODEL_POOL_ADAPTER_HPP
#define PAVE_TESTS_MODEL_POOL_ADAPTER_HPP

#include "model/any_pool.hpp"

#include <pave/pool.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace pave_tests {

inline void prepare(pave::silent& /*observer*/) {}
inline void prepare(pave::counters& /*observer*/) {}
inline void prepare(pave::event_log& log) {
  if (!log.reserve(events_logged)) throw std::runtime_error("no memory for the log");
}

inline sightings sightings_of(const pave::silent& /*observer*/) { return {}; }
inline sightings sightings_of(const pave::counters& counters) {
  sightings seen;
  seen.are_counted = true;
  for (std::size_t kind = 0; kind < pave::event_kinds; ++kind) {
    const auto which = static_cast<pave::event_kind>(kind);
    seen.tallies[kind] = {counters.events(which), counters.blocks(which).value()};
  }
  return seen;
}
inline sightings sightings_of(const pave::event_log& log) {
  sightings seen;
  seen.are_logged = true;
  seen.seen = log.seen();
  for (std::size_t i = 0; i < log.size(); ++i) seen.latest.push_back(log[i]);
  return seen;
}

template <class Result>
answer answer_of(const Result& got) {
  return {got.code(), got.error().missing.value()};
}

template <class Id>
std::vector<Id> ids_of(const block_list& blocks) {
  return {blocks.begin(), blocks.end()};
}
/// −1 for what is no id, whatever its width.
template <class Id>
std::int64_t value_of(Id id) {
  return id == Id() ? -1 : static_cast<std::int64_t>(id.value());
}

template <class Id>
class id_tables {
 public:
  explicit id_tables(const std::vector<block_list>& tables) {
    for (const block_list& table : tables) tables_.push_back(ids_of<Id>(table));
  }
  std::size_t size() const { return tables_.size(); }
  const std::vector<Id>& blocks(std::size_t i) const { return tables_[i]; }

 private:
  std::vector<std::vector<Id>> tables_;
};

template <class Policies>
class pool_adapter final : public any_pool {
 public:
  using pool_type = pave::block_pool<Policies>;
  using id = typename pool_type::id_type;
  using kept_block = typename pool_type::kept_block_type;

  explicit pool_adapter(const pave::pool_options& options) {
    prepare(observer_);
    pool_ = pool_type::create(options, observer_).value();
  }

  pool_counts counts() const override {
    return {pool_.capacity().value(), pool_.available().value(), pool_.fenced().value(), pool_.held().value(),
            pool_.leaving().value()};
  }
  std::int64_t arriving(std::int64_t by) const override { return pool_.arriving(by).value(); }
  std::uint32_t holders(std::int64_t block) const override { return pool_.holders(block); }
  bool is_in_use(std::int64_t block) const override { return pool_.is_in_use(block); }

  answer allocate(block_list& out) override {
    std::vector<id> given = ids_of<id>(out);
    const answer got = answer_of(pool_.allocate(given));
    write(given, out);
    return got;
  }
  answer acquire(const std::vector<kept>& revive, block_list& out) override {
    std::vector<kept_block> contents;
    for (const kept& one : revive) contents.push_back({one.block, one.generation});
    std::vector<id> given = ids_of<id>(out);
    const answer got = answer_of(pool_.acquire(contents, given));
    write(given, out);
    return got;
  }
  answer share(const block_list& blocks) override { return answer_of(pool_.share(ids_of<id>(blocks))); }
  answer release(const block_list& blocks, std::int64_t last_use, pave::content left) override {
    return answer_of(pool_.release(ids_of<id>(blocks), last_use, left));
  }
  answer complete(std::int64_t step) override { return answer_of(pool_.complete(step)); }
  void complete_through(std::int64_t step) override { pool_.complete_through(step); }
  answer pin(const block_list& blocks, pave::pin_token& token) override {
    const auto got = pool_.pin(ids_of<id>(blocks));
    if (got) token = *got;
    return answer_of(got);
  }
  answer unpin(pave::pin_token token, std::int64_t last_use) override {
    return answer_of(pool_.unpin(token, last_use));
  }

  answer content_of(std::int64_t block, kept& content) const override {
    const auto got = pool_.content_of(block);
    if (got) content = {value_of(got->block), got->generation};
    return answer_of(got);
  }
  bool is_kept(const kept& content) const override { return pool_.is_kept({content.block, content.generation}); }
  answer overwrite(std::int64_t block) override { return answer_of(pool_.overwrite(block)); }
  void forget_content() override { pool_.forget_content(); }

  answer resize(std::int64_t blocks) override { return answer_of(pool_.resize(blocks)); }
  answer audit(const std::vector<block_list>& tables,
               std::size_t scratch,
               std::size_t& broken,
               std::vector<pave::finding>& findings) const override {
    std::vector<std::uint32_t> counts(scratch, 77);
    const auto got = pool_.audit(id_tables<id>(tables), counts, [&findings](pave::finding found) {
      if (found.block == static_cast<std::int64_t>(id().value())) found.block = -1;  // as of every other width
      findings.push_back(found);
    });
    if (got) broken = *got;
    return answer_of(got);
  }

  void move() override {
    pool_type moved(std::move(pool_));
    pool_ = std::move(moved);
  }
  sightings seen() const override { return sightings_of(observer_); }

 private:
  static void write(const std::vector<id>& given, block_list& out) {
    std::transform(given.begin(), given.end(), out.begin(), value_of<id>);
  }

  typename Policies::observer observer_;
  pool_type pool_;
};

}  // namespace pave_tests

#endif  // PAVE_TESTS_MODEL_POOL_ADAPTER_HPP
