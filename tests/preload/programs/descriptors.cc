// SPDX-License-Identifier: Apache-2.0
//
// Which descriptor number the program gets next, before and after CUDA calls, one of them through code without unwind
// information, where the unwinder has to probe memory before it reads it.
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

extern "C" int without_unwind_information(int (*function)());

// A frame that nothing describes: no .cfi directives, the frame pointer used for something else.
asm(R"(
.text
.globl without_unwind_information
without_unwind_information:
    pushq %rbp
    movq $0x12345, %rbp
    subq $64, %rsp
    callq *%rdi
    addq $64, %rsp
    popq %rbp
    ret
)");

namespace {

int NextDescriptor() {
  const int fd = open("/dev/null", O_RDONLY);
  close(fd);
  return fd;
}

int Allocate() {
  void* pointer = nullptr;
  return cudaMalloc(&pointer, 4096);
}

}  // namespace

int main() {
  std::printf("%d\n", NextDescriptor());
  std::printf("%d\n", Allocate());
  std::printf("%d\n", NextDescriptor());
  std::printf("%d\n", without_unwind_information(Allocate));
  std::printf("%d\n", NextDescriptor());
  return 0;
}
