// SPDX-License-Identifier: Apache-2.0
// A kv_cache with an index of its own: beginnings that sequences have in common are found by their tokens.
#include "cache_fixture.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace {

using pave::block_hash;
using pave::errc;
using pave::token_range;
using pave_tests::small;

struct index_policies : pave_tests::keep_policies {
  using prefix_index = pave::prefix_index;
};
struct fenced_index_policies : pave_tests::keep_and_fence_policies {
  using prefix_index = pave::prefix_index;
};
struct inside_index_policies : index_policies {
  struct planner : pave::planner_policies {
    using cut_shape = pave::head_after_shared;
  };
};

/// Names of a prompt's full blocks of 4 tokens.
/// @param differs the first token that is another one
std::vector<block_hash> names(std::size_t tokens, std::size_t differs = 1000, std::uint64_t salt = 0) {
  std::vector<std::int32_t> prompt(tokens);
  std::iota(prompt.begin(), prompt.end(), 0);
  if (differs < tokens) prompt[differs] = -1;
  std::vector<block_hash> hashes(tokens / 4);
  pave::block_hasher().hash_blocks(pave::block_hasher::root(salt), prompt, 4, hashes).value();
  return hashes;
}

template <class Policies = index_policies>
struct indexed : pave_tests::cache_fixture<Policies> {
  using base = pave_tests::cache_fixture<Policies>;
  using base::base;

  pave::sequence_id admit(std::int64_t rank, const std::vector<block_hash>& hashes, std::int64_t tokens) {
    const pave::sequence_id id = base::admit(rank, tokens);
    REQUIRE(this->cache.set_hashes(id, 0, hashes));
    return id;
  }
  /// One that has computed its prompt, as `names(tokens)` calls it.
  pave::sequence_id running(std::int64_t rank, std::size_t tokens) {
    const pave::sequence_id id = admit(rank, names(tokens), static_cast<std::int64_t>(tokens));
    this->next_step();
    REQUIRE(this->restore().value().sequence == id);
    this->next_step();
    return id;
  }
  /// All that is available is used for something else.
  void overwrite_free() {
    const auto blocks = this->take_outside(static_cast<std::size_t>(this->available()));
    REQUIRE(this->cache.pool().release(blocks));
  }
};

}  // namespace

TEST_CASE("prefix index: one that comes in shares what another has computed of the same tokens", "[cache][prefix]") {
  indexed<> f(small());
  const pave::sequence_id first = f.running(0, 14);
  const bool is_over = GENERATE(false, true);
  const std::vector<pave::block_id> table = f.table(first);
  if (is_over) REQUIRE(f.cache.finish(first));
  const std::size_t differs = static_cast<std::size_t>(GENERATE(0, 3, 4, 11, 12, 17, 1000));
  CAPTURE(is_over, differs);
  const pave::sequence_id second = f.admit(1, names(18, differs), 18);
  const std::int64_t available = f.available();
  const pave::restore in = f.restore().value();
  const std::int64_t common = static_cast<std::int64_t>(differs < 12 ? differs / 4 : 3);
  REQUIRE(in.sequence == second);
  REQUIRE(in.found == token_range{0, 4 * common});
  REQUIRE(in.tokens == token_range{4 * common, 18});
  REQUIRE(available - f.available() == 5 - (is_over ? 0 : common));
  for (std::size_t i = 0; i < 3; ++i)
    REQUIRE((f.table(second)[i] == table[i]) == (i < static_cast<std::size_t>(common)));
  f.next_step();
  const pave::cache_snapshot now = f.cache.snapshot();
  REQUIRE(now.tokens_cached == 4 * common);
  REQUIRE(now.tokens_lost + now.tokens_restored + now.tokens_revived == 0);
}

TEST_CASE("prefix index: a block is found once a step is complete that computed it, and not before",
          "[cache][prefix]") {
  indexed<> f(small());
  const pave::sequence_id first = f.admit(0, names(12), 12);
  f.step = f.cache.begin_step().value();
  REQUIRE(f.restore(8)->tokens == token_range{0, 8});
  const pave::step_id launched = f.step;
  f.step = f.cache.begin_step().value();
  REQUIRE(f.grow(first, 4));
  const pave::sequence_id second = f.admit(1, names(16), 16);
  SECTION("neither is") { REQUIRE(f.restore()->found.empty()); }
  SECTION("the first is") {
    REQUIRE(f.cache.complete(launched));
    REQUIRE(f.restore()->found == token_range{0, 8});
  }
  SECTION("both are") {
    REQUIRE(f.cache.complete(launched));
    f.next_step();
    REQUIRE(f.restore()->found == token_range{0, 12});
  }
  static_cast<void>(second);
}

