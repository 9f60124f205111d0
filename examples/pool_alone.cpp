// SPDX-License-Identifier: Apache-2.0
// The pool by itself, for an engine with block tables of its own: what steps in flight and transfers hold back, a pool
// that grows in use, who watches it, and an audit of a mistake.
#include <pave/pool.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

struct policies : pave::pool_policies {
  using fence = pave::after_step;   // a released block waits for the step that used it last
  using observer = pave::counters;  // hears of all that the pool does
};
using pool_type = pave::block_pool<policies>;

/// The engine's block tables, as an audit looks through them.
struct tables {
  std::vector<std::vector<pave::block_id>> rows;

  [[nodiscard]] std::size_t size() const { return rows.size(); }
  [[nodiscard]] const std::vector<pave::block_id>& blocks(std::size_t i) const { return rows[i]; }
};

void print(const char* when, const pool_type& pool) {
  std::printf("%-34s %d available, %d on their way, %d held\n", when, static_cast<int>(pool.available().value()),
              static_cast<int>(pool.fenced().value()), static_cast<int>(pool.held().value()));
}

}  // namespace

int main() {
  pave::counters counters;  // outlives the pool
  auto pool = pool_type::create({/*blocks*/ 8}, counters).value();
  tables engine;
  engine.rows.resize(2, std::vector<pave::block_id>(3));
  for (auto& row : engine.rows) pool.allocate(row).value();  // all three, or none
  print("two sequences of three blocks:", pool);

  // Step 1 reads the first sequence, which has ended; a transfer copies one of its blocks away, and may take longer.
  const pave::pin_token transfer = pool.pin({engine.rows[0].data(), 1}).value();
  pool.release(engine.rows[0], /*last use*/ 1).value();
  engine.rows[0].clear();
  print("one has ended, in step 1:", pool);
  std::vector<pave::block_id> more(4);
  if (const auto refused = pool.allocate(more); !refused) {
    std::printf("%d blocks are missing, and step 1 gives %d\n", static_cast<int>(refused.error().missing.value()),
                static_cast<int>(pool.arriving(1).value()));
  }
  pool.complete(1).value();
  print("step 1 is done:", pool);
  pool.unpin(transfer).value();
  print("and so is the transfer:", pool);

  pool.resize(10).value();
  print("two blocks more:", pool);

  engine.rows[1].pop_back();  // a mistake: nobody is left to release this block
  std::vector<std::uint32_t> scratch(pool.id_end());
  const std::size_t broken = pool.audit(engine, scratch,
                                        [](const pave::finding& found) {
                                          char sentence[128];
                                          std::printf("audit: %s\n", pave::to_words(found, sentence));
                                        })
                                 .value();
  std::printf("%d blocks were given out in all\n",
              static_cast<int>(counters.blocks(pave::event_kind::allocated).value()));
  return broken == 1 ? 0 : 1;
}
