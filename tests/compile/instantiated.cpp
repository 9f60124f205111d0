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
struct packed_pool : pave::pool_policies {
  using free_list = pave::lowest_first;
};
struct slab_pool : pave::pool_policies {
  using id = pave::basic_block_id<std::int64_t>;
  using free_list = pave::from_slabs;
  using fence = pave::after_step;
};
struct locked_pool : pave::pool_policies {
  using lock = pave::mutex;
};
struct per_thread_pool : pave::pool_policies {
  using lock = pave::per_thread;
};
struct priced_planner : pave::planner_policies {
  using demand = pave::ahead;
  using victim_order = pave::cheapest_restore;
  using cut_shape = pave::cheapest_range;
};
struct priced_policies : pave::cache_policies {
  using planner = priced_planner;
};
struct largest_group_planner : pave::group_planner_policies {
  using victim_order = pave::largest;
};
struct indexed_group_policies : pave::group_cache_policies {
  using pool = keeping_pool;
  using planner = largest_group_planner;
  using prefix_index = pave::prefix_index;
};
struct eager_tracker : pave::tracker_policies {
  using resume_gate = pave::first_chunk;
};
/// All slots of a pool that others name their stock policies in.
struct waiting_pool : keeping_pool {
  using id = pave::basic_block_id<std::int64_t>;
  using sharing = pave::exclusive;
  using fence = pave::after_step;
  using observer = pave::event_log;
};
struct watched_pool : pave::pool_policies {
  using id = pave::basic_block_id<std::uint16_t>;
  using free_list = pave::least_recently_released;
  using observer = pave::counters;
};
struct baseline_policies : pave::cache_policies {
  using planner = baseline_planner;
  using tracker = eager_tracker;
};
struct keeping_policies : pave::cache_policies {
  using pool = keeping_pool;
};
struct indexed_policies : keeping_policies {
  using prefix_index = pave::prefix_index;
};

}  // namespace

template class pave::block_pool<>;
template class pave::block_pool<keeping_pool>;
template class pave::block_pool<packed_pool>;
template class pave::block_pool<locked_pool>;
template class pave::block_pool<slab_pool>;
template class pave::block_pool<per_thread_pool>;
template class pave::eviction_planner<>;
template class pave::eviction_planner<baseline_planner>;
template class pave::eviction_planner<priced_planner>;
template class pave::victim_index<>;
template class pave::victim_index<int, pave::most_slack>;
template class pave::group_planner<>;
template class pave::group_planner<largest_group_planner>;
template class pave::group_cache<>;
template class pave::group_cache<indexed_group_policies>;
template class pave::restore_tracker<>;
template class pave::restore_tracker<eager_tracker>;
template class pave::kv_cache<>;
template class pave::kv_cache<baseline_policies>;
template class pave::kv_cache<keeping_policies>;
template class pave::kv_cache<priced_policies>;
template class pave::kv_cache<indexed_policies>;
template class pave::basic_prefix_index<pave::block_id>;
template class pave::basic_prefix_index<pave::basic_block_id<std::int64_t>>;
template class pave::detail::content_names<std::uint64_t>;

template class pave::block_pool<waiting_pool>;
template class pave::block_pool<watched_pool>;
template class pave::basic_block_id<std::int16_t>;
template class pave::basic_block_id<std::uint64_t>;
template struct pave::basic_kept_block<pave::basic_block_id<std::int64_t>>;
template struct pave::joined_tables<pave::no_tables, pave::no_tables>;
template class pave::detail::observer_ref<pave::counters>;
template class pave::detail::holder_words<std::uint8_t, 1, 1>;
template struct pave::detail::pool_contracts<waiting_pool>;

template class pave::result<pave::pin_token>;
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
template class pave::group_table_candidates<>;
template class pave::group_table_candidates<std::int64_t>;
template struct pave::basic_cut<pave::sequence_id>;
template struct pave::basic_group_cut<pave::sequence_id>;
template struct pave::basic_blocks_left_behind<pave::sequence_id>;
template struct pave::basic_group_plan<pave::sequence_id>;
template struct pave::basic_group_plan_room<pave::sequence_id>;
template class pave::result<pave::group_plan>;
template class pave::result<pave::group_cache<>>;
template struct pave::basic_range<pave::block_count>;
template struct pave::basic_range<pave::token_count>;
template class pave::detail::amount<pave::block_tag>;
template class pave::detail::amount<pave::token_tag>;
template class pave::detail::amount<pave::byte_tag>;
template class pave::detail::buffer<pave::block_id>;
template class pave::detail::group_blocks<pave::group_table_candidates<>>;
template class pave::detail::lock_scope<pave::unlocked>;
template class pave::detail::block_credits<pave::std_atomics>;
template class pave::detail::block_stacks<pave::std_atomics>;
template class pave::detail::shared_holders<pave::std_atomics>;
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

