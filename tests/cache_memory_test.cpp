// SPDX-License-Identifier: Apache-2.0
// Law 9 for a kv_cache: after create() no call but resize takes memory, and one that is refused some changes nothing.
#include "cache_fixture.hpp"
#include "model/random.hpp"
#include "support/catch.hpp"
#include "support/memory_watch.hpp"

#include <pave/pave.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

using pave_tests::watch;
using pave_tests::watched;

struct gap_policies : pave::cache_policies {
  struct planner : pave::planner_policies {
    using victim_order = pave::cheapest_restore;
    using cut_shape = pave::cheapest_range;
  };
};

struct index_policies : pave_tests::keep_policies {
  using prefix_index = pave::prefix_index;
};

pave::kv_cache_options options_of_cache() {
  pave::kv_cache_options options;
  options.blocks = 24;
  options.tokens_per_block = 4;
  options.sequences = 8;
  options.steps_in_flight = 3;
  return options;
}

/// Random calls of all members, none of which needs memory of its own.
template <class Cache>
class frugal_engine {
 public:
  explicit frugal_engine(Cache& cache) : cache_(cache) {}

  void call(pave_tests::random_source& random) {
    pave::sequence_id& id = ids_[random.index(ids_.size())];
    const std::int64_t tokens = random.between(-1, 40);
    pave::cut_list cuts(pave::span<pave::cut>(room_.data(), random.index(room_.size() + 1)));
    switch (random.between(0, 19)) {
      case 0:
        static_cast<void>(cache_.finish(id));  // or it would be in the way for ever
        if (const auto made = cache_.admit(tokens % 3, tokens, random.between(-1, 120)); made) id = *made;
        break;
      case 1: static_cast<void>(random.one_in(4) ? cache_.finish(id) : cache_.set_rank(id, tokens)); break;
      case 2: static_cast<void>(random.one_in(4) ? cache_.abort(id) : cache_.truncate(id, tokens)); break;
      case 3: static_cast<void>(cache_.begin_step()); break;
      case 4: completed_ += cache_.complete(completed_ + 1).code() == pave::errc::no_step ? 0 : 1; break;
      case 5: static_cast<void>(cache_.complete(random.between(-1, completed_ + 3))); break;
      case 6:
        if (cache_.plan_cuts(id, random.between(-1, 5), cuts) && random.one_in(2))
          static_cast<void>(cache_.commit(id, cuts.used()));
        break;
      case 7: random.one_in(20) ? cache_.reset() : look(id); break;
      case 8: hold(random, id); break;
      case 9: move(random); break;
      case 11: offer(random, id); break;
      case 10: static_cast<void>(cache_.next_restore(tokens, cuts)); break;
      case 12: fork(random, id); break;
      case 13: pin(random, id); break;
      case 14: audit(); break;
      case 15: name(random, id); break;
      default: static_cast<void>(cache_.grow_or_reclaim(id, random.between(0, 6), cuts)); break;
    }
    most_stopped_ = most_stopped_ < cache_.snapshot().parked ? cache_.snapshot().parked : most_stopped_;
  }
  /// The most sequences that were parked at the same time.
  [[nodiscard]] std::size_t most_stopped() const { return most_stopped_; }
  [[nodiscard]] int forks() const { return forks_; }
  [[nodiscard]] int pins() const { return pins_; }
  [[nodiscard]] std::size_t broken() const { return broken_; }

 private:
  void look(pave::sequence_id id) const {
    static_cast<void>(cache_.block_table(id));
    static_cast<void>(cache_.computed(id));
    static_cast<void>(cache_.progress(id));
    static_cast<void>(cache_.gap(id));
    static_cast<void>(cache_.promised(id));
    static_cast<void>(cache_.block_tables());
  }
  /// A fork of another sequence takes the place of this one.
  void fork(pave_tests::random_source& random, pave::sequence_id& id) {
    const pave::sequence_id parent = ids_[random.index(ids_.size())];
    if (parent == id) return;
    static_cast<void>(cache_.finish(id));
    const auto made = cache_.fork(parent, random.between(0, 2));
    if (!made) return;
    id = *made;
    forks_ += cache_.block_table(id)->empty() ? 0 : 1;
  }
  /// A transfer begins where none is, and ends where one is.
  void pin(pave_tests::random_source& random, pave::sequence_id id) {
    if (const pave::pin_token now = std::exchange(pin_, {}); now != pave::pin_token{}) {
      static_cast<void>(cache_.pool().unpin(now, completed_ + 1));
      return;
    }
    const auto table = cache_.block_table(id);
    if (!table) return;
    if (const auto made = cache_.pool().pin(table->first(random.index(table->size() + 1)))) {
      pin_ = *made;
      pins_ += 1;
    }
  }
  void audit() {
    const auto found = cache_.audit(pave::no_tables{}, scratch_, [](const pave::finding&) noexcept {});
    broken_ += found.value();
  }
  void hold(pave_tests::random_source& random, pave::sequence_id id) {
    const auto table = cache_.block_table(id);
    if (!table || table->empty()) return;
    const pave::span<const pave::block_id> one = table->subspan(random.index(table->size()), 1);
    if (cache_.pool().share(one)) static_cast<void>(cache_.pool().release(one));
  }
  /// Blocks of another sequence, as if it began in the same way.
  void offer(pave_tests::random_source& random, pave::sequence_id id) {
    const auto table = cache_.block_table(ids_[random.index(ids_.size())]);
    if (!table) return;
    std::array<pave::kept_block, 4> notes{};
    const std::size_t size = table->size() < notes.size() ? table->size() : notes.size();
    for (std::size_t i = 0; i < size; ++i) {
      if (const auto now = cache_.pool().content_of((*table)[i])) notes[i] = *now;  // no block is in a gap
    }
    static_cast<void>(cache_.offer_prefix(id, pave::span<const pave::kept_block>(notes.data(), size)));
  }
  /// Few contents, so that many are the same.
  void name(pave_tests::random_source& random, pave::sequence_id id) {
    if constexpr (Cache::prefix_index_type::finds) {
      std::array<pave::block_hash, 6> hashes{};
      for (std::size_t i = 0; i < hashes.size(); ++i) hashes[i] = {i, random.word() % 3};
      static_cast<void>(cache_.set_hashes(id, random.between(-1, 3), hashes));
    }
  }
  void move(pave_tests::random_source& random) {
    if (!random.one_in(10)) return;
    Cache moved(std::move(cache_));
    cache_ = std::move(moved);
  }

