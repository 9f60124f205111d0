// SPDX-License-Identifier: Apache-2.0
// Shared blocks that were counted as gained (OpenVINO GenAI), and content that counted as a hit each time it came back
// (vLLM 25787, SGLang 11898), where sequences find each other's blocks by their tokens.
#include "cases/scene.hpp"
#include "support/catch.hpp"
#include "support/keeping.hpp"

#include <pave/cache.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

struct indexed_cache : pave::cache_policies {
  using pool = pave_tests::keeping<>;
  using prefix_index = pave::prefix_index;
};
struct indexed_whole_cache : indexed_cache {
  using planner = pave_tests::whole_planner;
};

/// Tokens of a system prompt, and of a request's own behind them.
std::vector<std::int64_t> prompt_of(std::int64_t own_from, std::int64_t size, std::int64_t request) {
  std::vector<std::int64_t> tokens;
  for (std::int64_t i = 0; i < size; ++i) tokens.push_back(i < own_from ? i : 1000 * (request + 1) + i);
  return tokens;
}

template <class Policies>
struct indexed_scene : pave_tests::scene<Policies> {
  indexed_scene(std::int64_t blocks, std::int64_t tokens_per_block)
      : pave_tests::scene<Policies>(blocks, tokens_per_block), each(tokens_per_block) {}

  pave::sequence_id admit(std::int64_t rank, const std::vector<std::int64_t>& prompt) {
    const pave::sequence_id id = pave_tests::scene<Policies>::admit(rank, static_cast<std::int64_t>(prompt.size()));
    std::vector<pave::block_hash> hashes(prompt.size() / static_cast<std::size_t>(each));
    REQUIRE(pave::block_hasher().hash_blocks(pave::block_hasher::root(), prompt, each, hashes));
    REQUIRE(this->cache.set_hashes(id, 0, hashes));
    return id;
  }
  /// The most important one that waits comes in, and computes all that it has to.
  pave::restore come_in() {
    const auto step = this->open();
    const auto in = this->cache.next_restore(1000, this->cuts);
    REQUIRE(in);
    REQUIRE(this->cache.complete(step));
    const auto now = this->cache.snapshot();
    CHECK(now.held <= now.capacity);
    CHECK(now.available + now.fenced + now.held == now.capacity);
    return *in;
  }

  std::int64_t each;
};

}  // namespace

TEST_CASE("case 20: a hit counts once, and what was cut and found again is none (vLLM 25787, SGLang 11898)",
          "[cases]") {
  const std::int64_t each = GENERATE(1, 8, 16);
  const std::int64_t shared = GENERATE(32, 50, 100);
  const int times = GENERATE(1, 2, 5);
  CAPTURE(each, shared, times);
  indexed_scene<indexed_cache> s(300, each);
  const auto requester = s.run(0, each);
  static_cast<void>(s.admit(1, prompt_of(shared, 100, 0)));
  CHECK(s.come_in().found.empty());
  const auto id = s.admit(2, prompt_of(shared, 100, 1));
  const std::int64_t hits = std::min<std::int64_t>(shared, 99) / each * each;
  CHECK(s.come_in().found.size().value() == hits);
  CHECK(s.cache.snapshot().tokens_cached.value() == hits);
  std::int64_t back = 0;
  for (int time = 1; time <= times; ++time) {
    const std::int64_t cut = std::min<std::int64_t>(2, s.held(id) - hits / each);
    REQUIRE(s.cache.plan_cuts(requester, cut, s.cuts));
    REQUIRE(s.cache.commit(requester, s.cuts.used()));
    REQUIRE(s.state(id) == pave::sequence_state::parked);
    back = s.cache.snapshot().tokens_lost.value();
    s.come_in();
    const auto now = s.cache.snapshot();
    CHECK(now.tokens_cached.value() == hits);
    CHECK(now.tokens_restored.value() + now.tokens_revived.value() == back);
  }
}

TEMPLATE_TEST_CASE("case 20: of many that share a prompt hits are at most what they asked for, under pressure, too",
                   "[cases]",
                   indexed_cache,
                   indexed_whole_cache) {
  const std::int64_t each = GENERATE(1, 4, 16);
  indexed_scene<TestType> s(160 / each + 6, each);
  pave_tests::small_engine<TestType> engine(s, 64);
  std::int64_t asked = 0;
  for (std::int64_t i = 0; i < 8; ++i) {
    const std::vector<std::int64_t> prompt = prompt_of(48, 60 + i, i);
    asked += static_cast<std::int64_t>(prompt.size());
    engine.add(s.admit(i, prompt), 90);
  }
  for (int step = 0; step < 3000 && engine.run(1) != 0; ++step) {
    const auto now = s.cache.snapshot();
    REQUIRE(now.held <= now.capacity);
    REQUIRE(now.tokens_cached.value() <= asked);
    REQUIRE(now.tokens_restored + now.tokens_revived <= now.tokens_lost);
  }
  const auto now = s.cache.snapshot();
  CHECK(now.running + now.parked + now.waiting == 0);
  CHECK(now.available == now.capacity);
  CHECK(now.tokens_cached > 0);
  CHECK(now.tokens_lost == now.tokens_restored + now.tokens_revived);
}

TEST_CASE("case 12: a system prompt that a sibling holds, too, gains nothing, however many share it (OpenVINO GenAI)",
          "[cases]") {
  const std::int64_t sharers = GENERATE(2, 3, 9);
  indexed_scene<indexed_cache> s(8 + 2 * sharers + 1, 16);
  const auto requester = s.run(0, 16);
  std::vector<pave::sequence_id> ids;
  for (std::int64_t i = 0; i < sharers; ++i) {
    ids.push_back(s.admit(i + 1, prompt_of(128, 150, i)));
    CHECK(s.come_in().found.size() == (i == 0 ? 0 : 128));
  }
  CHECK(s.available() == 0);
  const std::int64_t own = 2 * sharers;
  const std::int64_t shortage = GENERATE_COPY(1, 2, own - 1, own);
  const auto planned = s.cache.plan_cuts(requester, shortage, s.cuts);
  REQUIRE(planned);
  CHECK(planned->freed.value() == shortage);
  CHECK(planned->given_up.value() == 0);
  for (const pave::cut& c : s.cuts.used()) CHECK(c.blocks.first >= 8);
  // A block of the prompt comes free with the last of its holders: all are cut for it, and it counts once.
  const auto all = s.cache.plan_cuts(requester, own + 1, s.cuts);
  REQUIRE(all);
  CHECK(all->freed.value() == own + 1);
  CHECK(static_cast<std::int64_t>(s.cuts.used().size()) == sharers);
  CHECK(s.cache.commit(requester, s.cuts.used())->value() == own + 1);
  CHECK(s.available() == own + 1);
  // They come back one after another: the first computes that block again, and the others share it.
  for (std::int64_t i = 0; i < sharers; ++i) s.come_in();
  CHECK(s.cache.pool().holders(s.cache.block_table(ids[0]).value()[7]) == static_cast<std::uint32_t>(sharers));
}
