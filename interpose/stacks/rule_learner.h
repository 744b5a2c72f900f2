// SPDX-License-Identifier: Apache-2.0
//
// The interface to libunwind: learns how libunwind steps out of a frame, and steps a cursor without accepting guesses.
// Written in C because it reads libunwind's private cursor.
#ifndef INTERPOSE_STACKS_RULE_LEARNER_H_
#define INTERPOSE_STACKS_RULE_LEARNER_H_

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// How libunwind finds the canonical frame address (CFA) of a frame.
enum vramtrack_step_kind {
  VRAMTRACK_STEP_STANDARD,   // CFA = stack or frame pointer + cfa_offset, return address at CFA + ip_offset
  VRAMTRACK_STEP_REALIGNED,  // CFA = *(rbp + cfa_offset)
  VRAMTRACK_STEP_SIGNAL,
  VRAMTRACK_STEP_OTHER,
};

// The result of one step of libunwind.
struct vramtrack_step {
  int result;  // result of unw_step: 1 stepped, 0 outermost frame, negative on error
  enum vramtrack_step_kind kind;
  bool has_unwind_information;
  bool from_sp, saves_bp, saves_ip;
  int64_t cfa_offset, bp_offset, ip_offset;  // bytes; the last two relative to the CFA
};

// Fills `step` with what one step does at a return address. Returns false if that cannot be determined, and always on
// architectures without rules.
bool vramtrack_learn_step(uint64_t ip, uint64_t sp, uint64_t bp, struct vramtrack_step* step);

// Steps a cursor (an unw_cursor_t) once. Returns 1 if it stepped and 0 at the outermost frame. Returns -1 if libunwind
// fails, or if it would have to guess because unwind information is missing.
int vramtrack_step_cursor(void* cursor);

// Call this before each use of the two functions above, or once before a sequence of them on the same thread. libunwind
// reads the stack at the addresses that the unwind information gives. The information may be wrong, so every page is
// tested before it is read; this function discards the results of earlier tests.
void vramtrack_forget_readable_pages(void);

// Initializes libunwind without its caches: these take locks that may be held in a forked child, and they keep entries
// of unloaded libraries. In a forked child it also resets the locks. Call it before any other thread of the process
// uses libunwind.
void vramtrack_prepare_unwinder(void);

#ifdef __cplusplus
}
#endif

#endif  // INTERPOSE_STACKS_RULE_LEARNER_H_
