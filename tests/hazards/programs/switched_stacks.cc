// SPDX-License-Identifier: Apache-2.0
//
// Stacks switched by hand, without a word to the unwinder: the outermost frame of the new stack has rubbish for a
// caller. The new stack's end is the end of its mapping, with nothing or with a forbidden page behind it.
#include <sys/mman.h>

#include <cstdint>
#include <initializer_list>

#include "tests/hazards/programs/device.h"

#if defined(__x86_64__)
// Calls rdi on the stack whose top is rsi, having pushed rdx where the caller's return address is looked for.
asm(R"(
.text
call_on_stack:
    pushq %rbx
    pushq %rbp
    movq %rsp, %rbx
    movq %rsi, %rsp
    pushq %rdx
    pushq %rdx
    movq %rdx, %rbp
    callq *%rdi
    movq %rbx, %rsp
    popq %rbp
    popq %rbx
    ret
)");
extern "C" void call_on_stack(void (*function)(), void* top, uint64_t rubbish) asm("call_on_stack");
#endif

namespace {

__attribute__((noinline)) void Work() {
  Pairs(2);
  asm volatile("");
}

#if defined(__x86_64__)
constexpr size_t kBytes = 64 << 10;

void Visit(uint64_t rubbish, int behind) {
  auto* at = static_cast<char*>(mmap(nullptr, 2 * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (behind == 0) munmap(at + kBytes, kBytes);
  if (behind == 1) mprotect(at + kBytes, kBytes, PROT_NONE);
  call_on_stack(Work, at + kBytes, rubbish);
  munmap(at, behind == 0 ? kBytes : 2 * kBytes);
}
#endif

}  // namespace

int main() {
  Work();
#if defined(__x86_64__)
  for (int behind = 0; behind < 3; ++behind) {
    for (const uint64_t rubbish :
         {uint64_t{0}, uint64_t{1}, uint64_t{0x12345678}, ~uint64_t{0}, uint64_t{1} << 47, uint64_t{1} << 63,
          reinterpret_cast<uint64_t>(&Work), reinterpret_cast<uint64_t>(&main) + 1}) {
      Visit(rubbish, behind);
    }
  }
  std::puts("done");
  return 0;
#else
  std::puts("there is no machine code for this processor here");
  return 77;
#endif
}