TEST_CASE("prefix index: hashes that come after the tokens are computed serve as well", "[cache][prefix]") {
  indexed<> f(small());
  const pave::sequence_id id = f.admit(0, {}, 12);
  f.next_step();
  REQUIRE(f.restore());
  f.next_step();
  const std::vector<block_hash> all = names(12);
  for (std::int64_t i = 0; i < 3; ++i) {
    REQUIRE(f.cache.set_hashes(id, i, std::array{all[static_cast<std::size_t>(i)]}));
    const pave::sequence_id other = f.admit(1, names(16), 16);
    REQUIRE(f.restore()->found == token_range{0, 4 * (i + 1)});
    REQUIRE(f.cache.abort(other));
  }
}

TEST_CASE("prefix index: what a sequence generates is found by one that has it in its prompt", "[cache][prefix]") {
  indexed<> f(small());
  const pave::sequence_id first = f.running(0, 6);
  for (int token = 6; token < 13; ++token) {
    REQUIRE(f.grow(first, 1));
    f.next_step();
  }
  const std::vector<block_hash> all = names(12);
  REQUIRE(f.cache.set_hashes(first, 1, pave::span<const block_hash>(all).subspan(1, 2)));
  static_cast<void>(f.admit(1, names(16), 16));
  REQUIRE(f.restore()->found == token_range{0, 12});
}

TEST_CASE("prefix index: sequences under different salts never find each other's blocks", "[cache][prefix]") {
  indexed<> f(small());
  static_cast<void>(f.running(0, 12));
  static_cast<void>(f.admit(1, names(12, 1000, 7), 12));
  REQUIRE(f.restore()->found.empty());
}

TEST_CASE("prefix index: all of a prompt may be there, and its last block is computed again", "[cache][prefix]") {
  indexed<> f(small());
  static_cast<void>(f.running(0, 12));
  static_cast<void>(f.admit(1, names(12), 12));
  const pave::restore in = f.restore().value();
  REQUIRE(in.found == token_range{0, 8});
  REQUIRE(in.tokens == token_range{8, 12});
}

TEST_CASE("prefix index: what is found is never reused for the blocks that come with it", "[cache][prefix]") {
  indexed<> f(small(5));
  const pave::sequence_id first = f.running(0, 12);
  const std::vector<pave::block_id> table = f.table(first);
  REQUIRE(f.cache.finish(first));
  // It takes all there is: three that it finds, and the two others.
  const pave::sequence_id second = f.admit(0, names(20), 20);
  REQUIRE(f.restore()->found == token_range{0, 12});
  for (std::size_t i = 0; i < 3; ++i) REQUIRE(f.table(second)[i] == table[i]);
}

TEST_CASE("prefix index: what was reused is not found", "[cache][prefix]") {
  indexed<> f(small());
  const pave::sequence_id first = f.running(0, 12);
  SECTION("after its end") {
    REQUIRE(f.cache.finish(first));
    f.overwrite_free();
    static_cast<void>(f.admit(1, names(16), 16));
    REQUIRE(f.restore()->found.empty());
  }
  SECTION("after a cut") {
    f.take(first, 2);
    f.overwrite_free();
    REQUIRE(f.cache.set_rank(first, 9));
    static_cast<void>(f.admit(1, names(16), 16));
    REQUIRE(f.restore()->found == token_range{0, 4});
  }
  SECTION("after its end, as all is reset") {
    f.cache.reset();
    REQUIRE(f.cache.set_rank(first, 9));
    static_cast<void>(f.admit(1, names(16), 16));
    REQUIRE(f.restore()->found.empty());
  }
  SECTION("after it took tokens back") {
    REQUIRE(f.cache.truncate(first, 6));
    static_cast<void>(f.admit(1, names(16), 16));
    REQUIRE(f.restore()->found == token_range{0, 4});
  }
}

