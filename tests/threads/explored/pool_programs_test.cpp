// SPDX-License-Identifier: Apache-2.0
// Short programs of two and three threads on a per_thread pool, in all their schedules.
#include "support/catch.hpp"
#include "threads/explored/explorer.hpp"
#include "threads/explored/world.hpp"

#include <pave/pool.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace {

using pave_tests::block_list;
using pave_tests::expect;
using pave_tests::explored_world;
using pave_tests::explorer;
using pave_tests::threads_program;
using world_pointer = std::shared_ptr<explored_world>;

/// The bodies of a program, and what has to hold besides what every world checks.
struct scene {
  std::vector<std::function<void()>> threads;
  std::function<void()> check = [] {};
};
using setup = std::function<scene(const world_pointer&)>;

/// Explores what `prepare` makes of a new world. At least so many schedules it has to be: fewer tested too little.
void explore(
    std::size_t preemptions, std::size_t least, std::size_t blocks, std::size_t handles, const setup& prepare) {
  const auto make = [&] {
    const auto world = std::make_shared<explored_world>(blocks, handles);
    scene made = prepare(world);
    world->begin();
    return threads_program{std::move(made.threads), [world, check = std::move(made.check)] {
                             world->check();
                             check();
                           }};
  };
  explorer runs;
  const std::size_t schedules = preemptions == explorer::any_number ? runs.all(make) : runs.up_to(preemptions, make);
  pave_tests::tell(schedules);
  CHECK(schedules >= least);
}
void explore_all(std::size_t least, std::size_t blocks, std::size_t handles, const setup& prepare) {
  explore(explorer::any_number, least, blocks, handles, prepare);
}

}  // namespace

// Who gets the last blocks

TEST_CASE("explored: two handles want the last blocks, which nobody had yet", "[explored]") {
  const std::size_t first = GENERATE(1U, 2U);
  explore_all(6, 2, 2, [&](const world_pointer& world) {
    auto &a = world->handle(0), &b = world->handle(1);
    return scene{{[=, &a] { world->allocate(a, first); }, [=, &b] { world->allocate(b, 2); }}};
  });
}

TEST_CASE("explored: two handles want the last blocks, which a third one gave back", "[explored]") {
  const std::size_t first = GENERATE(1U, 2U);
  explore_all(1100, 2, 3, [&](const world_pointer& world) {
    auto &a = world->handle(0), &b = world->handle(1);
    world->stock(2, 2);
    return scene{{[=, &a] { world->allocate(a, first); }, [=, &b] { world->allocate(b, 2); }}};
  });
}

TEST_CASE("explored: an owner allocates what another thread wants too", "[explored]") {
  const std::size_t own = GENERATE(1U, 2U), others = GENERATE(1U, 2U);
  explore_all(101, 2, 1, [&](const world_pointer& world) {
    auto& a = world->handle(0);
    world->stock(0, 2);
    return scene{{[=, &a] { world->allocate(a, own); }, [=] { world->allocate(world->pool(), others); }}};
  });
}

TEST_CASE("explored: an owner allocates one block after the other while they are taken from its account",
          "[explored]") {
  explore_all(1500, 3, 1, [&](const world_pointer& world) {
    auto& a = world->handle(0);
    world->stock(0, 3);
    return scene{{[=, &a] {
                    world->allocate(a, 1);
                    world->allocate(a, 1);
                  },
                  [=] { world->allocate(world->pool(), 2); }}};
  });
}

TEST_CASE("explored: of two that have one block each and want both, one gets them", "[explored]") {
  explore_all(1100, 2, 1, [](const world_pointer& world) {
    auto& a = world->handle(0);
    world->stock(0, 1);
    return scene{{[=, &a] { world->allocate(a, 2); }, [=] { world->allocate(world->pool(), 2); }},
                 [=] { expect(world->successes() == 1, "one of them gets both"); }};
  });
}

TEST_CASE("explored: of two handles that have one block each and want both, one gets them", "[explored]") {
  explore(3, 35000, 2, 2, [](const world_pointer& world) {
    auto &a = world->handle(0), &b = world->handle(1);
    const block_list first = world->hold(0, 1), second = world->hold(1, 1);
    a.release(first).value();
    b.release(second).value();
    return scene{{[=, &a] { world->allocate(a, 2); }, [=, &b] { world->allocate(b, 2); }},
                 [=] { expect(world->successes() == 1, "one of them gets both"); }};
  });
}

TEST_CASE("explored: three threads want one block each, of two", "[explored]") {
  const std::size_t stocked = GENERATE(0U, 1U);
  explore_all(252, 2, 1, [&](const world_pointer& world) {
    auto& a = world->handle(0);
    world->stock(0, stocked);
    return scene{{[=, &a] { world->allocate(a, 1); }, [=] { world->allocate(world->pool(), 1); },
                  [=] { world->allocate(world->pool(), 1); }},
                 [=] { expect(world->successes() == 2, "two of them get one"); }};
  });
}

