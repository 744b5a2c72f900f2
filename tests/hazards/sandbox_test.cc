// SPDX-License-Identifier: Apache-2.0
//
// Sandboxes. A call that is refused ends the recording at worst; and what must be allowed so that a sandbox which kills
// leaves a recording process alone is the list below, that of docs/host.md.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "tests/hazards/hazard.h"

namespace vramtrack {
namespace {

// Everything that the tracer asks the kernel for, at the start or later.
const char* const kCalls[] = {
    "clock_gettime", "close",  "fallocate",   "fcntl",     "fstat",     "ftruncate",  "futex",
    "getcwd",        "getpid", "getppid",     "getrandom", "getrlimit", "gettid",     "madvise",
    "mincore",       "mmap",   "mprotect",    "msync",     "munmap",    "newfstatat", "openat",
    "pipe2",         "prctl",  "prlimit64",   "pwrite64",  "read",      "readlink",   "rt_sigprocmask",
    "sched_yield",   "statx",  "sigaltstack", "uname",     "unlink",    "unlinkat",   "process_vm_readv",
};

// What one that records already still needs.
const char* const kLater[] = {"clock_gettime", "fallocate", "fstat",          "getrlimit",   "madvise",
                              "mmap",          "munmap",    "newfstatat",     "prlimit64",   "pwrite64",
                              "sched_yield",   "gettid",    "rt_sigprocmask", "sigaltstack", "prctl"};

class SandboxTest : public ::testing::TestWithParam<const char*> {};

TEST_P(SandboxTest, ThatRefusesACall) {
  for (const char* when : {"start", "later"}) {
    SCOPED_TRACE(when);
    Hazard hazard{"",
                  "seccomp_filter",
                  {when, "refuse", GetParam()},
                  {.processes = Expected::kAny,
                   .finished = Expected::kAny,
                   .allocations = Expected::kAny,
                   .frees = Expected::kAny,
                   .live = Expected::kAny,
                   .lost = Expected::kAny,
                   .lines = Expected::kAny}};
    ExpectUnharmed(hazard);
  }
}

INSTANTIATE_TEST_SUITE_P(All, SandboxTest, ::testing::ValuesIn(kCalls),
                         [](const auto& info) { return std::string(info.param); });

TEST(SandboxTest, ThatKillsLeavesARecordingProcessAlone) {
  Hazard hazard{"", "seccomp_filter", {"later", "kill"}, {.allocations = 20010, .frees = 20010}};
  hazard.arguments.insert(hazard.arguments.end(), std::begin(kLater), std::end(kLater));
  ExpectUnharmed(hazard);
}

}  // namespace
}  // namespace vramtrack
