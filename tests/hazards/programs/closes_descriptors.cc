// SPDX-License-Identifier: Apache-2.0
//
// Closes every descriptor but stdout, opens a file at every number that a tracer may have used, goes on allocating,
// also through code that no unwinder can see through, and looks whether the file is empty still.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "tests/hazards/programs/device.h"

#if defined(__x86_64__)
// A frame that nothing describes: no .cfi directives, the frame pointer used for something else.
asm(R"(
.text
without_unwind_information:
    pushq %rbp
    leaq -16(%rsp), %rbp
    subq $128, %rsp
    callq *%rdi
    addq $128, %rsp
    popq %rbp
    ret
)");
extern "C" void without_unwind_information(void (*function)()) asm("without_unwind_information");
#else
static void without_unwind_information(void (*function)()) { function(); }
#endif

int main() {
  std::string path = std::string(getenv("TEST_TMPDIR") != nullptr ? getenv("TEST_TMPDIR") : "/tmp") + "/mine.XXXXXX";
  Pairs(50);
  without_unwind_information([] { Pairs(50); });
  for (int fd = 0; fd < 1024; ++fd) {
    if (fd != STDOUT_FILENO) close(fd);
  }
  const int mine = mkstemp(&path[0]);
  unlink(path.c_str());
  for (int fd = 0; fd < 1024; ++fd) {
    if (fd != STDOUT_FILENO && fd != mine) dup2(mine, fd);
  }
  without_unwind_information([] { Pairs(1); });
  Pairs(49999);
  struct stat status;
  if (fstat(mine, &status) != 0) return 1;
  std::printf("%ld bytes\n", static_cast<long>(status.st_size));
  return 0;
}
