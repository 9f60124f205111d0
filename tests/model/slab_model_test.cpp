// SPDX-License-Identifier: Apache-2.0
// Random calls of several pools that share one memory, checked against the memory itself: a byte has one owner.
#include "model/random.hpp"
#include "support/catch.hpp"

#include <pave/policy/from_slabs.hpp>
#include <pave/pool.hpp>
#include <pave/slab_source.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace {

using pave::errc;
using pave_tests::expect;
using pave_tests::random_source;

/// The memory that the pools share, byte by byte: 0 where nobody may be reading or writing, or else whose block it is.
using memory = std::vector<std::uint64_t>;

/// The source and its memory, and what happened, to see that the random calls come to all of it.
struct stage {
  pave::slab_source source;
  memory bytes;
  std::uint64_t stamps = 0;
  int shortages = 0, refused_for_ever = 0, arrivals = 0, ended = 0, fitted = 0, unfitted = 0, last_was_pin = 0;
};

/// One pool, and a plain record of each block that it may not give out.
class tenant {
 public:
  virtual ~tenant() = default;

  virtual void random_call(random_source& random) = 0;
  virtual void expect_well(random_source& random) const = 0;
  [[nodiscard]] virtual std::set<std::int64_t> slabs() const = 0;
  [[nodiscard]] virtual pave::slab_request request(std::int64_t wanted) const = 0;
  virtual bool try_to_allocate(std::size_t count) = 0;
};

template <class Policies>
class tenant_of : public tenant {
 public:
  using pool_type = pave::block_pool<Policies>;
  using id = typename pool_type::id_type;

  tenant_of(stage& scene, std::int64_t block_bytes)
      : stage_(scene),
        layout_(scene.source.layout(block_bytes)),
        pool_(pool_type::create({}, pave::from_slabs(scene.source, block_bytes)).value()) {}
  ~tenant_of() override {
    for (const auto& [block, one] : blocks_) stamp(block, 0);
    stage_.ended += 1;
  }
  tenant_of(const tenant_of&) = delete;
  tenant_of& operator=(const tenant_of&) = delete;

  void random_call(random_source& random) override {
    switch (random.between(0, 11)) {
      case 0:
      case 1:
      case 2: static_cast<void>(try_to_allocate(random.index(random.one_in(20) ? 40 : 5))); break;
      case 3: share(some(random)); break;
      case 4: pin(some(random)); break;
      case 5:
      case 6: unpin(random); break;
      case 7: complete(done_ + random.between(0, 3)); break;
      case 8:
        if (random.one_in(10)) move();
        break;
      default: release(random.one_in(6) ? all_of_sequences() : some(random), done_ + random.between(-2, 4)); break;
    }
  }

  bool try_to_allocate(std::size_t count) override {
    std::vector<id> out(count);
    const auto wanted = static_cast<std::int64_t>(count);
    const std::int64_t available = pool_.available().value();
    const std::int64_t in_all = stage_.source.slabs().value() * per_slab();
    std::map<std::int64_t, std::int64_t> free = free_in_slabs();
    const auto given = pool_.allocate(out);
    if (!given) {
      const bool is_short = wanted <= in_all;
      expect(given.code() == (is_short ? errc::shortage : errc::never_fits), "it says which");
      expect(given.error().missing == wanted - (is_short ? available : in_all), "and how much");
      expect(wanted > available, "what is available is given");
      is_short ? ++stage_.shortages : ++stage_.refused_for_ever;
      return false;
    }
    expect(wanted <= available, "and no more");
    for (const id block : out) {
      expect_fullest(free, block.value() / per_slab());
      expect(blocks_.count(block.value()) == 0, "a block is given once");
      begin(block.value());
    }
    return true;
  }

