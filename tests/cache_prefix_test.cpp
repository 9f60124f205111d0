// SPDX-License-Identifier: Apache-2.0
// Beginnings that sequences of a kv_cache have in common, as far as the engine's own prefix cache knows of them.
#include "cache_fixture.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

using pave::errc;
using pave::sequence_state;
using pave::token_range;
using pave_tests::small;
using fixture = pave_tests::cache_fixture<pave_tests::keep_policies>;

struct keep_whole_policies : pave_tests::keep_policies {
  struct planner : pave::planner_policies {
    using demand = pave::whole_sequence;
  };
};

}  // namespace

TEST_CASE("offer_prefix: the blocks of one that runs are taken by another, and count as cached tokens", "[cache]") {
  fixture f(small());
  const pave::sequence_id first = f.running(0, 12);
  const pave::sequence_id second = f.admit(1, 11);
  REQUIRE(f.cache.offer_prefix(second, f.content(first, 3)).has_value());
  REQUIRE(f.available() == 13);
  const pave::restore in = f.restore().value();
  REQUIRE(in.sequence == second);
  REQUIRE(in.found == token_range{0, 8});
  REQUIRE(in.tokens == token_range{8, 11});
  REQUIRE(in.blocks == pave::block_range{0, 3});
  REQUIRE_FALSE(in.resumed);
  REQUIRE(f.available() == 12);
  REQUIRE(f.table(second)[0] == f.table(first)[0]);
  REQUIRE(f.table(second)[1] == f.table(first)[1]);
  REQUIRE(f.table(second)[2] != f.table(first)[2]);
  REQUIRE(f.cache.pool().holders(f.table(first)[1]) == 2);
  REQUIRE(f.cache.computed(second).value() == 8);
  f.next_step();
  REQUIRE(f.cache.computed(second).value() == 11);
  const pave::cache_snapshot now = f.cache.snapshot();
  REQUIRE(now.tokens_cached == 8);
  REQUIRE(now.tokens_lost + now.tokens_restored + now.tokens_revived == 0);
}

TEST_CASE("offer_prefix: the blocks of one that ended are taken from the free ones", "[cache]") {
  fixture f(small());
  const pave::sequence_id ended = f.running(0, 14);
  const std::vector<pave::block_id> table = f.table(ended);
  const std::vector<pave::kept_block> content = f.content(ended, 3);
  REQUIRE(f.cache.finish(ended).has_value());
  REQUIRE(f.available() == 16);
  const pave::sequence_id id = f.admit(0, 20);
  REQUIRE(f.cache.offer_prefix(id, content).has_value());
  REQUIRE(f.restore()->found == token_range{0, 12});
  REQUIRE(f.available() == 11);
  const std::vector<pave::block_id> after = f.table(id);
  REQUIRE(std::vector<pave::block_id>(after.begin(), after.begin() + 3) ==
          std::vector<pave::block_id>(table.begin(), table.begin() + 3));
  REQUIRE(f.cache.snapshot().tokens_cached == 12);
}

TEST_CASE("offer_prefix: of a prompt that is offered whole, one token at least is left to compute", "[cache]") {
  fixture f(small());
  const pave::sequence_id first = f.running(0, 20);
  const std::int64_t prompt = GENERATE(1, 4, 5, 8, 9, 20);
  const pave::sequence_id second = f.admit(1, prompt);
  REQUIRE(f.cache.offer_prefix(second, f.content(first, 5)).has_value());
  const pave::restore in = f.restore().value();
  REQUIRE(in.found == token_range{0, (prompt - 1) / 4 * 4});
  REQUIRE(in.tokens == token_range{(prompt - 1) / 4 * 4, prompt});
  REQUIRE(in.tokens.size() >= 1);
}

TEST_CASE("offer_prefix: what is offered in part is found up to the first that has gone", "[cache]") {
  fixture f(small(6));
  const pave::sequence_id ended = f.running(0, 20);
  const std::vector<pave::kept_block> content = f.content(ended, 5);
  REQUIRE(f.cache.finish(ended).has_value());
  const std::size_t gone = static_cast<std::size_t>(GENERATE(0, 1, 4, 5));
  const std::vector<pave::block_id> taken = f.take_outside(1 + gone);
  REQUIRE(f.cache.pool().release(taken).has_value());
  const pave::sequence_id id = f.admit(0, 24);
  REQUIRE(f.cache.offer_prefix(id, content).has_value());
  REQUIRE(f.restore()->found == token_range{0, 4 * (5 - gone)});
}

