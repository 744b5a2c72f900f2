// SPDX-License-Identifier: Apache-2.0
//
// usage: sandboxed NAME [kill]: waits, under a seccomp policy by which the system call NAME (mmap, mprotect, clone,
// openat) fails, or ends the process.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tests/attach/programs/joined.h"

namespace {

unsigned NumberOf(const char* name) {
  if (std::strcmp(name, "mmap") == 0) return SYS_mmap;
  if (std::strcmp(name, "mprotect") == 0) return SYS_mprotect;
  if (std::strcmp(name, "clone") == 0) return SYS_clone;
  return SYS_openat;
}

// Of a thread.
constexpr unsigned kClone3 = 435;

}  // namespace

int main(int count, char** arguments) {
  Check(count == 2 || count == 3, "usage");
  const unsigned number = NumberOf(arguments[1]);
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kClone3, static_cast<uint8_t>(number == SYS_clone), 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, count == 3 ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM),
  };
  const sock_fprog policy = {sizeof program / sizeof *program, program};
  Ready();
  Check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no new privileges", errno);
  Check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &policy, 0, 0) == 0, "the policy", errno);
  std::printf("sandboxed\n");
  std::fflush(stdout);
  char byte;
  Check(read(STDIN_FILENO, &byte, 1) == 0, "input");
  return Fine();
}
