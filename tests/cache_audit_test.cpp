// SPDX-License-Identifier: Apache-2.0
// An audit of a kv_cache: nothing to say of a healthy one, and what it says when somebody outside made a mistake.
#include "cache_fixture.hpp"
#include "model/random.hpp"
#include "support/catch.hpp"

#include <pave/cache.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <string>
#include <utility>
#include <vector>

namespace {

using pave::finding_kind;
using pave_tests::small;
using fixture = pave_tests::cache_fixture<>;

/// What an engine holds besides the sequences, one table a holder.
struct outsiders {
  std::vector<std::vector<pave::block_id>> tables;

  [[nodiscard]] std::size_t size() const { return tables.size(); }
  [[nodiscard]] const std::vector<pave::block_id>& blocks(std::size_t i) const { return tables[i]; }
};
static_assert(pave::is_audit_tables_v<outsiders>);

struct audit_report {
  std::size_t broken = 0;
  std::vector<std::string> sentences;
};
template <class Cache, class Others = pave::no_tables>
audit_report audit(const Cache& cache, const Others& others = {}) {
  std::vector<std::uint32_t> scratch(cache.pool().id_end());
  std::array<char, 128> room{};
  audit_report report;
  const auto say = [&](const pave::finding& found) { report.sentences.emplace_back(pave::to_words(found, room)); };
  report.broken = cache.audit(others, pave::span<std::uint32_t>(scratch), say).value();
  return report;
}
template <class Cache, class Others = pave::no_tables>
bool is_healthy(const Cache& cache, const Others& others = {}) {
  const audit_report report = audit(cache, others);
  return report.broken == 0 && report.sentences.empty();
}
std::string number(pave::block_id block) { return std::to_string(block.value()); }

}  // namespace

TEMPLATE_TEST_CASE("audit: a healthy cache has nothing to be said of, whatever was called",
                   "[cache][audit]",
                   pave::cache_policies,
                   pave_tests::keep_policies,
                   pave_tests::fence_policies,
                   pave_tests::keep_and_fence_policies) {
  std::size_t forked = 0;
  std::size_t parked = 0;
  pave_tests::for_each_seed(40, [&](std::uint64_t seed) {
    pave_tests::random_source random(seed);
    pave_tests::cache_fixture<TestType> f(pave_tests::small_with_steps(random.between(4, 20)));
    std::array<pave::sequence_id, 8> ids{};
    std::vector<pave::pin_token> pins;
    outsiders others;
    std::int64_t begun = 0;
    for (int call = 0; call < 150; ++call) {
      pave::sequence_id& id = ids[random.index(ids.size())];
      const auto table = f.cache.block_table(id);
      const bool has_blocks = table && !table->empty();
      switch (random.between(0, 13)) {
        case 0:
          static_cast<void>(f.cache.abort(id));
          if (const auto made = f.cache.admit(random.between(0, 3), random.between(1, 30)); made) id = *made;
          break;
        case 1:
          if (random.one_in(2)) static_cast<void>(f.cache.abort(ids[random.index(ids.size())]));
          if (const auto made = f.cache.fork(id, random.between(0, 3)); made) {
            for (pave::sequence_id& other : ids) {
              if (!f.cache.computed(other)) {
                other = *made;
                break;
              }
            }
            forked += f.held(*made) > 0 ? 1U : 0U;
          }
          break;
        case 2:
          if (random.one_in(3)) static_cast<void>(f.cache.finish(id));
          break;
        case 3: static_cast<void>(f.cache.truncate(id, random.between(0, 20))); break;
        case 4:
        case 5: begun += f.cache.begin_step() ? 1 : 0; break;
        case 6:
        case 7: static_cast<void>(f.cache.complete(random.between(begun - 3, begun))); break;
        case 8:
          if (has_blocks) {
            const auto pin = f.cache.pool().pin(table->first(1 + random.index(table->size())));
            if (pin) pins.push_back(*pin);
          }
          break;
        case 9:
          if (has_blocks) {
            others.tables.emplace_back(table->begin(), table->end());
            REQUIRE(f.cache.pool().share(others.tables.back()).has_value());
          }
          break;
        case 10:
          if (!pins.empty()) {
            REQUIRE(f.cache.pool().unpin(pins.back(), begun).has_value());
            pins.pop_back();
          }
          if (!others.tables.empty()) {
            REQUIRE(f.cache.pool().release(others.tables.back(), begun).has_value());
            others.tables.pop_back();
          }
          break;
        case 11:
          if (random.one_in(10)) f.cache.reset();
          if (random.one_in(4)) REQUIRE(f.cache.resize(random.between(4, 24)).has_value());
          break;
        case 12: static_cast<void>(f.restore(random.between(1, 20))); break;
        default: static_cast<void>(f.grow(id, random.between(0, 9))); break;
      }
      parked += f.cache.snapshot().parked;
      if (!is_healthy(f.cache, others)) FAIL("call " << call);
    }
  });
  REQUIRE(forked > 20);
  REQUIRE(parked > 20);
}

