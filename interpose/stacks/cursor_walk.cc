// SPDX-License-Identifier: Apache-2.0
#include "interpose/stacks/cursor_walk.h"

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "interpose/stacks/rule_learner.h"

namespace vramtrack {

void WalkByCursor(const Registers& start, const WalkBounds& bounds, NativeStack* stack) {
  stack->count = 0;
  stack->truncated = false;
  unw_context_t context;
  unw_cursor_t cursor;
  unw_getcontext(&context);
  if (unw_init_local(&cursor, &context) < 0) return;
  vramtrack_forget_readable_pages();
  bool inside = true;  // not yet at `start`
  int stepped;
  while ((stepped = vramtrack_step_cursor(&cursor)) > 0) {
    unw_word_t ip = 0, sp = 0;
    if (unw_get_reg(&cursor, UNW_REG_IP, &ip) < 0 || ip < kLowestCodeAddress) break;
    if (inside) {
      if (unw_get_reg(&cursor, UNW_REG_SP, &sp) < 0 || sp < start.sp) continue;
      inside = false;
    }
    if (stack->count == 0 && bounds.own.Contains(ip)) continue;
    if (stack->count == bounds.max_frames) {
      stack->truncated = true;
      break;
    }
    stack->frames[stack->count++] = ip;
    if (bounds.last.Contains(ip)) break;
  }
  // What lies outside of code without unwind information is not known.
  if (stepped < 0) stack->truncated = true;
}

}  // namespace vramtrack
