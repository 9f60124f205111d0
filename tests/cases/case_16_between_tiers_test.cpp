// SPDX-License-Identifier: Apache-2.0
// A count of used blocks that went negative after moves between tiers (TensorRT-LLM 12834).
#include "cases/each_pool.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace {

using pave_tests::block_list;

constexpr std::int64_t capacity = 5;

/// A sequence of three blocks whose tail of two moves to another tier and back, in any order of the calls, wrong ones
/// among them.
class moved_tail {
 public:
  moved_tail(pave_tests::any_pool& pool, std::int64_t step) : pool_(pool), step_(step), blocks_(take(pool, 3)) {}

  void call(int which) {
    const block_list tail{blocks_[1], blocks_[2]};
    switch (which) {
      case 0: begin_copy(tail, out_); break;
      case 1: end_copy(out_); break;
      case 2: hold_tail_ -= pool_.release(tail, step_ + 1) ? 1 : 0; break;
      case 3: {
        block_list fresh(2);
        if (back_.empty() && pool_.allocate(fresh)) back_ = fresh;
        break;
      }
      case 4: begin_copy(back_, in_); break;
      case 5: end_copy(in_); break;
      default:
        if (pool_.release(back_, step_ + 3)) back_.clear();
        break;
    }
  }
  /// Whatever is not over yet.
  void finish() {
    end_copy(out_);
    end_copy(in_);
    pool_.release(back_, step_ + 3);
    if (hold_tail_ > 0) pool_.release({blocks_[1], blocks_[2]}, step_ + 1);
    pool_.release({blocks_[0]}, step_ + 2);
    pool_.complete_through(step_ + 3);
  }

 private:
  struct copy {
    pave::pin_token token;
    bool is_on = false;
  };
  void begin_copy(const block_list& blocks, copy& which) {
    if (!which.is_on) which.is_on = bool(pool_.pin(blocks, which.token));
  }
  /// Where there is none, with a token of nobody's.
  void end_copy(copy& which) {
    const bool is_over = bool(pool_.unpin(which.token, step_ + 2));
    if (is_over != which.is_on) is_wrong = true;
    which.is_on = false;
  }

  pave_tests::any_pool& pool_;
  std::int64_t step_;
  block_list blocks_, back_;
  int hold_tail_ = 1;
  copy out_, in_;

 public:
  bool is_wrong = false;
};

}  // namespace

TEST_CASE(
    "case 16: copy out, cut, copy back, release: in every order, what is available, fenced and held is all there is "
    "(TensorRT-LLM 12834)",
    "[cases]") {
  std::size_t wrong = 0;
  pave_tests::for_each_pool([&wrong](const auto& make, const pave_tests::pool_kind& /*kind*/) {
    const auto pool = make(capacity);
    std::array<int, 7> order{0, 1, 2, 3, 4, 5, 6};
    std::int64_t step = 0;
    do {
      moved_tail moved(*pool, step);
      for (const int which : order) {
        moved.call(which);
        if (!pave_tests::is_conserved(*pool, capacity)) ++wrong;
      }
      moved.finish();
      if (moved.is_wrong || pool->counts().available != capacity) ++wrong;
      step += 3;
    } while (wrong == 0 && std::next_permutation(order.begin(), order.end()));
    CHECK(wrong == 0);
  });
}