  void expect_well(random_source& random) const override {
    std::int64_t held = 0, fenced = 0;
    for (const auto& [block, one] : blocks_) {
      one.holders() > 0 ? ++held : ++fenced;
      expect(pool_.holders(block) == one.holders(), "each block has its holders");
      expect(is_stamped(block, one.stamp), "and nobody else writes into it");
    }
    const std::int64_t own = static_cast<std::int64_t>(slabs().size()) * per_slab();
    const std::int64_t free = stage_.source.free_slabs().value() * per_slab();
    expect(pool_.held() == held && pool_.fenced() == fenced, "held and fenced blocks are counted");
    expect(pool_.available() == own + free - held - fenced, "what is left of its slabs and free ones is available");
    expect(pool_.capacity() == pool_.available() + held + fenced, "conservation");
    if (random.one_in(8)) audit();
  }
  [[nodiscard]] std::set<std::int64_t> slabs() const override {
    std::set<std::int64_t> all;
    for (const auto& [block, one] : blocks_) all.insert(block / per_slab());
    return all;
  }
  [[nodiscard]] pave::slab_request request(std::int64_t wanted) const override {
    return {layout_.block_bytes, pool_.available(), wanted};
  }

 private:
  struct record {
    std::uint64_t stamp = 0;
    std::uint32_t sequences = 1, pins = 0;
    std::int64_t last_use = 0;

    [[nodiscard]] std::uint32_t holders() const { return sequences + pins; }
  };

  [[nodiscard]] std::int64_t per_slab() const { return layout_.blocks_per_slab().value(); }

  /// Of each of its slabs, how many blocks are free.
  [[nodiscard]] std::map<std::int64_t, std::int64_t> free_in_slabs() const {
    std::map<std::int64_t, std::int64_t> free;
    for (const std::int64_t slab : slabs()) free[slab] = per_slab();
    for (const auto& [block, one] : blocks_) free[block / per_slab()] -= 1;
    return free;
  }
  /// The next block is of the fullest slab that has room, or of a new one where none has.
  void expect_fullest(std::map<std::int64_t, std::int64_t>& free, std::int64_t slab) const {
    std::int64_t fewest = 0;
    for (const auto& [other, count] : free) {
      if (count > 0 && (fewest == 0 || count < fewest)) fewest = count;
    }
    expect((fewest == 0) == (free.count(slab) == 0), "a slab is drawn where none has room, and only there");
    expect(fewest == 0 || free[slab] == fewest, "the fullest slab gives");
    if (fewest == 0) free[slab] = per_slab();
    free[slab] -= 1;
  }

  template <class Visit>
  void each_byte(std::int64_t block, Visit visit) const {
    const auto first = static_cast<std::size_t>(layout_.offset(id(block)).value());
    const auto bytes = static_cast<std::size_t>(layout_.block_bytes.value());
    for (std::size_t i = first; i < first + bytes; ++i) visit(stage_.bytes.at(i));
  }
  void stamp(std::int64_t block, std::uint64_t with) {
    each_byte(block, [with](std::uint64_t& byte) { byte = with; });
  }
  [[nodiscard]] bool is_stamped(std::int64_t block, std::uint64_t with) const {
    bool all = true;
    each_byte(block, [&all, with](const std::uint64_t& byte) { all = all && byte == with; });
    return all;
  }
  void begin(std::int64_t block) {
    expect(is_stamped(block, 0), "no byte of it is in a block that anybody holds, or that a step may still use");
    stamp(block, ++stage_.stamps);
    blocks_[block] = {stage_.stamps};
  }
  void end_if_free(std::int64_t block) {
    const auto found = blocks_.find(block);
    if (found == blocks_.end() || found->second.holders() > 0) return;
    if (Policies::fence::delays && found->second.last_use > done_) return;
    stamp(block, 0);
    blocks_.erase(found);
  }

  /// Mostly some that are held, now and then one that is not.
  [[nodiscard]] std::vector<id> some(random_source& random) const {
    std::vector<id> chosen;
    for (std::int64_t size = random.between(0, 6); size > 0 && !blocks_.empty(); --size) {
      auto at = blocks_.begin();
      std::advance(at, static_cast<std::ptrdiff_t>(random.index(blocks_.size())));
      if (at->second.holders() > 0) chosen.push_back(at->first);
    }
    if (random.one_in(15)) chosen.push_back(random.between(-1, static_cast<std::int64_t>(pool_.id_end())));
    return chosen;
  }
  [[nodiscard]] std::vector<id> all_of_sequences() const {
    std::vector<id> all;
    for (const auto& [block, one] : blocks_) all.insert(all.end(), one.sequences, id(block));
    return all;
  }
  [[nodiscard]] bool are_held(const std::vector<id>& blocks) const {
    return std::all_of(blocks.begin(), blocks.end(), [this](id block) {
      const auto found = blocks_.find(block.value());
      return found != blocks_.end() && found->second.holders() > 0;
    });
  }

