// SPDX-License-Identifier: Apache-2.0
// Random streams of calls of a kv_cache against a plain model of it, with the content of every block checked; laws 1 to
// 7 and 10.
#include "model/cache_walk.hpp"
#include "model/random.hpp"
#include "support/catch.hpp"
#include "support/keeping.hpp"

#include <pave/cache.hpp>

#include <cstdint>
#include <type_traits>

namespace {

constexpr std::uint64_t rounds = 1500;
constexpr std::uint64_t rounds_that_keep = 2500;  // there is more to find
constexpr int calls_of_a_round = 250;

struct first_chunk_policies : pave::cache_policies {
  struct tracker : pave::tracker_policies {
    using resume_gate = pave::first_chunk;
  };
};
struct whole_sequence_policies : pave::cache_policies {
  struct planner : pave::planner_policies {
    using demand = pave::whole_sequence;
  };
};

struct largest_policies : pave::cache_policies {
  struct planner : pave::planner_policies {
    using victim_order = pave::largest;
  };
};

struct keep_policies : pave::cache_policies {
  using pool = pave_tests::keeping<>;
};
struct index_policies : keep_policies {
  using prefix_index = pave::prefix_index;
};
struct running_policies : pave::cache_policies {
  using prefix_index = pave::running_prefixes;
};
struct delaying : pave::pool_policies {
  using fence = pave::after_step;
};
struct after_step_policies : pave::cache_policies {
  using pool = delaying;
};
struct delaying_and_keeping : pave_tests::keeping<> {
  using fence = pave::after_step;
};
struct after_step_keep_policies : pave::cache_policies {
  using pool = delaying_and_keeping;
};
struct after_step_whole_sequence_policies : whole_sequence_policies {
  using pool = delaying;
};
struct after_step_index_policies : after_step_keep_policies {
  using prefix_index = pave::prefix_index;
};
struct after_step_running_policies : after_step_policies {
  using prefix_index = pave::running_prefixes;
};
struct alone : pave::pool_policies {
  using sharing = pave::exclusive;
};
struct exclusive_policies : pave::cache_policies {
  using pool = alone;
};
struct keep_whole_sequence_policies : keep_policies {
  using planner = whole_sequence_policies::planner;
};
struct after_step_keep_whole_sequence_policies : whole_sequence_policies {
  using pool = delaying_and_keeping;
};

/// From one block to forty, tables narrower than the pool and wider, a reserve and a watermark now and then.
pave_tests::model_options random_options(std::uint64_t seed) {
  pave_tests::random_source random(pave_tests::mix(seed));
  constexpr std::int64_t tokens_per_block[] = {1, 2, 4, 16};
  pave_tests::model_options options;
  options.tokens_per_block = tokens_per_block[seed % 4];
  options.blocks = random.one_in(4) ? random.between(1, 4) : random.between(5, random.one_in(4) ? 40 : 16);
  options.sequences = random.one_in(8) ? 1 : random.between(2, 8);
  options.blocks_per_sequence = random.one_in(3) ? random.between(1, options.blocks) : options.blocks;
  options.steps_in_flight = random.between(1, 3);
  options.reserve = random.one_in(3) ? random.between(1, 5) : 0;
  options.watermark = random.one_in(3) ? random.between(1, random.one_in(10) ? options.blocks + 1 : 4) : 0;
  return options;
}
/// Not the smallest, and with blocks that are soon full, so that something can be found.
pave_tests::model_options roomy_options(std::uint64_t seed) {
  pave_tests::random_source random(pave_tests::mix(~seed));
  pave_tests::model_options options = random_options(seed);
  options.tokens_per_block = random.between(1, 4);
  options.blocks = random.between(4, random.one_in(4) ? 40 : 20);
  options.sequences = random.between(3, 8);
  options.blocks_per_sequence = random.one_in(3) ? random.between(2, options.blocks) : options.blocks;
  return options;
}

template <class Policies>
void random_rounds() {
  const bool keeps_content = std::is_same_v<typename Policies::pool::retention, pave::keep>;
  pave_tests::for_each_seed(keeps_content ? rounds_that_keep : rounds, [&](std::uint64_t seed) {
    const bool finds = Policies::prefix_index::finds;
    pave_tests::model_options options = keeps_content || finds ? roomy_options(seed) : random_options(seed);
    options.keeps_content = keeps_content;
    options.indexed = finds;
    options.asks_running = finds && !keeps_content;
    options.delays = Policies::pool::fence::delays;
    options.whole_gap = std::is_same_v<typename Policies::tracker::resume_gate, pave::whole_gap>;
    options.whole_victims = std::is_same_v<typename Policies::planner::demand, pave::whole_sequence>;
    options.largest_first = std::is_same_v<typename Policies::planner::victim_order, pave::largest>;
    pave_tests::cache_walk<Policies> walk(options, seed);
    walk.wander(calls_of_a_round);
    walk.go_on_until_all_is_done();
  });
}

}  // namespace

TEST_CASE("kv_cache: any stream of calls does what a plain model does, and no attention reads a wrong token",
          "[cache][model]") {
  random_rounds<pave::cache_policies>();
}

TEST_CASE("kv_cache: so it is where a restore begins with what its first chunk needs", "[cache][model]") {
  random_rounds<first_chunk_policies>();
}

TEST_CASE("kv_cache: so it is where those that hold the most give first", "[cache][model]") {
  random_rounds<largest_policies>();
}

TEST_CASE("kv_cache: so it is with the baseline, whose victims give up all, and whose plans report their excess",
          "[cache][model]") {
  random_rounds<whole_sequence_policies>();
}

TEST_CASE("kv_cache: so it is where sequences find what others that run have", "[cache][model]") {
  random_rounds<running_policies>();
}

TEST_CASE("kv_cache: so it is where they do so, and a released block waits for its step", "[cache][model]") {
  random_rounds<after_step_running_policies>();
}

TEST_CASE("kv_cache: so it is where free blocks keep their content, and sequences find it again, or each other's",
          "[cache][model]") {
  random_rounds<keep_policies>();
}

TEST_CASE("kv_cache: so it is where sequences find each other's content by its name", "[cache][model]") {
  random_rounds<index_policies>();
}

TEST_CASE("kv_cache: so it is where they do, and blocks come free when the steps that use them are done",
          "[cache][model]") {
  random_rounds<after_step_index_policies>();
}

TEST_CASE("kv_cache: so it is where content is kept, and victims give up all", "[cache][model]") {
  random_rounds<keep_whole_sequence_policies>();
}

TEST_CASE("kv_cache: so it is where sequences never share a block", "[cache][model]") {
  random_rounds<exclusive_policies>();
}

TEST_CASE("kv_cache: so it is where blocks come free when the steps that use them are done", "[cache][model]") {
  random_rounds<after_step_policies>();
}

TEST_CASE("kv_cache: so it is where they do, and free blocks keep their content", "[cache][model]") {
  random_rounds<after_step_keep_policies>();
}

TEST_CASE("kv_cache: so it is where they do, and victims give up all", "[cache][model]") {
  random_rounds<after_step_whole_sequence_policies>();
}

TEST_CASE("kv_cache: so it is where they do, free blocks keep their content, and victims give up all",
          "[cache][model]") {
  random_rounds<after_step_keep_whole_sequence_policies>();
}
