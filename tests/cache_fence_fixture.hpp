// SPDX-License-Identifier: Apache-2.0
// A small cache whose blocks come free when the steps that use them are done, with conservation checked after each
// call.
#ifndef PAVE_TESTS_CACHE_FENCE_FIXTURE_HPP
#define PAVE_TESTS_CACHE_FENCE_FIXTURE_HPP

#include "cache_fixture.hpp"
#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/cache.hpp>

#include <cstddef>
#include <cstdint>

namespace pave_tests {

template <class Policies = fence_policies>
struct fence_fixture : cache_fixture<Policies> {
  using base = cache_fixture<Policies>;
  using base::base;

  /// A step whose predecessors stay in flight.
  pave::step_id begin() {
    this->step = this->cache.begin_step().value();
    check();
    return this->step;
  }
  void complete(pave::step_id done) {
    REQUIRE(this->cache.complete(done).has_value());
    check();
  }
  void finish(pave::sequence_id id) {
    REQUIRE(this->cache.finish(id).has_value());
    check();
  }
  void abort(pave::sequence_id id) {
    REQUIRE(this->cache.abort(id).has_value());
    check();
  }
  pave::result<pave::growth> grow(pave::sequence_id id, std::int64_t tokens) {
    const pave::result<pave::growth> grown = base::grow(id, tokens);
    check();
    return grown;
  }
  pave::result<pave::restore> restore(std::int64_t budget = 1000) {
    const pave::result<pave::restore> next = base::restore(budget);
    check();
    return next;
  }
  void check() const { check_conservation(this->cache.pool()); }

  [[nodiscard]] std::int64_t fenced() const { return this->cache.snapshot().fenced.value(); }
  /// @return blocks that are promised to a sequence
  [[nodiscard]] std::int64_t promised(pave::sequence_id id) const {
    return this->cache.promised(id).value().blocks.value();
  }
  [[nodiscard]] pave::step_id promised_by(pave::sequence_id id) const { return this->cache.promised(id).value().by; }
  /// @return whether the only cut is this one
  [[nodiscard]] bool only_cut(pave::sequence_id id, pave::block_range blocks, bool was_parked) {
    if (this->cuts.used().size() != 1) return false;
    const pave::cut& c = this->cuts.used()[0];
    return c.sequence == id && c.blocks == blocks && c.freed == blocks.size() && c.was_parked == was_parked;
  }
};

/// Whether a call was refused since just so many blocks are on their way.
template <class Value>
bool waits_for(const pave::result<Value>& refused, std::int64_t blocks, pave::step_id by) {
  const pave::error why = refused.error();
  return why.code == pave::errc::shortage && why.missing == blocks && why.arriving == blocks && why.by == by;
}
/// Whether a call was refused since so many blocks are missing, and none of them is on its way.
template <class Value>
bool misses(const pave::result<Value>& refused, std::int64_t blocks) {
  const pave::error why = refused.error();
  return why.code == pave::errc::shortage && why.missing == blocks && why.arriving == 0 && why.by == pave::step_id{};
}

}  // namespace pave_tests

#endif