TEST_CASE("offer_prefix: what goes between the offer and the restore is not found", "[cache]") {
  fixture f(small());
  const pave::sequence_id first = f.running(0, 12);
  const pave::sequence_id second = f.admit(1, 12);
  REQUIRE(f.cache.offer_prefix(second, f.content(first, 3)).has_value());
  SECTION("since it is written anew") { REQUIRE(f.cache.truncate(first, 6).has_value()); }
  SECTION("since it is reused") {
    f.take(first, 2);
    REQUIRE(f.cache.pool().release(f.take_outside(15)).has_value());
  }
  SECTION("since it is left as worthless") { REQUIRE(f.cache.truncate(first, 4).has_value()); }
  REQUIRE(f.cache.set_rank(first, 2).has_value());
  REQUIRE(f.restore()->found == token_range{0, 4});
}

TEST_CASE("offer_prefix: an offer replaces the one before, and what the sequence remembered itself", "[cache]") {
  fixture f(small());
  const pave::sequence_id id = f.running(0, 16);
  const std::vector<pave::kept_block> content = f.content(id, 4);
  const std::vector<pave::kept_block> less(content.begin(), content.begin() + 2);
  f.take(id, 3);
  SECTION("by nothing") {
    REQUIRE(f.cache.offer_prefix(id, {}).has_value());
    REQUIRE(f.restore()->found.empty());
  }
  SECTION("by less") {
    REQUIRE(f.cache.offer_prefix(id, content).has_value());
    REQUIRE(f.cache.offer_prefix(id, less).has_value());
    REQUIRE(f.restore()->found == token_range{4, 8});
  }
  SECTION("by more") {
    REQUIRE(f.cache.offer_prefix(id, less).has_value());
    REQUIRE(f.cache.offer_prefix(id, content).has_value());
    REQUIRE(f.restore()->found == token_range{4, 16});
  }
}

TEST_CASE("offer_prefix: a parked sequence finds what another has of it, and what it never had is cached", "[cache]") {
  fixture f(small());
  const pave::sequence_id other = f.running(0, 20);
  const pave::sequence_id id = f.running(1, 14);
  f.take(id, 3);
  std::vector<pave::block_id> outside = f.take_outside(static_cast<std::size_t>(f.available()));
  REQUIRE(f.cache.pool().release(outside).has_value());
  REQUIRE(f.cache.offer_prefix(id, f.content(other, 5)).has_value());
  REQUIRE(f.restore()->found == token_range{4, 12});
  REQUIRE(f.cache.snapshot().tokens_revived == 8);
  REQUIRE(f.cache.snapshot().tokens_cached == 0);

  // One that waits for more than it ever had, too.
  outside = f.take_outside(static_cast<std::size_t>(f.available()));
  f.next_step();
  REQUIRE(f.cache.truncate(id, 12).has_value());
  REQUIRE(f.grow(id, 8).code() == errc::shortage);
  REQUIRE(f.cache.offer_prefix(id, f.content(other, 5)).has_value());
  REQUIRE(f.cache.pool().release(outside).has_value());
  REQUIRE(f.restore()->found == token_range{12, 16});
  REQUIRE(f.cache.snapshot().tokens_revived == 8);
  REQUIRE(f.cache.snapshot().tokens_cached == 4);
}

TEST_CASE("offer_prefix: blocks that the sequence holds are passed over, and so are those beyond the table",
          "[cache]") {
  pave::kv_cache_options options = small();
  options.blocks_per_sequence = 5;
  fixture f(options);
  const pave::sequence_id other = f.running(0, 4);
  const pave::sequence_id id = f.running(1, 16);
  std::vector<pave::kept_block> content = f.content(id, 4);
  f.take(id, 2);
  const std::vector<pave::block_id> kept = f.table(id);
  content[0] = content[1] = f.content(other, 1)[0];
  content.resize(40, content[0]);
  REQUIRE(f.cache.offer_prefix(id, content).has_value());
  REQUIRE(f.restore()->found == token_range{8, 16});
  REQUIRE(f.table(id)[0] == kept[0]);
  REQUIRE(f.table(id)[1] == kept[1]);
}