  void share(const std::vector<id>& blocks) {
    if (!pool_type::can_share) return;
    const bool can = are_held(blocks);
    expect(pool_.share(blocks).has_value() == can, "what is held is shared");
    if (!can) return;
    for (const id block : blocks) blocks_.at(block.value()).sequences += 1;
  }
  void release(const std::vector<id>& blocks, std::int64_t last_use) {
    std::map<std::int64_t, std::uint32_t> named;
    for (const id block : blocks) named[block.value()] += 1;
    const bool can = std::all_of(named.begin(), named.end(), [this](const auto& one) {
      return blocks_.count(one.first) != 0 && blocks_.at(one.first).sequences >= one.second;
    });
    expect(pool_.release(blocks, last_use).has_value() == can, "what sequences hold is released");
    if (!can) return;
    for (const auto& [block, times] : named) {
      record& one = blocks_.at(block);
      one.sequences -= times;
      one.last_use = (std::max)(one.last_use, last_use);
      end_if_free(block);
    }
  }
  void pin(const std::vector<id>& blocks) {
    const bool can = !blocks.empty() && are_held(blocks);
    const auto token = pool_.pin(blocks);
    expect(token.has_value() == can, "what is held is pinned");
    if (!can) return;
    for (const id block : blocks) blocks_.at(block.value()).pins += 1;
    pins_.emplace_back(*token, blocks);
  }
  void unpin(random_source& random) {
    if (pins_.empty()) return;
    const auto at = pins_.begin() + static_cast<std::ptrdiff_t>(random.index(pins_.size()));
    const std::int64_t last_use = done_ + random.between(-2, 4);
    expect(pool_.unpin(at->first, last_use).has_value(), "a pin ends once");
    for (const id block : at->second) {
      record& one = blocks_.at(block.value());
      one.pins -= 1;
      one.last_use = (std::max)(one.last_use, last_use);
    }
    for (const id block : at->second) {
      if (blocks_.count(block.value()) != 0 && blocks_.at(block.value()).holders() == 0) stage_.last_was_pin += 1;
      end_if_free(block.value());
    }
    pins_.erase(at);
  }
  void complete(std::int64_t step) {
    pool_.complete_through(step);
    done_ = step;
    const std::size_t before = blocks_.size();
    const auto all = blocks_;
    for (const auto& [block, one] : all) end_if_free(block);
    stage_.arrivals += before > blocks_.size() ? 1 : 0;
  }
  void move() {
    pool_type moved(std::move(pool_));
    expect(pool_.capacity() == 0 && pool_.available() == 0, "one that is moved from has nothing");
    pool_ = std::move(moved);
  }

  /// A table for each block, and one for each of its sequences.
  void audit() const {
    struct tables {
      std::vector<std::vector<id>> all;
      [[nodiscard]] std::size_t size() const { return all.size(); }
      [[nodiscard]] const std::vector<id>& blocks(std::size_t i) const { return all[i]; }
    } named;
    for (const auto& [block, one] : blocks_) named.all.emplace_back(one.sequences, id(block));
    std::vector<std::uint32_t> scratch(pool_.id_end());
    const auto broken = pool_.audit(named, scratch, [](const pave::finding& /*found*/) {});
    expect(broken && *broken == 0, "an audit finds all well");
  }

  stage& stage_;
  pave::slab_layout layout_;
  pool_type pool_;
  std::map<std::int64_t, record> blocks_;  // those that are held or on their way
  std::vector<std::pair<pave::pin_token, std::vector<id>>> pins_;
  std::int64_t done_ = 0;
};

struct plain : pave::pool_policies {
  using free_list = pave::from_slabs;
};
struct waiting : plain {
  using fence = pave::after_step;
};
struct alone : waiting {
  using sharing = pave::exclusive;
  using id = pave::basic_block_id<std::int64_t>;
};
struct narrow : plain {
  using id = pave::basic_block_id<std::uint16_t>;
  using observer = pave::counters;
};

