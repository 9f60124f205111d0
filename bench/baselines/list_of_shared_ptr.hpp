// SPDX-License-Identifier: Apache-2.0
// Baseline: a std::list of std::shared_ptr to blocks with atomic counts, as engines in C++ whose block tables own their
// blocks have it (OpenVINO GenAI is of this kind).
#ifndef PAVE_BENCH_BASELINES_LIST_OF_SHARED_PTR_HPP
#define PAVE_BENCH_BASELINES_LIST_OF_SHARED_PTR_HPP

#include <pave/span.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <utility>

namespace bench {

/// Free blocks queue up. Pointers are moved, never copied, which is kinder to the baseline than engines are to
/// themselves. A refused release leaves what came before the refused block released.
class list_of_shared_ptr {
  struct block {
    explicit block(std::int32_t number) noexcept : id(number) {}
    std::int32_t id;
    std::atomic<std::int32_t> references{0};
  };

 public:
  using handle = std::shared_ptr<block>;

  explicit list_of_shared_ptr(std::size_t blocks) {
    for (std::size_t i = 0; i < blocks; ++i) free_.push_back(std::make_shared<block>(static_cast<std::int32_t>(i)));
  }

  bool allocate(pave::span<handle> out) {
    if (out.size() > free_.size()) return false;
    for (handle& given : out) {
      given = std::move(free_.front());
      free_.pop_front();
      given->references.fetch_add(1);
    }
    return true;
  }
  bool release(pave::span<handle> blocks) {
    for (handle& given : blocks) {
      if (given == nullptr || given->references.load() == 0) return false;
      if (given->references.fetch_sub(1) == 1) free_.push_back(std::move(given));
    }
    return true;
  }

 private:
  std::list<handle> free_;
};

}  // namespace bench

#endif
