// SPDX-License-Identifier: Apache-2.0
// How many blocks of a per_thread pool are available, counted in several places and yet exact.
#ifndef PAVE_DETAIL_BLOCK_CREDITS_HPP
#define PAVE_DETAIL_BLOCK_CREDITS_HPP

#include <pave/config.hpp>
#include <pave/detail/buffer.hpp>
#include <pave/detail/cache_line.hpp>
#include <pave/units.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace pave {
inline namespace v0 {
namespace detail {

/// A 64-bit word with a count, a mark, and a version in what is left: one that is renewed was never there before.
template <unsigned CountBits, unsigned MarkBits>
class credit_word {
 public:
  constexpr explicit credit_word(std::uint64_t bits) noexcept : bits_(bits) {}

  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }
  [[nodiscard]] constexpr std::uint64_t count() const noexcept { return bits_ & count_mask; }
  [[nodiscard]] constexpr std::uint64_t mark() const noexcept { return bits_ >> CountBits & mark_mask; }

  [[nodiscard]] constexpr credit_word minus(std::uint64_t credits) const noexcept {
    return credit_word(bits_ - credits);
  }
  [[nodiscard]] constexpr credit_word plus(std::uint64_t credits) const noexcept {
    return credit_word(bits_ + credits);
  }
  [[nodiscard]] constexpr credit_word renewed() const noexcept { return credit_word(bits_ + one_version); }
  /// @pre it has no mark
  [[nodiscard]] constexpr credit_word marked(std::uint64_t mark) const noexcept {
    return credit_word(bits_ | mark << CountBits);
  }
  [[nodiscard]] constexpr credit_word unmarked() const noexcept {
    return credit_word(bits_ & ~(mark_mask << CountBits));
  }

 private:
  static constexpr std::uint64_t count_mask = (std::uint64_t{1} << CountBits) - 1;
  static constexpr std::uint64_t mark_mask = (std::uint64_t{1} << MarkBits) - 1;
  static constexpr std::uint64_t one_version = std::uint64_t{1} << (CountBits + MarkBits);

  std::uint64_t bits_;
};

/// One credit for each available block. A release brings credits after its blocks, an allocation takes them before, so
/// that whoever has a credit finds a block. Each handle has an account, and what does not fit in there is in the till.
///
/// A transfer brings an account's credits into the till, in four steps that anyone may take:
///   1. the till is marked with the account, which must not be frozen;
///   2. the account is frozen, while the till is seen to be marked with it;
///   3. the till takes the account's count, and loses its mark;
///   4. the account is emptied, and is no longer frozen.
/// So a frozen account counts while the till names it, and no longer; an account that is frozen once the till does not
/// name it has been brought in. In sum no step changes anything: the credits are, at any instant, one number, which
/// changes by all credits of a call at once. Nobody ever waits: who meets a transfer takes its next step himself.
/// @cite the helping of M. Herlihy, Wait-Free Synchronization, TOPLAS 13(1), 1991; the two equal collects of Y. Afek et
/// al., Atomic Snapshots of Shared Memory, JACM 40(4), 1993
template <class Atomics>
class block_credits {
 public:
  static constexpr std::size_t most_accounts = 64;
  /// The number of the till, for calls without an account; accounts count from 1.
  static constexpr std::size_t till = 0;

  /// Takes its memory, all credits are in the till; false where memory is refused.
  [[nodiscard]] bool reserve(std::size_t accounts, block_count credits) noexcept {
    PAVE_ASSERT(accounts <= most_accounts);
    if (!words_.reserve(accounts + 1)) return false;
    words_[till].word.store(static_cast<std::uint64_t>(credits.value()));
    return true;
  }

  /// Takes `wanted` credits, from this account if it has them, or none.
  /// @return how many are missing: so many were, at one instant during the call
  [[nodiscard]] block_count take(std::size_t account, std::size_t wanted) noexcept {
    if (account != till && take_from_account(account, wanted)) return 0;
    for (;;) {
      const till_word seen = till_now();
      if (seen.count() >= wanted) {
        if (exchange(till, seen, seen.minus(wanted))) return 0;
      } else if (seen.mark() != 0) {
        help(seen);
      } else {
        const view all = look();
        if (all.is_whole && all.credits < wanted) return wanted - all.credits;
        if (all.largest != till) bring_in(all.largest);
      }
    }
  }

  /// Gives credits back, all to one place. @pre as many blocks are on the stacks
  void give(std::size_t account, std::size_t credits) noexcept {
    while (account != till) {
      const account_word seen = now(account);
      if (is_frozen(seen)) {
        thaw(account);
      } else if (seen.count() + credits > most_in_account) {
        break;
      } else if (exchange(account, seen, seen.plus(credits).renewed())) {
        return;
      }
    }
    till_word seen = till_now();
    while (!exchange(till, seen, seen.plus(credits))) seen = till_now();
  }

  /// @return the credits: all of them where nothing changes meanwhile, and never more than there were at one instant
  [[nodiscard]] block_count available() const noexcept {
    if (words_.size() == 0) return 0;
    std::uint64_t most = 0;
    for (int tries = 0; tries < 4; ++tries) {
      const view all = look();
      if (all.is_whole) return all.credits;
      if (most < all.credits) most = all.credits;
    }
    return most;
  }

 private:
  // The mark of the till is the account that is brought in. It is renewed with each transfer that ends: whoever helps
  // with one that is over comes too late, unless he slept through a multiple of 2^26 of them.
  using till_word = credit_word<31, 7>;
  // The mark of an account is set while it is frozen. It is renewed with each gain, and each time that it is brought
  // in: if it is read twice alike nothing happened in between (or 2^47 times something).
  using account_word = credit_word<16, 1>;
  static constexpr std::uint64_t most_in_account = 256;  // what a thread may let lie idle before others see it at once

  struct view {
    std::uint64_t credits = 0;   // at one instant, in the till and in the accounts that did not change
    bool is_whole = true;        // none changed: there were no others
    std::size_t largest = till;  // the account that has most of them now; till where none has any
  };

  // All orders are sequentially consistent: that nothing changed between two readings, and what a transfer's steps see,
  // is argued in one order of all words.
  [[nodiscard]] till_word till_now() const noexcept { return till_word(words_[till].word.load()); }
  [[nodiscard]] account_word now(std::size_t account) const noexcept {
    return account_word(words_[account].word.load());
  }
  template <class Word>
  [[nodiscard]] bool exchange(std::size_t place, Word seen, Word wanted) noexcept {
    std::uint64_t bits = seen.bits();
    return words_[place].word.compare_exchange_strong(bits, wanted.bits());
  }
  static constexpr bool is_frozen(account_word seen) noexcept { return seen.mark() != 0; }

  /// @return false where it has too few. @pre only the account's owner takes from it
  [[nodiscard]] bool take_from_account(std::size_t account, std::size_t wanted) noexcept {
    for (;;) {
      const account_word seen = now(account);
      if (is_frozen(seen)) {
        thaw(account);
      } else if (seen.count() < wanted) {
        return false;
      } else if (exchange(account, seen, seen.minus(wanted))) {
        return true;
      }
    }
  }

  /// Reads the till between two readings of all accounts. Those that did not change had their counts at that instant.
  [[nodiscard]] view look() const noexcept {
    std::array<std::uint64_t, most_accounts + 1> before{};
    for (std::size_t account = till + 1; account < words_.size(); ++account) before[account] = now(account).bits();
    const till_word between = till_now();
    view seen;
    seen.credits = between.count();
    std::uint64_t most = 0;
    for (std::size_t account = till + 1; account < words_.size(); ++account) {
      const account_word after = now(account);
      if (after.bits() != before[account]) {
        seen.is_whole = false;
      } else if (!is_frozen(after) || between.mark() == account) {
        seen.credits += after.count();
      }
      if (is_frozen(after) || after.count() <= most) continue;
      most = after.count();
      seen.largest = account;
    }
    return seen;
  }

  /// Begins to bring an account's credits into the till; or helps the transfer that is under way.
  void bring_in(std::size_t account) noexcept {
    const till_word seen = till_now();
    if (seen.mark() != 0) return help(seen);
    // The account is not frozen when the till, unchanged since before, is marked: to freeze it a transfer has to begin.
    if (is_frozen(now(account))) return thaw(account);
    if (exchange(till, seen, seen.marked(account))) help(seen.marked(account));
  }

  /// Steps 2 to 4 of the transfer that the till was marked with.
  void help(till_word marked) noexcept {
    const auto account = static_cast<std::size_t>(marked.mark());
    account_word seen = now(account);
    if (!is_frozen(seen)) {
      // Nobody freezes for a transfer that is over: if it ends after this look at the till, the account is renewed.
      if (till_now().bits() != marked.bits()) return;
      if (!exchange(account, seen, seen.marked(1))) return;
      seen = seen.marked(1);
    }
    if (!exchange(till, marked, marked.unmarked().plus(seen.count()).renewed())) return;
    static_cast<void>(exchange(account, seen, emptied(seen)));
  }

  /// Whoever meets a frozen account: ends its transfer, or, where it has been brought in, step 4.
  void thaw(std::size_t account) noexcept {
    const account_word seen = now(account);
    if (!is_frozen(seen)) return;
    const till_word after = till_now();
    if (after.mark() == account) return help(after);
    static_cast<void>(exchange(account, seen, emptied(seen)));
  }
  static constexpr account_word emptied(account_word frozen) noexcept {
    return frozen.unmarked().minus(frozen.count()).renewed();
  }

  buffer<on_own_line<typename Atomics::template atomic<std::uint64_t>>> words_;
};

}  // namespace detail
}  // namespace v0
}  // namespace pave

#endif
