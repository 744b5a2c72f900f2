// SPDX-License-Identifier: Apache-2.0
//
// How the frame outside of a return address is found, in one word, so that readers of a table of them need no lock and
// see an old rule or a new one, never half of each.
//
//   bits 63..24  tag    with the word's place in the table, all of the return address: no two addresses share a rule
//   bits 23..15  j      the outer frame's rbp was saved at slot - 8 j; 0: rbp is unchanged
//   bits 13..12  kind
//   bits 11..0   k
//
//   kind kFromSp     slot = rsp + 8 k
//        kFromBp     slot = rbp + 8 k
//        kRealigned  slot = *(rbp - 8 k) - 8, and the outer frame's rbp = *rbp (gcc's realignment of the stack)
//        kSpecial    k is a Special
//
// `slot` is where this frame's own return address was saved: the outer frame goes on at *slot, with rsp = slot + 8.
// A word of 0 is no rule. Rules are of x86-64; another architecture would bring its own kinds.
#ifndef INTERPOSE_STACKS_UNWIND_RULE_H_
#define INTERPOSE_STACKS_UNWIND_RULE_H_

#include <cstdint>

namespace vramtrack {

class UnwindRule {
 public:
  enum Kind : uint64_t { kSpecial, kFromSp, kFromBp, kRealigned };
  enum Special : uint64_t {
    kNone,
    kEnd,            // the outermost frame
    kNoInformation,  // code of a library without unwind information: the outermost frame if rbp is 0, as the ABI says
    kUnknownCode,    // in no library, for example made at run time. Never kept: a library may come to its place
    kSignal,         // a signal handler's return: every register has to be restored
    kUnusual,        // does not fit a rule: found by another register, by an expression, too far away
  };

  static constexpr uint64_t kTagMask = ~uint64_t{0xffffff};
  static constexpr uint64_t kMaxK = 0xfff, kMaxJ = 0x1ff;

  constexpr UnwindRule() : word_(0) {}
  constexpr explicit UnwindRule(uint64_t word) : word_(word) {}
  static constexpr UnwindRule Frame(Kind kind, uint64_t k, uint64_t j) { return UnwindRule(k | kind << 12 | j << 15); }
  static constexpr UnwindRule Of(Special special) { return UnwindRule(special); }

  constexpr uint64_t word() const { return word_; }
  constexpr uint64_t k() const { return word_ & kMaxK; }
  constexpr uint64_t j() const { return word_ >> 15 & kMaxJ; }
  constexpr Kind kind() const { return static_cast<Kind>(word_ >> 12 & 3); }
  constexpr bool Is(Special special) const { return (word_ & 0x3fff) == special; }

 private:
  uint64_t word_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_UNWIND_RULE_H_