  Cache& cache_;
  std::array<pave::sequence_id, 8> ids_{};
  std::array<pave::cut, 8> room_{};
  std::array<std::uint32_t, 24> scratch_{};  // a count for each block
  pave::pin_token pin_;
  int forks_ = 0;
  int pins_ = 0;
  std::size_t broken_ = 0;
  std::int64_t completed_ = 0;
  std::size_t most_stopped_ = 0;
};

}  // namespace

TEMPLATE_TEST_CASE("kv_cache: no call but create takes memory",
                   "[cache][memory]",
                   pave::cache_policies,
                   pave_tests::keep_policies,
                   pave_tests::fence_policies,
                   pave_tests::keep_and_fence_policies,
                   index_policies,
                   gap_policies) {
  using cache_type = pave::kv_cache<TestType>;
  int forks = 0;
  int pins = 0;
  pave_tests::for_each_seed(200, [&](std::uint64_t seed) {
    pave_tests::random_source random(seed);
    auto made = cache_type::create(options_of_cache());
    cache_type cache = std::move(made).value();
    frugal_engine<cache_type> engine(cache);
    {
      const watched memory;
      for (int i = 0; i < 2000; ++i) engine.call(random);
    }
    REQUIRE(watch.asked == 0);
    REQUIRE(watch.given_back == 0);
    REQUIRE(engine.most_stopped() > 0);
    REQUIRE(engine.broken() == 0);
    forks += engine.forks();
    pins += engine.pins();
  });
  REQUIRE(forks > 1000);
  REQUIRE(pins > 1000);
}

TEMPLATE_TEST_CASE("kv_cache: where memory is refused, create gives back all that it took",
                   "[cache][memory]",
                   pave_tests::fence_policies,
                   pave_tests::keep_and_fence_policies,
                   index_policies) {
  pave_tests::require_all_is_given_back([] { return pave::kv_cache<TestType>::create(options_of_cache()).code(); });
}

TEMPLATE_TEST_CASE("resize: a cache that is refused the memory to grow stays as it is, and grows later",
                   "[cache][resize][memory]",
                   pave::cache_policies,
                   pave_tests::keep_policies,
                   index_policies,
                   pave_tests::fence_policies) {
  pave_tests::cache_fixture<TestType> f(pave_tests::small_with_steps(8));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id last = f.running(1, 16);
  REQUIRE(f.cache.fork(last, 2).has_value());
  std::int64_t refused = 0;
  for (bool is_larger = false; !is_larger; ++refused) {
    pave::errc code{};
    {
      const watched memory(refused);
      code = f.cache.resize(1000).code();
    }
    is_larger = code == pave::errc::ok;
    if (is_larger) break;
    REQUIRE(code == pave::errc::out_of_memory);
    REQUIRE(f.cache.snapshot().capacity == 8);
    REQUIRE(f.available() == 2);
    REQUIRE(f.cache.plan_cuts(first, 4, f.cuts)->freed == 4);
  }
  REQUIRE(refused > 1);
  REQUIRE(f.available() == 994);
  {
    const watched memory;
    REQUIRE(f.cache.resize(8).has_value());
    REQUIRE(f.cache.resize(1000).has_value());
  }
  REQUIRE(watch.asked == 0);
}

TEST_CASE("resize: a cache takes no memory for more blocks than its ids can name", "[cache][resize][memory]") {
  struct policies : pave::cache_policies {
    struct pool : pave::pool_policies {
      using id = pave::basic_block_id<std::int8_t>;
    };
  };
  pave::kv_cache_options options = options_of_cache();
  options.first_block = GENERATE(0, 1);
  pave::kv_cache<policies> cache = pave::kv_cache<policies>::create(options).value();
  const pave::block_count most = pave::block_count(128) - options.first_block;
  pave::errc code{};
  {
    const watched memory;
    code = cache.resize(most + 1).code();
  }
  REQUIRE(code == pave::errc::invalid_argument);
  REQUIRE(watch.asked == 0);
  REQUIRE(cache.snapshot().capacity == options.blocks);
  REQUIRE(cache.resize(most).has_value());
  REQUIRE(cache.snapshot().available == most);
}
