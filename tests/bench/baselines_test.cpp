// SPDX-License-Identifier: Apache-2.0
// The pools that pave-bench compares do the same: a comparison with one that skips a check would flatter it.
#include "baselines/linked_queue.hpp"
#include "baselines/list_of_shared_ptr.hpp"
#include "baselines/prefix_map.hpp"
#include "baselines/stack_of_pointers.hpp"
#include "support/catch.hpp"
#include "support/indexed_pool.hpp"
#include "support/pave_pool.hpp"

#include <pave/block_hash.hpp>
#include <pave/pool.hpp>
#include <pave/span.hpp>

#include <set>
#include <vector>

TEMPLATE_TEST_CASE("pave-bench: what is compared gives all or nothing, each block once, and refuses a double release",
                   "[bench]",
                   bench::pave_pool<pave::pool_policies>,
                   bench::list_of_shared_ptr,
                   bench::stack_of_pointers,
                   bench::linked_queue) {
  using handle = typename TestType::handle;
  TestType pool(4);
  std::vector<handle> first(3);
  std::vector<handle> second(2);

  REQUIRE(pool.allocate(first));
  CHECK_FALSE(pool.allocate(second));
  CHECK(second == std::vector<handle>(2));

  std::vector<handle> again{first[1]};
  const handle released = first[1];
  REQUIRE(pool.release({&first[1], 1}));
  CHECK_FALSE(pool.release(again));

  REQUIRE(pool.allocate(second));
  const std::set<handle> held{first[0], first[2], second[0], second[1]};
  CHECK(held.size() == 4);
  CHECK(held.count(released) == 1);
  CHECK_FALSE(pool.allocate(again));
  CHECK(pool.release(second));
  CHECK(pool.release({first.data(), 1}));
  CHECK(pool.release({&first[2], 1}));
  std::vector<handle> all(4);
  CHECK(pool.allocate(all));
}

TEMPLATE_TEST_CASE("pave-bench: what is compared finds a prefix until its blocks go, the last of them first",
                   "[bench]",
                   bench::indexed_pool,
                   bench::prefix_map) {
  using handle = typename TestType::handle;
  TestType pool(6);
  const std::vector<pave::block_hash> first{{1, 1}, {2, 2}, {3, 3}};
  const std::vector<pave::block_hash> second{{4, 4}, {5, 5}};
  std::vector<handle> held(3);
  std::vector<handle> found(3);
  CHECK(pool.acquire(first, found) == 0);
  REQUIRE(pool.allocate(first, held));
  CHECK(pool.acquire(first, found) == 3);
  CHECK(found == held);
  pool.release(held);
  pool.release(found);

  // The other three blocks go first, and then the last one of the prefix that came free.
  std::vector<handle> others(2);
  REQUIRE(pool.allocate(second, others));
  CHECK(pool.acquire(first, found) == 3);
  CHECK_FALSE(pool.allocate(second, others));
  pool.release(found);
  REQUIRE(pool.allocate(second, others));
  CHECK(pool.acquire(first, found) == 2);
}
