// SPDX-License-Identifier: Apache-2.0
// Orders of the engine's own within a kv_cache: they are never out of date.
#include "model/random.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace {

using pave::kv_cache;
using pave::sequence_id;

/// Each looks at something else that a view shows.
struct fewest_tokens {
  template <class View>
  static bool before(const View& view, std::size_t a, std::size_t b) noexcept {
    return view.tokens(a) < view.tokens(b);
  }
};
struct emptiest {
  template <class View>
  static bool before(const View& view, std::size_t a, std::size_t b) noexcept {
    const auto room = [&](std::size_t i) noexcept {
      return view.blocks(i).value() * view.tokens_per_block().value() - view.tokens(i).value();
    };
    return room(b) < room(a);
  }
};
struct most_missing {
  template <class View>
  static bool before(const View& view, std::size_t a, std::size_t b) noexcept {
    return view.missing(b, 0, view.blocks(b)) < view.missing(a, 0, view.blocks(a));
  }
};
struct least_slack {
  template <class View>
  static bool before(const View& view, std::size_t a, std::size_t b) noexcept {
    return view.slack(a) < view.slack(b);
  }
};

template <class Order, class Shape>
struct ordering : pave::cache_policies {
  struct planner : pave::planner_policies {
    using victim_order = Order;
    using cut_shape = Shape;
  };
};

/// What the engine can see of a sequence, the way the cache's own view shows it.
struct seen {
  std::vector<std::int64_t> held, has, time;

  [[nodiscard]] pave::block_count blocks(std::size_t i) const noexcept { return held[i]; }
  [[nodiscard]] pave::token_count tokens(std::size_t i) const noexcept { return has[i]; }
  [[nodiscard]] pave::token_count tokens_per_block() const noexcept { return 4; }
  [[nodiscard]] std::int64_t slack(std::size_t i) const noexcept { return time[i]; }
};

}  // namespace

TEMPLATE_TEST_CASE("kv_cache: an order of the engine's own goes by what is so at the time of the plan",
                   "[cache][random]",
                   (ordering<fewest_tokens, pave::tail>),
                   (ordering<fewest_tokens, pave::head_after_shared>),
                   (ordering<emptiest, pave::tail>),
                   (ordering<emptiest, pave::head_after_shared>),
                   (ordering<most_missing, pave::head_after_shared>),
                   (ordering<least_slack, pave::tail>)) {
  pave_tests::for_each_seed(150, [](std::uint64_t seed) {
    pave_tests::random_source random(seed);
    auto cache = kv_cache<TestType>::create({60, 4, 12}).value();
    std::array<pave::cut, 32> room{};
    pave::cut_list cuts(room);
    const sequence_id boss = cache.admit(0, 1).value();
    std::vector<sequence_id> others;
    std::vector<std::int64_t> slack;
    for (int i = 0; i < 10; ++i) {
      others.push_back(cache.admit(1 + i, random.between(1, 20)).value());
      slack.push_back(0);
    }
    for (int call = 0; call < 60; ++call) {
      const pave::step_id step = cache.begin_step().value();
      while (cache.next_restore(random.between(1, 30), cuts)) {
      }
      for (std::size_t i = 0; i < others.size(); ++i) {
        const sequence_id id = others[i];
        switch (random.between(0, 7)) {
          case 0: {
            const std::int64_t most = cache.progress(id)->goal.value();
            cache.truncate(id, random.between(most > 3 ? most - 3 : 1, most)).value();
            break;
          }
          case 1: cache.set_slack(id, slack[i] = random.between(-5, 5)).value(); break;
          case 2: static_cast<void>(cache.park(id)); break;
          default: static_cast<void>(cache.grow_or_reclaim(id, random.between(1, 3), cuts)); break;
        }
      }
      if (random.one_in(2)) {
        if (cache.plan_cuts(boss, random.between(1, 3), cuts)) cache.commit(boss, cuts.used()).value();
      }
      if (cache.plan_cuts(boss, 1, cuts)) {
        seen now;
        std::size_t chosen = others.size();
        for (std::size_t i = 0; i < others.size(); ++i) {
          const pave::sequence_progress at = cache.progress(others[i]).value();
          now.held.push_back(static_cast<std::int64_t>(cache.block_table(others[i])->size()));
          now.has.push_back(at.kept.value());
          now.time.push_back(slack[i]);
          if (others[i] == cuts.used()[0].sequence) chosen = i;
        }
        pave_tests::expect(chosen < others.size(), "one of the others is cut");
        const bool parked = cuts.used()[0].was_parked;
        using order = typename TestType::planner::victim_order;
        for (std::size_t i = 0; i < others.size(); ++i) {
          const bool waits = cache.progress(others[i])->state != pave::sequence_state::running;
          if (waits != parked || now.held[i] == 0) continue;
          if constexpr (!std::is_same_v<order, most_missing>) {
            pave_tests::expect(!order::before(now, i, chosen), "nobody comes before the one that is cut");
          }
        }
        for (std::size_t i = 0; i < others.size(); ++i) cache.set_slack(others[i], slack[i]).value();  // asked again
        pave_tests::expect(cache.plan_cuts(boss, 1, cuts) && cuts.used()[0].sequence == others[chosen],
                           "asked again, the order says the same");
      }
      cache.complete(step).value();
    }
  });
}
