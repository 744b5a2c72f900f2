// SPDX-License-Identifier: Apache-2.0
//
// seccomp_filter start|later refuse|kill CALL...: a sandbox that refuses these system calls with EPERM, or one that
// kills the process for every call but these and the program's own; from the start, or from after the first CUDA calls.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <string>
#include <vector>

#include "tests/hazards/programs/device.h"

namespace {

const std::map<std::string, int> kCalls = {
#define CALL(name) \
  { #name, SYS_##name }
    CALL(clock_gettime), CALL(close),        CALL(dup3),       CALL(exit),           CALL(exit_group),
    CALL(fallocate),     CALL(fcntl),        CALL(fstat),      CALL(futex),          CALL(getcwd),
    CALL(getpid),        CALL(getppid),      CALL(getrandom),  CALL(gettid),         CALL(madvise),
    CALL(mincore),       CALL(mmap),         CALL(mprotect),   CALL(munmap),         CALL(newfstatat),
    CALL(openat),        CALL(pipe2),        CALL(prctl),      CALL(prlimit64),      CALL(process_vm_readv),
    CALL(pwrite64),      CALL(read),         CALL(readlinkat), CALL(rt_sigprocmask), CALL(sched_yield),
    CALL(sigaltstack),   CALL(statx),        CALL(uname),      CALL(unlinkat),       CALL(write),
    CALL(brk),           CALL(rt_sigreturn), CALL(ftruncate),  CALL(msync),
#ifdef SYS_getrlimit
    CALL(getrlimit),
#endif
#ifdef SYS_unlink  // not on aarch64, and neither is the next one
    CALL(readlink),      CALL(unlink),
#endif
#undef CALL
};

// The program's own needs, which are few: it writes, and ends.
const char* const kOwn[] = {"write", "exit_group"};

bool Install(bool kill, const std::vector<int>& calls) {
  std::vector<sock_filter> filter;
  filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
  const unsigned listed = kill ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EPERM;
  const unsigned others = kill ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ALLOW;
  for (const int call : calls) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, listed));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, others));
  const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool later = std::string(argv[1]) == "later", kill = std::string(argv[2]) == "kill";
  std::vector<int> calls;
  for (int i = 3; i < argc; ++i) {
    const auto found = kCalls.find(argv[i]);
    if (found != kCalls.end()) calls.push_back(found->second);
  }
  if (kill) {
    for (const char* own : kOwn) calls.push_back(kCalls.at(own));
  }
  if (later) Pairs(10);
  std::puts("ready");
  std::fflush(stdout);
  if (!Install(kill, calls)) {
    std::puts("no sandbox here");
    return 77;
  }
  for (unsigned i = 0; i < 20000; ++i) Varied(i, 10);
  std::puts("done");
  return 0;
}