TEST_CASE("prefix index: one that was cut finds what another has of its tokens", "[cache][prefix]") {
  indexed<> f(small());
  const pave::sequence_id first = f.running(0, 16);
  // The same tokens in blocks of its own: both came in at the same time.
  const pave::sequence_id second = f.admit(1, {}, 14);
  REQUIRE(f.restore()->found.empty());
  f.next_step();
  REQUIRE(f.cache.set_hashes(second, 0, names(12)));
  f.take(second, 3);
  f.overwrite_free();
  REQUIRE(f.restore()->found == token_range{4, 12});
  REQUIRE(f.table(second)[1] == f.table(first)[1]);
  REQUIRE(f.cache.snapshot().tokens_revived == 8);
  REQUIRE(f.cache.snapshot().tokens_cached == 0);
}

TEST_CASE("prefix index: a second block of the same content is found when the first one has gone", "[cache][prefix]") {
  indexed<> f(small());
  const pave::sequence_id first = f.admit(0, names(12), 12);
  const pave::sequence_id second = f.admit(1, names(12), 12);
  f.next_step();
  REQUIRE(f.restore());
  REQUIRE(f.restore()->found.empty());  // in the same step
  f.next_step();
  const std::vector<pave::block_id> table = f.table(second);
  REQUIRE(f.cache.finish(first));
  f.overwrite_free();
  REQUIRE(f.cache.finish(second));
  const pave::sequence_id third = f.admit(1, names(16), 16);
  REQUIRE(f.restore()->found == token_range{0, 12});
  for (std::size_t i = 0; i < 3; ++i) REQUIRE(f.table(third)[i] == table[i]);
}

TEST_CASE("prefix index: a fork is found by what it has from its parent", "[cache][prefix]") {
  indexed<> f(small());
  const pave::sequence_id first = f.running(0, 14);
  const pave::sequence_id child = f.cache.fork(first, 1).value();
  const std::vector<pave::block_id> table = f.table(first);
  REQUIRE(f.cache.finish(first));
  REQUIRE(f.grow(child, 2));
  f.next_step();
  const std::vector<block_hash> all = names(16, 15);
  REQUIRE(f.cache.set_hashes(child, 3, std::array{all[3]}));
  static_cast<void>(f.admit(2, names(18, 15), 18));
  REQUIRE(f.restore()->found == token_range{0, 16});
}

TEST_CASE("prefix index: with fences, a block on its way is found once it is there", "[cache][prefix]") {
  indexed<fenced_index_policies> f(small());
  const pave::sequence_id first = f.running(0, 12);
  REQUIRE(f.grow(first, 1));  // the open step uses its blocks
  REQUIRE(f.cache.finish(first));
  const pave::sequence_id second = f.admit(1, names(16), 16);
  const bool waits = GENERATE(false, true);
  if (waits) f.next_step();
  REQUIRE(f.restore()->found == token_range{0, waits ? 12 : 0});
  static_cast<void>(second);
}

TEST_CASE("prefix index: what comes back behind a gap inside is found again", "[cache][prefix]") {
  indexed<inside_index_policies> f(small());
  const pave::sequence_id first = f.running(5, 16);
  const pave::sequence_id requester = f.admit(0, {}, 1);
  const pave::plan planned = f.cache.plan_cuts(requester, 2, f.cuts).value();
  REQUIRE(planned.freed == 2);
  REQUIRE(f.cuts.used()[0].blocks == pave::block_range{0, 2});
  REQUIRE(f.cache.commit(requester, f.cuts.used()));
  REQUIRE(f.cache.finish(requester));
  f.overwrite_free();
  REQUIRE(f.restore()->sequence == first);
  f.next_step();
  static_cast<void>(f.admit(9, names(16), 16));
  REQUIRE(f.restore()->found == token_range{0, 12});
}

TEST_CASE("set_hashes: what is out of place is refused, and changes nothing", "[cache][prefix]") {
  pave::kv_cache_options options = small();
  options.blocks_per_sequence = 4;
  indexed<> f(options);
  const pave::sequence_id id = f.admit(0, names(8), 12);
  CHECK(f.cache.set_hashes(id, 3, names(4)).code() == errc::invalid_argument);
  CHECK(f.cache.set_hashes(id, -1, names(4)).code() == errc::invalid_argument);
  const pave::result<void> refused = f.cache.set_hashes(id, 2, names(20));
  CHECK(refused.code() == errc::never_fits);
  CHECK(refused.error().missing == 3);
  CHECK(f.cache.set_hashes(id, 2, names(8)));
  CHECK(f.cache.set_hashes(id, 4, {}));
  CHECK(f.cache.finish(id));
  const pave::sequence_id forged[] = {id, {}, {3, 1}, {8, 1}, {0xffffffff, 1}};
  for (const pave::sequence_id one : forged) CHECK(f.cache.set_hashes(one, 0, names(4)).code() == errc::stale);
}