TEST_CASE("audit: a block that somebody shared and forgot is leaked, and those are named who still hold it",
          "[cache][audit]") {
  fixture f(small());
  const pave::sequence_id id = f.running(0, 9);
  const pave::block_id forgotten = f.share(id, {1})[0];
  audit_report report = audit(f.cache);
  REQUIRE(report.broken == 1);
  REQUIRE(report.sentences.size() == 2);
  REQUIRE(report.sentences[0] == "block " + number(forgotten) + " is leaked: it has 2 holders, and is named 1 time");
  REQUIRE(report.sentences[1] == "table 0 names block " + number(forgotten));
  REQUIRE(f.cache.finish(id).has_value());
  report = audit(f.cache);
  REQUIRE(report.broken == 1);
  REQUIRE(report.sentences.size() == 1);
  REQUIRE(report.sentences[0] == "block " + number(forgotten) + " is leaked: it has 1 holder, and is named 0 times");
}

TEST_CASE("audit: a block that an outsider's table names is not leaked", "[cache][audit]") {
  fixture f(small());
  const pave::sequence_id id = f.running(0, 9);
  const outsiders others{{f.share(id, {1}), f.take_outside(2), f.share(id, {0, 1})}};
  REQUIRE(is_healthy(f.cache, others));
  REQUIRE(audit(f.cache).broken == 4);
  // Only one of them is told of.
  const outsiders one{{others.tables[0]}};
  REQUIRE(audit(f.cache, one).broken == 4);
}

TEST_CASE("audit: tables of outsiders are counted after those of the sequences", "[cache][audit]") {
  fixture f(small());
  static_cast<void>(f.admit(1, 5));
  static_cast<void>(f.running(0, 9));
  const pave::block_id never{99};
  const outsiders others{{{}, {never}}};
  const audit_report report = audit(f.cache, others);
  REQUIRE(report.broken == 1);
  REQUIRE(report.sentences.size() == 1);
  REQUIRE(report.sentences[0] == "table 3 names block 99, which the pool does not have");
}

TEST_CASE("audit: what an outsider released that a sequence holds is found, and the sequence's table named",
          "[cache][audit]") {
  fixture f(small());
  static_cast<void>(f.running(0, 4));
  const pave::sequence_id id = f.running(1, 9);
  const std::vector<pave::block_id> released{f.table(id)[2]};
  REQUIRE(f.cache.pool().release(released).has_value());
  audit_report report = audit(f.cache);
  REQUIRE(report.broken == 1);
  REQUIRE(report.sentences.size() == 2);
  REQUIRE(report.sentences[0] == "block " + number(released[0]) + " is named 1 time, but nobody holds it");
  REQUIRE(report.sentences[1] == "table 1 names block " + number(released[0]));
  // Mended by who knows: the block is still free.
  REQUIRE(f.take_outside(1) == released);
  REQUIRE(is_healthy(f.cache));
}

TEST_CASE("audit: what an outsider released that two sequences hold would come free too early", "[cache][audit]") {
  fixture f(small());
  const pave::sequence_id parent = f.running(0, 7);
  REQUIRE(f.cache.fork(parent, 0).has_value());
  REQUIRE(is_healthy(f.cache));
  const std::vector<pave::block_id> released{f.table(parent)[1]};
  REQUIRE(f.cache.pool().release(released).has_value());
  const audit_report report = audit(f.cache);
  REQUIRE(report.broken == 1);
  REQUIRE(report.sentences.size() == 3);
  REQUIRE(report.sentences[0] ==
          "block " + number(released[0]) + " would come free too early: it has 1 holder, and is named 2 times");
  REQUIRE(report.sentences[1] == "table 0 names block " + number(released[0]));
  REQUIRE(report.sentences[2] == "table 1 names block " + number(released[0]));
}

