// SPDX-License-Identifier: Apache-2.0
#include "interpose/stacks/rule_learner.h"

#include "libunwind_i.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// The page that was found readable last, as its first address + 1.
static __thread uint64_t readable_page __attribute__((tls_model("initial-exec")));

static bool is_readable(uint64_t address) {
  const uint64_t page = (address & ~(uint64_t)4095) + 1;
  if (page == readable_page) return true;
  // The kernel reads the set of signals before it refuses what is to be done with it; a null pointer is not one.
  if (page == 1) return false;
  const int nothing = -1;
  if (syscall(SYS_rt_sigprocmask, nothing, page - 1, NULL, 8) != 0 && errno == EFAULT) return false;
  readable_page = page;
  return true;
}

static int read_word(unw_addr_space_t space, unw_word_t address, unw_word_t* value, int write, void* argument) {
  (void)space, (void)argument;
  if (write) {  // a register of the cursor's context
    memcpy((void*)address, value, sizeof *value);
    return 0;
  }
  if (!is_readable(address) || !is_readable(address + sizeof *value - 1)) return -UNW_EINVAL;
  memcpy(value, (const void*)address, sizeof *value);
  return 0;
}

void vramtrack_forget_readable_pages(void) { readable_page = 0; }

void vramtrack_prepare_unwinder(void) {
  // The locks of a forked child may be held by threads that it has not, and its free lists be torn.
  if (atomic_load(&tdep_init_done)) dwarf_init();
  unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_NONE);
  unw_get_accessors(unw_local_addr_space)->access_mem = read_word;
}

// Where it has none, libunwind names a function of one byte.
static bool has_information(unw_cursor_t* cursor) {
  unw_proc_info_t info;
  const unw_word_t ip = ((struct cursor*)cursor)->dwarf.ip;
  return unw_get_proc_info(cursor, &info) == 0 && !(info.start_ip == ip && info.end_ip == ip + 1);
}

#if defined(__x86_64__)

int vramtrack_step_cursor(void* cursor) {
  struct cursor* private = cursor;
  private->frame_info.frame_type = UNW_X86_64_FRAME_OTHER;
  const int result = unw_step(cursor);
  return private->frame_info.frame_type == UNW_X86_64_FRAME_GUESSED ? -1 : result;
}

bool vramtrack_learn_step(uint64_t ip, uint64_t sp, uint64_t bp, struct vramtrack_step* step) {
  unw_context_t context;
  unw_cursor_t cursor;
  struct cursor* private = (struct cursor*)&cursor;
  struct dwarf_cursor* frame = &private->dwarf;
  unw_getcontext(&context);
  if (unw_init_local(&cursor, &context) < 0) return false;

  // The frame is described by the registers that are given; of the others nothing is known.
  frame->stash_frames = 1;
  frame->use_prev_instr = 1;
  frame->ip = ip;
  frame->cfa = sp;
  for (int i = 0; i < DWARF_NUM_PRESERVED_REGS; ++i) frame->loc[i] = DWARF_NULL_LOC;
  frame->loc[UNW_X86_64_RIP] = DWARF_REG_LOC(frame, UNW_X86_64_RIP);
  frame->loc[UNW_X86_64_RBP] = DWARF_REG_LOC(frame, UNW_X86_64_RBP);
  frame->loc[UNW_X86_64_RSP] = DWARF_REG_LOC(frame, UNW_X86_64_RSP);
  if (dwarf_put(frame, frame->loc[UNW_X86_64_RIP], ip) < 0 || dwarf_put(frame, frame->loc[UNW_X86_64_RBP], bp) < 0 ||
      dwarf_put(frame, frame->loc[UNW_X86_64_RSP], sp) < 0) {
    return false;
  }
  private->frame_info.virtual_address = ip;
  private->frame_info.frame_type = UNW_X86_64_FRAME_OTHER;
  private->frame_info.last_frame = 0;
  private->frame_info.cfa_reg_rsp = -1;
  private->frame_info.cfa_reg_offset = 0;
  private->frame_info.rbp_cfa_offset = -1;
  private->frame_info.rsp_cfa_offset = -1;

  unw_cursor_t before = cursor;
  step->result = unw_step(&cursor);
  step->from_sp = private->frame_info.cfa_reg_rsp != 0;
  step->saves_bp = private->frame_info.rbp_cfa_offset != -1;
  step->cfa_offset = private->frame_info.cfa_reg_offset;
  step->bp_offset = private->frame_info.rbp_cfa_offset;
  step->saves_ip = true;
  step->ip_offset = -8;
  switch (private->frame_info.frame_type) {
    case UNW_X86_64_FRAME_STANDARD:
      step->kind = VRAMTRACK_STEP_STANDARD;
      break;
    case UNW_X86_64_FRAME_ALIGNED:
      step->kind = VRAMTRACK_STEP_REALIGNED;
      break;
    default:
      step->kind = unw_is_signal_frame(&cursor) > 0 ? VRAMTRACK_STEP_SIGNAL : VRAMTRACK_STEP_OTHER;
  }
  step->has_unwind_information = (step->result > 0 && step->kind != VRAMTRACK_STEP_OTHER) || has_information(&before);
  return true;
}

