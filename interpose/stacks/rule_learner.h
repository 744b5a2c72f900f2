// SPDX-License-Identifier: Apache-2.0
//
// libunwind as this library uses it: how it steps out of a frame, and steps that are told from guesses. In C, because
// it reads libunwind's private cursor.
#ifndef INTERPOSE_STACKS_RULE_LEARNER_H_
#define INTERPOSE_STACKS_RULE_LEARNER_H_

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum vramtrack_step_kind {
  VRAMTRACK_STEP_STANDARD,   // CFA = rsp or rbp + cfa_offset, return address right below it
  VRAMTRACK_STEP_REALIGNED,  // CFA = *(rbp + cfa_offset)
  VRAMTRACK_STEP_SIGNAL,
  VRAMTRACK_STEP_OTHER,
};

struct vramtrack_step {
  int result;  // of unw_step: 1 stepped, 0 the outermost frame, negative an error
  enum vramtrack_step_kind kind;
  bool has_unwind_information;
  bool from_sp, saves_bp;
  int64_t cfa_offset, bp_offset;  // bytes; bp_offset relative to the CFA
};

// What one step does at a return address. False where it cannot be known; always on architectures that have no rules.
bool vramtrack_learn_step(uint64_t ip, uint64_t sp, uint64_t bp, struct vramtrack_step* step);

// One step of a cursor (an unw_cursor_t): 1 where it stepped, 0 at the outermost frame. Where libunwind would go on by
// guesswork, for want of unwind information, or gives up: -1.
int vramtrack_step_cursor(void* cursor);

// To be called before each use of the two above, or of a run of them by the same thread: libunwind reads the stack
// where the unwind information says. So that it survives wrong information, every page is tried before it is read.
void vramtrack_forget_readable_pages(void);

// Makes libunwind ready, without caches of its own: they take locks that a forked child may find held, and they outlive
// libraries. In a forked child, gives it new locks. To be called before any other thread of the process uses it.
void vramtrack_prepare_unwinder(void);

#ifdef __cplusplus
}
#endif

#endif  // INTERPOSE_STACKS_RULE_LEARNER_H_
