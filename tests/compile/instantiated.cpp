// SPDX-License-Identifier: Apache-2.0
// Every class template of pave, instantiated whole, and one shortage from cut to restore: also without exceptions and
// RTTI.
#include <pave/pave.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace {

struct baseline_planner : pave::planner_policies {
  using demand = pave::whole_sequence;
};
struct keeping_pool : pave::pool_policies {
  using free_list = pave::least_recently_released;
  using retention = pave::keep;
};
struct eager_tracker : pave::tracker_policies {
  using resume_gate = pave::first_chunk;
};
struct baseline_policies : pave::cache_policies {
  using planner = baseline_planner;
  using tracker = eager_tracker;
};
struct keeping_policies : pave::cache_policies {
  using pool = keeping_pool;
};

}  // namespace

template class pave::block_pool<>;
template class pave::block_pool<keeping_pool>;
template class pave::eviction_planner<>;
template class pave::eviction_planner<baseline_planner>;
template class pave::restore_tracker<>;
template class pave::restore_tracker<eager_tracker>;
template class pave::kv_cache<>;
template class pave::kv_cache<baseline_policies>;
template class pave::kv_cache<keeping_policies>;

template class pave::result<pave::kv_cache<>>;
template class pave::result<pave::block_count>;
template class pave::result<pave::kept_block>;
template class pave::span<pave::block_id>;
template class pave::span<const pave::block_id>;
template class pave::span<const pave::kept_block>;
template class pave::basic_cut_list<std::int64_t>;
template class pave::basic_cut_list<pave::sequence_id>;
template class pave::block_table_candidates<>;
template class pave::block_table_candidates<std::int64_t>;
template struct pave::basic_cut<pave::sequence_id>;
template struct pave::basic_range<pave::block_count>;
template struct pave::basic_range<pave::token_count>;
template class pave::detail::amount<pave::block_tag>;
template class pave::detail::amount<pave::token_tag>;
template class pave::detail::amount<pave::byte_tag>;
template class pave::detail::buffer<pave::block_id>;
template class pave::detail::lock_scope<pave::unlocked>;
template class pave::detail::zero_on_move<std::size_t>;

namespace {

bool holds(bool condition, const char* what) {
  if (!condition) std::fprintf(stderr, "not so: %s\n", what);
  return condition;
}

/// Two sequences fill a pool of four blocks of one token; the more important one then asks for one more.
template <class Policies>
bool cuts_and_restores(pave::block_count expected_freed) {
  pave::kv_cache_options options;
  options.blocks = 4;
  options.tokens_per_block = 1;
  options.sequences = 2;
  options.blocks_per_sequence = 4;
  auto cache = pave::kv_cache<Policies>::create(options).value();
  std::array<pave::cut, 2> room;
  pave::cut_list cuts(room);

  const pave::sequence_id first = cache.admit(0, 2).value();
  const pave::sequence_id second = cache.admit(1, 2).value();
  const pave::step_id prefill = cache.begin_step().value();
  while (cache.next_restore(8, cuts)) {
  }
  cache.complete(prefill).value();

  const pave::step_id decode = cache.begin_step().value();
  bool good = holds(cache.grow_or_reclaim(first, 1, cuts).has_value(), "the important sequence grows");
  good = holds(cuts.used().size() == 1 && cuts.used()[0].sequence == second, "the other one is cut") && good;
  good = holds(cuts.used()[0].freed == expected_freed, "it loses what its policy says") && good;
  cache.complete(decode).value();

  cache.finish(first).value();
  const pave::step_id back = cache.begin_step().value();
  const auto restored = cache.next_restore(8, cuts);
  good = holds(restored && restored->sequence == second, "the cut sequence comes back") && good;
  good =
      holds(restored->tokens.size() == expected_freed.value() + 1, "and computes what it lost, and its next token") &&
      good;
  cache.complete(back).value();
  return good;
}

/// A free block is found again by what was in it, until it is given out anew.
bool revives() {
  auto pool = pave::block_pool<keeping_pool>::create({2}).value();
  std::array<pave::block_id, 2> both;
  pool.allocate(both).value();
  const std::array<pave::kept_block, 1> second{pool.content_of(both[1]).value()};
  pool.release(both).value();
  std::array<pave::block_id, 1> fresh;
  bool good = holds(pool.acquire(second, fresh).has_value(), "one block is revived, and one is given out anew");
  good = holds(pool.holders(both[1]) == 1 && fresh[0] == both[0], "the revived one is not the fresh one") && good;
  pool.overwrite(both[1]).value();
  pool.release(both, {}, pave::content::worthless).value();
  pool.forget_content();
  good = holds(!pool.is_kept(second[0]), "what was overwritten is not there") && good;
  good = holds(pool.acquire(second, {}).code() == pave::errc::stale, "and cannot be revived") && good;
  return good;
}

/// The planner alone, over an engine's own tables.
bool plans_over_tables() {
  using view = pave::block_table_candidates<std::int64_t>;
  const std::array<view::row, 2> rows{view::row{1, 3, false}, view::row{2, 3, false}};
  const std::array<std::int32_t, 6> table{0, 1, 2, 0, 3, 4};
  const std::array<std::uint32_t, 5> holders{2, 1, 1, 1, 1};
  std::array<pave::basic_cut<std::size_t>, 2> room;
  pave::basic_cut_list<std::size_t> cuts(room);
  std::array<std::uint32_t, 2> scratch{};

  const pave::eviction_planner<> planner;
  const auto planned =
      planner(view(rows, table.data(), 3, holders), 0, 3, pave::victims::parked_then_running, cuts, scratch);
  bool good = holds(planned && planned->over_evicted() == 0, "a plan frees exactly what was short");
  good = holds(cuts.used().size() == 2 && cuts.used()[0].sequence == 1, "the least important row is cut first") && good;
  return good;
}

}  // namespace

int main() {
  bool good = cuts_and_restores<pave::cache_policies>(1);
  good = cuts_and_restores<baseline_policies>(2) && good;
  good = cuts_and_restores<keeping_policies>(1) && good;
  good = revives() && good;
  good = plans_over_tables() && good;
  return good ? 0 : 1;
}
