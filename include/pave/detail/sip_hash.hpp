// SPDX-License-Identifier: Apache-2.0
// SipHash-2-4 with 128 bits, over 64-bit words.
#ifndef PAVE_DETAIL_SIP_HASH_HPP
#define PAVE_DETAIL_SIP_HASH_HPP

#include <cstdint>

namespace pave {
inline namespace v0 {
namespace detail {

/// Aumasson and Bernstein: SipHash, a fast short-input PRF (2012); the wide output as in their reference code.
class sip_hash {
 public:
  constexpr sip_hash(std::uint64_t key_low, std::uint64_t key_high) noexcept
      : v0_(key_low ^ 0x736f6d6570736575U),
        v1_(key_high ^ 0x646f72616e646f6dU ^ 0xeeU),
        v2_(key_low ^ 0x6c7967656e657261U),
        v3_(key_high ^ 0x7465646279746573U) {}

  /// The next 8 bytes, in little-endian order.
  constexpr void add(std::uint64_t word) noexcept {
    absorb(word);
    bytes_ += 8;
  }
  /// No more words come: `low` and `high` are the hash now.
  constexpr void end() noexcept {
    absorb(bytes_ << 56U);
    v2_ ^= 0xeeU;
    rounds(4);
    low_ = v0_ ^ v1_ ^ v2_ ^ v3_;
    v1_ ^= 0xddU;
    rounds(4);
    high_ = v0_ ^ v1_ ^ v2_ ^ v3_;
  }
  [[nodiscard]] constexpr std::uint64_t low() const noexcept { return low_; }
  [[nodiscard]] constexpr std::uint64_t high() const noexcept { return high_; }

 private:
  [[nodiscard]] static constexpr std::uint64_t rotate(std::uint64_t word, unsigned by) noexcept {
    return word << by | word >> (64U - by);
  }
  constexpr void absorb(std::uint64_t word) noexcept {
    v3_ ^= word;
    rounds(2);
    v0_ ^= word;
  }
  constexpr void rounds(int count) noexcept {
    for (int i = 0; i < count; ++i) {
      v0_ += v1_;
      v2_ += v3_;
      v1_ = rotate(v1_, 13) ^ v0_;
      v3_ = rotate(v3_, 16) ^ v2_;
      v0_ = rotate(v0_, 32);
      v2_ += v1_;
      v0_ += v3_;
      v1_ = rotate(v1_, 17) ^ v2_;
      v3_ = rotate(v3_, 21) ^ v0_;
      v2_ = rotate(v2_, 32);
    }
  }

  std::uint64_t v0_, v1_, v2_, v3_;
  std::uint64_t bytes_ = 0;
  std::uint64_t low_ = 0, high_ = 0;
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
