// SPDX-License-Identifier: Apache-2.0
// The object of C++20 in the program that links objects of both standards: it calls that of C++17.
#include "standard_exchange.hpp"

#include <array>
#include <cstdio>

static_assert(__cplusplus >= 202002L, "this file is for C++20");

namespace {

bool holds(bool condition, const char* what) {
  if (!condition) std::fprintf(stderr, "not so: %s\n", what);
  return condition;
}

}  // namespace

int main() {
  pave::kv_cache_options options;
  options.blocks = 8;
  options.tokens_per_block = 16;
  options.sequences = 2;
  options.blocks_per_sequence = 8;
  auto made = exchange::make_cache(options);
  if (!holds(made.has_value(), "a cache made by C++17 has a value in C++20")) return 1;
  const auto available = exchange::available_in(*made);

  const std::array<pave::block_id, 3> blocks{4, 5, 6};
  const auto rest = exchange::without_first(blocks);

  bool good = holds(available.has_value(), "a result comes back with its value");
  good = holds(available.value() == made->pool().available(), "both standards see the same blocks") && good;
  good = holds(exchange::last_block(8) == pave::block_id(7), "an id keeps its value") && good;
  good = holds(rest.size() == 2 && rest[0] == pave::block_id(5), "a span keeps its place") && good;
  return good ? 0 : 1;
}