TEST_CASE("audit: a pin is a holder, and is named where something is wrong with its block", "[cache][audit]") {
  fixture f(small());
  const pave::sequence_id id = f.running(0, 8);
  const std::vector<pave::block_id> table = f.table(id);
  REQUIRE(f.cache.pool().pin(table).has_value());
  REQUIRE(f.cache.finish(id).has_value());
  REQUIRE(is_healthy(f.cache));
  REQUIRE(f.cache.pool().share(pave::span<const pave::block_id>(table).first(1)).has_value());
  const audit_report report = audit(f.cache);
  REQUIRE(report.broken == 1);
  REQUIRE(report.sentences.size() == 2);
  REQUIRE(report.sentences[0] == "block " + number(table[0]) + " is leaked: it has 2 holders, and is named 1 time");
  REQUIRE(report.sentences[1] == "a pin names block " + number(table[0]));
}

TEST_CASE("audit: a block on its way that a table names is not held", "[cache][audit]") {
  pave_tests::cache_fixture<pave_tests::fence_policies> f(small());
  const pave::sequence_id id = f.running(0, 4);
  const outsiders others{{f.table(id)}};
  REQUIRE(f.grow(id, 1).has_value());
  REQUIRE(f.cache.finish(id).has_value());
  REQUIRE(f.cache.snapshot().fenced == 2);
  REQUIRE(is_healthy(f.cache));
  const audit_report report = audit(f.cache, others);
  REQUIRE(report.broken == 1);
  REQUIRE(report.sentences[0] == "block " + number(others.tables[0][0]) + " is named 1 time, but nobody holds it");
  REQUIRE(report.sentences[1] == "table 0 names block " + number(others.tables[0][0]));
}

TEST_CASE("audit: the pool's first block counts, and scratch has to have room for all ids", "[cache][audit]") {
  pave::kv_cache_options options = small(4);
  options.first_block = 3;
  fixture f(options);
  static_cast<void>(f.running(0, 16));
  REQUIRE(f.cache.pool().id_end() == 7);
  std::array<std::uint32_t, 6> scratch{};
  int said = 0;
  const auto say = [&](const pave::finding&) noexcept { ++said; };
  REQUIRE(f.cache.audit(pave::no_tables{}, scratch, say).code() == pave::errc::buffer_too_small);
  REQUIRE(said == 0);
  REQUIRE(is_healthy(f.cache));
  const outsiders others{{{pave::block_id{2}}}};
  REQUIRE(audit(f.cache, others).sentences[0] == "table 1 names block 2, which the pool does not have");
  const pave::kv_cache<> empty;
  REQUIRE(is_healthy(empty));
}

TEST_CASE("audit: the tables of others can be any ranges of ids, and the ids as narrow as the engine's",
          "[cache][audit]") {
  struct narrow_policies : pave::cache_policies {
    struct pool : pave::pool_policies {
      using id = pave::basic_block_id<std::int16_t>;
    };
  };
  struct holders {
    std::list<std::list<pave::basic_block_id<std::int16_t>>> tables;

    [[nodiscard]] std::size_t size() const { return tables.size(); }
    [[nodiscard]] std::list<pave::basic_block_id<std::int16_t>> blocks(std::size_t i) const {
      return *std::next(tables.begin(), static_cast<std::ptrdiff_t>(i));
    }
  };
  pave_tests::cache_fixture<narrow_policies> f(small());
  const pave::sequence_id id = f.admit(0, 6);
  f.next_step();
  REQUIRE(f.restore().has_value());
  REQUIRE(is_healthy(f.cache));
  const auto first = f.cache.block_table(id).value().first(1);
  REQUIRE(f.cache.pool().share(first).has_value());
  REQUIRE_FALSE(is_healthy(f.cache));
  REQUIRE(is_healthy(f.cache, holders{{{}, {first[0]}}}));
  const audit_report report = audit(f.cache, holders{{{first[0]}, {first[0]}}});
  REQUIRE(report.sentences.size() == 4);
  REQUIRE(report.sentences[3] == "table 2 names block " + std::to_string(first[0].value()));
}
