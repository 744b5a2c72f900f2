// SPDX-License-Identifier: Apache-2.0
//
// An unwind rule says how to find the caller's frame from a return address. A rule is one word, so readers of a table
// of rules need no lock: they see either the old rule or the new one.
//
//   bits 63..24  tag    identifies the return address together with the word's place in the table
//   bits 23..15  j      the caller's rbp was saved at slot - 8 j; 0: rbp is unchanged
//   bits 13..12  kind
//   bits 11..0   k
//
//   kind kFromSp     slot = rsp + 8 k
//        kFromBp     slot = rbp + 8 k
//        kRealigned  slot = *(rbp - 8 k) - 8, and the caller's rbp = *rbp (gcc's realignment of the stack)
//        kSpecial    k is a Special
//
// `slot` is the address at which this frame's return address was saved: the caller continues at *slot with rsp = slot
// + 8. A word of 0 means that there is no rule.
//
// So much for x86-64. On aarch64 a frame has its return address and x29 next to each other, but anywhere:
//
//   bits 23..15  j      slot = sp or x29 + 8 j
//   bit  14      p      the caller's x29 was saved at slot - 8; otherwise x29 is unchanged
//   bits 11..0   k      kFromSp: the caller's sp = sp + 8 k; kFromBp: the caller's sp = x29 + 8 k
//
// and the caller continues at *slot, whose signature is removed (WithoutSignature). There is no kRealigned.
#ifndef INTERPOSE_STACKS_UNWIND_RULE_H_
#define INTERPOSE_STACKS_UNWIND_RULE_H_

#include <cstdint>

namespace vramtrack {

// One rule, in the format above.
class UnwindRule {
 public:
  enum Kind : uint64_t { kSpecial, kFromSp, kFromBp, kRealigned };
  enum Special : uint64_t {
    kNone,
    kEnd,            // the outermost frame
    kNoInformation,  // library code without unwind information; the outermost frame if rbp or x29 is 0 (both ABIs)
    kUnknownCode,    // code outside of libraries, such as JIT code; never cached, a library may be loaded there
    kSignal,         // return from a signal handler, which restores every register
    kUnusual,        // no rule fits: another register, an expression, or too large a distance
  };

  static constexpr uint64_t kTagMask = ~uint64_t{0xffffff};
  static constexpr uint64_t kMaxK = 0xfff, kMaxJ = 0x1ff;

  constexpr UnwindRule() : word_(0) {}
  constexpr explicit UnwindRule(uint64_t word) : word_(word) {}
  static constexpr UnwindRule Frame(Kind kind, uint64_t k, uint64_t j) { return UnwindRule(k | kind << 12 | j << 15); }
  static constexpr UnwindRule Of(Special special) { return UnwindRule(special); }

  static constexpr uint64_t kSavesBp = 1 << 14;  // on aarch64

  constexpr uint64_t word() const { return word_; }
  constexpr uint64_t k() const { return word_ & kMaxK; }
  constexpr uint64_t j() const { return word_ >> 15 & kMaxJ; }
  constexpr bool saves_bp() const { return (word_ & kSavesBp) != 0; }
  constexpr Kind kind() const { return static_cast<Kind>(word_ >> 12 & 3); }
  constexpr bool Is(Special special) const { return (word_ & 0x3fff) == special; }

 private:
  uint64_t word_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_UNWIND_RULE_H_
