// SPDX-License-Identifier: Apache-2.0
// What memory a pool takes: so many bytes a block when it is made or grows, none otherwise, and none where it is
// refused.
#include "model/random.hpp"
#include "support/catch.hpp"
#include "support/keeping.hpp"
#include "support/laws.hpp"
#include "support/memory_watch.hpp"

#include <pave/pool.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace {

using pave::block_pool;
using pave::errc;
using pave_tests::random_source;
using pave_tests::watch;
using pave_tests::watched;

struct waiting : pave::pool_policies {
  using fence = pave::after_step;
};
struct one_sequence : pave::pool_policies {
  using sharing = pave::exclusive;
  using observer = pave::event_log;
};
struct queued : pave::pool_policies {
  using free_list = pave::least_recently_released;
};
struct keeping : queued {
  using retention = pave::keep;
};
struct all_of_it : keeping {
  using id = pave::basic_block_id<std::int64_t>;
  using fence = pave::after_step;
  using observer = pave::counters;
};

/// Random calls of all members but `create` and `resize`, none of which needs memory of its own.
template <class Policies>
class frugal_engine {
 public:
  using pool_type = block_pool<Policies>;
  using id = typename pool_type::id_type;

  explicit frugal_engine(pool_type& pool) : pool_(pool) { held_.fill(id()); }

  void call(random_source& random) {
    const pave::span<id> some(held_.data() + random.index(held_.size() / 2), random.index(held_.size() / 2));
    const pave::step_id step = done_ + random.between(-2, 9);
    held_[random.index(held_.size())] = random.between(-1, 16);
    switch (random.between(0, 11)) {
      case 0:
      case 1: note(pool_.allocate(some)); break;
      case 2: remember(held_[random.index(held_.size())], kept_[random.index(kept_.size())]); break;
      case 3: note(pool_.acquire({kept_.data(), random.index(kept_.size())}, some.first(some.size() / 2))); break;
      case 4: note(pool_.share(some)); break;
      case 5:
        if (const auto token = pool_.pin(some); token) token_ = *token;
        break;
      case 6: note(pool_.unpin(token_, step)); break;
      case 7: note(pool_.complete(step)); break;
      case 8: complete_through(step); break;
      case 9:
        random.one_in(9) ? pool_.forget_content() : note(pool_.overwrite(held_[random.index(held_.size())]));
        break;
      case 10: look(random); break;
      default:
        note(pool_.release(some, step, random.one_in(3) ? pave::content::worthless : pave::content::worth_keeping));
        break;
    }
  }
  [[nodiscard]] int done() const { return calls_done_; }

 private:
  using kept = typename pool_type::kept_block_type;

  void note(const pave::result<void>& got) { calls_done_ += got ? 1 : 0; }
  void remember(id block, kept& note) const {
    if (const auto content = pool_.content_of(block); content) note = *content;
  }
  void complete_through(pave::step_id step) {
    pool_.complete_through(step);
    done_ = (std::max)(done_, step.value());
  }
  void look(random_source& random) {
    const std::array<pave::span<const id>, 2> tables{pave::span<const id>(held_), {}};
    struct view {
      const std::array<pave::span<const id>, 2>& all;
      std::size_t size() const { return all.size(); }
      pave::span<const id> blocks(std::size_t i) const { return all[i]; }
    };
    std::size_t characters = 0;
    const auto say = [&characters](const pave::finding& found) {
      std::array<char, 128> room{};
      characters += pave::to_words(found, room)[0] == 0 ? 0U : 1U;
    };
    static_cast<void>(pool_.audit(view{tables}, scratch_, say));
    static_cast<void>(pool_.is_kept(kept_[0]));
    static_cast<void>(pool_.arriving(done_ + 3) + pool_.available() + pool_.fenced() + pool_.leaving());
    if (random.one_in(9)) {
      pool_type moved(std::move(pool_));
      pool_ = std::move(moved);
    }
  }

  pool_type& pool_;
  std::array<id, 12> held_;
  std::array<kept, 6> kept_{};
  std::array<std::uint32_t, 16> scratch_{};
  pave::pin_token token_;
  std::int64_t done_ = 0;
  int calls_done_ = 0;
};

/// Bytes that `create` takes for a pool of so many blocks.
template <class Policies>
std::size_t bytes_of(std::int64_t blocks) {
  pave::pool_options options;
  options.blocks = blocks;
  errc code{};
  {
    const watched memory;
    code = block_pool<Policies>::create(options).code();
  }
  REQUIRE(code == errc::ok);
  REQUIRE(watch.taken == watch.given_back);
  return watch.bytes;
}

template <class Pool>
std::vector<std::int64_t> face_of(const Pool& pool) {
  std::vector<std::int64_t> all{pool.capacity().value(), pool.available().value(),
                                pool.fenced().value(),   pool.held().value(),
                                pool.leaving().value(),  static_cast<std::int64_t>(pool.id_end())};
  for (std::int64_t block = 0; block < 200; ++block) {
    all.push_back(pool.holders(block));
    all.push_back(pool.content_of(block) ? std::int64_t{pool.content_of(block)->generation} : -1);
  }
  return all;
}

}  // namespace