std::unique_ptr<tenant> make_tenant(stage& scene, random_source& random) {
  const std::int64_t most = scene.source.slab_bytes().value();
  const std::int64_t bytes = random.one_in(4) ? most : random.between(1, 1 + most / 2);
  switch (random.between(0, 3)) {
    case 0: return std::make_unique<tenant_of<waiting>>(scene, bytes);
    case 1: return std::make_unique<tenant_of<alone>>(scene, bytes);
    case 2: return std::make_unique<tenant_of<narrow>>(scene, bytes);
    default: return std::make_unique<tenant_of<plain>>(scene, bytes);
  }
}

class round_of_calls {
 public:
  explicit round_of_calls(std::uint64_t seed) : random_(seed) {
    const std::int64_t slabs = random_.between(1, 24), slab_bytes = random_.between(1, 80);
    stage_.source = pave::slab_source::create(slabs, slab_bytes).value();
    stage_.bytes.resize(static_cast<std::size_t>(slabs * slab_bytes));
    for (std::int64_t pools = random_.between(2, 4); pools > 0; --pools) {
      tenants_.push_back(make_tenant(stage_, random_));
    }
  }

  const stage& run(int calls) {
    for (int call = 0; call < calls; ++call) {
      tenants_[random_.index(tenants_.size())]->random_call(random_);
      if (random_.one_in(20)) allocate_together();
      if (random_.one_in(40)) begin_anew(random_.index(tenants_.size()));
      expect_well();
    }
    tenants_.clear();
    expect(stage_.source.free_slabs() == stage_.source.slabs(), "pools that end give all slabs back");
    return stage_;
  }

 private:
  /// What is said to fit together is there in any order, and what is not said to is not.
  void allocate_together() {
    std::vector<std::pair<tenant*, std::size_t>> wanted;
    std::vector<pave::slab_request> requests;
    for (const auto& one : tenants_) {
      const std::size_t count = random_.index(random_.one_in(3) ? 12 : 4);
      requests.push_back(one->request(static_cast<std::int64_t>(count)));
      wanted.emplace_back(one.get(), count);
    }
    const bool fits = stage_.source.fits(requests);
    fits ? ++stage_.fitted : ++stage_.unfitted;
    std::rotate(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(random_.index(wanted.size())),
                wanted.end());
    bool all = true;
    for (const auto& [pool, count] : wanted) all = pool->try_to_allocate(count) && all;
    expect(all == fits, "what fits together is there, and nothing more");
  }
  void begin_anew(std::size_t at) {
    tenants_[at].reset();
    tenants_[at] = make_tenant(stage_, random_);
  }
  void expect_well() {
    std::set<std::int64_t> taken;
    std::size_t slabs = 0;
    for (const auto& one : tenants_) {
      one->expect_well(random_);
      const std::set<std::int64_t> own = one->slabs();
      taken.insert(own.begin(), own.end());
      slabs += own.size();
    }
    expect(taken.size() == slabs, "a slab is one pool's");
    expect(stage_.source.free_slabs() == stage_.source.slabs().value() - static_cast<std::int64_t>(slabs),
           "a slab without a block in use is free");
  }

  random_source random_;
  stage stage_;
  std::vector<std::unique_ptr<tenant>> tenants_;
};

}  // namespace

TEST_CASE("from_slabs: no byte is ever in two blocks, of whatever pools that share it", "[pool][slabs][model]") {
  stage sum;
  pave_tests::for_each_seed(400, [&sum](std::uint64_t seed) {
    round_of_calls calls(seed);
    const stage& one = calls.run(200);
    sum.shortages += one.shortages;
    sum.refused_for_ever += one.refused_for_ever;
    sum.arrivals += one.arrivals;
    sum.ended += one.ended;
    sum.fitted += one.fitted;
    sum.unfitted += one.unfitted;
    sum.last_was_pin += one.last_was_pin;
  });
  if (std::getenv("PAVE_TEST_SEED") != nullptr) return;
  CHECK(sum.shortages > 400);
  CHECK(sum.refused_for_ever > 400);
  CHECK(sum.arrivals > 400);
  CHECK(sum.ended > 400);
  CHECK(sum.fitted > 400);
  CHECK(sum.unfitted > 400);
  CHECK(sum.last_was_pin > 400);
}