/// Free blocks that follow each other are given together, the lowest first.
bool gives_runs() {
  auto pool = pave::block_pool<packed_pool>::create({200}).value();
  std::array<pave::block_id, 200> all;
  pool.allocate_runs(all).value();
  bool good = holds(all[0] == 0 && all[199] == 199, "a new pool is one run");
  pool.release({all.data() + 3, 2}).value();
  pool.release({all.data() + 60, 70}).value();
  good = holds(pool.longest_run() == 70, "the longest run is known") && good;
  pool.allocate_runs({all.data(), 70}).value();
  good = holds(all[0] == 60 && all[69] == 129 && pool.longest_run() == 2, "and given") && good;
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

/// The planner over tables of two groups: full attention, and a window of one block.
bool plans_over_groups() {
  using view = pave::group_table_candidates<std::int64_t>;
  const std::array<view::row, 2> rows{view::row{1, 12, false}, view::row{2, 12, false}};
  const std::array<std::int32_t, 6> table{0, 1, 2, 3, 4, 5};
  const std::array<std::int32_t, 2> ends{3, 3};
  const std::array<std::uint32_t, 6> holders{1, 1, 1, 1, 1, 1};
  const std::array<pave::group_table, 2> tables{
      pave::group_table{pave::kv_group{4}, table.data(), 3, ends, holders},
      pave::group_table{pave::kv_group{4, 4}, table.data(), 3, ends, holders}};
  std::array<pave::basic_group_cut<std::size_t>, 2> cuts;
  std::array<pave::basic_blocks_left_behind<std::size_t>, 4> left_behind;
  std::array<pave::plan, 2> groups;
  std::array<pave::group_victim, 2> scratch;
  const pave::basic_group_plan_room<std::size_t> room{cuts, left_behind, groups, scratch};

  const std::array<pave::block_count, 2> shortage{1, 4};
  const pave::group_planner<> planner;
  const auto planned = planner(view(rows, tables), 0, shortage, pave::victims::parked_then_running, room);
  bool good = holds(planned && planned->cuts.size() == 1, "one row is cut");
  good = holds(planned->cuts[0].sequence == 1 && planned->cuts[0].kept == 8, "the least important, by a block") && good;
  good = holds(planned->left_behind.size() == 2, "both give of what they left behind") && good;
  good = holds(planned->groups[0].freed == 1 && planned->groups[1].freed == 4, "just what was short") && good;
  return good;
}

/// A transfer holds a block past its sequence, and a step past both; all of it is watched, and an audit finds it well.
bool waits_for_transfer_and_step() {
  using pool_type = pave::block_pool<waiting_pool>;
  pave::event_log log;
  bool good = holds(log.reserve(8), "a log has memory");
  auto pool = pool_type::create({3}, log).value();
  std::array<pool_type::id_type, 3> blocks;
  pool.allocate(blocks).value();
  const pave::pin_token token = pool.pin({blocks.data(), 1}).value();
  good = holds(pool.share(blocks).code() == pave::errc::table_full, "a block has one sequence") && good;
  pool.release(blocks, 2).value();
  pool.unpin(token, 1).value();
  good = holds(pool.available() == 0 && pool.arriving(2) == 3, "all are on their way") && good;
  pool.complete(2).value();
  pool.complete_through(1);
  pool.resize(2).value();
  good = holds(pool.available() == 2 && pool.fenced() == 0, "and come, and one goes") && good;
  std::array<std::uint32_t, 3> scratch{};
  const auto audited = pool.audit(pave::no_tables(), scratch, [&](const pave::finding& found) {
    std::array<char, 128> room{};
    good = holds(false, pave::to_words(found, room));
  });
  good = holds(audited && *audited == 0, "an audit finds nothing") && good;
  good = holds(log.seen() == 8 && log[7].kind == pave::event_kind::resized, "the log has all that happened") && good;
  return holds(pave::as_integers(pave::span<const pool_type::id_type>(blocks))[2] == 2, "ids are integers") && good;
}

/// Two pools of one memory: a slab that one lets go is the other's.
bool shares_slabs() {
  auto source = pave::slab_source::create(2, 96).value();
  auto small = pave::block_pool<slab_pool>::create({}, pave::from_slabs(source, 32)).value();
  auto large = pave::block_pool<slab_pool>::create({}, pave::from_slabs(source, 96)).value();
  std::array<pave::basic_block_id<std::int64_t>, 4> four;
  std::array<pave::basic_block_id<std::int64_t>, 2> two;
  const pave::slab_request both[] = {{32, small.available(), 3}, {96, large.available(), 1}};
  bool good = holds(source.fits(both), "three of the small ones fit with a large one");
  small.allocate(four).value();
  good = holds(large.allocate(two).code() == pave::errc::shortage, "a slab of another pool is not there") && good;
  small.release(four, 2).value();
  good = holds(large.available() == 0 && large.capacity() == 0, "nor one that a step may still use") && good;
  small.complete_through(2);
  good = holds(large.allocate(two).has_value(), "and then it is") && good;
  const pave::slab_layout layout = source.layout(96);
  return holds(layout.offset(two[0]) + layout.offset(two[1]) == 96, "one lies behind the other") && good;
}

}  // namespace

int main() {
  bool good = cuts_and_restores<pave::cache_policies>(1);
  good = cuts_and_restores<baseline_policies>(2) && good;
  good = cuts_and_restores<keeping_policies>(1) && good;
  good = revives() && good;
  good = gives_runs() && good;
  good = shares_slabs() && good;
  good = plans_over_tables() && good;
  good = plans_over_groups() && good;
  good = waits_for_transfer_and_step() && good;
  return good ? 0 : 1;
}
