// SPDX-License-Identifier: Apache-2.0
// What random calls of a pool are made with: mostly what makes sense, and now and then what does not.
#ifndef PAVE_TESTS_MODEL_POOL_CHOICES_HPP
#define PAVE_TESTS_MODEL_POOL_CHOICES_HPP

#include "model/any_pool.hpp"
#include "model/pool_model.hpp"
#include "model/random.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace pave_tests {

/// What an engine remembers of a content: by what it asks the pool, and by what the model knows it.
struct note {
  kept content;
  pool_model::memory remembered;
};

class pool_choices {
 public:
  explicit pool_choices(std::uint64_t seed) : random(seed) {}

  pave::pool_options options() {
    pave::pool_options chosen;
    chosen.blocks = random.one_in(8) ? 1 : random.between(1, 40);
    chosen.first_block = random.one_in(2) ? 0 : random.between(1, 5);
    chosen.pinned_blocks = static_cast<std::size_t>(random.one_in(8) ? 0 : random.between(1, 24));
    return chosen;
  }
  /// How far the engine is when it makes the pool: also where a fence's notes begin anew.
  std::int64_t steps_before() {
    constexpr std::int64_t one = 1;
    const std::int64_t near[] = {0, 0, one << 29, one << 30, 3 * (one << 29), one << 31, one << 32, one << 40};
    const std::int64_t step = near[random.index(std::size(near))];
    return (std::max)(std::int64_t{0}, step - random.between(0, 20));
  }

  std::size_t fresh_count(const pool_model& model) {
    return static_cast<std::size_t>(random.between(0, random.one_in(8) ? model.counts().capacity + 2 : 5));
  }
  /// Mostly one that is held; now and then one that is free, on its way or out of range.
  std::int64_t block(const pool_model& model) {
    const block_list held = model.held();
    if (random.one_in(25) && !model.free().empty()) return model.free()[random.index(model.free().size())];
    if (random.one_in(50) || held.empty()) return random.between(-5, model.first() + model.counts().capacity + 5);
    return held[random.index(held.size())];
  }
  /// Some of them twice.
  block_list blocks(const pool_model& model) {
    block_list chosen;
    for (std::int64_t size = random.one_in(20) ? 0 : random.between(1, 6); size > 0; --size) {
      const bool again = random.one_in(6) && !chosen.empty();
      chosen.push_back(again ? chosen[random.index(chosen.size())] : block(model));
    }
    return chosen;
  }
  std::int64_t last_use(const pool_model& model) {
    if (random.one_in(10)) return random.between(-2, 0);
    return model.done() + (random.one_in(40) ? random.between(13, 2000) : random.between(-3, 12));
  }
  std::int64_t next_done(const pool_model& model) {
    if (random.one_in(10)) return model.done() + random.between(-80, 70);
    return model.done() + random.between(1, 6);
  }
  std::int64_t capacity(const pool_model& model) {
    constexpr std::int64_t far = (std::numeric_limits<std::int64_t>::max)();
    if (random.one_in(8)) return random.one_in(2) ? far - random.between(0, 9) : -random.between(0, 9);
    return random.one_in(2) ? random.between(1, 60) : model.counts().capacity + random.between(-3, 3);
  }

  /// What to acquire: contents that are there, some of them twice, and now and then one that is gone or never was.
  std::vector<note> notes(const pool_model& model, const std::vector<note>& known) {
    std::vector<note> good, free;
    for (const note& one : known) {
      if (!model.is_kept(one.remembered)) continue;
      good.push_back(one);
      if (model.holders(one.remembered.block) == 0) free.push_back(one);
    }
    std::vector<note> chosen;
    const std::int64_t size = random.one_in(10) ? 0 : random.between(1, 6);
    while (static_cast<std::int64_t>(chosen.size()) < size) {
      if (random.one_in(30) && !known.empty()) {
        chosen.push_back(known[random.index(known.size())]);
      } else if (random.one_in(60)) {
        chosen.push_back(forged_note(model));
      } else if (random.one_in(5) && !chosen.empty()) {
        chosen.push_back(chosen[random.index(chosen.size())]);
      } else if (random.one_in(2) && !free.empty()) {
        chosen.push_back(free[random.index(free.size())]);
      } else if (!good.empty()) {
        chosen.push_back(good[random.index(good.size())]);
      } else {
        break;
      }
    }
    return chosen;
  }

  random_source random;

 private:
  /// One that no pool gave: without a generation, or of one that is far away.
  note forged_note(const pool_model& model) {
    const std::int64_t which = block(model);
    const std::int64_t far = std::int64_t{1} << 31;
    const std::int64_t generation = random.one_in(2) ? 0 : far + random.between(0, 9);
    return {{which, static_cast<std::uint32_t>(generation)}, {which, ~std::uint64_t{0}}};
  }
};

}  // namespace pave_tests

#endif  // PAVE_TESTS_MODEL_POOL_CHOICES_HPP