TEST_CASE("explored: a stopped pop does not mistake a block that came back for the one it saw", "[explored]") {
  explore_all(17000, 3, 1, [](const world_pointer& world) {
    auto& a = world->handle(0);
    world->stock(0, 3);
    return scene{{[=] { world->allocate(world->pool(), 1); },
                  [=, &a] {
                    const block_list first = world->allocate(a, 1);
                    world->allocate(a, 1);
                    world->release(a, first);
                  }}};
  });
}

// Allocations and releases

TEST_CASE("explored: one allocates what another releases", "[explored]") {
  const std::size_t wanted = GENERATE(1U, 2U);
  explore_all(3, 2, 1, [&](const world_pointer& world) {
    auto& a = world->handle(0);
    const block_list held = world->hold(0, 1);
    return scene{{[=, &a] { world->release(a, held); }, [=] { world->allocate(world->pool(), wanted); }}};
  });
}

TEST_CASE("explored: an owner releases and allocates while its account is brought in", "[explored]") {
  explore_all(303, 2, 1, [](const world_pointer& world) {
    auto& a = world->handle(0);
    world->stock(0, 1);
    const block_list held = world->hold(0, 1);
    return scene{{[=, &a] {
                    world->release(a, held);
                    world->allocate(a, 1);
                  },
                  [=] { world->allocate(world->pool(), 2); }}};
  });
}

TEST_CASE("explored: two threads bring an account in while its owner releases into it", "[explored]") {
  explore(2, 9000, 3, 1, [](const world_pointer& world) {
    auto& a = world->handle(0);
    const block_list held = world->hold(0, 1);
    world->stock(0, 2);
    return scene{{[=, &a] { world->release(a, held); }, [=] { world->allocate(world->pool(), 2); },
                  [=] { world->allocate(world->pool(), 2); }}};
  });
}

TEST_CASE("explored: two threads bring an account in while its owner allocates and releases", "[explored]") {
  explore(2, 11000, 2, 1, [](const world_pointer& world) {
    auto& a = world->handle(0);
    world->stock(0, 2);
    return scene{{[=, &a] { world->release(a, world->allocate(a, 1)); }, [=] { world->allocate(world->pool(), 2); },
                  [=] { world->allocate(world->pool(), 1); }}};
  });
}

TEST_CASE("explored: blocks go around between two threads", "[explored]") {
  explore_all(19, 2, 2, [](const world_pointer& world) {
    auto &a = world->handle(0), &b = world->handle(1);
    const block_list first = world->hold(0, 1), second = world->hold(1, 1);
    return scene{{[=, &a] {
                    world->release(a, first);
                    world->allocate(a, 1);
                  },
                  [=, &b] {
                    world->release(b, second);
                    world->allocate(b, 1);
                  }}};
  });
}

TEST_CASE("explored: a release to the stacks of two handles gives all its blocks at once", "[explored]") {
  const std::size_t wanted = GENERATE(1U, 2U, 3U);
  explore_all(5, 64, 1, [&](const world_pointer& world) {
    auto& a = world->handle(0);
    const block_list held = world->hold(0, 32);  // the words of 32 blocks share a cache line
    block_list others(32);
    world->pool().allocate(others).value();
    world->pool().release({others.data(), 1}).value();
    return scene{{[=, &a] {
                    world->release(a, {held[0], others[1]});
                  },
                  [=] { world->allocate(world->pool(), wanted); }}};
  });
}

TEST_CASE("explored: a block goes back to a handle that allocates", "[explored]") {
  const std::size_t wanted = GENERATE(1U, 2U);
  explore_all(5, 2, 2, [&](const world_pointer& world) {
    auto &a = world->handle(0), &b = world->handle(1);
    const block_list held = world->hold(0, 2);
    a.release({held.data(), 1}).value();
    return scene{{[=, &a] { world->allocate(a, wanted); }, [=, &b] { world->release(b, {held[1]}); }}};
  });
}

TEST_CASE("explored: what is available is never promised twice", "[explored]") {
  SECTION("while all is taken") {
    explore_all(44, 2, 1, [](const world_pointer& world) {
      world->stock(0, 1);
      return scene{{[=] { world->available(); }, [=] { world->allocate(world->pool(), 2); }}};
    });
  }
  SECTION("while one block is taken, and another one released elsewhere") {
    const bool to_account = GENERATE(false, true);
    explore_all(13, 2, 1, [&](const world_pointer& world) {
      auto& a = world->handle(0);
      const block_list held = world->hold(0, 1);
      if (!to_account) world->stock(0, 1);
      return scene{{[=] { world->available(); },
                    [=, &a] {
                      to_account ? world->allocate(world->pool(), 1) : world->allocate(a, 1);
                      to_account ? world->release(a, held) : world->release(world->pool(), held);
                    }}};
    });
  }
  SECTION("while an account is brought in that its owner uses") {
    explore(2, 6000, 2, 1, [](const world_pointer& world) {
      auto& a = world->handle(0);
      world->stock(0, 1);
      return scene{{[=] { world->available(); }, [=] { world->allocate(world->pool(), 2); },
                    [=, &a] { world->release(a, world->allocate(a, 1)); }}};
    });
  }
}