TEST_CASE("offer_prefix: what was offered beyond a prompt is not found once the sequence has run", "[cache]") {
  fixture f(small(8));
  const pave::sequence_id other = f.running(0, 16);
  const pave::sequence_id id = f.admit(1, 8);
  REQUIRE(f.cache.offer_prefix(id, f.content(other, 4)).has_value());
  REQUIRE(f.restore()->found == token_range{0, 4});
  f.next_step();
  const std::vector<pave::block_id> outside = f.take_outside(3);
  REQUIRE(f.grow(id, 9).code() == errc::shortage);
  REQUIRE(f.cache.pool().release(outside).has_value());
  SECTION("it parked") { REQUIRE(f.restore()->found.empty()); }
  SECTION("it parked, and was cut") {
    f.take(id, 1);
    REQUIRE(f.restore()->found == token_range{4, 8});
  }
}

TEST_CASE("offer_prefix: behind a partly filled block that is lost, nothing of an offer is found", "[cache]") {
  fixture f(small(8));
  const pave::sequence_id before = f.parked(1, 16, 0);  // what it lost is still there, and noted in its slot
  REQUIRE(f.cache.finish(before).has_value());
  const pave::sequence_id id = f.running(1, 10);
  REQUIRE(id.slot == before.slot);
  const pave::sequence_id first = f.running(0, 4);
  const std::vector<pave::block_id> outside = f.take_outside(1);
  REQUIRE(f.grow(id, 18).code() == errc::shortage);
  const std::vector<pave::kept_block> content(6, f.content(first, 1)[0]);
  REQUIRE(f.cache.offer_prefix(id, content).has_value());
  f.take(id, 1);
  REQUIRE(f.cache.finish(first).has_value());
  REQUIRE(f.cache.pool().release(outside).has_value());
  REQUIRE(f.restore()->found == token_range{8, 8});
}

TEST_CASE("offer_prefix: a running sequence takes no offer, nor does one that has ended", "[cache]") {
  fixture f(small());
  const pave::sequence_id first = f.running(0, 12);
  const pave::sequence_id ended = f.running(1, 4);
  REQUIRE(f.cache.finish(ended).has_value());
  const std::vector<pave::kept_block> content = f.content(first, 3);
  REQUIRE(f.cache.offer_prefix(first, content).code() == errc::busy);
  REQUIRE(f.cache.offer_prefix(first, {}).code() == errc::busy);
  const pave::sequence_id forged[] = {ended, {}, {3, 1}, {8, 1}, {0xffffffff, 1}, {first.slot, first.generation + 1}};
  for (const pave::sequence_id id : forged) REQUIRE(f.cache.offer_prefix(id, content).code() == errc::stale);
}

TEST_CASE("offer_prefix: where no content is kept, an offer is as good as none", "[cache]") {
  pave_tests::cache_fixture<> f(small());
  const pave::sequence_id first = f.running(0, 12);
  const pave::sequence_id second = f.admit(1, 12);
  REQUIRE(f.cache.offer_prefix(second, f.content(first, 3)).has_value());
  REQUIRE(f.cache.offer_prefix(first, f.content(first, 3)).code() == errc::busy);
  const pave::restore in = f.restore().value();
  REQUIRE(in.found.empty());
  REQUIRE(in.tokens == token_range{0, 12});
  REQUIRE(f.cache.snapshot().tokens_cached == 0);
}

TEST_CASE("next_restore: a beginning that another holds costs nothing", "[cache]") {
  fixture f(small(4));
  const pave::sequence_id first = f.running(0, 12);
  const pave::sequence_id second = f.admit(1, 12);
  REQUIRE(f.available() == 1);
  REQUIRE(f.restore().error().missing == 2);
  REQUIRE(f.cache.offer_prefix(second, f.content(first, 3)).has_value());
  REQUIRE(f.restore()->blocks == pave::block_range{0, 3});
  REQUIRE(f.available() == 0);
  // Each may end first.
  const bool in_order = GENERATE(false, true);
  REQUIRE(f.cache.finish(in_order ? first : second).has_value());
  REQUIRE(f.available() == 1);
  REQUIRE(f.cache.finish(in_order ? second : first).has_value());
  REQUIRE(f.available() == 4);
}

