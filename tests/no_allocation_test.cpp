// SPDX-License-Identifier: Apache-2.0
// Law 9: after create() no call takes memory; and create() gives all back where the host refuses some of it.
#include "model/random.hpp"
#include "support/catch.hpp"

#include <pave/pave.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <utility>

namespace {

/// What the replaced operators below count and refuse. It is there before any of them is called.
struct memory_watch {
  bool is_on = false;
  std::int64_t taken = 0, given_back = 0, asked = 0;
  std::int64_t refused = -1;  // the number of the request that is refused, from 0
  std::size_t largest = (std::numeric_limits<std::size_t>::max)();
};
memory_watch watch;

void* take(std::size_t size) noexcept {
  if (!watch.is_on) return std::malloc(size == 0 ? 1 : size);
  if (watch.asked++ == watch.refused || size > watch.largest) return nullptr;
  ++watch.taken;
  return std::malloc(size == 0 ? 1 : size);
}
void* take_or_throw(std::size_t size) {
  void* memory = take(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void give_back(void* memory) noexcept {
  if (watch.is_on && memory != nullptr) ++watch.given_back;
  std::free(memory);
}

/// Counts while it lives.
struct watched {
  explicit watched(std::int64_t refused = -1, std::size_t largest = (std::numeric_limits<std::size_t>::max)()) {
    watch = {true, 0, 0, 0, refused, largest};
  }
  ~watched() { watch.is_on = false; }
  watched(const watched&) = delete;
  watched& operator=(const watched&) = delete;
};

}  // namespace

void* operator new(std::size_t size) { return take_or_throw(size); }
void* operator new[](std::size_t size) { return take_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept { return take(size); }
void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept { return take(size); }
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete[](void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { give_back(memory); }
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept { give_back(memory); }
void operator delete[](void* memory, const std::nothrow_t& /*tag*/) noexcept { give_back(memory); }

namespace {

struct keeping : pave::pool_policies {
  using free_list = pave::least_recently_released;
  using retention = pave::keep;
};
struct keeping_cache : pave::cache_policies {
  using pool = keeping;
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
    switch (random.between(0, 15)) {
      case 0:
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
      default: static_cast<void>(cache_.grow_or_reclaim(id, random.between(0, 6), cuts)); break;
    }
    most_stopped_ = most_stopped_ < cache_.snapshot().parked ? cache_.snapshot().parked : most_stopped_;
  }
  /// The most sequences that were parked at the same time.
  [[nodiscard]] std::size_t most_stopped() const { return most_stopped_; }

 private:
  void look(pave::sequence_id id) const {
    static_cast<void>(cache_.block_table(id));
    static_cast<void>(cache_.computed(id));
    static_cast<void>(cache_.progress(id));
    static_cast<void>(cache_.gap(id));
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
    for (std::size_t i = 0; i < size; ++i) notes[i] = cache_.pool().content_of((*table)[i]).value();
    static_cast<void>(cache_.offer_prefix(id, pave::span<const pave::kept_block>(notes.data(), size)));
  }
  void move(pave_tests::random_source& random) {
    if (!random.one_in(10)) return;
    Cache moved(std::move(cache_));
    cache_ = std::move(moved);
  }

  Cache& cache_;
  std::array<pave::sequence_id, 8> ids_{};
  std::array<pave::cut, 8> room_{};
  std::int64_t completed_ = 0;
  std::size_t most_stopped_ = 0;
};

/// Refuses the first request of `create`, then the second, …, until it needs no more.
template <class Create>
void require_all_is_given_back(Create create) {
  std::int64_t refused = 0;
  for (bool is_made = false; !is_made; ++refused) {
    pave::errc code{};
    {
      const watched memory(refused);
      code = create();
    }
    is_made = code == pave::errc::ok;
    const bool is_refused = code == pave::errc::out_of_memory;
    REQUIRE(is_made != is_refused);
    REQUIRE(watch.taken == watch.given_back);
    REQUIRE(watch.asked == (is_made ? refused : refused + 1));
  }
  REQUIRE(refused > 1);
}

}  // namespace

TEMPLATE_TEST_CASE("kv_cache: no call but create takes memory",
                   "[cache][memory]",
                   pave::cache_policies,
                   keeping_cache) {
  using cache_type = pave::kv_cache<TestType>;
  pave_tests::for_each_seed(200, [](std::uint64_t seed) {
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
  });
}

TEMPLATE_TEST_CASE("block_pool: no call but create takes memory", "[pool][memory]", pave::pool_policies, keeping) {
  pave::block_pool<TestType> pool = pave::block_pool<TestType>::create({8}).value();
  std::array<pave::block_id, 8> blocks{};
  std::array<pave::block_id, 9> too_many{};
  std::array<pave::kept_block, 8> kept{};
  int revived = 0;
  {
    const watched memory;
    for (int i = 0; i < 100; ++i) {
      static_cast<void>(pool.allocate(blocks));
      static_cast<void>(pool.allocate(too_many));
      static_cast<void>(pool.share(blocks));
      static_cast<void>(pool.release(blocks));
      static_cast<void>(pool.release(blocks, i));
      static_cast<void>(pool.release(blocks));
      pool.complete(i);
      pool.allocate(blocks).value();
      pool.overwrite(blocks[0]).value();
      for (std::size_t b = 0; b < kept.size(); ++b) kept[b] = pool.content_of(blocks[b]).value();
      pool.release(blocks).value();
      static_cast<void>(pool.acquire({kept.data(), 4}, {too_many.data(), 5}));
      static_cast<void>(pool.acquire(kept, too_many));
      if (pool.acquire({kept.data(), 4}, {too_many.data(), 4})) {
        static_cast<void>(pool.acquire({kept.data(), 4}, {}));
        static_cast<void>(pool.acquire(kept, {}));
        static_cast<void>(pool.is_kept(kept[0]));
        pool.release({blocks.data(), 4}).value();
        pool.release(blocks, i, pave::content::worthless).value();
        revived += 4;
      }
      pool.forget_content();
    }
  }
  REQUIRE(revived == (pave::block_pool<TestType>::keeps_content ? 400 : 0));
  REQUIRE(watch.asked == 0);
  REQUIRE(pool.available() == 8);
}

TEST_CASE("create: where memory is refused, all that was taken is given back", "[cache][pool][tracker][memory]") {
  SECTION("kv_cache") {
    require_all_is_given_back([] { return pave::kv_cache<>::create(options_of_cache()).code(); });
    require_all_is_given_back([] { return pave::kv_cache<keeping_cache>::create(options_of_cache()).code(); });
  }
  SECTION("block_pool") {
    require_all_is_given_back([] { return pave::block_pool<>::create({24}).code(); });
    require_all_is_given_back([] { return pave::block_pool<keeping>::create({24}).code(); });
  }
  SECTION("restore_tracker") {
    require_all_is_given_back([] { return pave::restore_tracker<>::create({8, 100}).code(); });
  }
}

TEST_CASE("create: sizes that no host has memory for are refused, not wrapped around",
          "[cache][pool][tracker][memory]") {
  constexpr std::int64_t many = (std::numeric_limits<std::int32_t>::max)();
  pave::kv_cache_options wide = options_of_cache();
  wide.sequences = static_cast<std::size_t>(many);
  wide.steps_in_flight = 64;
  pave::kv_cache_options large = options_of_cache();
  large.blocks = many;
  large.blocks_per_sequence = many;
  large.sequences = static_cast<std::size_t>(many);
  std::array<pave::errc, 5> codes{};
  {
    const watched memory(-1, std::size_t{1} << 26U);
    codes = {pave::kv_cache<>::create(wide).code(), pave::kv_cache<>::create(large).code(),
             pave::block_pool<>::create({many}).code(), pave::block_pool<keeping>::create({many}).code(),
             pave::restore_tracker<>::create({(std::numeric_limits<std::uint32_t>::max)()}).code()};
  }
  for (const pave::errc code : codes) REQUIRE(code == pave::errc::out_of_memory);
  REQUIRE(watch.taken == watch.given_back);
}
