// SPDX-License-Identifier: Apache-2.0
// A group_cache over random mixes of full attention, windows and states: no step reads a wrong token or state, and none
// that was kept is computed twice.
#include "model/group_walk.hpp"

#include "support/catch.hpp"
#include "support/keeping.hpp"

#include <pave/group_cache.hpp>

#include <cstdint>
#include <vector>

namespace {

struct index_policies : pave::group_cache_policies {
  using pool = pave_tests::keeping<>;
  using prefix_index = pave::prefix_index;
};
struct first_chunk_policies : pave::group_cache_policies {
  struct tracker : pave::tracker_policies {
    using resume_gate = pave::first_chunk;
  };
};
struct largest_policies : index_policies {
  struct planner : pave::group_planner_policies {
    using victim_order = pave::largest;
  };
};

struct alone_policies : pave::group_cache_policies {
  struct pool : pave::pool_policies {
    using sharing = pave::exclusive;
  };
};
struct whole_policies : index_policies {
  struct planner : pave::group_planner_policies {
    using demand = pave::whole_sequence;
  };
};

pave::kv_group random_group(pave_tests::random_source& random) {
  constexpr std::int64_t sizes[] = {1, 2, 3, 4};
  pave::kv_group group;
  group.tokens_per_block = sizes[random.index(4)];
  switch (random.between(0, 2)) {
    case 0: break;
    case 1: group.window = random.between(1, 9); break;
    default:
      group.checkpoint =
          random.one_in(3) ? random.between(1, 6) : group.tokens_per_block.value() * random.between(1, 4);
  }
  return group;
}

/// From one group to three, pools from one block to thirty.
template <class Policies>
void random_rounds(std::uint64_t rounds) {
  typename pave_tests::group_walk<Policies>::counts seen;
  pave_tests::for_each_seed(rounds, [&](std::uint64_t seed) {
    pave_tests::random_source random(pave_tests::mix(seed));
    pave::group_cache_options options;
    options.longest = random.between(4, 48);
    options.sequences = static_cast<std::size_t>(random.between(1, 7));
    options.steps_in_flight = static_cast<std::size_t>(random.between(1, 3));
    std::vector<pave::group_pool_options> groups(static_cast<std::size_t>(random.between(1, 3)));
    for (pave::group_pool_options& one : groups) {
      one.group = random_group(random);
      one.blocks = random.between(random.one_in(4) ? 1 : 6, 30);
      one.reserve = random.one_in(4) ? random.between(1, 4) : 0;
      one.watermark = random.one_in(4) ? random.between(1, 4) : 0;
      one.first_block = random.one_in(4) ? 1 : 0;
    }
    pave_tests::group_walk<Policies> walk(options, groups, seed);
    walk.wander(200);
    walk.go_on_until_all_is_done();
    seen.cuts += walk.seen().cuts;
    seen.partial_cuts += walk.seen().partial_cuts;
    seen.found += walk.seen().found;
    seen.copies += walk.seen().copies;
    seen.set_back += walk.seen().set_back;
  });
  CHECK(seen.cuts > 0);
  CHECK((seen.partial_cuts > 0) == pave::group_cache<Policies>::planner_type::spares_requester);
  CHECK((seen.copies > 0) == pave::group_cache<Policies>::pool_type::can_share);
  CHECK(seen.set_back > 0);
  CHECK((seen.found > 0) == Policies::prefix_index::finds);
}

}  // namespace

TEST_CASE("group_cache: over any mix of groups no step reads a wrong token or state", "[group_cache][model]") {
  random_rounds<pave::group_cache_policies>(1500);
}

TEST_CASE("group_cache: so it is where sequences find each other's blocks", "[group_cache][model]") {
  random_rounds<index_policies>(2500);
}

TEST_CASE("group_cache: so it is where a restore begins with what its first chunk needs", "[group_cache][model]") {
  random_rounds<first_chunk_policies>(1000);
}

TEST_CASE("group_cache: so it is where those that hold the most give first", "[group_cache][model]") {
  random_rounds<largest_policies>(1000);
}

TEST_CASE("group_cache: so it is where no block has two holders", "[group_cache][model]") {
  random_rounds<alone_policies>(1000);
}

TEST_CASE("group_cache: so it is with the baseline, whose victims give up all", "[group_cache][model]") {
  random_rounds<whole_policies>(1000);
}