TEST_CASE("next_restore: free blocks of a beginning count against what is available", "[cache]") {
  fixture f(small(5));
  const pave::sequence_id ended = f.running(0, 12);
  const std::vector<pave::kept_block> content = f.content(ended, 3);
  REQUIRE(f.cache.finish(ended).has_value());
  static_cast<void>(f.take_outside(2));
  const pave::sequence_id id = f.admit(0, 16);
  REQUIRE(f.cache.offer_prefix(id, content).has_value());
  const pave::result<pave::restore> refused = f.restore();
  REQUIRE(refused.code() == errc::shortage);
  REQUIRE(refused.error().missing == 1);
  REQUIRE(f.cache.truncate(id, 12).has_value());
  REQUIRE(f.restore()->found == token_range{0, 8});
}

TEST_CASE("next_restore: what the requester has found is not to be had from those who hold it", "[cache]") {
  fixture f(small(5));
  const pave::sequence_id shares = f.parked(9, 12, 2);
  const pave::sequence_id gives = f.parked(8, 12, 2);
  const pave::sequence_id id = f.admit(0, 16);
  REQUIRE(f.cache.offer_prefix(id, f.content(shares, 2)).has_value());
  const pave::restore in = f.restore().value();
  REQUIRE(in.sequence == id);
  REQUIRE(in.found == token_range{0, 8});
  REQUIRE(f.cuts.used().size() == 1);
  REQUIRE(f.cuts.used()[0].sequence == gives);
  REQUIRE(f.cuts.used()[0].freed == 1);
  REQUIRE(f.held(shares) == 2);
  REQUIRE(f.held(gives) == 1);
  REQUIRE(f.available() == 0);
}

TEST_CASE("next_restore: nor is it where a watermark asks for more than is taken", "[cache]") {
  pave::kv_cache_options options = small(8);
  options.watermark = 1;
  fixture f(options);
  static_cast<void>(f.running(0, 4));
  const pave::sequence_id shares = f.parked(9, 12, 2);
  const pave::sequence_id gives = f.running(8, 12);
  f.take(gives, 1);
  static_cast<void>(f.take_outside(2));
  REQUIRE(f.available() == 1);
  const pave::sequence_id id = f.admit(1, 16);
  REQUIRE(f.cache.offer_prefix(id, f.content(shares, 2)).has_value());
  REQUIRE(f.restore()->found == token_range{0, 8});
  REQUIRE(f.cuts.used().size() == 1);
  REQUIRE(f.cuts.used()[0].sequence == gives);
  REQUIRE(f.cuts.used()[0].freed == 1);
  REQUIRE(f.held(shares) == 2);
}

TEST_CASE("next_restore: where nobody else can give, what the requester has found does not help it", "[cache]") {
  fixture f(small(5));
  const pave::sequence_id shares = f.parked(9, 12, 2);
  const pave::sequence_id other = f.running(8, 8);
  const pave::sequence_id id = f.admit(0, 16);
  REQUIRE(f.cache.offer_prefix(id, f.content(shares, 2)).has_value());
  const pave::result<pave::restore> refused = f.restore();
  REQUIRE(refused.code() == errc::shortage);
  REQUIRE(refused.error().missing == 1);
  REQUIRE(f.held(shares) == 2);
  REQUIRE(f.state(other) == sequence_state::running);
}

TEST_CASE("next_restore: a victim gives up what the requester has found, where it is in the way", "[cache]") {
  fixture f(small(6));
  const pave::sequence_id gives = f.running(9, 12);
  const pave::sequence_id id = f.parked(0, 12, 1);
  f.take(gives, 1);
  const std::vector<pave::block_id> before = f.table(gives);
  static_cast<void>(f.take_outside(2));
  REQUIRE(f.available() == 1);
  REQUIRE(f.cache.offer_prefix(id, f.content(gives, 2)).has_value());
  const pave::restore in = f.restore().value();
  REQUIRE(in.found == token_range{4, 8});
  REQUIRE(f.cuts.used().size() == 1);
  REQUIRE(f.cuts.used()[0].blocks == pave::block_range{0, 2});
  REQUIRE(f.cuts.used()[0].freed == 1);
  REQUIRE(f.held(gives) == 0);
  REQUIRE(f.table(id)[1] == before[1]);
  REQUIRE(f.available() == 0);
}