TEMPLATE_TEST_CASE("block_pool: no member but create and resize takes memory, whatever its policies",
                   "[pool][memory]",
                   pave::pool_policies,
                   waiting,
                   one_sequence,
                   queued,
                   keeping,
                   all_of_it) {
  pave_tests::for_each_seed(50, [](std::uint64_t seed) {
    random_source random(seed);
    typename TestType::observer observer;
    if constexpr (std::is_same_v<typename TestType::observer, pave::event_log>) REQUIRE(observer.reserve(5));
    auto pool = block_pool<TestType>::create({16, 0, 20}, observer).value();
    frugal_engine<TestType> engine(pool);
    {
      const watched memory;
      for (int i = 0; i < 1500; ++i) engine.call(random);
    }
    REQUIRE(watch.asked == 0);
    REQUIRE(watch.given_back == 0);
    REQUIRE(engine.done() > 100);
  });
}

TEST_CASE("block_pool: a block costs so many bytes beside its own, and a pin 16", "[pool][memory]") {
  constexpr std::int64_t blocks = std::int64_t{1} << 16;
  constexpr std::size_t pins = std::size_t{16} * 256;
  const auto expect_a_block = [](std::size_t bytes, std::size_t each) {
    CHECK(bytes >= static_cast<std::size_t>(blocks) * each + pins);
    CHECK(bytes <= static_cast<std::size_t>(blocks) * each + pins + 64);
  };
  expect_a_block(bytes_of<pave::pool_policies>(blocks), 4 + 4);  // a place in the free list, a count of holders
  expect_a_block(bytes_of<waiting>(blocks), 4 + 4 + 4);
  expect_a_block(bytes_of<one_sequence>(blocks), 4 + 1);
  expect_a_block(bytes_of<queued>(blocks), 8 + 4);
  expect_a_block(bytes_of<keeping>(blocks), 8 + 4 + 4);
  expect_a_block(bytes_of<all_of_it>(blocks), 8 + 4 + 4 + 4);
}

TEMPLATE_TEST_CASE("block_pool: where the memory for it is refused, a pool gives back what it took",
                   "[pool][memory]",
                   pave::pool_policies,
                   waiting,
                   one_sequence,
                   keeping,
                   all_of_it) {
  pave_tests::require_all_is_given_back([] { return block_pool<TestType>::create({24}).code(); });
}

TEMPLATE_TEST_CASE("block_pool: where the memory to grow is refused, a pool stays as it is, and grows later",
                   "[pool][memory]",
                   pave::pool_policies,
                   waiting,
                   one_sequence,
                   keeping,
                   all_of_it) {
  using pool_type = block_pool<TestType>;
  std::int64_t refused = 0;
  for (bool has_grown = false; !has_grown; ++refused) {
    auto pool = pool_type::create({24}).value();
    auto twin = pool_type::create({24}).value();
    for (pool_type* each : {&pool, &twin}) {
      const auto blocks = pave_tests::take(*each, 10);
      REQUIRE(each->release({blocks.data() + 2, 3}, 2));
      REQUIRE(each->release({blocks.data() + 6, 2}));
      REQUIRE(each->pin({blocks.data() + 1, 1}));
    }
    const auto before = face_of(pool);
    errc code{};
    {
      const watched memory(refused);
      code = pool.resize(150).code();
    }
    has_grown = code == errc::ok;
    if (has_grown) {
      REQUIRE(watch.asked == refused);
      REQUIRE(watch.taken == watch.given_back);  // the smaller tables
      break;
    }
    REQUIRE(code == errc::out_of_memory);
    REQUIRE(face_of(pool) == before);
    {
      const watched memory;
      REQUIRE(pool.resize(20));
      REQUIRE(pool.resize(24));
    }
    REQUIRE(watch.asked == 0);
    REQUIRE(twin.resize(20));
    REQUIRE(twin.resize(24));
    pool.complete_through(2);
    twin.complete_through(2);
    const auto available = static_cast<std::size_t>(pool.available().value());
    const auto all = pave_tests::take(pool, available);
    REQUIRE(all == pave_tests::take(twin, available));
    REQUIRE(pool.release(all));
    REQUIRE(pool.resize(150));
    REQUIRE(pool.available() == available + 126);
    pave_tests::check_conservation(pool);
  }
  REQUIRE(refused > 1);
}

TEST_CASE("block_pool: more pins than 32 bits count are refused, not cut, and no memory is asked for",
          "[pool][memory]") {
  pave::pool_options options;
  options.blocks = 4;
  options.pinned_blocks = GENERATE((std::numeric_limits<std::size_t>::max)(), std::size_t{1} << 32U,
                                   (std::numeric_limits<std::size_t>::max)() / 16 + 2);
  errc code{};
  {
    const watched memory;
    code = block_pool<>::create(options).code();
  }
  CHECK(code == errc::invalid_argument);
  CHECK(watch.asked == 0);
}