TEST_CASE("prefix index: thousands may share a system prompt, and a cut frees only what is their own",
          "[cache][prefix]") {
  pave::kv_cache_options options = small(2000);
  options.sequences = 1000;
  options.blocks_per_sequence = 20;
  indexed<> f(options);
  static_cast<void>(f.running(0, 42));
  for (std::int64_t i = 1; i < 900; ++i) {
    static_cast<void>(f.admit(i, names(42), 42));
    REQUIRE(f.restore()->found == token_range{0, 40});
    REQUIRE(f.cache.snapshot().held <= f.cache.snapshot().capacity);
  }
  REQUIRE(f.cache.snapshot().held == 10 + 900);
  REQUIRE(f.cache.snapshot().tokens_cached == 40 * 899);
  f.next_step();
  const pave::sequence_id requester = f.cache.admit(-1, 4).value();
  std::vector<pave::cut> room(1000);
  pave::cut_list cuts(room);
  const pave::plan planned = f.cache.plan_cuts(requester, 899, cuts).value();
  CHECK(planned.freed == 899);
  CHECK(planned.given_up == 0);
  // The last of them frees eleven: all holders of the prompt have then been cut.
  const pave::plan all = f.cache.plan_cuts(requester, 910, cuts).value();
  CHECK(all.freed == 910);
  CHECK(cuts.used().size() == 900);
  CHECK(f.cache.commit(requester, cuts.used()).value() == 910);
  CHECK(f.available() == 2000);
}

TEST_CASE("running prefixes: one that runs shares its blocks, over a pool that forgets", "[cache][prefix]") {
  struct policies : pave::cache_policies {
    using prefix_index = pave::running_prefixes;
  };
  indexed<policies> f(small());
  const pave::sequence_id first = f.running(0, 14);
  const std::vector<pave::block_id> table = f.table(first);
  const pave::sequence_id second = f.admit(1, names(14, 9), 14);
  const auto came = f.restore().value();
  CHECK(came.sequence == second);
  CHECK(came.found == token_range{0, 8});
  CHECK(came.tokens == token_range{8, 14});
  CHECK(came.taken == 2);
  CHECK(std::equal(table.begin(), table.begin() + 2, f.table(second).begin()));
  CHECK(f.cache.pool().holders(table[0]) == 2);
  CHECK(f.cache.snapshot().tokens_cached == 8);
  f.next_step();

  // What nobody holds any more is gone, and so is, to others, what one that waits has.
  REQUIRE(f.cache.finish(first));
  REQUIRE(f.cache.park(second));
  const pave::sequence_id third = f.admit(0, names(14), 14);
  const auto alone = f.restore().value();
  CHECK(alone.sequence == third);
  CHECK(alone.found.empty());
}

TEST_CASE("prefix index: a block that would leave the pool with its holder is not found", "[cache][prefix]") {
  struct policies : index_policies {
    struct planner : pave::planner_policies {
      using demand = pave::whole_sequence;
    };
  };
  indexed<policies> f(small(6));
  auto outside = f.take_outside(5);
  const pave::sequence_id victim = f.running(9, 5 - 1);  // one block, the last of the pool
  REQUIRE(f.table(victim)[0].value() == 5);
  REQUIRE(f.cache.pool().release(outside));
  REQUIRE(f.grow(victim, 4));
  f.next_step();
  REQUIRE(f.cache.park(victim));
  REQUIRE(f.cache.resize(5));
  outside = f.take_outside(3);
  static_cast<void>(f.admit(0, names(12), 12));
  // With its first block the two that it needs besides would be there, one of them by a cut that makes that one leave.
  CHECK(f.restore().error().code == errc::shortage);
  CHECK(f.held(victim) == 2);
  REQUIRE(f.cache.pool().release(outside));
  CHECK(f.restore()->found.empty());
}
