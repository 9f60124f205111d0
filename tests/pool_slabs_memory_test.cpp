// SPDX-License-Identifier: Apache-2.0
// What memory a slab source and its pools take: so many bytes a block and a slab when they are made, and none after.
#include "model/random.hpp"
#include "support/catch.hpp"
#include "support/memory_watch.hpp"

#include <pave/policy/from_slabs.hpp>
#include <pave/pool.hpp>
#include <pave/slab_source.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace {

using pave::from_slabs;
using pave::slab_source;
using pave_tests::watch;
using pave_tests::watched;

struct in_slabs : pave::pool_policies {
  using free_list = from_slabs;
};
struct after_a_step : in_slabs {
  using fence = pave::after_step;
};
template <class Policies>
using pool_of = pave::block_pool<Policies>;

/// Random calls of one pool, most of which succeed.
template <class Policies>
class frugal_engine {
 public:
  frugal_engine(slab_source& source, pave::byte_count block_bytes)
      : pool_(pool_of<Policies>::create({}, from_slabs(source, block_bytes)).value()) {}

  void call(pave_tests::random_source& random) {
    const std::size_t first = random.index(held_.size());
    const pave::span<pave::block_id> some(held_.data() + first, random.index(held_.size() - first) + 1);
    switch (random.between(0, 7)) {
      case 0:
      case 1:
        let_go(some);
        note(pool_.allocate(some));
        break;
      case 2: note(pool_.share(some)); break;
      case 3:
        note(pool_.unpin(token_, step_));
        if (const auto token = pool_.pin(some); token) token_ = *token;
        break;
      case 4: note(pool_.unpin(token_, step_)); break;
      case 5: pool_.complete_through(++step_); break;
      case 6:
        if (random.one_in(20)) {
          pool_of<Policies> moved(std::move(pool_));
          pool_ = std::move(moved);
        }
        break;
      default: note(pool_.release(some, step_ + random.between(-1, 3))); break;
    }
  }
  [[nodiscard]] pave::slab_request request() const { return {8, pool_.available(), 3}; }
  [[nodiscard]] int done() const { return done_; }

 private:
  /// All sequences of these blocks, so that none is forgotten.
  void let_go(pave::span<const pave::block_id> blocks) {
    for (const pave::block_id& block : blocks) {
      while (pool_.release({&block, 1}, step_)) done_ += 1;
    }
  }
  void note(const pave::result<void>& got) { done_ += got ? 1 : 0; }

  pool_of<Policies> pool_;
  std::array<pave::block_id, 6> held_{};
  pave::pin_token token_;
  std::int64_t step_ = 0;
  int done_ = 0;
};

}  // namespace

TEST_CASE("from_slabs: no call but create takes memory, and the end of a pool gives it back", "[pool][slabs][memory]") {
  pave_tests::for_each_seed(20, [](std::uint64_t seed) {
    pave_tests::random_source random(seed);
    auto source = slab_source::create(6, 64).value();
    frugal_engine<in_slabs> first(source, 8);
    frugal_engine<after_a_step> second(source, 30);
    int fitted = 0;
    {
      const watched memory;
      for (int i = 0; i < 1500; ++i) {
        random.one_in(2) ? first.call(random) : second.call(random);
        const pave::slab_request requests[] = {first.request()};
        fitted += source.fits(requests) ? 1 : 0;
      }
    }
    REQUIRE(watch.asked == 0);
    REQUIRE(watch.given_back == 0);
    REQUIRE(first.done() > 50);
    REQUIRE(second.done() > 50);
    REQUIRE(fitted > 50);
  });
}

TEST_CASE("from_slabs: a block costs so many bytes beside its own, and so does a slab", "[pool][slabs][memory]") {
  constexpr std::size_t slabs = 1024;
  constexpr std::size_t per_slab = 64;
  constexpr std::size_t pins = std::size_t{16} * 256;
  slab_source source;
  {
    const watched memory;
    source = slab_source::create(slabs, per_slab * 8).value();
  }
  CHECK(watch.bytes == slabs * 12);
  {
    const watched memory;
    const auto pool = pool_of<in_slabs>::create({}, from_slabs(source, 8)).value();
  }
  CHECK(watch.taken == watch.given_back);
  // A link and a count of holders for each block, 16 bytes for each slab, and a list for each number of free blocks.
  const std::size_t expected = slabs * per_slab * (4 + 4) + slabs * 16 + per_slab * 4 + pins;
  CHECK(watch.bytes >= expected);
  CHECK(watch.bytes <= expected + 64);
}

TEST_CASE("from_slabs: where the memory for it is refused, a source or a pool gives back what it took, and all slabs",
          "[pool][slabs][memory]") {
  pave_tests::require_all_is_given_back([] { return slab_source::create(6, 64).code(); });
  auto source = slab_source::create(6, 64).value();
  pave_tests::require_all_is_given_back(
      [&source] { return pool_of<after_a_step>::create({}, from_slabs(source, 8)).code(); });
  CHECK(source.free_slabs() == source.slabs());
}