TEST_CASE("kv_cache: a beginning that two sequences hold is no gain from either", "[cache]") {
  fixture f(small(6));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id second = f.running(1, 12);
  const pave::sequence_id third = f.admit(2, 12);
  REQUIRE(f.cache.offer_prefix(third, f.content(second, 2)).has_value());
  REQUIRE(f.restore()->sequence == third);
  REQUIRE(f.available() == 0);
  const pave::plan plan = f.cache.plan_cuts(first, 2, f.cuts).value();
  REQUIRE(plan.freed == 2);
  REQUIRE(plan.given_up == 0);
  REQUIRE(f.cuts.used().size() == 2);
  REQUIRE(f.cuts.used()[0].sequence == third);
  REQUIRE(f.cuts.used()[0].blocks == pave::block_range{2, 3});
  REQUIRE(f.cuts.used()[1].sequence == second);
  REQUIRE(f.cuts.used()[1].blocks == pave::block_range{2, 3});
  REQUIRE(f.cache.finish(third).has_value());
  REQUIRE(f.cache.plan_cuts(first, 3, f.cuts).value().freed == 3);
}

TEST_CASE("kv_cache: what those who wait share with each other goes, too, where somebody more important needs it",
          "[cache]") {
  fixture f(small(6));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id second = f.running(1, 12);
  const pave::sequence_id third = f.admit(2, 12);
  REQUIRE(f.cache.offer_prefix(third, f.content(second, 2)).has_value());
  REQUIRE(f.restore()->found == token_range{0, 8});
  f.next_step();
  REQUIRE(f.grow(first, 8).has_value());
  REQUIRE(f.state(second) == sequence_state::parked);
  REQUIRE(f.state(third) == sequence_state::parked);
  const pave::result<pave::growth> grown = f.grow(first, 8);
  f.next_step();
  // It has all six blocks, or comes in with them once nobody runs: law 4.
  const bool goes_on = grown.has_value() || (f.state(first) == sequence_state::parked && f.restore().has_value());
  REQUIRE(goes_on);
  REQUIRE(f.held(first) == 6);
}

TEST_CASE("plan_cuts: a block that one victim lets go and the next one keeps does not come free", "[cache]") {
  fixture f(small(8));
  const pave::sequence_id second = f.running(1, 12);
  const pave::sequence_id third = f.parked(2, 12, 1);
  REQUIRE(f.cache.offer_prefix(third, f.content(second, 2)).has_value());
  REQUIRE(f.restore()->found == token_range{4, 8});
  const pave::sequence_id first = f.admit(0, 4);
  const pave::plan plan = f.cache.plan_cuts(first, 4, f.cuts).value();
  REQUIRE(plan.freed == 4);
  REQUIRE(f.cuts.used().size() == 2);
  REQUIRE(f.cuts.used()[0].sequence == third);
  REQUIRE(f.cuts.used()[0].blocks == pave::block_range{0, 4});
  REQUIRE(f.cuts.used()[0].freed == 3);
  REQUIRE(f.cuts.used()[1].sequence == second);
  REQUIRE(f.cuts.used()[1].blocks == pave::block_range{2, 3});
  REQUIRE(f.cache.commit(first, f.cuts.used()).value() == 4);
}

TEST_CASE("plan_cuts: those who only have to let go of what comes free follow, parked ones first", "[cache]") {
  fixture f(small(3));
  const pave::sequence_id owner = f.running(1, 8);
  const auto share_first_block = [&](std::int64_t rank) {
    const pave::sequence_id id = f.admit(rank, 5);
    REQUIRE(f.cache.offer_prefix(id, f.content(owner, 1)).has_value());
    REQUIRE(f.restore()->found == token_range{0, 4});
    f.next_step();
    REQUIRE(f.cache.truncate(id, 4).has_value());
    return id;
  };
  const pave::sequence_id stopped = share_first_block(5);
  const pave::sequence_id runs = share_first_block(9);
  static_cast<void>(f.take_outside(1));
  REQUIRE(f.grow(stopped, 1).code() == errc::shortage);
  const pave::sequence_id first = f.admit(0, 4);
  const pave::plan plan = f.cache.plan_cuts(first, 2, f.cuts).value();
  REQUIRE(plan.freed == 2);
  REQUIRE(plan.given_up == 2);
  const pave::span<const pave::cut> cuts = std::as_const(f.cuts).used();
  REQUIRE(cuts.size() == 3);
  REQUIRE(cuts[0].sequence == owner);
  REQUIRE(cuts[0].freed == 1);
  REQUIRE(cuts[1].sequence == stopped);
  REQUIRE(cuts[1].freed == 0);
  REQUIRE(cuts[2].sequence == runs);
  REQUIRE(cuts[2].freed == 1);
  REQUIRE(f.cache.commit(first, cuts).value() == 2);
  REQUIRE(f.state(runs) == sequence_state::parked);
}