// Several holders

TEST_CASE("explored: of two releases of the same blocks exactly one succeeds", "[explored]") {
  explore_all(18, 2, 2, [](const world_pointer& world) {
    auto &a = world->handle(0), &b = world->handle(1);
    const block_list held = world->hold(0, 2);
    return scene{{[=, &a] { world->release(a, held); }, [=, &b] { world->release(b, held); }},
                 [=] { expect(world->successes() == 1, "exactly one of two releases succeeds"); }};
  });
}

TEST_CASE("explored: two releases of the same blocks in opposite order free them once at most", "[explored]") {
  explore_all(27, 2, 2, [](const world_pointer& world) {
    auto &a = world->handle(0), &b = world->handle(1);
    const block_list held = world->hold(0, 2);
    return scene{{[=, &a] { world->release(a, held); },
                  [=, &b] {
                    world->release(b, {held[1], held[0]});
                  }},
                 [=] { expect(world->successes() <= 1, "at most one of two releases succeeds"); }};
  });
}

TEST_CASE("explored: two holders release the same blocks", "[explored]") {
  explore_all(545, 2, 2, [](const world_pointer& world) {
    auto &a = world->handle(0), &b = world->handle(1);
    const block_list held = world->hold(0, 2);
    a.share(held).value();
    return scene{{[=, &a] { world->release(a, held); },
                  [=, &b] {
                    world->release(b, {held[1], held[0]});
                  }},
                 [=] { expect(world->successes() == 2, "both hold them"); }};
  });
}

TEST_CASE("explored: one holder shares and releases while another releases", "[explored]") {
  explore_all(608, 2, 2, [](const world_pointer& world) {
    auto &a = world->handle(0), &b = world->handle(1);
    const block_list held = world->hold(0, 1);
    a.share(held).value();
    return scene{{[=, &a] {
                    world->share(a, held);
                    world->release(a, held);
                  },
                  [=, &b] {
                    world->release(b, held);
                    world->allocate(b, 1);
                  }},
                 [=] { expect(world->successes() == 4, "each holds what it names"); }};
  });
}

TEST_CASE("explored: a release that names too much frees nothing that another holder lets go meanwhile", "[explored]") {
  const std::size_t holders = GENERATE(1U, 2U);
  explore_all(37, 2, 2, [&](const world_pointer& world) {
    auto &a = world->handle(0), &b = world->handle(1);
    const block_list held = world->hold(0, 1);
    for (std::size_t i = 1; i < holders; ++i) a.share(held).value();
    return scene{{[=, &a] { world->release(a, block_list(holders + 1, held[0])); },
                  [=, &b] {
                    world->release(b, held);
                    world->allocate(b, 2);
                  }}};
  });
}

TEST_CASE("explored: a release that names a free block disturbs nobody", "[explored]") {
  explore_all(5, 3, 2, [](const world_pointer& world) {
    auto &a = world->handle(0), &b = world->handle(1);
    const block_list held = world->hold(0, 1);
    const pave::block_id free = held[0] == pave::block_id(0) ? 1 : 0;
    return scene{{[=, &a] {
                    world->release(a, {held[0], free});
                  },
                  [=, &b] { world->release(b, held); }},
                 [=] { expect(world->successes() == 1, "the other one succeeds"); }};
  });
}

TEST_CASE("explored: a share of what is just released shares all of it or nothing", "[explored]") {
  explore_all(342, 2, 2, [](const world_pointer& world) {
    auto &a = world->handle(0), &b = world->handle(1);
    const block_list held = world->hold(0, 2);
    return scene{{[=, &a] { world->share(a, held); },
                  [=, &b] {
                    world->release(b, {held[1]});
                    world->release(b, {held[0]});
                  }}};
  });
}

TEST_CASE("explored: three holders let go of one block", "[explored]") {
  explore_all(37000, 1, 1, [](const world_pointer& world) {
    const block_list held = world->hold(0, 1);
    world->pool().share(block_list(2, held[0])).value();
    const auto let_go = [=] { world->release(world->pool(), held); };
    return scene{{let_go, let_go, let_go}, [=] { expect(world->successes() == 3, "each holds it"); }};
  });
}

// Handles

TEST_CASE("explored: a handle ends while another thread opens one and finds its blocks", "[explored]") {
  explore_all(5, 2, 1, [](const world_pointer& world) {
    world->stock(0, 2);
    return scene{{[=] { world->close(0); },
                  [=] {
                    if (world->open(1)) world->allocate(world->handle(1), 1);
                  }}};
  });
}

TEST_CASE("explored: two threads open handles while a third one closes one", "[explored]") {
  explore_all(86, 1, 2, [](const world_pointer& world) {
    static_cast<void>(world->handle(0));
    return scene{{[=] { world->close(0); }, [=] { world->open(1); }, [=] { world->open(2); }}};
  });
}
