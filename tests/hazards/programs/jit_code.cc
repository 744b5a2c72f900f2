// SPDX-License-Identifier: Apache-2.0
//
// Machine code written at run time, of which no unwinder knows anything, calls CUDA: with a proper frame pointer, with
// rubbish in that register, pointing to what may not be read, to what is not there, and to what was there a moment ago;
// other code appears at the same place.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "tests/hazards/programs/device.h"

namespace {

__attribute__((noinline)) void Work() {
  Pairs(2);
  asm volatile("");
}

#if defined(__x86_64__)

// push rbp; [mov rbp, value]; sub rsp, room; mov rax, function; call rax; add rsp, room; pop rbp; ret
size_t Write(uint8_t* code, bool sets_rbp, uint64_t rbp, uint32_t room, void (*function)()) {
  uint8_t* at = code;
  const auto bytes = [&](std::initializer_list<int> list) {
    for (const int b : list) *at++ = static_cast<uint8_t>(b);
  };
  const auto word = [&](const auto& value) {
    std::memcpy(at, &value, sizeof value);
    at += sizeof value;
  };
  bytes({0x55});
  if (sets_rbp) {
    bytes({0x48, 0xbd});
    word(rbp);
  } else {
    bytes({0x48, 0x89, 0xe5});  // mov rbp, rsp
  }
  bytes({0x48, 0x81, 0xec});
  word(room);
  bytes({0x48, 0xb8});
  word(function);
  bytes({0xff, 0xd0, 0x48, 0x81, 0xc4});
  word(room);
  bytes({0x5d, 0xc3});
  return static_cast<size_t>(at - code);
}

uint8_t* NewPage(int protection) {
  return static_cast<uint8_t*>(mmap(nullptr, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

void Run(bool sets_rbp, uint64_t rbp, uint32_t room) {
  uint8_t* code = NewPage(PROT_READ | PROT_WRITE);
  Write(code, sets_rbp, rbp, room, Work);
  mprotect(code, 4096, PROT_READ | PROT_EXEC);
  reinterpret_cast<void (*)()>(code)();
  munmap(code, 4096);
}

#endif

}  // namespace

int main() {
  Work();
#if defined(__x86_64__)
  for (const uint32_t room : {16u, 64u, 1024u, 65536u}) {
    for (int again = 0; again < 3; ++again) Run(false, 0, room);
    for (const uint64_t rbp : {uint64_t{0}, uint64_t{1}, uint64_t{8}, uint64_t{0x12345}, ~uint64_t{0}, ~uint64_t{7},
                               uint64_t{1} << 47, uint64_t{1} << 63, uint64_t{0x7ffffffff000}}) {
      Run(true, rbp, room);
    }
    uint8_t* forbidden = NewPage(PROT_NONE);
    Run(true, reinterpret_cast<uint64_t>(forbidden), room);
    Run(true, reinterpret_cast<uint64_t>(forbidden + 4088), room);
    munmap(forbidden, 4096);
    // Readable at first: what an unwinder remembers of that is of no use later.
    for (int again = 0; again < 3; ++again) {
      uint8_t* passing = NewPage(PROT_READ | PROT_WRITE);
      std::memset(passing, 0x41 + again, 4096);
      Run(true, reinterpret_cast<uint64_t>(passing + 64), room);
      Run(true, reinterpret_cast<uint64_t>(passing + 4088), room);
      mprotect(passing, 4096, PROT_NONE);
      Run(true, reinterpret_cast<uint64_t>(passing + 64), room);
      munmap(passing, 4096);
      Run(true, reinterpret_cast<uint64_t>(passing + 64), room);
    }
    // A frame pointer that points to itself, and a circle of two.
    auto* circle = reinterpret_cast<uint64_t*>(NewPage(PROT_READ | PROT_WRITE));
    circle[0] = reinterpret_cast<uint64_t>(circle);
    circle[1] = reinterpret_cast<uint64_t>(&Work);
    Run(true, reinterpret_cast<uint64_t>(circle), room);
    circle[0] = reinterpret_cast<uint64_t>(circle + 4);
    circle[4] = reinterpret_cast<uint64_t>(circle);
    circle[5] = circle[1];
    Run(true, reinterpret_cast<uint64_t>(circle), room);
    munmap(circle, 4096);
  }
  std::puts("done");
  return 0;
#else
  std::puts("there is no machine code for this processor here");
  return 77;
#endif
}
