// SPDX-License-Identifier: Apache-2.0
// A scene whose blocks come free when the steps that use them are done; conservation is checked after each call.
#ifndef PAVE_TESTS_CASES_FENCE_SCENE_HPP
#define PAVE_TESTS_CASES_FENCE_SCENE_HPP

#include "cases/scene.hpp"
#include "support/catch.hpp"
#include "support/laws.hpp"

#include <pave/cache.hpp>

#include <cstdint>

namespace pave_tests {

struct after_step_policies : pave::cache_policies {
  struct pool : pave::pool_policies {
    using fence = pave::after_step;
  };
};

struct fence_scene : scene<after_step_policies> {
  using scene::scene;

  /// A step whose predecessors stay in flight.
  pave::step_id begin() {
    const auto step = cache.begin_step();
    REQUIRE(step);
    return *step;
  }
  void complete(pave::step_id step) {
    REQUIRE(cache.complete(step));
    check_conservation(cache.pool());
  }
  pave::result<pave::growth> grow(pave::sequence_id id, std::int64_t tokens) {
    const auto grown = cache.grow_or_reclaim(id, tokens, cuts);
    check_conservation(cache.pool());
    return grown;
  }
  pave::result<pave::restore> restore(std::int64_t budget = 1000) {
    const auto in = cache.next_restore(budget, cuts);
    check_conservation(cache.pool());
    return in;
  }
  void finish(pave::sequence_id id) {
    REQUIRE(cache.finish(id));
    check_conservation(cache.pool());
  }
  std::int64_t fenced() const { return cache.pool().fenced().value(); }
};

}  // namespace pave_tests

#endif  // PAVE_TESTS_CASES_FENCE_SCENE_HPP