TEST_CASE("plan_cuts: with too little room for those who have to let go, there is no plan", "[cache]") {
  fixture f(small(6));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id second = f.running(1, 12);
  const pave::sequence_id third = f.admit(2, 12);
  REQUIRE(f.cache.offer_prefix(third, f.content(second, 2)).has_value());
  REQUIRE(f.restore().has_value());
  f.next_step();
  REQUIRE(f.cache.truncate(third, 8).has_value());
  std::array<pave::cut, 1> one{};
  pave::cut_list little(one);
  REQUIRE(f.cache.plan_cuts(first, 1, little).has_value());
  REQUIRE(f.cache.plan_cuts(first, 2, little).code() == errc::buffer_too_small);
  REQUIRE(little.used().empty());
  REQUIRE(f.cache.plan_cuts(first, 2, f.cuts).has_value());
}

TEST_CASE("commit: with whole victims, too, a plan over what they share can be carried out", "[cache]") {
  pave_tests::cache_fixture<keep_whole_policies> f(small(8));
  const pave::sequence_id first = f.running(0, 8);
  const pave::sequence_id second = f.running(2, 8);
  const pave::sequence_id third = f.admit(3, 9);
  REQUIRE(f.cache.offer_prefix(third, f.content(second, 2)).has_value());
  REQUIRE(f.restore()->found == token_range{0, 8});
  f.next_step();
  REQUIRE(f.cache.truncate(third, 8).has_value());
  static_cast<void>(f.share(second, {0}));
  REQUIRE(f.cache.plan_cuts(first, 1, f.cuts).value().freed == 1);
  REQUIRE(f.cuts.used().size() == 2);
  for (const pave::cut& c : f.cuts.used()) REQUIRE(c.blocks == pave::block_range{0, 2});
  REQUIRE(f.cache.commit(first, f.cuts.used()).value() == 1);
  REQUIRE(f.held(second) + f.held(third) == 0);
}

TEST_CASE("commit: a cut that frees nothing, neither alone nor with the others, is refused", "[cache]") {
  pave_tests::cache_fixture<keep_whole_policies> whole(small(8));
  fixture exact(small(8));
  const auto require_refused = [](auto& f) {
    const pave::sequence_id first = f.running(0, 8);
    const pave::sequence_id second = f.running(2, 8);
    static_cast<void>(f.share(second, {0, 1}));
    const pave::cut idle[] = {{second, {0, 2}, 0, false}};
    REQUIRE(f.cache.commit(first, idle).code() == errc::stale);
    REQUIRE(f.held(second) == 2);
  };
  require_refused(whole);
  require_refused(exact);
}

TEST_CASE("offer_prefix: a block that another holds elsewhere in its table stops nobody, whatever its content",
          "[cache]") {
  // Wrong of the engine: the content of logical block 1 is no beginning. It gets that content, and nothing worse.
  fixture f(small(3));
  const pave::sequence_id holder = f.running(1, 8);
  const pave::kept_block second = f.cache.pool().content_of(f.table(holder)[1]).value();
  const pave::sequence_id other = f.running(0, 4);
  f.next_step();
  REQUIRE(f.grow(holder, 1).code() == errc::shortage);
  REQUIRE(f.cache.finish(other).has_value());
  const pave::sequence_id forger = f.admit(0, 12);
  REQUIRE(f.cache.offer_prefix(forger, std::vector<pave::kept_block>{second}).has_value());
  REQUIRE(f.restore().has_value());
  REQUIRE(f.held(forger) == 3);
  REQUIRE(f.cache.pool().available() + f.cache.pool().held() == 3);
}

TEST_CASE("offer_prefix: a block that is named twice, or held by the sequence already, is not found a second time",
          "[cache]") {
  fixture f(small(4));
  const pave::sequence_id holder = f.running(1, 8);
  const pave::kept_block first = f.cache.pool().content_of(f.table(holder)[0]).value();
  const pave::sequence_id forger = f.admit(2, 12);
  REQUIRE(f.cache.offer_prefix(forger, std::vector<pave::kept_block>{first, first}).has_value());
  f.next_step();
  REQUIRE(f.restore()->found == token_range{0, 4});
  REQUIRE(f.cache.pool().holders(first.block) == 2);
}
