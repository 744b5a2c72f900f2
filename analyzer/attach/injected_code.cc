// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attach/injected_code.h"

#if defined(__x86_64__)

#include <sys/syscall.h>

// The interrupted thread only makes another one, which then runs as any thread of the program: it may wait for locks.
__asm__(
    ".pushsection .rodata\n"
    ".p2align 4\n"
    "vramtrack_injected_begin:\n"
    // On the interrupted thread: rbx is the block.
    "vramtrack_injected_start:\n"
    "  endbr64\n"
    "  mov 192(%rbx), %rcx\n"  // vectors
    "  mov $-1, %eax\n"
    "  mov $-1, %edx\n"
    "  xsave64 (%rcx)\n"
    "  lea 64(%rbx), %rdi\n"
    "  xor %esi, %esi\n"
    "  lea vramtrack_injected_thread(%rip), %rdx\n"
    "  mov %rbx, %rcx\n"
    "  call *0(%rbx)\n"  // make_thread
    "  mov %eax, %eax\n"
    "  mov %rax, 72(%rbx)\n"
    // Waits for the stop: ppoll(null, 0, &seconds, null, 8). If it is interrupted, the kernel keeps nothing to restart
    // it by: that is for the call in which the thread was.
    "  xor %edi, %edi\n"
    "  xor %esi, %esi\n"
    "  lea 200(%rbx), %rdx\n"
    "  xor %r10d, %r10d\n"
    "  mov $8, %r8d\n"
    "  mov $271, %eax\n"
    "  syscall\n"
    // The process that stopped the thread is gone, or late.
    "  movq $1, 216(%rbx)\n"  // left
    "  mov 192(%rbx), %rcx\n"
    "  mov $-1, %eax\n"
    "  mov $-1, %edx\n"
    "  xrstor64 (%rcx)\n"
    "  jmp *224(%rbx)\n"  // way_back
    // The new thread.
    "vramtrack_injected_thread:\n"
    "  endbr64\n"
    "  push %rbx\n"
    "  mov %rdi, %rbx\n"
    "  call *32(%rbx)\n"  // self
    "  mov %rax, %rdi\n"
    "  call *40(%rbx)\n"  // detach
    "  mov 136(%rbx), %rdi\n"
    "  mov 144(%rbx), %esi\n"
    "  call *8(%rbx)\n"  // load
    "  test %rax, %rax\n"
    "  je 2f\n"
    "  mov %rax, %rdi\n"
    "  mov 152(%rbx), %rsi\n"
    "  call *16(%rbx)\n"  // look_up
    "  test %rax, %rax\n"
    "  je 3f\n"
    "  mov 160(%rbx), %rdi\n"
    "  mov 168(%rbx), %rsi\n"
    "  mov 176(%rbx), %rdx\n"
    "  call *%rax\n"
    "  movslq %eax, %rax\n"
    "  mov %rax, 96(%rbx)\n"
    "  jmp 5f\n"
    "2:\n"
    "  movq $1, 88(%rbx)\n"  // failure
    "  jmp 4f\n"
    "3:\n"
    "  movq $2, 88(%rbx)\n"
    "4:\n"
    "  mov 24(%rbx), %rax\n"  // error_text
    "  test %rax, %rax\n"
    "  je 5f\n"
    "  call *%rax\n"
    "  mov %rax, 128(%rbx)\n"
    "5:\n"
    "  movq $1, 80(%rbx)\n"  // state
    "6:\n"
    "  cmpq $0, 104(%rbx)\n"  // acknowledged
    "  jne 7f\n"
    "  decq 184(%rbx)\n"  // patience
    "  js 7f\n"
    "  mov $1000, %edi\n"
    "  call *48(%rbx)\n"  // sleep
    "  jmp 6b\n"
    // Returns from unmap to the caller of this function: this code is gone by then.
    "7:\n"
    "  mov 112(%rbx), %rdi\n"
    "  mov 120(%rbx), %rsi\n"
    "  mov 56(%rbx), %rax\n"
    "  pop %rbx\n"
    "  jmp *%rax\n"
    "vramtrack_injected_last:\n"
    ".popsection\n");

extern "C" {
extern const uint8_t vramtrack_injected_begin[] __attribute__((visibility("hidden")));
extern const uint8_t vramtrack_injected_start[] __attribute__((visibility("hidden")));
extern const uint8_t vramtrack_injected_last[] __attribute__((visibility("hidden")));
}

namespace vramtrack {

static_assert(SYS_ppoll == 271, "of the code");
static_assert(offsetof(InjectedBlock, detach) == 40 && offsetof(InjectedBlock, sleep) == 48 &&
                  offsetof(InjectedBlock, unmap) == 56 && offsetof(InjectedBlock, thread) == 64 &&
                  offsetof(InjectedBlock, make_result) == 72 && offsetof(InjectedBlock, state) == 80 &&
                  offsetof(InjectedBlock, failure) == 88 && offsetof(InjectedBlock, result) == 96 &&
                  offsetof(InjectedBlock, acknowledged) == 104 && offsetof(InjectedBlock, begin) == 112 &&
                  offsetof(InjectedBlock, error) == 128 && offsetof(InjectedBlock, path) == 136 &&
                  offsetof(InjectedBlock, flags) == 144 && offsetof(InjectedBlock, name) == 152 &&
                  offsetof(InjectedBlock, options) == 160 && offsetof(InjectedBlock, message) == 168 &&
                  offsetof(InjectedBlock, message_bytes) == 176 && offsetof(InjectedBlock, patience) == 184 &&
                  offsetof(InjectedBlock, vectors) == 192 && offsetof(InjectedBlock, seconds) == 200 &&
                  offsetof(InjectedBlock, left) == 216 && offsetof(InjectedBlock, way_back) == 224,
              "the code has these offsets");

InjectedCode TheInjectedCode() {
  return {{vramtrack_injected_begin, vramtrack_injected_last},
          static_cast<size_t>(vramtrack_injected_start - vramtrack_injected_begin)};
}

}  // namespace vramtrack

#endif  // defined(__x86_64__)
