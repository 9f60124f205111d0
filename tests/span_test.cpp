// SPDX-License-Identifier: Apache-2.0
// Spans: what they view, what they refuse to view, and their parts.
#include "support/catch.hpp"

#include <pave/span.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

namespace {

struct base {
  int number = 0;
};
struct derived : base {
  int another = 0;
};

using pave::span;

static_assert(std::is_convertible_v<std::vector<int>&, span<int>>);
static_assert(std::is_convertible_v<std::vector<int>&, span<const int>>);
static_assert(std::is_convertible_v<const std::vector<int>&, span<const int>>);
static_assert(std::is_convertible_v<std::array<int, 3>&, span<int>>);
static_assert(std::is_convertible_v<int (&)[4], span<int>>);
static_assert(std::is_convertible_v<span<int>, span<const int>>);
static_assert(std::is_convertible_v<const std::string&, span<const char>>);
static_assert(std::is_convertible_v<std::vector<int>, span<const int>>, "an argument may be a temporary");

static_assert(!std::is_constructible_v<span<int>, const std::vector<int>&>, "const stays const");
static_assert(!std::is_constructible_v<span<int>, span<const int>>);
static_assert(!std::is_constructible_v<span<int>, std::vector<int>>, "nothing writes to a temporary");
static_assert(!std::is_constructible_v<span<base>, std::vector<derived>&>, "the stride of a derived class differs");
static_assert(!std::is_constructible_v<span<long>, std::vector<int>&>);
static_assert(!std::is_constructible_v<span<bool>, std::vector<bool>&>);
static_assert(!std::is_constructible_v<span<int>, int>);
static_assert(std::is_trivially_copyable_v<span<int>>);
static_assert(std::is_same_v<span<const int>::value_type, int>);
static_assert(std::is_same_v<span<const int>::element_type, const int>);

}  // namespace

TEST_CASE("span: a default one is empty", "[span]") {
  constexpr span<int> nothing;
  CHECK(nothing.empty());
  CHECK(nothing.size() == 0);
  CHECK(nothing.data() == nullptr);
  CHECK(nothing.begin() == nothing.end());
  CHECK(nothing.first(0).empty());
  CHECK(nothing.subspan(0, 0).empty());
}

TEST_CASE("span: views what it is given, and copies nothing", "[span]") {
  std::vector<int> numbers{4, 5, 6, 7};
  const span<int> view = numbers;
  CHECK(view.data() == numbers.data());
  CHECK(view.size() == 4);
  view[1] = 50;
  CHECK(numbers[1] == 50);
  int sum = 0;
  for (const int number : view) sum += number;
  CHECK(sum == 4 + 50 + 6 + 7);

  const span<const int> constant = view;
  CHECK(constant.data() == numbers.data());
  int plain[] = {1, 2, 3};
  CHECK(span<int>(plain).size() == 3);
  std::array<int, 0> none{};
  CHECK(span<int>(none).empty());
}

TEST_CASE("span: its parts are views of the same objects", "[span]") {
  std::vector<int> numbers{0, 1, 2, 3, 4};
  const span<int> view = numbers;
  CHECK(view.first(2).size() == 2);
  CHECK(view.first(2).data() == numbers.data());
  CHECK(view.first(5).size() == 5);
  CHECK(view.subspan(1, 3).data() == numbers.data() + 1);
  CHECK(view.subspan(1, 3).size() == 3);
  CHECK(view.subspan(5, 0).empty());
}