#elif defined(__aarch64__)

int vramtrack_step_cursor(void* cursor) {
  struct cursor* private = cursor;
  private->frame_info.frame_type = UNW_AARCH64_FRAME_OTHER;
  const int result = unw_step(cursor);
  return private->frame_info.frame_type == UNW_AARCH64_FRAME_GUESSED ? -1 : result;
}

bool vramtrack_learn_step(uint64_t ip, uint64_t sp, uint64_t bp, struct vramtrack_step* step) {
  unw_context_t context;
  unw_cursor_t cursor;
  struct cursor* private = (struct cursor*)&cursor;
  struct dwarf_cursor* frame = &private->dwarf;
  unw_getcontext(&context);
  if (unw_init_local(&cursor, &context) < 0) return false;

  // The frame is described by the registers that are given; of the others nothing is known. The link register is of no
  // use after a call: code that says it still had its return address there gets one that no code can have.
  const uint64_t no_code = 1;
  frame->stash_frames = 1;
  frame->use_prev_instr = 1;
  frame->ip = ip;
  frame->cfa = sp;
  for (int i = 0; i < DWARF_NUM_PRESERVED_REGS; ++i) frame->loc[i] = DWARF_NULL_LOC;
  frame->loc[UNW_AARCH64_X29] = DWARF_REG_LOC(frame, UNW_AARCH64_X29);
  frame->loc[UNW_AARCH64_X30] = DWARF_REG_LOC(frame, UNW_AARCH64_X30);
  frame->loc[UNW_AARCH64_SP] = DWARF_REG_LOC(frame, UNW_AARCH64_SP);
  if (dwarf_put(frame, frame->loc[UNW_AARCH64_X29], bp) < 0 ||
      dwarf_put(frame, frame->loc[UNW_AARCH64_X30], no_code) < 0 ||
      dwarf_put(frame, frame->loc[UNW_AARCH64_SP], sp) < 0) {
    return false;
  }
  private->frame_info.virtual_address = ip;
  private->frame_info.frame_type = UNW_AARCH64_FRAME_OTHER;
  private->frame_info.last_frame = 0;
  private->frame_info.cfa_reg_sp = -1;
  private->frame_info.cfa_reg_offset = 0;
  private->frame_info.fp_cfa_offset = -1;
  private->frame_info.lr_cfa_offset = -1;
  private->frame_info.sp_cfa_offset = -1;

  unw_cursor_t before = cursor;
  step->result = unw_step(&cursor);
  step->from_sp = private->frame_info.cfa_reg_sp != 0;
  step->saves_bp = private->frame_info.fp_cfa_offset != -1;
  step->saves_ip = private->frame_info.lr_cfa_offset != -1;
  step->cfa_offset = private->frame_info.cfa_reg_offset;
  step->bp_offset = private->frame_info.fp_cfa_offset;
  step->ip_offset = private->frame_info.lr_cfa_offset;
  switch (private->frame_info.frame_type) {
    case UNW_AARCH64_FRAME_STANDARD:
      step->kind = VRAMTRACK_STEP_STANDARD;
      break;
    case UNW_AARCH64_FRAME_SIGRETURN:
      step->kind = VRAMTRACK_STEP_SIGNAL;
      break;
    default:
      step->kind = VRAMTRACK_STEP_OTHER;
  }
  step->has_unwind_information = (step->result > 0 && step->kind != VRAMTRACK_STEP_OTHER) || has_information(&before);
  // A return address in a register of which nothing is known does not end the stack.
  if (step->result == 0 && step->kind == VRAMTRACK_STEP_OTHER && step->has_unwind_information) step->result = 1;
  return true;
}

#else

int vramtrack_step_cursor(void* cursor) { return unw_step(cursor); }

bool vramtrack_learn_step(uint64_t ip, uint64_t sp, uint64_t bp, struct vramtrack_step* step) {
  (void)ip, (void)sp, (void)bp, (void)step;
  return false;
}

#endif
